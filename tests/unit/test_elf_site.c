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

/*
 * Functions as compilers write them. Labels end with what a probe must find: "at" is a return,
 * "cheap" the jump before it.
 */
__asm__(".pushsection .text\n"
	".macro begin name\n.globl \\name\n.type \\name, @function\n\\name:\n.endm\n"
	".macro end name\n.size \\name, . - \\name\n.endm\n"
	"begin two_returns\n"
	"	test %edi, %edi\n je 1f\n mov $-1, %eax\n"
	".globl two_at_0\ntwo_at_0: ret\n"
	"1:	xor %eax, %eax\n"
	".globl two_at_1\ntwo_at_1: rep ret\n"
	"end two_returns\n"
	"begin guarded\n"
	"	push %rbx\n mov %esi, %eax\n cmp %rdi, %rbx\n"
	".globl guarded_cheap\nguarded_cheap: jne 1f\n"
	"	mov 8(%rsp), %rbp\n add $8, %rsp\n pop %rbx\n ret\n"
	"1:	call abort@PLT\n"
	"end guarded\n"
	"begin joined\n"
	"	mov %esi, %eax\n test %edi, %edi\n js 1f\n cmp %rdi, %rbx\n jne 2f\n"
	"	pop %rbx\n"
	"1:	pop %rbp\n"
	".globl joined_at\njoined_at: ret\n"
	"2:	call abort@PLT\n"
	"end joined\n"
	"begin late_result\n"
	"	cmp %rdi, %rbx\n jne 1f\n mov %ebx, %eax\n pop %rbx\n"
	".globl late_at\nlate_at: ret\n"
	"1:	call abort@PLT\n"
	"end late_result\n"
	"begin tail_call\n"
	"	test %edi, %edi\n je 1f\n jmp guarded\n"
	"1:	mov $-2, %eax\n ret\n"
	"end tail_call\n"
	"begin five_returns\n"
	"	ret\n ret\n ret\n ret\n ret\n"
	"end five_returns\n"
	"begin no_code\n"
	"	.byte 0x06\n ret\n"
	"end no_code\n"
	".popsection\n");

extern const char two_returns[], two_at_0[], two_at_1[], guarded[], guarded_cheap[], joined[],
	joined_at[], late_result[], late_at[];

static void result_is_at(const char *name, const char *begin, size_t index, const char *place)
{
	uint64_t entry, at[4] = { 0 };

	assert_int_equal(davy_elf_site("/proc/self/exe", name, true, &entry), 0);
	assert_true(davy_elf_returns("/proc/self/exe", name, 4, at) > (int)index);
	assert_int_equal(at[index] - entry, place - begin);
}

static void every_return_of_a_function_is_found(void **state)
{
	uint64_t at[4];

	(void)state;
	assert_int_equal(davy_elf_returns("/proc/self/exe", "two_returns", 4, at), 2);
	result_is_at("two_returns", two_returns, 0, two_at_0);
	result_is_at("two_returns", two_returns, 1, two_at_1);
}

static void a_jump_that_always_precedes_the_return_is_cheaper(void **state)
{
	(void)state;
	result_is_at("guarded", guarded, 0, guarded_cheap);
	result_is_at("joined", joined, 0, joined_at);
	result_is_at("late_result", late_result, 0, late_at);
}

static void a_function_without_known_ends_is_refused(void **state)
{
	uint64_t at[4];

	(void)state;
	assert_int_equal(davy_elf_returns("/proc/self/exe", "tail_call", 4, at), -ENOTSUP);
	assert_int_equal(davy_elf_returns("/proc/self/exe", "five_returns", 4, at), -E2BIG);
	assert_int_equal(davy_elf_returns("/proc/self/exe", "no_code", 4, at), -ENOEXEC);
	assert_int_equal(davy_elf_returns("/proc/self/exe", "no_such_function", 4, at), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sparse_file_of_many_tables_takes_little_memory),
		cmocka_unit_test(a_table_beyond_the_files_end_is_ignored),
		cmocka_unit_test(every_return_of_a_function_is_found),
		cmocka_unit_test(a_jump_that_always_precedes_the_return_is_cheaper),
		cmocka_unit_test(a_function_without_known_ends_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
