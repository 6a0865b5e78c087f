/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prefixes that logs put before a kernel message. Only for kmsg_line.c and the patterns. */
#ifndef DAVY_KMSG_PREFIX_H
#define DAVY_KMSG_PREFIX_H

#include "sensors/kmsg/kmsg_line.h"

static inline bool davy_kmsg_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool davy_kmsg_alnum(char c)
{
	return davy_kmsg_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline char davy_kmsg_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

static inline int davy_kmsg_hex(char c)
{
	if (davy_kmsg_digit(c))
		return c - '0';
	c = davy_kmsg_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static inline bool davy_kmsg_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline const char *davy_kmsg_skip_blanks(const char *p)
{
	while (davy_kmsg_blank(*p))
		p++;
	return p;
}

/*
 * Skips all log prefixes of "text" (terminated) and stores time, stamp and priority. NULL if the
 * line is not from the kernel.
 */
const char *davy_kmsg_prefix(const char *text, struct davy_kmsg_line *line);

#endif
