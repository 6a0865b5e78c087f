/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the bpf_*.c files share; nobody else includes it. */
#ifndef DL_SENSORS_BPF_STATE_H
#define DL_SENSORS_BPF_STATE_H

#include "bpf.h"
#include "bpf_object.h"

enum dl_object_index {
	DL_OBJ_PROCESS,
	DL_OBJ_ENGINE,
	DL_OBJ_DRM_SCHED,
	DL_OBJ_TTM,
	DL_OBJ_DRM,
	DL_OBJ_AMDGPU,
	DL_OBJ_AMDGPU_TDR,
	DL_OBJ_COUNT,
};

#define DL_LIBRARIES_MAX 256
#define DL_SEEN_MAX	 1024

/* A function of a library file with our uprobe on it. */
struct dl_library {
	dev_t dev;
	ino_t ino;
	char symbol[48];
	struct bpf_link *link;
};

/* What was last reported of a polled map entry. */
struct dl_seen {
	uint64_t key;
	uint64_t value;
};

struct dl_bpf {
	struct dl_bpf_hooks hooks;
	struct dl_bpf_object objects[DL_OBJ_COUNT];
	struct dl_shared_maps shared;
	struct ring_buffer *ring;
	struct dl_library libraries[DL_LIBRARIES_MAX];
	size_t library_count;
	struct dl_seen rings_seen[DL_SEEN_MAX];	 /* sched: it had a job we told about */
	struct dl_seen graphs_seen[DL_SEEN_MAX]; /* tgid: graphs told about */
	struct dl_seen movers_seen[DL_SEEN_MAX]; /* mover: bytes told about */
	uint64_t losses_told[DL_LOSS_COUNT];
	uint64_t hz;		/* of the kernel's jiffies; 0: not measured yet */
	struct dl_clock clock0; /* the first of the two readings that measure it */
	bool jobs_running;
	uint32_t batch; /* records read since the loop last came by */
};

static inline void dl_sensor_say(struct dl_bpf *b, const struct dl_event *ev)
{
	b->hooks.sink(b->hooks.arg, ev);
}

/* bpf_records.c: one record of the ring; libbpf's callback. */
int dl_bpf_record(void *arg, void *data, size_t size);

/* bpf_poll.c */
void dl_bpf_poll_rings(struct dl_bpf *b, uint64_t now_ns);
void dl_bpf_poll_graphs(struct dl_bpf *b, uint64_t now_ns);
void dl_bpf_poll_movers(struct dl_bpf *b, uint64_t now_ns);
void dl_bpf_poll_losses(struct dl_bpf *b, uint64_t now_ns);
void dl_bpf_measure_hz(struct dl_bpf *b);
/* A process that is gone leaves no graph behind: its pid may be somebody else's soon. */
void dl_bpf_forget_engine(struct dl_bpf *b, uint32_t tgid);

/* bpf.c: a module came or went. */
void dl_bpf_module_changed(struct dl_bpf *b, const char *module, bool loaded, uint64_t now_ns);

#endif
