/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Malicious ELF files: sparse, with many tables, with false offsets and sizes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/file.h"
#include "sensors/proc/elf_site.h"
#include "sensors/proc/container_path.h"

#define TABLES	   40
#define TABLE_SIZE ((uint64_t)48 << 20) /* of each, all in holes */

struct bomb {
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	Elf64_Shdr section[2 + TABLES];
};

static struct bomb bomb;

static void make_bomb(uint32_t type, uint64_t size)
{
	memset(&bomb, 0, sizeof(bomb));
	memcpy(bomb.head.e_ident, ELFMAG, SELFMAG);
	bomb.head.e_ident[EI_CLASS] = ELFCLASS64;
	bomb.head.e_ident[EI_DATA] = ELFDATA2LSB;
	bomb.head.e_ident[EI_VERSION] = EV_CURRENT;
	bomb.head.e_type = ET_DYN;
	bomb.head.e_version = EV_CURRENT;
	bomb.head.e_machine = EM_X86_64;
	bomb.head.e_ehsize = sizeof(bomb.head);
	bomb.head.e_phentsize = sizeof(bomb.segment);
	bomb.head.e_phnum = 1;
	bomb.head.e_phoff = offsetof(struct bomb, segment);
	bomb.head.e_shentsize = sizeof(bomb.section[0]);
	bomb.head.e_shnum = 2 + TABLES;
	bomb.head.e_shoff = offsetof(struct bomb, section);
	bomb.section[1].sh_type = SHT_STRTAB;
	bomb.section[1].sh_size = size;
	bomb.section[1].sh_offset = sizeof(bomb);
	for (size_t i = 2; i < 2 + TABLES; i++)
		bomb.section[i] = (Elf64_Shdr){ .sh_type = type,
						.sh_link = 1,
						.sh_size = size,
						.sh_entsize = sizeof(Elf64_Sym),
						.sh_offset = sizeof(bomb) };
}

static int look_into(uint64_t file_size)
{
	DAVY_FD fd = memfd_create("bomb", MFD_CLOEXEC);
	uint64_t offset = 0;
	char path[DAVY_SELF_FD_SIZE];

	assert_int_equal(write(fd, &bomb, sizeof(bomb)), sizeof(bomb));
	assert_int_equal(ftruncate(fd, (off_t)file_size), 0);
	return davy_elf_site(davy_self_fd(fd, path), "__cxa_throw", true, &offset);
}

static long peak_mib(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_maxrss / 1024;
}

static void a_sparse_file_of_many_tables_takes_little_memory(void **state)
{
	long before = peak_mib();

	(void)state;
	make_bomb(SHT_SYMTAB, TABLE_SIZE);
	assert_int_equal(look_into(sizeof(bomb) + TABLE_SIZE), -ENOENT);
	make_bomb(SHT_DYNSYM, TABLE_SIZE);
	assert_int_equal(look_into(sizeof(bomb) + TABLE_SIZE), -ENOENT);
	assert_true(peak_mib() - before < 256); /* its names, and the sanitizer's quarantine */
}

static void a_table_beyond_the_files_end_is_ignored(void **state)
{
	(void)state;
	make_bomb(SHT_DYNSYM, TABLE_SIZE);
	assert_int_equal(look_into(sizeof(bomb) + 100), -ENOENT);
	bomb.section[1].sh_offset = UINT64_MAX;
	assert_int_equal(look_into(sizeof(bomb) + 100), -ENOENT);
	bomb.head.e_shoff = UINT64_MAX - 10;
	assert_int_equal(look_into(sizeof(bomb) + 100), -ENOENT);
	bomb.head.e_shentsize = 1;
	assert_int_equal(look_into(sizeof(bomb) + 100), -ENOENT);
	bomb.head.e_phentsize = 0;
	assert_int_equal(look_into(sizeof(bomb) + 100), -ENOEXEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sparse_file_of_many_tables_takes_little_memory),
		cmocka_unit_test(a_table_beyond_the_files_end_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
