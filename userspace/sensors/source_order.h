/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source order: for each fact its sources in order of worth, which one is in use, why the
 * better ones are not, and what stays unseen without any.
 */
#ifndef DAVY_SOURCE_ORDER_H
#define DAVY_SOURCE_ORDER_H

#include "sensors/bpf/bpf.h"

#define DAVY_SOURCE_SOURCES 3

enum davy_source_state {
	DAVY_SOURCE_LIVE = 0,  /* attached, and it has reported an event since the agent's start */
	DAVY_SOURCE_READY = 1, /* attached to a hook that is trusted; no event is known to be its */
	DAVY_SOURCE_OFF = 2,
	DAVY_SOURCE_STATE_COUNT = 3,
};

/* A source that is no program of ours: its name has no "/". */
struct davy_source_other {
	const char *source;
	const char *hook;
	const char *reason; /* why it is not in use */
	bool used;
	uint64_t seen_count; /* of events that have no other source */
};

struct davy_source_choice {
	const char *source; /* "amdgpu/iv_seen" */
	const char *hook;   /* "tp_btf/amdgpu_iv", "" when the source is unknown */
	const char *reason; /* why it is not in use, "" when it is */
};

struct davy_source_order {
	const char *driver; /* "host", "drm", "amdgpu", ... */
	const char *fact;
	const char *unseen; /* what is lost without any source */
	enum davy_source_state state;
	uint64_t seen_count; /* of this fact, where nothing else tells the same; else 0 */
	size_t choice_count;
	size_t used; /* index of the source in use; choice_count: off */
	struct davy_source_choice choice[DAVY_SOURCE_SOURCES];
};

/* The step at "index", false past the end. */
bool davy_source_order(const struct davy_bpf *b, const struct davy_source_other *others,
		       size_t other_count, size_t index, struct davy_source_order *ret_step);
const char *davy_source_state_name(enum davy_source_state state);

#endif
