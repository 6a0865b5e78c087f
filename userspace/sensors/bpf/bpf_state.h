/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State that the bpf_*.c files share. Only they include this header. */
#ifndef DAVY_BPF_STATE_H
#define DAVY_BPF_STATE_H

#include "sensors/bpf/bpf.h"
#include "sensors/bpf/bpf_object.h"
#include "sensors/bpf/bpf_ring.h"

enum davy_object_index {
	DAVY_OBJ_PROCESS,
	DAVY_OBJ_ENGINE,
	DAVY_OBJ_HOST,
	DAVY_OBJ_FENCE,
	DAVY_OBJ_DRM_SCHED,
	DAVY_OBJ_SCHED_TDR,
	DAVY_OBJ_TTM,
	DAVY_OBJ_DRM,
	DAVY_OBJ_AMDGPU,
	DAVY_OBJ_AMDGPU_TDR,
	DAVY_OBJ_KFD,
	DAVY_OBJ_I915,
	DAVY_OBJ_I915_TDR,
	DAVY_OBJ_XE,
	DAVY_OBJ_XE_TDR,
	DAVY_OBJ_RADEON,
	DAVY_OBJ_NOUVEAU,
	DAVY_OBJ_NVIDIA,
	DAVY_OBJ_ADMIT,
	DAVY_OBJ_COUNT,
};

#define DAVY_SEEN_MAX	  1024
#define DAVY_REPORTED_MAX ((size_t)4 * DAVY_MAX_SUMS)

/* What was last reported of a polled map entry. */
struct davy_seen {
	uint64_t key;
	uint64_t value;
};

/* An object's place in the table of all. */
struct davy_object_row {
	const char *name;
	const char *module;
	bool functions; /* wants the module live: its functions, not only its tracepoints */
	const void *(*bytes)(size_t *size);
};

extern const struct davy_object_row davy_object_rows[DAVY_OBJ_COUNT];

struct davy_bpf {
	struct davy_bpf_hooks hooks;
	uint32_t self; /* the agent's pid */
	struct davy_bpf_object objects[DAVY_OBJ_COUNT];
	struct davy_shared_maps shared;
	struct davy_ring urgent, events; /* read in this order */
	int rings_fd;			 /* readable when one of them is; -1: not open */
	struct davy_probe_slots probes;
	struct bpf_link *probe_link[DAVY_PROBE_SLOTS];
	uint64_t probes_reported; /* evictions and refusals that were reported */
	uint64_t probes_reported_ns;
	uint64_t detached_ns;			     /* when an unused probe was last taken away */
	struct davy_seen rings_seen[DAVY_SEEN_MAX];  /* sched: it had a job that was reported */
	struct davy_seen graphs_seen[DAVY_SEEN_MAX]; /* tgid: reported graphs */
	struct davy_seen progress_seen[DAVY_SEEN_MAX]; /* tgid: reported tokens */
	struct davy_seen movers_seen[DAVY_SEEN_MAX];   /* mover: reported bytes */
	struct davy_seen times_seen[DAVY_SEEN_MAX];    /* (ring, process): reported jobs */
	struct davy_seen *sums_reported; /* DAVY_REPORTED_MAX of them; hot fact: reported count */
	uint64_t facts_seen[DAVY_FACT_COUNT]; /* since the start: a hook that was called */
	uint64_t kinds_seen[DAVY_EV_COUNT];
	uint64_t losses_reported[DAVY_LOSS_COUNT];
	uint64_t hz;			    /* of the kernel's jiffies; 0: not measured yet */
	struct davy_clock clock0;	    /* the first of the two readings that measure it */
	uint64_t read_ns;		    /* when the rings were last read before the maps */
	uint64_t ring_timeouts_reported_ns; /* when the timeouts of all rings were last reported */
	uint64_t looked_ns;		    /* when modules were last looked at */
	uint64_t functions_read_ns;	    /* when kernel.ftrace_enabled was last read */
	bool functions_due;		    /* it was written since */
	bool functions_off;		    /* it is 0 */
	bool vram_wanted;		    /* the account of VRAM is loaded */
	uint32_t vram_generation;	    /* of its limits */
	uint64_t vram_left_out;		    /* calls that the account had missed at the last walk */
	uint64_t vram_walked_ns;
	uint64_t vram_pins_due_ns; /* an earlier agent's pins stay until then; 0: not looked yet */
	bool vram_pins_own;	   /* those that exist are of this agent */
	bool jobs_running;
	bool tells_jobs;	  /* the programs report the next job */
	uint64_t job_reported_ns; /* when they did; 0: never */
	uint32_t batch;		  /* records read since the loop last came by */
};

