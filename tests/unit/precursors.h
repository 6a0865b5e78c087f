/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: one occurrence as reported by several sensors. */
#ifndef DAVY_TESTS_PRECURSORS_H
#define DAVY_TESTS_PRECURSORS_H

#include "record.h"

/* A line that represents "repeats" further lines of its kind. */
static inline void repeated_line_of(enum davy_log_kind kind, const char *device, uint32_t pid,
				    uint32_t repeats)
{
	const struct davy_log_meaning *meaning = davy_log_meaning(kind);
	struct davy_event ev = event(DAVY_EV_LOG, pid);

	davy_copy_name(ev.log.device, sizeof(ev.log.device), device);
	davy_copy_name(ev.log.comm, sizeof(ev.log.comm), "code:cs0");
	ev.log.kind = (uint16_t)kind;
	ev.log.role = meaning->role;
	ev.log.log_class = meaning->class;
	ev.log.hazard = meaning->hazard;
	ev.log.weight = meaning->weight;
	ev.log.repeats = repeats;
	tell(&ev);
}

static inline void line_of(enum davy_log_kind kind, const char *device, uint32_t pid)
{
	repeated_line_of(kind, device, pid, 0);
}

static inline void line(enum davy_log_kind kind)
{
	line_of(kind, GPU, 60);
}

static inline void kfd_of(uint32_t pid, enum davy_kfd_event what, const char *detail)
{
	struct davy_event ev = event(DAVY_EV_KFD, pid);

	davy_copy_name(ev.kfd.device, sizeof(ev.kfd.device), GPU);
	davy_copy_name(ev.kfd.detail, sizeof(ev.kfd.detail), detail);
	ev.kfd.event = what;
	tell(&ev);
}

static inline void kfd(enum davy_kfd_event what, const char *detail)
{
	kfd_of(60, what, detail);
}

static inline void fact(enum davy_fact what, int32_t error, uint64_t fresh, const char *name)
{
	struct davy_event ev = event(DAVY_EV_FACT, 60);

	davy_copy_name(ev.fact.device, sizeof(ev.fact.device), GPU);
	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), name);
	ev.fact.fact = (uint16_t)what;
	ev.fact.error = error;
	ev.fact.count = ev.fact.fresh = fresh;
	tell(&ev);
}

static inline void announces(enum davy_device_change change, const char *detail, int32_t value)
{
	struct davy_event ev = event(DAVY_EV_DEVICE, 0);

	davy_copy_name(ev.device.device, sizeof(ev.device.device), GPU);
	davy_copy_name(ev.device.detail, sizeof(ev.device.detail), detail);
	ev.device.change = change;
	ev.device.value = value;
	tell(&ev);
}

static inline void engine_60(const char *name)
{
	if (name)
		begin_recording(name);
	else
		begin_history();
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_ROCM);
}

#endif
