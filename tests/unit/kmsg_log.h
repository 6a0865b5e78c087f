/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A log of a test's own: lines go in, the events that they make are kept. */
#ifndef TESTS_UNIT_KMSG_LOG_H
#define TESTS_UNIT_KMSG_LOG_H

#include "history.h"

#include "sensors/kmsg/kmsg_verdict.h"

#define AMD "amdgpu 0000:03:00.0: amdgpu: "

static struct davy_log_event reported[64];
static size_t told_count;
static struct davy_log_blocks blocks;
static struct davy_log_verdict verdict;

static void keep(void *arg, const struct davy_log_event *ev)
{
	(void)arg;
	assert_true(told_count < 64);
	assert_true(ev->role > DAVY_PART_NONE && ev->role <= DAVY_PART_AFTERMATH);
	assert_true(ev->class > DAVY_CLASS_NONE && ev->class < DAVY_CLASS_COUNT);
	reported[told_count++] = *ev;
	davy_log_verdict_add(&verdict, ev);
}

static inline void begin(void)
{
	told_count = 0;
	memset(&verdict, 0, sizeof(verdict));
	davy_log_blocks_init(&blocks, keep, NULL);
}

static inline void feed(const char *text)
{
	struct davy_kmsg_line line;

	if (davy_kmsg_line_parse(text, strlen(text), &line))
		davy_log_blocks_feed(&blocks, &line);
}

static inline void feed_record(const char *text)
{
	struct davy_kmsg_line line;

	assert_int_equal(davy_kmsg_record_parse(text, strlen(text), &line), 0);
	davy_log_blocks_feed(&blocks, &line);
}

/* The lines of a whole log, and how many events they made. */
static inline size_t read_log(const char *const *lines, size_t count)
{
	begin();
	for (size_t i = 0; i < count; i++)
		feed(lines[i]);
	davy_log_blocks_finish(&blocks);
	return told_count;
}

#define READ(lines) read_log(lines, sizeof(lines) / sizeof((lines)[0]))

#endif
