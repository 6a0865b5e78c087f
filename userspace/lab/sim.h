/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host that never was: devices with rings and memory, processes that use them, and the agent that
 * looks at them as the real one does. Actors change the host at their times; what the agent would
 * feed into its core comes out, in order of time. Integers only: the same scenario and seed give
 * the same events on every machine.
 */
#ifndef DL_TUNE_SIM_H
#define DL_TUNE_SIM_H

#include "core/event/event.h"
#include "lab/label.h"
#include "lab/random.h"

#define DL_SIM_DEVICES	 4
#define DL_SIM_RINGS	 6
#define DL_SIM_PROCESSES 16
#define DL_SIM_LOADS	 8
#define DL_SIM_ACTORS	 32
#define DL_SIM_MOVERS	 16
#define DL_SIM_SUMS	 64
#define DL_SIM_SAID	 16

#define DL_MIB ((uint64_t)1 << 20)
#define DL_GIB ((uint64_t)1 << 30)
#define DL_MS  DL_NS_PER_MS
#define DL_S   DL_NS_PER_S
#define DL_MIN (60 * DL_NS_PER_S)
#define DL_H   (3600 * DL_NS_PER_S)

struct dl_sim_ring {
	char name[DL_RING_NAME_LEN];
	uint64_t timeout_ns; /* 0: never */
	uint64_t context;
	uint64_t seqno;
	uint64_t began_ns; /* of the job that runs; 0: idle */
	uint32_t pid;
	bool told;
};

struct dl_sim_device {
	char name[DL_DEVICE_LEN];
	char driver[24];
	struct dl_ev_memory memory; /* totals and counters; "used" is summed when it is sampled */
	uint64_t vram_other;	    /* of nobody who is listed */
	uint64_t gtt_other;
	bool tells_memory;
	struct dl_sim_ring ring[DL_SIM_RINGS];
	size_t ring_count;
	struct dl_ev_memory sampled, told; /* by the agent */
	uint64_t sampled_ns, next_ns, counted_ns;
};

struct dl_sim_process {
	uint32_t pid;
	uint32_t pasid;
	bool alive;
	struct dl_ev_process info;
	struct dl_sim_device *device; /* NULL: it uses none */
	struct dl_sim_ring *ring;     /* NULL: its jobs do not pass a DRM scheduler */
	struct dl_ev_client client;
	struct dl_ev_graph graph;
	struct dl_ev_job_times times;
	struct dl_ev_progress progress;
	struct dl_ev_kfd_use kfd;
	bool by_kfd;
	struct dl_ev_client client_told;
	struct dl_ev_progress progress_told;
	struct dl_ev_kfd_use kfd_told;
	uint64_t graph_told, times_told;
};

struct dl_sim_mover {
	struct dl_ev_bo_moved moved;
	uint32_t evictor_pid; /* 0: empty */
	uint64_t told_bytes;
	uint64_t spoke_ns;
};

/* A hot fact: counted where it happens, told at an edge or on the tick. */
struct dl_sim_sum {
	struct dl_event ev; /* kind 0: empty; of an alloc_failed, a fault or a fact */
	uint64_t count, fresh, bytes;
	uint64_t spoke_ns;
};

struct dl_sim_said {
	struct dl_event ev;
	uint64_t told_ns;
};

struct dl_sim;
struct dl_sim_actor;

/* Does what is to be done now; when it is to come again, or 0: never. */
typedef uint64_t (*dl_sim_act)(struct dl_sim *s, struct dl_sim_actor *a);

struct dl_sim_actor {
	dl_sim_act act;
	uint64_t next_ns; /* 0: over */
	void *of;	  /* a process, a load, a device */
	uint32_t stage;
	uint64_t n[6]; /* what it remembers */
};

/* Where the events go; -errno ends it all. */
typedef int (*dl_sim_put)(void *arg, const struct dl_event *ev);

struct dl_sim_load;

struct dl_sim {
	struct dl_random random;
	struct dl_label label;
	uint64_t now_ns, begin_ns, end_ns;
	uint64_t calm_ns; /* how long nothing but ordinary work happens; of a benign trace, all */
	struct dl_sim_device device[DL_SIM_DEVICES];
	size_t device_count;
	struct dl_sim_process process[DL_SIM_PROCESSES];
	size_t process_count;
	struct dl_sim_load *load; /* DL_SIM_LOADS */
	size_t load_count;
	struct dl_sim_actor actor[DL_SIM_ACTORS];
	size_t actor_count;
	struct dl_sim_mover mover[DL_SIM_MOVERS];
	struct dl_sim_sum sum[DL_SIM_SUMS];
	struct dl_sim_said said[DL_SIM_SAID];
	uint64_t host_total;
	uint64_t host_other; /* used by whoever does not use a GPU */
	uint32_t pressure_permille;
	uint64_t asked_ns; /* clients, progress, KFD's counters */
	uint32_t next_pid;
	bool told; /* the agent has told something in this tick */
	uint64_t event_count;
	dl_sim_put put;
	void *arg;
	int error;
};

/* A new empty host at some time after its boot; NULL: no memory. */
struct dl_sim *dl_sim_new(const char *scenario, uint64_t seed, dl_sim_put put, void *arg);
void dl_sim_free(struct dl_sim *s);

/* Lets the actors act until end_ns, which they may move; -ETIME: the failure never came. */
int dl_sim_run(struct dl_sim *s);

struct dl_sim_device *dl_sim_add_device(struct dl_sim *s, const char *name, const char *driver,
					uint64_t vram, uint64_t gtt);
struct dl_sim_ring *dl_sim_add_ring(struct dl_sim *s, struct dl_sim_device *d, const char *name,
				    uint64_t timeout_ns);

/* Its engine, backend and so on are set in ->info before dl_sim_start tells it. */
struct dl_sim_process *dl_sim_add_process(struct dl_sim *s, struct dl_sim_device *d,
					  const char *comm);
void dl_sim_start(struct dl_sim *s, struct dl_sim_process *p);

struct dl_sim_actor *dl_sim_add_actor(struct dl_sim *s, dl_sim_act act, void *of, uint64_t at_ns);

/* Everybody's next act is so much later: the host slept. */
void dl_sim_sleep(struct dl_sim *s, uint64_t ns);

/* The three moments of a failure; the first call of each counts. dl_sim_failed ends the trace soon.
 */
void dl_sim_cause(struct dl_sim *s);
void dl_sim_sign(struct dl_sim *s, uint64_t at_ns);
void dl_sim_failed(struct dl_sim *s);

/* Whose failure it will be; NULL: nobody's, or no device's. */
void dl_sim_subject(struct dl_sim *s, const struct dl_sim_device *d,
		    const struct dl_sim_process *p);

uint64_t dl_sim_vram_used(const struct dl_sim *s, const struct dl_sim_device *d);
uint64_t dl_sim_gtt_used(const struct dl_sim *s, const struct dl_sim_device *d);
uint64_t dl_sim_host_available(const struct dl_sim *s);

/* The agent's own actor (sim_watch.c). */
uint64_t dl_sim_watch(struct dl_sim *s, struct dl_sim_actor *a);

static inline uint64_t dl_sim_between(struct dl_sim *s, uint64_t least, uint64_t most)
{
	return dl_random_between(&s->random, least, most);
}

static inline uint64_t dl_sim_around(struct dl_sim *s, uint64_t value)
{
	return dl_random_around(&s->random, value);
}

#endif
