/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/seccomp.h"

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "seccomp.c: name the audit architecture of this machine"
#endif

#define X32_BIT 0x40000000u
#define EPERM_	(SECCOMP_RET_ERRNO | EPERM)

static void filter_add(struct davy_filter *f, struct sock_filter instruction)
{
	assert(f->count < DAVY_FILTER_MAX);
	f->code[f->count++] = instruction;
}

static void filter_load(struct davy_filter *f, size_t offset)
{
	filter_add(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void filter_return(struct davy_filter *f, uint32_t action)
{
	filter_add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* When what is loaded compares by "how" with "value": "action". */
static void filter_when(struct davy_filter *f, uint16_t how, uint32_t value, uint32_t action)
{
	filter_add(f, (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | how | BPF_K), value, 0, 1));
	filter_return(f, action);
}

/*
 * The next "length" instructions see the argument of "nr", and the call's number comes back
 * after.
 */
static void filter_begin_argument(struct davy_filter *f, uint32_t nr, unsigned int argument,
				  size_t length)
{
	size_t low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4;

	assert(length + 2 < 256);
	filter_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0,
						   (uint8_t)(length + 2)));
	filter_load(f, offsetof(struct seccomp_data, args) + (size_t)argument * 8 + low);
}

static void filter_end_argument(struct davy_filter *f)
{
	filter_load(f, offsetof(struct seccomp_data, nr));
}

void davy_filter_begin(struct davy_filter *f)
{
	f->count = 0;
	filter_load(f, offsetof(struct seccomp_data, arch));
	filter_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0));
	filter_return(f, SECCOMP_RET_KILL_PROCESS);
	filter_load(f, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
	filter_when(f, BPF_JGE, X32_BIT, SECCOMP_RET_ERRNO | ENOSYS);
#endif
}

void davy_filter_refuse(struct davy_filter *f, uint32_t nr)
{
	filter_when(f, BPF_JEQ, nr, EPERM_);
}

void davy_filter_unknown(struct davy_filter *f, uint32_t nr)
{
	filter_when(f, BPF_JEQ, nr, SECCOMP_RET_ERRNO | ENOSYS);
}

void davy_filter_refuse_bits(struct davy_filter *f, uint32_t nr, unsigned int argument,
			     uint32_t bits)
{
	filter_begin_argument(f, nr, argument, 2);
	filter_when(f, BPF_JSET, bits, EPERM_);
	filter_end_argument(f);
}

void davy_filter_refuse_value(struct davy_filter *f, uint32_t nr, unsigned int argument,
			      uint32_t value)
{
	filter_begin_argument(f, nr, argument, 2);
	filter_when(f, BPF_JEQ, value, EPERM_);
	filter_end_argument(f);
}

void davy_filter_only_values(struct davy_filter *f, uint32_t nr, unsigned int argument,
			     const uint32_t *values, size_t count)
{
	filter_begin_argument(f, nr, argument, 2 * count + 1);
	for (size_t i = 0; i < count; i++)
		filter_when(f, BPF_JEQ, values[i], SECCOMP_RET_ALLOW);
	filter_return(f, EPERM_);
	filter_end_argument(f);
}

/* Without SPEC_ALLOW kernels before 5.16 slow the process down against speculation. */
int davy_filter_install(struct davy_filter *f)
{
	struct sock_fprog program = { .filter = f->code };

	filter_return(f, SECCOMP_RET_ALLOW);
	program.len = f->count;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
		       &program)
		       ? -errno
		       : 0;
}
