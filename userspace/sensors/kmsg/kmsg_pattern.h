/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patterns that resemble the driver's format strings. A pattern matches at the beginning of the
 * message; text after the match is ignored. Bounded work, no allocation, no recursion.
 *
 *   %p  pid, decimal                       %d  a number, not stored: decimal or 0x..., with sign
 *   %n  process name: up to 15 bytes of any value, as many as possible
 *   %N  like %n, not stored                %w  a word, not stored: letters, digits and _.:+-<>/@#'~
 *   %r  ring or engine: a word             %a  address, hexadecimal with or without 0x
 *   %e  error: signed decimal, or a name such as -ENOENT
 *   %c  code: decimal                      %v  VMID                 %q  PASID, decimal or 0x...
 *   %b  PCI address, or bus and below      *   any text, as short as possible
 *   {a|b|}  one of these literals, the first that matches
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
	int32_t error; /* 0 or -errno; -1 if the name is unknown */
	uint64_t addr;
	char comm[DAVY_COMM_LEN];
	char ring[DAVY_RING_NAME_LEN];
	char device[DAVY_DEVICE_LEN];
};

/* True if "text" (terminated) starts with "pattern". Stores the converted values. */
bool davy_kmsg_pattern(const char *pattern, const char *text, struct davy_kmsg_match *match);

#endif
