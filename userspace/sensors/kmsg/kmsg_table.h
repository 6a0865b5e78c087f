/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Table of driver messages: each row has a pattern and a kind, one file per driver. To add a line,
 * add a row with the driver's format string and a fixture to tests/unit/kmsg_fixtures.h; a test
 * requires one per row. Within a file, earlier rows win.
 */
#ifndef DAVY_KMSG_TABLE_H
#define DAVY_KMSG_TABLE_H

#include "core/event/log_kind.h"
#include "sensors/kmsg/kmsg_line.h"
#include "sensors/kmsg/kmsg_pattern.h"

struct davy_kmsg_row {
	const char *pattern;
	uint16_t kind; /* enum davy_log_kind */
};

struct davy_kmsg_group {
	const struct davy_kmsg_row *rows;
	size_t count;
	uint32_t drivers; /* bits 1 << enum davy_kmsg_driver that can send it */
};

#define DAVY_KMSG_BIT(driver) (1u << DAVY_KMSG_##driver)
#define DAVY_KMSG_GROUP(table, who)                                                                \
	{                                                                                          \
		.rows = table, .count = sizeof(table) / sizeof((table)[0]), .drivers = who         \
	}

extern const struct davy_kmsg_group davy_kmsg_amdgpu, davy_kmsg_kfd, davy_kmsg_i915, davy_kmsg_xe,
	davy_kmsg_xe_short, davy_kmsg_drm, davy_kmsg_nvidia, davy_kmsg_nvidia_bare,
	davy_kmsg_nvidia_quoted, davy_kmsg_host, davy_kmsg_named;

#define DAVY_KMSG_GROUPS 11

/*
 * Looks up a line; false if no row matches. The device of the match is the one in the text,
 * otherwise that of the line, otherwise "".
 */
bool davy_kmsg_match(const struct davy_kmsg_line *line, struct davy_kmsg_match *ret_match);

/* Like davy_kmsg_match, but returns the row; NULL if none. */
const struct davy_kmsg_row *davy_kmsg_row_of(const struct davy_kmsg_line *line,
					     struct davy_kmsg_match *ret_match);

/*
 * True if the kernel generated the whole line from a process name. Such a line must not be searched
 * for driver messages after other words.
 */
bool davy_kmsg_names_process(const char *text);

#endif
