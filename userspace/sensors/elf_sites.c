/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf_sites.h"

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/file.h"

#define CODE_MAX (64 * 1024) /* bytes of one function */

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
	bool (*iterate)(csh handle, const uint8_t **code, size_t *size, uint64_t *addr, cs_insn *insn);
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
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = header->sh_entsize && data ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
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

static int collect_returns(const struct disassembler *d, csh cs, const struct function *f,
			   const uint8_t *code, size_t size, struct dl_elf_sites *sites)
{
	cs_insn *insn = d->malloc(cs);
	uint64_t addr = 0;
	int err = 0;

	if (!insn)
		return -ENOMEM;
	while (!err && d->iterate(cs, &code, &size, &addr, insn)) {
		if (insn->id != X86_INS_RET)
			continue;
		if (sites->return_count == DL_RETURN_SITES)
			err = -E2BIG;
		else
			sites->returns[sites->return_count++] = f->offset + insn->address;
	}
	d->free(insn, 1);
	return err;
}

static int disassemble(const struct function *f, const uint8_t *code, size_t size,
		       struct dl_elf_sites *sites)
{
	struct disassembler d;
	csh cs;
	int err = load_disassembler(&d);

	if (err)
		return err;
	err = -ENOMEM;
	if (d.open(CS_ARCH_X86, CS_MODE_64, &cs) == CS_ERR_OK) {
		err = collect_returns(&d, cs, f, code, size, sites);
		d.close(&cs);
	}
	dlclose(d.library);
	return err;
}

static int find_returns(int fd, const struct function *f, struct dl_elf_sites *sites)
{
	size_t size = f->size < CODE_MAX ? (size_t)f->size : CODE_MAX;
	uint8_t *code = malloc(size ? size : 1);
	int err = -EIO;

	if (!code)
		return -ENOMEM;
	if (pread(fd, code, size, (off_t)f->offset) == (ssize_t)size)
		err = disassemble(f, code, size, sites);
	free(code);
	return err;
}

static int open_elf(int fd, Elf **ret_elf)
{
	GElf_Ehdr header;
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf)
		return -ENOEXEC;
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64) {
		elf_end(elf);
		return -ENOEXEC;
	}
	*ret_elf = elf;
	return 0;
}

int dl_elf_sites(const char *path, const char *symbol, bool wants_returns, struct dl_elf_sites *ret_sites)
{
	DL_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	struct dl_elf_sites sites = { 0 };
	struct function f;
	Elf *elf;
	int err;

	if (fd < 0)
		return -errno;
	err = open_elf(fd, &elf);
	if (err)
		return err;
	err = find_function(elf, symbol, &f);
	elf_end(elf);
	if (err)
		return err;
	sites.entry = f.offset;
	if (wants_returns)
		err = find_returns(fd, &f, &sites);
	if (!err)
		*ret_sites = sites;
	return err;
}
