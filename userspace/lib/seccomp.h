/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds system call filters that name what is refused. By hand: a filter is a list of numbers and
 * some looks at an argument, and libseccomp would be one more library. What is refused fails with
 * EPERM, so that a library that merely tries goes on.
 */
#ifndef DAVY_SECCOMP_H
#define DAVY_SECCOMP_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

#define DAVY_FILTER_MAX 512 /* instructions: two for a call, six for a look at an argument */

struct davy_filter {
	struct sock_filter code[DAVY_FILTER_MAX];
	unsigned short count;
};

/* The machine's own calls only: another architecture's end the process, x32's are unknown. */
void davy_filter_begin(struct davy_filter *f);
void davy_filter_refuse(struct davy_filter *f, uint32_t nr);
/* As if the kernel did not know it. */
void davy_filter_unknown(struct davy_filter *f, uint32_t nr);
/* When a bit of "bits" is set in the argument's low half. */
void davy_filter_refuse_bits(struct davy_filter *f, uint32_t nr, unsigned int argument,
			     uint32_t bits);
void davy_filter_refuse_value(struct davy_filter *f, uint32_t nr, unsigned int argument,
			      uint32_t value);
/* Any value but these. */
void davy_filter_only_values(struct davy_filter *f, uint32_t nr, unsigned int argument,
			     const uint32_t *values, size_t count);
/*
 * For this thread and all that it starts, for good. 0 or -errno; needs no_new_privs or a
 * capability.
 */
int davy_filter_install(struct davy_filter *f);

#endif
