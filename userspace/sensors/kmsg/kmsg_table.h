/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of what drivers say: rows of a pattern and a kind, a file a driver. To add a line, add
 * a row with the driver's format string, and a fixture line to tests/unit/kmsg_fixtures.h; a test
 * wants one for every row. Earlier rows win within a file.
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
	uint32_t drivers; /* bits 1 << enum davy_kmsg_driver that may say it */
};

#define DAVY_KMSG_BIT(driver) (1u << DAVY_KMSG_##driver)
#define DAVY_KMSG_GROUP(table, who)                                                                \
	{                                                                                          \
		.rows = table, .count = sizeof(table) / sizeof((table)[0]), .drivers = who         \
	}

extern const struct davy_kmsg_group davy_kmsg_amdgpu, davy_kmsg_kfd, davy_kmsg_i915, davy_kmsg_xe,
	davy_kmsg_xe_short, davy_kmsg_drm, davy_kmsg_nvidia, davy_kmsg_nvidia_quoted,
	davy_kmsg_host, davy_kmsg_named;

#define DAVY_KMSG_GROUPS 10

/*
 * What "line" says; false when the table does not know it. The match's device is that of the text
 * when it names one, else the line's, else "".
 */
bool davy_kmsg_match(const struct davy_kmsg_line *line, struct davy_kmsg_match *ret_match);

/* The same with the row that says so; NULL when there is none. */
const struct davy_kmsg_row *davy_kmsg_row_of(const struct davy_kmsg_line *line,
					     struct davy_kmsg_match *ret_match);

/*
 * Whether the whole line is one that the kernel makes of a process's name: then nothing that stands
 * before a driver's message may be looked for in it.
 */
bool davy_kmsg_names_process(const char *text);

#endif
