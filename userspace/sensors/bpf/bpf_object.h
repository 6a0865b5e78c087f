/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One BPF object: which programs' hooks are proven to exist, loaded with only those, its shared
 * maps taken from the objects before it. Inside of sensors/ only.
 */
#ifndef DAVY_BPF_OBJECT_H
#define DAVY_BPF_OBJECT_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "core/event/event.h"

#define DAVY_OBJECT_PROGRAMS 32
#define DAVY_PROGRAM_NAME    48
#define DAVY_HOOK_NAME	     80

/* Maps that the first object makes and the others are given. */
enum davy_shared_map {
	DAVY_SHARED_EVENTS,
	DAVY_SHARED_URGENT,
	DAVY_SHARED_LOSSES,
	DAVY_SHARED_SETTINGS,
	DAVY_SHARED_SUMS,
	DAVY_SHARED_THRESHOLDS,
	DAVY_SHARED_JOBS,
	DAVY_SHARED_SCHEDS,
	DAVY_SHARED_TIMES,
	DAVY_SHARED_MOVERS,
	DAVY_SHARED_EVICTED,
	DAVY_SHARED_OWNERS,
	DAVY_SHARED_PASIDS,
	DAVY_SHARED_VERDICTS,
	DAVY_SHARED_IOCTL_MARKS,
	DAVY_BPF_SHARED_MAPS,
};

struct davy_shared_maps {
	const char *name[DAVY_BPF_SHARED_MAPS];
	int fd[DAVY_BPF_SHARED_MAPS]; /* -1 until an object has made it */
};

enum davy_program_state {
	DAVY_PROGRAM_LIVE = 0,
	DAVY_PROGRAM_ABSENT = 1,    /* its hook does not exist, or its module is not loaded */
	DAVY_PROGRAM_UNTRUSTED = 2, /* it could be attached and would not see what it is for */
	DAVY_PROGRAM_REFUSED = 3,   /* the kernel said no, "error" says why */
	DAVY_PROGRAM_ON_DEMAND = 4, /* attached to files as they are found, or run */
	DAVY_PROGRAM_STATE_COUNT = 5,
};

struct davy_program {
	char name[DAVY_PROGRAM_NAME];
	char hook[DAVY_HOOK_NAME]; /* "fexit/drm_ioctl" */
	enum davy_program_state state;
	int error;	    /* -errno of a refusal */
	const char *reason; /* why it is not live, "" when it is; never freed */
	struct bpf_link *link;
	uint32_t id; /* the kernel's, of an attached one */
};

struct davy_bpf_object {
	const char *name;
	const char *module; /* kernel module whose hooks it uses, NULL: none */
	bool functions;	    /* some hooks are functions: the module must be live */
	bool keeps;	    /* its maps are read */
	const char *pins;   /* folder where its links are pinned until it is unloaded; NULL: none */
	const void *(*bytes)(size_t *size);
	bool loaded;
	struct bpf_object *object; /* NULL: not loaded, or its links are all that is needed */
	struct davy_program program[DAVY_OBJECT_PROGRAMS];
	size_t program_count;
	uint64_t lost_ns;  /* since when it is not live though it was; 0: is, or never was */
	uint64_t retry_ns; /* when to try again; 0: not by itself */
	uint32_t attempts;
	uint64_t skipped; /* calls of its programs that were reported as skipped */
	struct davy_ev_sensor state;
};

/* Learns which programs it has; -errno when the object's bytes are not readable. */
int davy_bpf_object_list(struct davy_bpf_object *o);

/*
 * 0, or -errno with state.reason filled. Programs whose hook is absent stay off. Unless it is the
 * "last" attempt, a program that cannot be attached makes the whole fail: its module may be young.
 */
int davy_bpf_object_load(struct davy_bpf_object *o, struct davy_shared_maps *shared,
			 struct btf *kernel, bool last);
void davy_bpf_object_unload(struct davy_bpf_object *o);
/*
 * kernel.ftrace_enabled is 0: its functions are not called. They stay attached: detaching them
 * while the setting changes makes 6.1 and 6.12 warn, and no longer attach them
 * (docs/kernel-notes.md).
 */
void davy_bpf_object_blind(struct davy_bpf_object *o);
/* Unloaded, and why. "reason" is kept, not copied, for its programs. */
void davy_bpf_object_off(struct davy_bpf_object *o, enum davy_sensor_state state,
			 const char *reason);
/* Of an object with programs on demand; -1: it has no such map, or is not loaded. */
int davy_bpf_object_map(const struct davy_bpf_object *o, const char *name);
/* Runs its programs that iterate over what the kernel has. */
void davy_bpf_object_iterate(const struct davy_bpf_object *o);
/*
 * How often the kernel has skipped an attached program because the same program was interrupted on
 * that CPU (bpf_prog_info.recursion_misses): under load on kernels with full or lazy preemption.
 */
uint64_t davy_bpf_object_skipped(const struct davy_bpf_object *o);
/* Its links outlive the process, as files of "dir" on a BPF file system. -errno: none does. */
int davy_bpf_object_pin(struct davy_bpf_object *o, const char *dir);
bool davy_bpf_object_has_live(const struct davy_bpf_object *o, const char *program);

#endif
