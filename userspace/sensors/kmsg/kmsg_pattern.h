/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patterns that look like the driver's own format strings. A pattern is matched from the begin of
 * the message, and what follows its end does not matter. Bounded work, no allocation, no recursion.
 *
 *   %p  pid, decimal		%d  a number that is not kept: decimal or 0x..., with sign
 *   %n  name of a process: up to 15 bytes of anything, as many as fit
 *   %N  the same, not kept	%w  a word that is not kept: letters, digits and _.:+-<>/@#'~
 *   %r  ring or engine: a word %a  address, hexadecimal with or without 0x
 *   %e  error: signed decimal, or a name such as -ENOENT
 *   %c  code: decimal		%v  VMID		%q  PASID, decimal or 0x...
 *   %b  PCI address		*   as little of anything as will do
 *   {a|b|}  one of these literals, the first that fits
 *   blank   one or more blanks; exactly one before %n
 */
#ifndef DAVY_KMSG_PATTERN_H
#define DAVY_KMSG_PATTERN_H

#include "core/event/types.h"

struct davy_kmsg_match {
	uint16_t kind; /* enum davy_log_kind */
	uint8_t has_vm;
	uint8_t pad;
	uint32_t pid;
	uint32_t vmid;
	uint32_t pasid;
	uint32_t code;
	int32_t error; /* 0 or -errno; -1 when its name is not known here */
	uint64_t addr;
	char comm[DAVY_COMM_LEN];
	char ring[DAVY_RING_NAME_LEN];
	char device[DAVY_DEVICE_LEN];
};

/* Whether "text" (terminated) begins as "pattern" says; fills what the pattern keeps. */
bool davy_kmsg_pattern(const char *pattern, const char *text, struct davy_kmsg_match *match);

#endif