static inline void davy_sensor_say(struct davy_bpf *b, const struct davy_event *ev)
{
	b->kinds_seen[ev->kind]++;
	b->hooks.sink(b->hooks.arg, ev);
}

/* bpf_records.c: one record of the ring; libbpf's callback. */
int davy_bpf_record(void *arg, void *data, size_t size);

static inline int davy_bpf_shared(const struct davy_bpf *b, enum davy_shared_map map)
{
	return b->shared.fd[map];
}

/*
 * The value last reported for "key", a hash that is not 0; a new entry's value is 0. Two keys with
 * the same hash share an entry, and are reported once more.
 */
struct davy_seen *davy_seen_of(struct davy_seen *table, size_t size, uint64_t key);

struct davy_seen *davy_seen_mover(struct davy_bpf *b, uint64_t device, uint32_t evictor,
				  uint32_t owner);

/* bpf_facts.c: facts on arrival, sums on the tick. */
void davy_bpf_fact(struct davy_bpf *b, const struct davy_wire_fact *w);
void davy_bpf_poll_sums(struct davy_bpf *b, uint64_t now_ns);

/* bpf_setup.c: configures the loaded programs. */
void davy_bpf_set_thresholds(struct davy_bpf *b);
void davy_bpf_set_verdicts(struct davy_bpf *b);
/* As if "leaving" were gone already; NULL: nothing leaves. */
void davy_bpf_set_settings(struct davy_bpf *b, const struct davy_bpf_object *leaving);

/* bpf_admit.c: a record of the account of VRAM. */
void davy_bpf_vram_record(struct davy_bpf *b, const struct davy_wire_vram *w);
/* Corrects the account by what the driver has: objects whose start or end was not seen. */
void davy_bpf_vram_tick(struct davy_bpf *b, uint64_t now_ns);
/* bpf.c: loads or unloads an object now. */
void davy_bpf_want(struct davy_bpf *b, enum davy_object_index index, bool wanted);

/* bpf_poll.c */
void davy_bpf_poll_times(struct davy_bpf *b, uint64_t now_ns);
void davy_bpf_poll_rings(struct davy_bpf *b, uint64_t now_ns);
void davy_bpf_poll_graphs(struct davy_bpf *b, uint64_t now_ns);
void davy_bpf_poll_movers(struct davy_bpf *b, uint64_t now_ns);
void davy_bpf_poll_losses(struct davy_bpf *b, uint64_t now_ns);
/* Calls of programs that the kernel has skipped. */
void davy_bpf_poll_skipped(struct davy_bpf *b, uint64_t now_ns);
void davy_bpf_measure_hz(struct davy_bpf *b);
/* Reports what one engine has computed, before another event of that engine. */
void davy_bpf_poll_engine(struct davy_bpf *b, uint32_t tgid, uint64_t now_ns);
/* Deletes the graph of an ended process: its pid may be reused soon. */
void davy_bpf_forget_engine(struct davy_bpf *b, uint32_t tgid);

/* bpf_probes.c */
void davy_bpf_probes_tick(struct davy_bpf *b, uint64_t now_ns);
void davy_bpf_probes_free(struct davy_bpf *b);

/* bpf.c: a module came or went. */
void davy_bpf_module_changed(struct davy_bpf *b, const char *module, bool loaded, uint64_t now_ns);

#endif
