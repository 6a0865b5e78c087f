/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/resident.h"

#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Code and constants only: what was written, relocations too, lies in segments with PF_W. */
static int resident_shed_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	(void)size;
	(void)arg;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t begin = (info->dlpi_addr + p->p_vaddr) & ~(page - 1);
		uintptr_t end = info->dlpi_addr + p->p_vaddr + p->p_memsz;

		if (p->p_type == PT_LOAD && !(p->p_flags & PF_W))
			madvise((void *)begin, end - begin, MADV_DONTNEED);
	}
	return 0;
}

void davy_resident_shed(void)
{
	malloc_trim(0);
	dl_iterate_phdr(resident_shed_object, NULL);
}
