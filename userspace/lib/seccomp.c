/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/seccomp.h"

#include <assert.h>
#include <linux/audit.h>
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

void davy_filter_add(struct davy_filter *f, struct sock_filter instruction)
{
	assert(f->count < DAVY_FILTER_MAX);
	f->code[f->count++] = instruction;
}

static void filter_load(struct davy_filter *f, size_t offset)
{
	davy_filter_add(f,
			(struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

void davy_filter_return(struct davy_filter *f, uint32_t action)
{
	davy_filter_add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

void davy_filter_when(struct davy_filter *f, uint16_t how, uint32_t value, uint32_t action)
{
	davy_filter_add(
		f, (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | how | BPF_K), value, 0, 1));
	davy_filter_return(f, action);
}

void davy_filter_begin(struct davy_filter *f)
{
	f->count = 0;
	filter_load(f, offsetof(struct seccomp_data, arch));
	davy_filter_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0));
	davy_filter_return(f, SECCOMP_RET_KILL_PROCESS);
	filter_load(f, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
	davy_filter_when(f, BPF_JGE, X32_BIT, DAVY_FILTER_ENOSYS);
#endif
}

void davy_filter_call(struct davy_filter *f, uint32_t nr, uint32_t action)
{
	davy_filter_when(f, BPF_JEQ, nr, action);
}

void davy_filter_calls(struct davy_filter *f, const uint16_t *list, size_t count, uint32_t action)
{
	for (size_t i = 0; i < count; i++)
		davy_filter_call(f, list[i], action);
}

/* The low half of an argument. */
void davy_filter_argument(struct davy_filter *f, unsigned int argument)
{
	size_t low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4;

	filter_load(f, offsetof(struct seccomp_data, args) + (size_t)argument * 8 + low);
}

unsigned short davy_filter_begin_call(struct davy_filter *f, uint32_t nr, unsigned int argument)
{
	unsigned short begin = f->count;

	davy_filter_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 0));
	davy_filter_argument(f, argument);
	return begin;
}

/* Outside of the rules for one call, the call's number is loaded. */
void davy_filter_end_call(struct davy_filter *f, unsigned short begin)
{
	filter_load(f, offsetof(struct seccomp_data, nr));
	assert(f->count - begin - 1 <= UINT8_MAX);
	f->code[begin].jf = (uint8_t)(f->count - begin - 1);
}

void davy_filter_refuse_bits(struct davy_filter *f, uint32_t nr, unsigned int argument,
			     uint32_t bits)
{
	unsigned short begin = davy_filter_begin_call(f, nr, argument);

	davy_filter_when(f, BPF_JSET, bits, DAVY_FILTER_EPERM);
	davy_filter_end_call(f, begin);
}

void davy_filter_refuse_values(struct davy_filter *f, uint32_t nr, unsigned int argument,
			       const uint32_t *values, size_t count)
{
	unsigned short begin = davy_filter_begin_call(f, nr, argument);

	for (size_t i = 0; i < count; i++)
		davy_filter_when(f, BPF_JEQ, values[i], DAVY_FILTER_EPERM);
	davy_filter_end_call(f, begin);
}

void davy_filter_only_values(struct davy_filter *f, uint32_t nr, unsigned int argument,
			     const uint32_t *values, size_t count, uint32_t otherwise)
{
	unsigned short begin = davy_filter_begin_call(f, nr, argument);

	for (size_t i = 0; i < count; i++)
		davy_filter_when(f, BPF_JEQ, values[i], SECCOMP_RET_ALLOW);
	davy_filter_return(f, otherwise);
	davy_filter_end_call(f, begin);
}

/* Without SPEC_ALLOW, kernels before 5.16 enable slow speculation mitigations. */
int davy_filter_install(struct davy_filter *f, uint32_t otherwise)
{
	struct sock_fprog program = { .filter = f->code };

	davy_filter_return(f, otherwise);
	program.len = f->count;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
		       &program)
		       ? -errno
		       : 0;
}
