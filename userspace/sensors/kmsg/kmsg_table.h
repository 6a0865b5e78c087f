/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of what drivers say: rows of a pattern and a kind, a file a driver. To add a line, add
 * a row with the driver's format string, and a fixture line to tests/unit/kmsg_fixtures.h; a test
 * wants one for every row. Earlier rows win within a file.
 */
#ifndef DL_SENSORS_KMSG_TABLE_H
#define DL_SENSORS_KMSG_TABLE_H

#include "core/event/log_kind.h"
#include "sensors/kmsg/kmsg_line.h"
#include "sensors/kmsg/kmsg_pattern.h"

struct dl_kmsg_row {
	const char *pattern;
	uint16_t kind; /* enum dl_log_kind */
};

struct dl_kmsg_group {
	const struct dl_kmsg_row *rows;
	size_t count;
	uint32_t drivers; /* bits 1 << enum dl_kmsg_driver that may say it */
};

#define DL_KMSG_BIT(driver) (1u << DL_KMSG_##driver)
#define DL_KMSG_GROUP(table, who)                                                                  \
	{                                                                                          \
		.rows = table, .count = sizeof(table) / sizeof((table)[0]), .drivers = who         \
	}

extern const struct dl_kmsg_group dl_kmsg_amdgpu, dl_kmsg_kfd, dl_kmsg_i915, dl_kmsg_xe,
	dl_kmsg_xe_short, dl_kmsg_drm, dl_kmsg_nvidia, dl_kmsg_nvidia_quoted, dl_kmsg_host,
	dl_kmsg_named;

#define DL_KMSG_GROUPS 10

/*
 * What "line" says; false when the table does not know it. The match's device is that of the text
 * when it names one, else the line's, else "".
 */
bool dl_kmsg_match(const struct dl_kmsg_line *line, struct dl_kmsg_match *ret_match);

/* The same with the row that says so; NULL when there is none. */
const struct dl_kmsg_row *dl_kmsg_row_of(const struct dl_kmsg_line *line,
					 struct dl_kmsg_match *ret_match);

/*
 * Whether the whole line is one that the kernel makes of a process's name: then nothing that stands
 * before a driver's message may be looked for in it.
 */
bool dl_kmsg_names_process(const char *text);

#endif
