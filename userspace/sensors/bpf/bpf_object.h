/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One BPF object: which programs' hooks are proven to exist, loaded with only those, its shared
 * maps taken from the objects before it. Inside of sensors/ only.
 */
#ifndef DL_SENSORS_BPF_OBJECT_H
#define DL_SENSORS_BPF_OBJECT_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "core/event/event.h"

#define DL_OBJECT_PROGRAMS 32
#define DL_PROGRAM_NAME	   48
#define DL_HOOK_NAME	   80

/* Maps that the first object makes and the others are given. */
enum dl_shared_map {
	DL_SHARED_EVENTS,
	DL_SHARED_URGENT,
	DL_SHARED_LOSSES,
	DL_SHARED_SETTINGS,
	DL_SHARED_SUMS,
	DL_SHARED_THRESHOLDS,
	DL_SHARED_JOBS,
	DL_SHARED_SCHEDS,
	DL_SHARED_TIMES,
	DL_SHARED_MOVERS,
	DL_SHARED_EVICTED,
	DL_SHARED_OWNERS,
	DL_SHARED_PASIDS,
	DL_SHARED_VERDICTS,
	DL_SHARED_IOCTL_MARKS,
	DL_BPF_SHARED_MAPS,
};

struct dl_shared_maps {
	const char *name[DL_BPF_SHARED_MAPS];
	int fd[DL_BPF_SHARED_MAPS]; /* -1 until an object has made it */
};

enum dl_program_state {
	DL_PROGRAM_LIVE = 0,
	DL_PROGRAM_ABSENT = 1,	  /* its hook does not exist, or its module is not loaded */
	DL_PROGRAM_UNTRUSTED = 2, /* it could be attached and would not see what it is for */
	DL_PROGRAM_REFUSED = 3,	  /* the kernel said no, "error" says why */
	DL_PROGRAM_ON_DEMAND = 4, /* attached to files as they are found, or run */
	DL_PROGRAM_STATE_COUNT = 5,
};

struct dl_program {
	char name[DL_PROGRAM_NAME];
	char hook[DL_HOOK_NAME]; /* "fexit/drm_ioctl" */
	enum dl_program_state state;
	int error;	    /* -errno of a refusal */
	const char *reason; /* why it is not live, "" when it is; never freed */
	struct bpf_link *link;
};

struct dl_bpf_object {
	const char *name;
	const char *module; /* kernel module whose hooks it uses, NULL: none */
	bool functions;	    /* some hooks are functions: the module must be live */
	const void *(*bytes)(size_t *size);
	struct bpf_object *object; /* NULL while not loaded */
	struct dl_program program[DL_OBJECT_PROGRAMS];
	size_t program_count;
	uint64_t lost_ns;  /* since when it is not live though it was; 0: is, or never was */
	uint64_t retry_ns; /* when to try again; 0: not by itself */
	uint32_t attempts;
	struct dl_ev_sensor state;
};

/* Learns which programs it has; -errno when the object's bytes are not readable. */
int dl_bpf_object_list(struct dl_bpf_object *o);

/*
 * 0, or -errno with state.reason filled. Programs whose hook is absent stay off. Unless it is the
 * "last" attempt, a program that cannot be attached makes the whole fail: its module may be young.
 */
int dl_bpf_object_load(struct dl_bpf_object *o, struct dl_shared_maps *shared, struct btf *kernel,
		       bool last);
void dl_bpf_object_unload(struct dl_bpf_object *o);
/* Unloaded, and why. "reason" is kept, not copied, for its programs. */
void dl_bpf_object_off(struct dl_bpf_object *o, enum dl_sensor_state state, const char *reason);
int dl_bpf_object_map(const struct dl_bpf_object *o, const char *name);
bool dl_bpf_object_has_live(const struct dl_bpf_object *o, const char *program);

#endif
