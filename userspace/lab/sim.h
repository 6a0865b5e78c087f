/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated host: devices with rings and memory, processes that use them, and an agent that
 * samples them like the real one. Actors change the host at their times. The output is the stream
 * of events that the agent would feed into its core. Integers only: the same scenario and seed give
 * the same events on all machines.
 */
#ifndef DAVY_SIM_H
#define DAVY_SIM_H

#include "core/event/event.h"
#include "lab/label.h"
#include "lab/random.h"

#define DAVY_SIM_DEVICES   4
#define DAVY_SIM_RINGS	   6
#define DAVY_SIM_PROCESSES 16
#define DAVY_SIM_LOADS	   8
#define DAVY_SIM_ACTORS	   32
#define DAVY_SIM_MOVERS	   16
#define DAVY_SIM_SUMS	   64
#define DAVY_SIM_SAID	   16

#define DAVY_MIB ((uint64_t)1 << 20)
#define DAVY_GIB ((uint64_t)1 << 30)
#define DAVY_MS	 DAVY_NS_PER_MS
#define DAVY_S	 DAVY_NS_PER_S
#define DAVY_MIN (60 * DAVY_NS_PER_S)
#define DAVY_H	 (3600 * DAVY_NS_PER_S)

struct davy_sim_ring {
	char name[DAVY_RING_NAME_LEN];
	uint64_t timeout_ns; /* 0: never */
	uint64_t context;
	uint64_t seqno;
	uint64_t began_ns; /* of the running job; 0: idle */
	uint32_t pid;
	bool reported;
};

struct davy_sim_device {
	char name[DAVY_DEVICE_LEN];
	char driver[24];
	struct davy_ev_memory memory; /* totals and counters; "used" is summed when it is sampled */
	uint64_t vram_other;	      /* of processes that are not listed */
	uint64_t gtt_other;
	bool tells_memory;
	struct davy_sim_ring ring[DAVY_SIM_RINGS];
	size_t ring_count;
	struct davy_ev_memory sampled, reported; /* last sampled and reported values */
	uint64_t sampled_ns, next_ns, counted_ns;
};

struct davy_sim_process {
	uint32_t pid;
	uint32_t pasid;
	bool alive;
	struct davy_ev_process info;
	struct davy_sim_device *device; /* NULL: none */
	struct davy_sim_ring *ring;	/* NULL: its jobs do not pass a DRM scheduler */
	struct davy_ev_client client;
	struct davy_ev_graph graph;
	struct davy_ev_job_times times;
	struct davy_ev_progress progress;
	struct davy_ev_kfd_use kfd;
	bool by_kfd;
	struct davy_ev_client client_reported;
	struct davy_ev_progress progress_reported;
	struct davy_ev_kfd_use kfd_reported;
	uint64_t graph_reported, times_reported;
};

struct davy_sim_mover {
	struct davy_ev_bo_moved moved;
	uint32_t evictor_pid; /* 0: empty */
	uint64_t reported_bytes;
	uint64_t spoke_ns;
};

/* A frequent fact: counted when it happens, reported at an edge or on the tick. */
struct davy_sim_sum {
	struct davy_event ev; /* kind 0: empty; of an alloc_failed, a fault or a fact */
	uint64_t count, fresh, bytes;
	uint64_t spoke_ns;
};

struct davy_sim_said {
	struct davy_event ev;
	uint64_t reported_ns;
};

struct davy_sim;
struct davy_sim_actor;

/* Acts; returns the time of its next call, or 0: never. */
typedef uint64_t (*davy_sim_act)(struct davy_sim *s, struct davy_sim_actor *a);

struct davy_sim_actor {
	davy_sim_act act;
	uint64_t next_ns; /* 0: finished */
	void *of;	  /* a process, a load, a device */
	uint32_t stage;
	uint64_t n[6]; /* state between calls */
};

/* Receives the events; -errno ends the simulation. */
typedef int (*davy_sim_put)(void *arg, const struct davy_event *ev);

struct davy_sim_load;

struct davy_sim {
	struct davy_random random;
	struct davy_label label;
	uint64_t now_ns, begin_ns, end_ns;
	uint64_t calm_ns; /* normal work before the failure; the whole of a benign trace */
	struct davy_sim_device device[DAVY_SIM_DEVICES];
	size_t device_count;
	struct davy_sim_process process[DAVY_SIM_PROCESSES];
	size_t process_count;
	struct davy_sim_load *load; /* DAVY_SIM_LOADS */
	size_t load_count;
	struct davy_sim_actor actor[DAVY_SIM_ACTORS];
	size_t actor_count;
	struct davy_sim_mover mover[DAVY_SIM_MOVERS];
	struct davy_sim_sum sum[DAVY_SIM_SUMS];
	struct davy_sim_said said[DAVY_SIM_SAID];
	uint64_t host_total;
	uint64_t host_other; /* used by processes without a GPU */
	uint32_t pressure_permille;
	uint64_t asked_ns; /* clients, progress, KFD's counters */
	uint32_t next_pid;
	bool reported; /* the agent reported something in this tick */
	uint64_t event_count;
	uint32_t lossy_permille; /* of the kernel programs' events are dropped */
	uint64_t lost_count;
	davy_sim_put put;
	void *arg;
	int error;
};

/* An empty host at some time after its boot; NULL: out of memory. */
struct davy_sim *davy_sim_new(const char *scenario, uint64_t seed, davy_sim_put put, void *arg);
void davy_sim_free(struct davy_sim *s);

/* Runs the actors until end_ns, which they may change; -ETIME: no failure happened. */
int davy_sim_run(struct davy_sim *s);

struct davy_sim_device *davy_sim_add_device(struct davy_sim *s, const char *name,
					    const char *driver, uint64_t vram, uint64_t gtt);
struct davy_sim_ring *davy_sim_add_ring(struct davy_sim *s, struct davy_sim_device *d,
					const char *name, uint64_t timeout_ns);

/* Its engine, backend and so on are set in ->info before davy_sim_start reports it. */
struct davy_sim_process *davy_sim_add_process(struct davy_sim *s, struct davy_sim_device *d,
					      const char *comm);
void davy_sim_start(struct davy_sim *s, struct davy_sim_process *p);

struct davy_sim_actor *davy_sim_add_actor(struct davy_sim *s, davy_sim_act act, void *of,
					  uint64_t at_ns);

/* Suspends the host: delays all actors. */
void davy_sim_sleep(struct davy_sim *s, uint64_t ns);

/* The three moments of a failure; only the first call of each counts. The trace ends soon after. */
void davy_sim_cause(struct davy_sim *s);
void davy_sim_precursor(struct davy_sim *s, uint64_t at_ns);
void davy_sim_failed(struct davy_sim *s);

/* The failing device and process; NULL: none. */
void davy_sim_subject(struct davy_sim *s, const struct davy_sim_device *d,
		      const struct davy_sim_process *p);

uint64_t davy_sim_vram_used(const struct davy_sim *s, const struct davy_sim_device *d);
uint64_t davy_sim_gtt_used(const struct davy_sim *s, const struct davy_sim_device *d);
uint64_t davy_sim_host_available(const struct davy_sim *s);

/* The agent's own actor (sim_watch.c). */
uint64_t davy_sim_watch(struct davy_sim *s, struct davy_sim_actor *a);

static inline uint64_t davy_sim_between(struct davy_sim *s, uint64_t least, uint64_t most)
{
	return davy_random_between(&s->random, least, most);
}

static inline uint64_t davy_sim_around(struct davy_sim *s, uint64_t value)
{
	return davy_random_around(&s->random, value);
}

#endif
