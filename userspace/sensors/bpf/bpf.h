/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel programs, seen from userspace: loaded object by object as their hooks appear, read
 * through one ring and a few polled maps, turned into events. An object that cannot be loaded is a
 * sensor that says why; the rest go on.
 */
#ifndef DL_SENSORS_BPF_H
#define DL_SENSORS_BPF_H

#include <sys/types.h>

#include "core/event/event.h"
#include "sensors/bpf/probe_slots.h"

struct dl_bpf;

#define DL_NO_MODULE                                                                               \
	"its kernel module is not loaded" /* the reason of an absent driver's programs */

/* Receives every event the sensors make, in order. */
typedef void (*dl_event_sink)(void *arg, const struct dl_event *ev);

/* Extra facts that are no events for the core. */
struct dl_bpf_hooks {
	dl_event_sink sink;
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
int dl_bpf_new(const struct dl_bpf_hooks *hooks, struct dl_bpf **ret_bpf);
void dl_bpf_free(struct dl_bpf *b);

/* Readable when records wait; -1 without a live ring. */
int dl_bpf_fd(const struct dl_bpf *b);
void dl_bpf_read(struct dl_bpf *b);

/* Retries what waits for a module, polls the maps, counts losses. */
void dl_bpf_tick(struct dl_bpf *b, uint64_t now_ns);

/* True while a job runs on some ring: the agent ticks faster. */
bool dl_bpf_jobs_running(const struct dl_bpf *b);

/*
 * Detaches everything that pins kernel module "module", so that it can be unloaded; attached again
 * when it is loaded anew. Returns how many sensors let go.
 */
int dl_bpf_release(struct dl_bpf *b, const char *module, uint64_t now_ns);

/* Exits and forks of a watched process are reported, its children are watched. */
void dl_bpf_watch(struct dl_bpf *b, uint32_t pid);

/*
 * A uprobe at "offset" of the library at "path", once per inode: "throw" of libstdc++, "compute",
 * "set", "get", "synchronize" of libggml-base, "ubatch" or, in an older one, "decode" of libllama.
 * 1: attached, 0: was attached before, -ENOENT: the library has no such function; -EDQUOT, -ENOSPC,
 * -EAGAIN: see probe_slots.h.
 */
int dl_bpf_attach_library(struct dl_bpf *b, const char *path, const char *name, uint64_t offset,
			  const struct dl_probe_owner *owner);

/* Who answers for the process by now, should it have probes. */
void dl_bpf_owner(struct dl_bpf *b, const struct dl_probe_owner *owner);

/* The process ended, or runs another program: it maps none of its libraries any more. */
void dl_bpf_owner_gone(struct dl_bpf *b, uint32_t pid);

/* Whether the process has its probe, which another user may have cost it meanwhile. */
bool dl_bpf_probed(const struct dl_bpf *b, uint32_t pid, const char *name);

/* A probe of the process was taken away or refused: something of it is not seen. */
bool dl_bpf_probe_lost(const struct dl_bpf *b, uint32_t pid);

struct dl_bpf_probes {
	size_t used; /* of DL_PROBE_SLOTS */
	uint64_t evicted_count;
	uint64_t refused_count;
	uint64_t change_count; /* of what any process has, and of room */
};

void dl_bpf_probes(const struct dl_bpf *b, struct dl_bpf_probes *ret_probes);

/* One line per object, for status. Index from 0; false past the end. */
bool dl_bpf_sensor(const struct dl_bpf *b, size_t index, struct dl_ev_sensor *ret_sensor);

struct dl_program_state_view {
	const char *object;
	const char *program;
	const char *hook;  /* "fexit/drm_ioctl" */
	const char *state; /* "live", "absent", "untrusted", "refused", "on demand" */
	const char *reason;
};

/* One line per program. Index from 0; false past the end. */
bool dl_bpf_program(const struct dl_bpf *b, size_t index, struct dl_program_state_view *ret_view);

uint64_t dl_boot_ns(void);

#endif
