/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scenarios of a simulated host. Each is a row in scenarios.c and a function, built of actors, in
 * the file of its family (synth_NAME.c). Lead times and shapes are from field reports, varied from
 * half to twice. An id such as amd-vk-002 is an incident of INCIDENTS.md.
 */
#ifndef DAVY_SYNTH_H
#define DAVY_SYNTH_H

#include "lab/sim.h"
#include "lab/sim_load.h"
#include "lab/sim_say.h"

struct davy_scenario {
	const char *name;
	const char *what;
	uint32_t class;	 /* enum davy_log_class of its failure; DAVY_CLASS_NONE: benign */
	uint32_t calm_s; /* normal work before the failure; the whole of a benign one */
	void (*build)(struct davy_sim *s, uint64_t arg);
	uint64_t arg;
};

extern const struct davy_scenario davy_scenarios[];
extern const size_t davy_scenario_count;

/* NULL: unknown name. */
const struct davy_scenario *davy_scenario_find(const char *name);
/* A benign scenario of many hours. */
bool davy_scenario_is_day(const struct davy_scenario *scenario);

/* Writes a trace and its label. "calm_ns" 0: the scenario's. -errno: incomplete files removed. */
int davy_synth_write(const struct davy_scenario *scenario, uint64_t seed, uint64_t calm_ns,
		     const char *trace_path);

/* The same for tests: events go to a function; fills *ret_label. */
int davy_synth_run(const struct davy_scenario *scenario, uint64_t seed, uint64_t calm_ns,
		   davy_sim_put put, void *arg, struct davy_label *ret_label);

/* Devices and engines (synth_parts.c). Timeout 0: that of an old or a new kernel. */
struct davy_sim_device *davy_synth_dgpu(struct davy_sim *s, uint64_t timeout_ns);
struct davy_sim_device *davy_synth_apu(struct davy_sim *s, uint64_t timeout_ns);
struct davy_sim_device *davy_synth_gpu(struct davy_sim *s, uint64_t timeout_ns); /* either */
struct davy_sim_device *davy_synth_intel(struct davy_sim *s, bool xe);
struct davy_sim_device *davy_synth_nvidia(struct davy_sim *s, uint32_t bus);

/* A llama-server or an Ollama runner; its model uses "share" permille of the memory. */
struct davy_sim_process *davy_synth_engine(struct davy_sim *s, struct davy_sim_device *d,
					   enum davy_backend backend, uint32_t share_permille);
/* The compositor: a client of the device with its own ring. */
struct davy_sim_process *davy_synth_desktop(struct davy_sim *s, struct davy_sim_device *d);

/* Chats: jobs far below the timeout. */
struct davy_sim_load *davy_synth_chat(struct davy_sim *s, struct davy_sim_process *p);
struct davy_sim_pace davy_synth_pace(struct davy_sim *s, const struct davy_sim_process *p);
extern const struct davy_sim_habit davy_synth_chats;

/* The end of the calm. */
uint64_t davy_synth_when(const struct davy_sim *s);

/* "p" ends with the status after "in_ns". */
void davy_synth_end_later(struct davy_sim *s, struct davy_sim_process *p, uint64_t in_ns,
			  int32_t status);

/* A timed_out: the driver resets the ring; the engine loses its device and usually dies. */
void davy_synth_lost_by_timeout(struct davy_sim *s, struct davy_sim_load *l);

/* A reset of the whole device that ends after "in_ns"; all its engines lose it. */
void davy_synth_reset_device(struct davy_sim *s, struct davy_sim_device *d, uint64_t in_ns,
			     int32_t result);

#define DAVY_STATUS_ABORT 6
#define DAVY_STATUS_KILL  9
#define DAVY_STATUS_SEGV  11
#define DAVY_STATUS_TERM  15
#define DAVY_STATUS_EXIT1 (1 << 8)

#endif
