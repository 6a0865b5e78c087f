/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf_site.h"

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>

#include "../lib/file.h"

#define CODE_MAX      256 /* bytes from the entry on that are looked at */
#define PROLOGUE_MAX  32  /* instructions */
#define FILE_SIZE_MAX ((off_t)1 << 30)
#define SYMBOLS_MAX   (64U << 20) /* bytes of a symbol table */

/*
 * The disassembler, loaded for the few milliseconds it is needed: its tables are 3 MB of relocated
 * memory that a resident agent does not carry along.
 */
struct disassembler {
	void *library;
	cs_err (*open)(cs_arch arch, cs_mode mode, csh *handle);
	cs_err (*close)(csh *handle);
	cs_insn *(*malloc)(csh handle);
	void (*free)(cs_insn *insn, size_t count);
	bool (*iterate)(csh handle, const uint8_t **code, size_t *size, uint64_t *addr,
			cs_insn *insn);
};

struct function {
	uint64_t offset; /* in the file */
	uint64_t size;
};

/* Virtual address to file offset through the loadable segments. */
static int offset_of(Elf *elf, uint64_t addr, uint64_t *ret_offset)
{
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return -ENOEXEC;
	for (size_t i = 0; i < count && i < INT16_MAX; i++) {
		GElf_Phdr seg;

		if (!gelf_getphdr(elf, (int)i, &seg) || seg.p_type != PT_LOAD)
			continue;
		if (addr < seg.p_vaddr || addr - seg.p_vaddr >= seg.p_filesz)
			continue;
		*ret_offset = seg.p_offset + (addr - seg.p_vaddr);
		return 0;
	}
	return -ENOENT;
}

static int find_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char *name,
		   struct function *f)
{
	Elf_Data *data = header->sh_size <= SYMBOLS_MAX ? elf_getdata(section, NULL) : NULL;
	size_t count = header->sh_entsize && data ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 0; i < count; i++) {
		const char *text;
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym) || GELF_ST_TYPE(sym.st_info) != STT_FUNC ||
		    !sym.st_value)
			continue;
		text = elf_strptr(elf, header->sh_link, sym.st_name);
		if (!text || strcmp(text, name) != 0)
			continue;
		f->size = sym.st_size;
		return offset_of(elf, sym.st_value, &f->offset);
	}
	return -ENOENT;
}

static int find_function(Elf *elf, const char *name, struct function *f)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB)
			continue;
		if (!find_in(elf, section, &header, name, f))
			return 0;
	}
	return -ENOENT;
}

static int load_disassembler(struct disassembler *d)
{
	d->library = dlopen("libcapstone.so.4", RTLD_LAZY | RTLD_LOCAL);
	if (!d->library)
		return -ENOTSUP;
	*(void **)&d->open = dlsym(d->library, "cs_open");
	*(void **)&d->close = dlsym(d->library, "cs_close");
	*(void **)&d->malloc = dlsym(d->library, "cs_malloc");
	*(void **)&d->free = dlsym(d->library, "cs_free");
	*(void **)&d->iterate = dlsym(d->library, "cs_disasm_iter");
	if (d->open && d->close && d->malloc && d->free && d->iterate)
		return 0;
	dlclose(d->library);
	return -ENOTSUP;
}

/*
 * Instructions that the kernel emulates at a probe; all others are single-stepped, which costs a
 * second trap (arch/x86/kernel/uprobes.c: branch_setup_xol_ops, push_setup_xol_ops). Measured in a
 * virtual machine: 0.5 against 14 microseconds a hit.
 */
static bool emulated(const cs_insn *insn)
{
	const uint8_t *b = insn->bytes;

	if (insn->size == 2 && b[0] == 0x41)
		b++; /* REX.B: push of r8 to r15 */
	if (b[0] >= 0x50 && b[0] <= 0x57)
		return insn->id == X86_INS_PUSH;
	if (b[0] == 0x0f)
		return b[1] >= 0x80 && b[1] <= 0x8f;
	return (b[0] >= 0x70 && b[0] <= 0x7f) || b[0] == 0xe8 || b[0] == 0xe9 || b[0] == 0xeb;
}

