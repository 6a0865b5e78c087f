/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A history that is recorded while it is built, and replayed from its file: the plans are equal,
 * byte for byte. With DAVYLAMP_RECORD=DIR the traces stay there, for tests/replay; those with
 * "-benign" in their name get a label that marks them so.
 */
#ifndef DAVY_TESTS_RECORD_H
#define DAVY_TESTS_RECORD_H

#include "history.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/trace.h"
#include "lab/label.h"

static struct davy_trace_writer *recorder;
static char record_path[256];
static const char *record_as; /* begin_recorded() takes it; NULL: no recording */

static inline void write_event(const struct davy_event *ev)
{
	assert_int_equal(davy_trace_write(recorder, ev), 0);
}

/* A new history, with every threshold as the agent would record it. */
static inline void begin_recording(const char *name)
{
	const char *dir = getenv("DAVYLAMP_RECORD");

	begin_history();
	snprintf(record_path, sizeof(record_path), "%s/%s.trace", dir ? dir : "/tmp", name);
	if (!dir) {
		snprintf(record_path, sizeof(record_path), "/tmp/davylamp-%s-XXXXXX", name);
		close(mkstemp(record_path));
		unlink(record_path);
	}
	assert_int_equal(davy_trace_create(record_path, &recorder), 0);
	listener = write_event;
	for (size_t i = 0; i < DAVY_CFG_COUNT; i++)
		set(davy_config_rows[i].name, davy_config_rows[i].value);
}

/* For histories with a shared beginning: recorded when "record_as" was set before. */
static inline void begin_recorded(void)
{
	if (record_as)
		begin_recording(record_as);
	else
		begin_history();
	record_as = NULL;
}

static inline void label_benign(void)
{
	struct davy_label label = { .class = DAVY_CLASS_NONE, .begin_ns = 100 * S };
	char path[256];

	if (!getenv("DAVYLAMP_RECORD") || !strstr(record_path, "-benign"))
		return;
	label.duration_ns = now - label.begin_ns;
	assert_int_equal(davy_label_path(path, sizeof(path), record_path), 0);
	assert_int_equal(davy_label_write(path, &label), 0);
}

static inline void assert_replays(void)
{
	static struct davy_core again;
	struct davy_plan plans[DAVY_PLANS_MAX];
	struct davy_trace_reader *reader;
	struct davy_event ev;
	size_t count = 0;

	listener = NULL;
	assert_int_equal(davy_trace_close(recorder), 0);
	label_benign();
	assert_int_equal(davy_trace_open(record_path, &reader), 0);
	davy_core_init(&again);
	while (davy_trace_next(reader, &ev) > 0) {
		size_t more = davy_core_step(&again, &ev, plans, DAVY_PLANS_MAX);

		assert_true(count + more <= PLANS_KEPT);
		assert_memory_equal(plans, kept + count, more * sizeof(plans[0]));
		count += more;
	}
	assert_int_equal(count, kept_count);
	assert_memory_equal(&again, &core, sizeof(core));
	davy_trace_reader_free(reader);
	if (!getenv("DAVYLAMP_RECORD"))
		unlink(record_path);
}

#endif
