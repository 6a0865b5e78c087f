/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the bpf_*.c files share; nobody else includes it. */
#ifndef DL_SENSORS_BPF_STATE_H
#define DL_SENSORS_BPF_STATE_H

#include "sensors/bpf/bpf.h"
#include "sensors/bpf/bpf_object.h"

enum dl_object_index {
	DL_OBJ_PROCESS,
	DL_OBJ_ENGINE,
	DL_OBJ_HOST,
	DL_OBJ_FENCE,
	DL_OBJ_DRM_SCHED,
	DL_OBJ_SCHED_TDR,
	DL_OBJ_TTM,
	DL_OBJ_DRM,
	DL_OBJ_AMDGPU,
	DL_OBJ_AMDGPU_TDR,
	DL_OBJ_KFD,
	DL_OBJ_I915,
	DL_OBJ_I915_TDR,
	DL_OBJ_XE,
	DL_OBJ_XE_TDR,
	DL_OBJ_RADEON,
	DL_OBJ_NOUVEAU,
	DL_OBJ_NVIDIA,
	DL_OBJ_COUNT,
};

#define DL_SEEN_MAX	 1024
#define DL_TOLD_MAX	 ((size_t)4 * DL_MAX_SUMS)

/* What was last reported of a polled map entry. */
struct dl_seen {
	uint64_t key;
	uint64_t value;
};

/* An object's place in the table of all. */
struct dl_object_row {
	const char *name;
	const char *module;
	bool functions; /* wants the module live: its functions, not only its tracepoints */
	const void *(*bytes)(size_t *size);
};

extern const struct dl_object_row dl_object_rows[DL_OBJ_COUNT];

struct dl_bpf {
	struct dl_bpf_hooks hooks;
	uint32_t self; /* the agent's pid */
	struct dl_bpf_object objects[DL_OBJ_COUNT];
	struct dl_shared_maps shared;
	struct btf *kernel; /* while objects are being loaded */
	struct ring_buffer *ring;
	struct dl_probe_slots probes;
	struct bpf_link *probe_link[DL_PROBE_SLOTS];
	uint64_t probes_reported; /* evictions and refusals that an event has told */
	uint64_t probes_reported_ns;
	uint64_t detached_ns; /* when an unused probe was last taken away */
	struct dl_seen rings_seen[DL_SEEN_MAX];	   /* sched: it had a job we told about */
	struct dl_seen graphs_seen[DL_SEEN_MAX];   /* tgid: graphs told about */
	struct dl_seen progress_seen[DL_SEEN_MAX]; /* tgid: tokens told about */
	struct dl_seen movers_seen[DL_SEEN_MAX];   /* mover: bytes told about */
	struct dl_seen times_seen[DL_SEEN_MAX];	   /* (ring, process): jobs told about */
	struct dl_seen *sums_told;	    /* DL_TOLD_MAX of them; hot fact: count told about */
	uint64_t facts_seen[DL_FACT_COUNT]; /* since the start: a hook that was called */
	uint64_t kinds_seen[DL_EV_COUNT];
	uint64_t losses_told[DL_LOSS_COUNT];
	uint64_t hz;		/* of the kernel's jiffies; 0: not measured yet */
	struct dl_clock clock0; /* the first of the two readings that measure it */
	uint64_t read_ns;	/* when the rings were last read before the maps */
	uint64_t rings_told_ns; /* when the timeouts of all rings were last told */
	uint64_t looked_ns;	/* when modules and ftrace were last looked at */
	bool functions_off;	/* kernel.ftrace_enabled is 0 */
	bool jobs_running;
	uint32_t batch; /* records read since the loop last came by */
};

static inline void dl_sensor_say(struct dl_bpf *b, const struct dl_event *ev)
{
	b->kinds_seen[ev->kind]++;
	b->hooks.sink(b->hooks.arg, ev);
}

/* bpf_records.c: one record of the ring; libbpf's callback. */
int dl_bpf_record(void *arg, void *data, size_t size);

static inline int dl_bpf_shared(const struct dl_bpf *b, enum dl_shared_map map)
{
	return b->shared.fd[map];
}

/* What was last told under "key", which is not 0; a new entry's value is 0. */
struct dl_seen *dl_seen_of(struct dl_seen *table, size_t size, uint64_t key);

struct dl_seen *dl_seen_mover(struct dl_bpf *b, uint64_t device, uint32_t evictor, uint32_t owner);
#define DL_HASH_START 0xcbf29ce484222325ULL
/* FNV-1a; two keys with one hash share what was told, and tell it once more. */
uint64_t dl_hash(uint64_t h, const void *data, size_t size);

/* bpf_facts.c: facts as they are told, sums on the tick. */
void dl_bpf_fact(struct dl_bpf *b, const struct dl_wire_fact *w);
void dl_bpf_poll_sums(struct dl_bpf *b, uint64_t now_ns);

/* bpf_setup.c: what the programs are told once they are loaded. */
void dl_bpf_set_thresholds(struct dl_bpf *b);
void dl_bpf_set_verdicts(struct dl_bpf *b);
/* As if "leaving" were gone already; NULL: nothing leaves. */
void dl_bpf_set_settings(struct dl_bpf *b, const struct dl_bpf_object *leaving);

/* bpf_poll.c */
void dl_bpf_poll_times(struct dl_bpf *b, uint64_t now_ns);
void dl_bpf_poll_rings(struct dl_bpf *b, uint64_t now_ns);
void dl_bpf_poll_graphs(struct dl_bpf *b, uint64_t now_ns);
void dl_bpf_poll_movers(struct dl_bpf *b, uint64_t now_ns);
void dl_bpf_poll_losses(struct dl_bpf *b, uint64_t now_ns);
void dl_bpf_measure_hz(struct dl_bpf *b);
/* What one engine has computed, before something else of it is told. */
void dl_bpf_poll_engine(struct dl_bpf *b, uint32_t tgid, uint64_t now_ns);
/* A process that is gone leaves no graph behind: its pid may be somebody else's soon. */
void dl_bpf_forget_engine(struct dl_bpf *b, uint32_t tgid);

/* bpf_probes.c */
void dl_bpf_probes_tick(struct dl_bpf *b, uint64_t now_ns);
void dl_bpf_probes_free(struct dl_bpf *b);

/* bpf.c: a module came or went. */
void dl_bpf_module_changed(struct dl_bpf *b, const char *module, bool loaded, uint64_t now_ns);

#endif
