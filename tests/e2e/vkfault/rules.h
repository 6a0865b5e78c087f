/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fault layer's rules: read from the file that DAVYLAMP_VKFAULT names, and read again when that
 * file changes. Independent of Vulkan; the layer asks for the action at each intercepted call.
 *
 * The file holds words and settings, separated by white space:
 *
 *	ok				no fault (as is an empty or missing file)
 *	lost after=N			after N more submits the device is lost
 *	hang [ms=N] [after=N]		after N more submits no wait ends; with ms, it
 *					is lost N milliseconds later
 *	slow ms=N			each submit takes N milliseconds longer
 *	oom [min=BYTES]			allocations of at least BYTES (default 1) fail
 *	crash after=N			after N more submits: SIGSEGV
 *	print				each submit prints a line to stdout
 *	noise				each submit writes to every pipe that is open
 *	spin				a submit computes and does not return
 *	wide=N				of these rules: only submits of more than N
 *					workgroups count
 *	heap=BYTES			size of device-local heaps; allocations beyond it fail
 *	type=discrete|integrated|cpu	the device's type
 *	vendor=N device=N		its PCI numbers, "0x8086" too (ggml chooses code by them)
 *	name=TEXT			the device's name; TEXT ends with the line
 *
 * "after" counts from the moment the rule was read, and defaults to 0. BYTES may end in K, M or G.
 * A fault lasts until the file changes. Replace the file by rename: a change within one clock tick
 * that keeps size and inode is not seen.
 */
#ifndef VKFAULT_RULES_H
#define VKFAULT_RULES_H

#include <stdbool.h>
#include <stdint.h>

enum fault_kind {
	FAULT_OK,
	FAULT_LOST,
	FAULT_HANG,
	FAULT_SLOW,
	FAULT_OOM,
	FAULT_CRASH,
	FAULT_PRINT,
	FAULT_NOISE,
	FAULT_SPIN
};
enum fault_device_type {
	DEVICE_AS_IS,
	DEVICE_DISCRETE,
	DEVICE_INTEGRATED,
	DEVICE_CPU
};

struct fault_rule {
	enum fault_kind kind;
	uint64_t after_count;
	uint64_t ms;
	uint64_t min_bytes;
	uint64_t wide;	     /* workgroups */
	uint64_t heap_bytes; /* 0: as it is */
	enum fault_device_type type;
	uint64_t vendor; /* 0: as it is */
	uint64_t device;
	char name[128]; /* empty: as it is */
};

/* The action for a wait or a submit at this moment. */
enum fault_state {
	STATE_FINE,
	STATE_LOST,
	STATE_HUNG
};

/* Returns 0, or -EINVAL for a word that is not known; *ret_rule is then untouched. */
int fault_rule_parse(const char *text, struct fault_rule *ret_rule);

/* A copy of the rule in force. */
struct fault_rule fault_rule_now(void);

/* To be called before each submit: counts it, and crashes or delays the caller if so ruled.
 * "groups": the workgroups that it is made of. */
enum fault_state fault_on_submit(const char *call, uint64_t groups);

/* The state of the device as a call that does not submit finds it. */
enum fault_state fault_state_now(const char *call);

/* Whether an allocation must fail. "used_bytes": memory that the process has already allocated. */
bool fault_on_allocate(uint64_t bytes, uint64_t used_bytes);

#endif