/* The first emulated one of those that every call passes, before any branch: else the entry. */
static uint64_t cheap_site(const struct disassembler *d, csh cs, const uint8_t *code, size_t size)
{
	cs_insn *insn = d->malloc(cs);
	uint64_t addr = 0, site = 0;

	for (int i = 0; insn && i < PROLOGUE_MAX; i++) {
		if (!d->iterate(cs, &code, &size, &addr, insn) || insn->id == X86_INS_RET ||
		    insn->id == X86_INS_JMP)
			break;
		if (!emulated(insn))
			continue;
		site = insn->address;
		break;
	}
	if (insn)
		d->free(insn, 1);
	return site;
}

static int find_cheap(int fd, const struct function *f, uint64_t *ret_offset)
{
	uint8_t code[CODE_MAX];
	size_t size = f->size < CODE_MAX ? (size_t)f->size : CODE_MAX;
	struct disassembler d;
	int err;
	csh cs;

	if (pread(fd, code, size, (off_t)f->offset) != (ssize_t)size)
		return -EIO;
	err = load_disassembler(&d);
	if (err)
		return err;
	err = -ENOMEM;
	if (d.open(CS_ARCH_X86, CS_MODE_64, &cs) == CS_ERR_OK) {
		*ret_offset = f->offset + cheap_site(&d, cs, code, size);
		d.close(&cs);
		err = 0;
	}
	dlclose(d.library);
	return err;
}

static int open_elf(int fd, Elf **ret_elf)
{
	GElf_Ehdr header;
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	elf = elf_begin(fd, ELF_C_READ, NULL); /* a mapped file that shrinks would be a SIGBUS */
	if (!elf)
		return -ENOEXEC;
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
	    header.e_machine != EM_X86_64) {
		elf_end(elf);
		return -ENOEXEC;
	}
	*ret_elf = elf;
	return 0;
}

/* The path leads into somebody's mount namespace: it may be a FIFO, or of any size. */
static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= FILE_SIZE_MAX)
		return fd;
	close(fd);
	return -ENOEXEC;
}

int dl_elf_site(const char *path, const char *symbol, bool keeps_arguments, uint64_t *ret_offset)
{
	DL_FD fd = open_file(path);
	struct function f;
	Elf *elf;
	int err;

	if (fd < 0)
		return fd;
	err = open_elf(fd, &elf);
	if (err)
		return err;
	err = find_function(elf, symbol, &f);
	elf_end(elf);
	if (err)
		return err;
	if (keeps_arguments || find_cheap(fd, &f, ret_offset))
		*ret_offset = f.offset; /* always right, only dearer */
	return 0;
}

static void export(Elf *elf, const GElf_Sym *sym, const char *name, const char *const *symbols,
		   size_t count, uint64_t *offsets)
{
	for (size_t i = 0; i < count; i++)
		if (!offsets[i] && !strcmp(name, symbols[i]))
			(void)offset_of(elf, sym->st_value, &offsets[i]);
}

static void exports_of(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
		       const char *const *symbols, size_t count, uint64_t *offsets)
{
	Elf_Data *data = header->sh_size <= SYMBOLS_MAX ? elf_getdata(section, NULL) : NULL;
	size_t entries = header->sh_entsize && data ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 0; i < entries; i++) {
		const char *name;
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym) || GELF_ST_TYPE(sym.st_info) != STT_FUNC ||
		    !sym.st_value)
			continue;
		name = elf_strptr(elf, header->sh_link, sym.st_name);
		if (name)
			export(elf, &sym, name, symbols, count, offsets);
	}
}

int dl_elf_exports(const char *path, const char *const *symbols, size_t count,
		   uint64_t *ret_offsets)
{
	DL_FD fd = open_file(path);
	Elf_Scn *section = NULL;
	int err, found = 0;
	Elf *elf;

	memset(ret_offsets, 0, count * sizeof(*ret_offsets));
	if (fd < 0)
		return fd;
	err = open_elf(fd, &elf);
	if (err)
		return err;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
			exports_of(elf, section, &header, symbols, count, ret_offsets);
	}
	elf_end(elf);
	for (size_t i = 0; i < count; i++)
		found += ret_offsets[i] != 0;
	return found;
}
