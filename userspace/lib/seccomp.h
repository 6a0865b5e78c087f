/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds system call filters from tables of calls and rules about arguments. libseccomp is not
 * used: a filter is a short program, and a library would cost memory in every confined process.
 * Refused calls fail with EPERM instead of killing the process, so that a library can try them and
 * go on. Rules are evaluated in the order in which they are added; the first action counts.
 */
#ifndef DAVY_SECCOMP_H
#define DAVY_SECCOMP_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

#define DAVY_FILTER_MAX 512 /* instructions: two per call, six or more per rule on an argument */

#define DAVY_FILTER_EPERM  (SECCOMP_RET_ERRNO | EPERM)
#define DAVY_FILTER_ENOSYS (SECCOMP_RET_ERRNO | ENOSYS) /* as if the kernel lacked the call */

struct davy_filter {
	struct sock_filter code[DAVY_FILTER_MAX];
	unsigned short count;
};

/* Only native calls: those of other architectures kill the process, x32 calls fail with ENOSYS. */
void davy_filter_begin(struct davy_filter *f);

/* "action" for one call, and for each call of a list. */
void davy_filter_call(struct davy_filter *f, uint32_t nr, uint32_t action);
void davy_filter_calls(struct davy_filter *f, const uint16_t *list, size_t count, uint32_t action);

/* Refuses a call if a bit of "bits" is set in the low half of its argument. */
void davy_filter_refuse_bits(struct davy_filter *f, uint32_t nr, unsigned int argument,
			     uint32_t bits);

/* Refuses a call with one of these values. */
void davy_filter_refuse_values(struct davy_filter *f, uint32_t nr, unsigned int argument,
			       const uint32_t *values, size_t count);

/* Allows a call with one of these values; "otherwise" for all others. */
void davy_filter_only_values(struct davy_filter *f, uint32_t nr, unsigned int argument,
			     const uint32_t *values, size_t count, uint32_t otherwise);

/*
 * Rules for one call, between begin and end, which takes the result of begin. The first argument to
 * compare is loaded; davy_filter_argument() loads another one. At most 250 instructions.
 */
unsigned short davy_filter_begin_call(struct davy_filter *f, uint32_t nr, unsigned int argument);
void davy_filter_argument(struct davy_filter *f, unsigned int argument);
void davy_filter_add(struct davy_filter *f, struct sock_filter instruction);
/* "action" if the loaded value compares by "how" (BPF_JEQ, ...) with "value". */
void davy_filter_when(struct davy_filter *f, uint16_t how, uint32_t value, uint32_t action);
void davy_filter_return(struct davy_filter *f, uint32_t action);
void davy_filter_end_call(struct davy_filter *f, unsigned short begin);

/*
 * Installs the filter for this thread and its children, permanently. "otherwise" is the action for
 * all other calls. 0 or -errno; needs no_new_privs or CAP_SYS_ADMIN.
 */
int davy_filter_install(struct davy_filter *f, uint32_t otherwise);

#endif
