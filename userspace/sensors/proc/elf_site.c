/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/proc/elf_site.h"

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/file.h"

#define CODE_MAX      256 /* bytes examined from the entry on */
#define PROLOGUE_MAX  32  /* instructions */
#define FILE_SIZE_MAX ((off_t)1 << 30)
#define TABLE_MAX     ((uint64_t)64 << 20) /* bytes of symbols, and of their names */
#define HEADERS_MAX   4096
#define TRIES_MAX     64

#define SYMBOLS_AT_ONCE ((size_t)1024)

/* The disassembler, loaded only while needed: its tables are 3 MB of relocated memory. */
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

/*
 * An open ELF file. It is untrusted: each table has a limit, and a sparse file of 4 KiB can claim
 * one table of that size per header. Therefore at most one table of each kind is read, and the
 * names of only one are in memory.
 */
struct image {
	int fd;
	uint64_t size;
	Elf64_Ehdr head;
};

static int image_read(const struct image *f, uint64_t offset, void *data, size_t size)
{
	if (offset > f->size || size > f->size - offset)
		return -ENOEXEC;
	return pread(f->fd, data, size, (off_t)offset) == (ssize_t)size ? 0 : -EIO;
}

/*
 * The path leads into the mount namespace of another process: it may be a FIFO or a file of any
 * size.
 */
static int image_open(const char *path, struct image *f)
{
	struct stat st;

	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (f->fd < 0)
		return -errno;
	if (fstat(f->fd, &st) || !S_ISREG(st.st_mode) || st.st_size > FILE_SIZE_MAX)
		return -ENOEXEC;
	f->size = (uint64_t)st.st_size;
	if (image_read(f, 0, &f->head, sizeof(f->head)) ||
	    memcmp(f->head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    f->head.e_ident[EI_CLASS] != ELFCLASS64 || f->head.e_ident[EI_DATA] != ELFDATA2LSB ||
	    f->head.e_machine != EM_X86_64 || f->head.e_phentsize != sizeof(Elf64_Phdr))
		return -ENOEXEC;
	return 0;
}

/* Converts a virtual address to a file offset with the loadable segments. */
static int image_offset(const struct image *f, uint64_t addr, uint64_t *ret_offset)
{
	for (size_t i = 0; i < f->head.e_phnum && i < HEADERS_MAX; i++) {
		Elf64_Phdr seg;

		if (image_read(f, f->head.e_phoff + i * sizeof(seg), &seg, sizeof(seg)))
			return -ENOEXEC;
		if (seg.p_type != PT_LOAD || addr < seg.p_vaddr ||
		    addr - seg.p_vaddr >= seg.p_filesz)
			continue;
		*ret_offset = seg.p_offset + (addr - seg.p_vaddr);
		return 0;
	}
	return -ENOENT;
}

static int image_section(const struct image *f, size_t index, Elf64_Shdr *ret_section)
{
	if (f->head.e_shentsize != sizeof(*ret_section) || index >= f->head.e_shnum)
		return -ENOENT;
	return image_read(f, f->head.e_shoff + index * sizeof(*ret_section), ret_section,
			  sizeof(*ret_section));
}

/* The first table of its kind; valid files have only one. */
static int image_table(const struct image *f, uint32_t type, Elf64_Shdr *ret_table)
{
	for (size_t i = 0; i < HEADERS_MAX; i++) {
		Elf64_Shdr section;
		int err = image_section(f, i, &section);

		if (err)
			return err;
		if (section.sh_type != type)
			continue;
		*ret_table = section;
		return section.sh_entsize == sizeof(Elf64_Sym) && section.sh_size <= TABLE_MAX
			       ? 0
			       : -ENOEXEC;
	}
	return -ENOENT;
}

/* The names of a table, with a NUL after them. The caller frees them. */
static char *image_names(const struct image *f, const Elf64_Shdr *table, size_t *ret_size)
{
	Elf64_Shdr section;
	char *names;

	if (image_section(f, table->sh_link, &section) || section.sh_type != SHT_STRTAB ||
	    section.sh_size > TABLE_MAX || section.sh_size > f->size)
		return NULL;
	names = malloc(section.sh_size + 1);
	if (!names)
		return NULL;
	if (image_read(f, section.sh_offset, names, section.sh_size)) {
		free(names);
		return NULL;
	}
	names[section.sh_size] = 0;
	*ret_size = section.sh_size;
	return names;
}

struct wanted {
	const char *const *symbols;
	struct function *found; /* offset 0: not found yet */
	size_t count;
	size_t left;
	size_t tries; /* names without a match */
};

static void image_compare(const struct image *f, const Elf64_Sym *sym, const char *name,
			  struct wanted *w)
{
	for (size_t i = 0; i < w->count; i++) {
		if (w->found[i].offset || strcmp(name, w->symbols[i]) != 0 || !w->tries)
			continue;
		w->tries--;
		if (image_offset(f, sym->st_value, &w->found[i].offset))
			continue;
		w->found[i].size = sym->st_size;
		w->left--;
	}
}

static void image_search(const struct image *f, const Elf64_Shdr *table, const char *names,
			 size_t names_size, struct wanted *w)
{
	Elf64_Sym symbols[SYMBOLS_AT_ONCE];
	uint64_t count = table->sh_size / sizeof(symbols[0]);

	for (uint64_t at = 0; at < count && w->left; at += SYMBOLS_AT_ONCE) {
		size_t n = count - at < SYMBOLS_AT_ONCE ? (size_t)(count - at) : SYMBOLS_AT_ONCE;

		if (image_read(f, table->sh_offset + at * sizeof(symbols[0]), symbols,
			       n * sizeof(symbols[0])))
			return;
		for (size_t i = 0; i < n; i++)
			if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_value &&
			    symbols[i].st_name < names_size)
				image_compare(f, &symbols[i], names + symbols[i].st_name, w);
	}
}

