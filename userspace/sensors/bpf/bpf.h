/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel programs, seen from userspace: loaded object by object as their hooks appear, read
 * through one ring and a few polled maps, turned into events. An object that cannot be loaded is a
 * sensor that says why; the rest go on.
 */
#ifndef DAVY_BPF_H
#define DAVY_BPF_H

#include <sys/types.h>

#include "core/event/event.h"
#include "sensors/bpf/probe_slots.h"

struct davy_bpf;

#define DAVY_NO_MODULE                                                                             \
	"its kernel module is not loaded" /* the reason of an absent driver's programs */

/* Receives every event the sensors make, in order. */
typedef void (*davy_event_sink)(void *arg, const struct davy_event *ev);

/* Extra facts that are no events for the core. */
struct davy_bpf_hooks {
	davy_event_sink sink;
	void (*exec_seen)(void *arg, uint32_t pid, uint64_t at_ns);
	void (*fork_seen)(void *arg, uint32_t parent, uint32_t child, uint64_t at_ns);
	/* Every second, of each ring in use: its scheduler's timeout; 0: never. */
	void (*ring_seen)(void *arg, const char *device, const char *ring, uint64_t timeout_ns);
	void *arg;
};

/*
 * Loads what can be loaded now. Never fails for a missing hook; -EPERM when BPF is denied as a
 * whole, -ENOTSUP without kernel BTF: then *ret_bpf is still made and has no live sensor.
 */
int davy_bpf_new(const struct davy_bpf_hooks *hooks, struct davy_bpf **ret_bpf);
void davy_bpf_free(struct davy_bpf *b);

/* Readable when records wait; -1 without a live ring. */
int davy_bpf_fd(const struct davy_bpf *b);
void davy_bpf_read(struct davy_bpf *b);

/* Retries what waits for a module, polls the maps, counts losses. */
void davy_bpf_tick(struct davy_bpf *b, uint64_t now_ns);

/* True while a job runs on some ring: the agent ticks faster. */
bool davy_bpf_jobs_running(const struct davy_bpf *b);

/* A job runs or was reported within the last seconds, or a module is waited for. */
bool davy_bpf_stirs(const struct davy_bpf *b, uint64_t now_ns);

/* The programs make the ring readable at the next job, once; whether they still will. */
void davy_bpf_tell_jobs(struct davy_bpf *b, bool on);
bool davy_bpf_tells_jobs(const struct davy_bpf *b);

/*
 * Detaches everything that pins kernel module "module", so that it can be unloaded; attached again
 * when it is loaded anew. Returns how many sensors let go.
 */
int davy_bpf_release(struct davy_bpf *b, const char *module, uint64_t now_ns);

/* A quota of a cgroup, for each device. */
struct davy_vram_quota {
	uint64_t cgroup; /* inode number of its directory */
	struct davy_vram_limit limit;
	uint64_t high; /* the workload is reported above it; 0: not */
	uint32_t pid;  /* of the workload's engine */
};

struct davy_vram_reserve {
	char device[DAVY_DEV_LEN];
	uint64_t bytes;
};

/* What the account is to refuse. It is loaded if it is wanted or refuses something. */
struct davy_vram_rules {
	bool wanted;
	bool pin; /* the refusals do not end with the agent */
	size_t quota_count, reserve_count;
	const struct davy_vram_quota *quota;
	const struct davy_vram_reserve *reserve;
};

/* Tells a DAVY_EV_VRAM of each cgroup and device that is above "high". */
void davy_bpf_vram_tell_high(struct davy_bpf *b, const struct davy_vram_rules *rules,
			     uint64_t now_ns);

/* Whether the programs run that refuse allocations. */
bool davy_bpf_vram_refuses(const struct davy_bpf *b);
void davy_bpf_vram_set(struct davy_bpf *b, const struct davy_vram_rules *rules);

struct davy_vram_row {
	struct davy_vram_key key; /* zeroed: before the first row */
	char device[DAVY_DEV_LEN];
	struct davy_vram vram;
	struct davy_vram_limit limit; /* DAVY_VRAM_NO_MAX: none */
};

/* The next cgroup and device of the account; false: there is none. */
bool davy_bpf_vram_next(const struct davy_bpf *b, struct davy_vram_row *row);
/* The same by device; *key is 0 before the first one. */
bool davy_bpf_vram_device(const struct davy_bpf *b, uint64_t *key,
			  struct davy_vram_device *ret_device, uint64_t *ret_reserve);

/* Exits and forks of a watched process are reported, its children are watched. */
void davy_bpf_watch(struct davy_bpf *b, uint32_t pid);

/*
 * A uprobe at "offset" of the library at "path", once per inode: "throw" of libstdc++, "compute",
 * "set", "get", "synchronize" of libggml-base, "ubatch" or, in an older one, "decode" of libllama.
 * 1: attached, 0: was attached before, -ENOENT: the library has no such function; -EDQUOT, -ENOSPC,
 * -EAGAIN: see probe_slots.h.
 */
int davy_bpf_attach_library(struct davy_bpf *b, const char *path, const char *name, uint64_t offset,
			    const struct davy_probe_owner *owner);

/* Who answers for the process by now, should it have probes. */
void davy_bpf_owner(struct davy_bpf *b, const struct davy_probe_owner *owner);

/* The process ended, or runs another program: it maps none of its libraries any more. */
void davy_bpf_owner_gone(struct davy_bpf *b, uint32_t pid);

/* Whether the process has its probe, which another user may have cost it meanwhile. */
bool davy_bpf_probed(const struct davy_bpf *b, uint32_t pid, const char *name);

/* A probe of the process was taken away or refused: something of it is not seen. */
bool davy_bpf_probe_lost(const struct davy_bpf *b, uint32_t pid);

struct davy_bpf_probes {
	size_t used; /* of DAVY_PROBE_SLOTS */
	uint64_t evicted_count;
	uint64_t refused_count;
	uint64_t change_count; /* of what any process has, and of room */
};

void davy_bpf_probes(const struct davy_bpf *b, struct davy_bpf_probes *ret_probes);

/* One line per object, for status. Index from 0; false past the end. */
bool davy_bpf_sensor(const struct davy_bpf *b, size_t index, struct davy_ev_sensor *ret_sensor);

struct davy_program_state_view {
	const char *object;
	const char *program;
	const char *hook;  /* "fexit/drm_ioctl" */
	const char *state; /* "live", "absent", "untrusted", "refused", "on demand" */
	const char *reason;
};

/* One line per program. Index from 0; false past the end. */
bool davy_bpf_program(const struct davy_bpf *b, size_t index,
		      struct davy_program_state_view *ret_view);

uint64_t davy_boot_ns(void);

#endif