static void image_find(const struct image *f, uint32_t type, struct wanted *w)
{
	Elf64_Shdr table;
	size_t size = 0;
	char *names = image_table(f, type, &table) ? NULL : image_names(f, &table, &size);

	if (names)
		image_search(f, &table, names, size, w);
	free(names);
}

static int elf_site_load_disassembler(struct disassembler *d)
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
 * True for instructions that the kernel emulates at a probe. All others are single-stepped, which
 * costs a second trap (arch/x86/kernel/uprobes.c: branch_setup_xol_ops, push_setup_xol_ops).
 * Measured in a virtual machine: 0.5 instead of 14 microseconds per hit.
 */
static bool elf_site_is_emulated(const cs_insn *insn)
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

/* The first emulated instruction before any branch, otherwise the entry. */
static uint64_t elf_site_cheapest(const struct disassembler *d, csh cs, const uint8_t *code,
				  size_t size)
{
	cs_insn *insn = d->malloc(cs);
	uint64_t addr = 0, site = 0;

	for (int i = 0; insn && i < PROLOGUE_MAX; i++) {
		if (!d->iterate(cs, &code, &size, &addr, insn) || insn->id == X86_INS_RET ||
		    insn->id == X86_INS_JMP)
			break;
		if (!elf_site_is_emulated(insn))
			continue;
		site = insn->address;
		break;
	}
	if (insn)
		d->free(insn, 1);
	return site;
}

#define RETURNING_MAX 4096 /* bytes of a function whose returns are probed */

/* A function that is searched for its returns. */
struct returning {
	struct disassembler d;
	csh cs;
	const uint8_t *code;
	size_t size;
	bool has_table; /* an indirect jump: its targets are unknown */
	uint8_t is_target[RETURNING_MAX];
	size_t count;
	size_t max;
	uint64_t *at;
};

/* Direct jumps, with any prefix: their last byte or four bytes are the distance. */
static bool elf_site_is_jump(const cs_insn *insn, uint64_t *ret_target)
{
	const uint8_t *b = insn->bytes;
	int32_t distance;

	if (insn->size < 2 || insn->id == X86_INS_CALL)
		return false;
	if (insn->size < 5) {
		b += insn->size - 2;
		*ret_target = insn->address + insn->size + (uint64_t)(int8_t)b[1];
		return (b[0] >= 0x70 && b[0] <= 0x7f) || b[0] == 0xeb;
	}
	b += insn->size - 5;
	memcpy(&distance, b + 1, sizeof(distance));
	*ret_target = insn->address + insn->size + (uint64_t)(int64_t)distance;
	if (insn->id == X86_INS_JMP)
		return b[0] == 0xe9;
	return insn->size >= 6 && b[-1] == 0x0f && b[0] >= 0x80 && b[0] <= 0x8f;
}

static int elf_site_see_jump(struct returning *r, const cs_insn *insn)
{
	uint64_t target;

	if (!elf_site_is_jump(insn, &target)) {
		r->has_table = r->has_table || insn->id == X86_INS_JMP;
		return 0;
	}
	if (target < r->size)
		r->is_target[target] = 1;
	else if (insn->id == X86_INS_JMP)
		return -ENOTSUP;
	return 0;
}

/* What stands between the last jump and the return: it keeps the result. */
static bool elf_site_is_epilogue(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_MOV:
	case X86_INS_POP:
	case X86_INS_ADD:
	case X86_INS_LEA:
	case X86_INS_LEAVE:
		return strncmp(insn->op_str, "rax", 3) != 0 &&
		       strncmp(insn->op_str, "eax", 3) != 0 &&
		       strncmp(insn->op_str, "ax", 2) != 0 && strncmp(insn->op_str, "al", 2) != 0 &&
		       strncmp(insn->op_str, "ah", 2) != 0;
	default:
		return false;
	}
}

static int elf_site_see_return(struct returning *r, const cs_insn *insn, uint64_t *cheap)
{
	uint64_t target;

	if (*cheap && r->is_target[insn->address])
		*cheap = 0; /* another path joins behind the jump */
	if (insn->id != X86_INS_RET) {
		if (elf_site_is_jump(insn, &target) && insn->id != X86_INS_JMP && !r->has_table)
			*cheap = insn->address;
		else if (!elf_site_is_epilogue(insn))
			*cheap = 0;
		return 0;
	}
	if (r->count == r->max)
		return -E2BIG;
	r->at[r->count++] = *cheap ? *cheap : insn->address;
	*cheap = 0;
	return 0;
}

/* First all jumps, then the returns. */
static int elf_site_walk(struct returning *r, bool jumps)
{
	const uint8_t *code = r->code;
	size_t size = r->size;
	cs_insn *insn = r->d.malloc(r->cs);
	uint64_t addr = 0, cheap = 0;
	int err = insn ? 0 : -ENOMEM;

	while (!err && size) {
		if (!r->d.iterate(r->cs, &code, &size, &addr, insn))
			err = -ENOEXEC;
		else
			err = jumps ? elf_site_see_jump(r, insn)
				    : elf_site_see_return(r, insn, &cheap);
	}
	if (insn)
		r->d.free(insn, 1);
	return err;
}

static int elf_site_find_returns(int fd, const struct function *f, struct returning *r)
{
	uint8_t code[RETURNING_MAX];
	int err;

	if (!f->size || f->size > sizeof(code))
		return -E2BIG;
	if (pread(fd, code, f->size, (off_t)f->offset) != (ssize_t)f->size)
		return -EIO;
	err = elf_site_load_disassembler(&r->d);
	if (err)
		return err;
	r->code = code;
	r->size = (size_t)f->size;
	err = -ENOMEM;
	if (r->d.open(CS_ARCH_X86, CS_MODE_64, &r->cs) == CS_ERR_OK) {
		err = elf_site_walk(r, true);
		if (!err)
			err = elf_site_walk(r, false);
		r->d.close(&r->cs);
	}
	dlclose(r->d.library);
	return err;
}

static int elf_site_find_cheapest(int fd, const struct function *f, uint64_t *ret_offset)
{
	uint8_t code[CODE_MAX];
	size_t size = f->size < CODE_MAX ? (size_t)f->size : CODE_MAX;
	struct disassembler d;
	int err;
	csh cs;

	if (pread(fd, code, size, (off_t)f->offset) != (ssize_t)size)
		return -EIO;
	err = elf_site_load_disassembler(&d);
	if (err)
		return err;
	err = -ENOMEM;
	if (d.open(CS_ARCH_X86, CS_MODE_64, &cs) == CS_ERR_OK) {
		*ret_offset = f->offset + elf_site_cheapest(&d, cs, code, size);
		d.close(&cs);
		err = 0;
	}
	dlclose(d.library);
	return err;
}

/* Opens the file, also on failure: the caller closes image->fd. */
static int elf_site_open(const char *path, const char *symbol, struct image *f,
			 struct function *ret_found)
{
	struct wanted w = { &symbol, ret_found, 1, 1, TRIES_MAX };
	int err = image_open(path, f);

	if (err)
		return err;
	image_find(f, SHT_DYNSYM, &w);
	if (w.left)
		image_find(f, SHT_SYMTAB, &w);
	return w.left ? -ENOENT : 0;
}

int davy_elf_returns(const char *path, const char *symbol, size_t max, uint64_t *ret_offsets)
{
	struct image f = { .fd = -1 };
	struct function found = { 0 };
	struct returning r = { .max = max, .at = ret_offsets };
	int err = elf_site_open(path, symbol, &f, &found);
	DAVY_FD fd = f.fd;

	if (!err)
		err = elf_site_find_returns(fd, &found, &r);
	if (err)
		return err;
	for (size_t i = 0; i < r.count; i++)
		ret_offsets[i] += found.offset;
	return (int)r.count;
}

int davy_elf_site(const char *path, const char *symbol, bool keeps_arguments, uint64_t *ret_offset)
{
	struct image f = { .fd = -1 };
	struct function found = { 0 };
	int err = elf_site_open(path, symbol, &f, &found);
	DAVY_FD fd = f.fd;

	if (err)
		return err;
	if (keeps_arguments || elf_site_find_cheapest(fd, &found, ret_offset))
		*ret_offset = found.offset; /* always correct, only slower */
	return 0;
}

int davy_elf_exports(const char *path, const char *const *symbols, size_t count,
		     uint64_t *ret_offsets)
{
	struct function *found = calloc(count ? count : 1, sizeof(*found));
	struct image f = { .fd = -1 };
	struct wanted w = { symbols, found, count, count, count + TRIES_MAX };
	int err = found ? image_open(path, &f) : -ENOMEM;
	DAVY_FD fd = f.fd;

	memset(ret_offsets, 0, count * sizeof(*ret_offsets));
	if (!err)
		image_find(&f, SHT_DYNSYM, &w);
	for (size_t i = 0; !err && i < count; i++)
		ret_offsets[i] = found[i].offset;
	free(found);
	return err ? err : (int)(count - w.left);
}
