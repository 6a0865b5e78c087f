/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scenarios: what a simulated host goes through. A row in synth.c and a function in the file of its
 * family (synth_NAME.c), made of actors. Lead times and shapes are those of field reports, each
 * jittered from half to twice; what a comment calls a report is an incident somebody posted.
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
	uint32_t calm_s; /* ordinary work before it begins; of a benign one, all of it */
	void (*build)(struct davy_sim *s, uint64_t arg);
	uint64_t arg;
};

extern const struct davy_scenario davy_scenarios[];
extern const size_t davy_scenario_count;

/* NULL: there is none of this name. */
const struct davy_scenario *davy_scenario_find(const char *name);
/* A benign one of many hours. */
bool davy_scenario_is_day(const struct davy_scenario *scenario);

/*
 * Makes the trace and its label beside it. "calm_ns": 0, as the scenario has it. -errno; what is
 * unfinished is removed.
 */
int davy_synth_write(const struct davy_scenario *scenario, uint64_t seed, uint64_t calm_ns,
		     const char *trace_path);

/* The same into a function, for tests; *ret_label is filled. */
int davy_synth_run(const struct davy_scenario *scenario, uint64_t seed, uint64_t calm_ns,
		   davy_sim_put put, void *arg, struct davy_label *ret_label);

/* Devices and engines (synth_parts.c). A timeout of 0: the one of a kernel, old or new. */
struct davy_sim_device *davy_synth_dgpu(struct davy_sim *s, uint64_t timeout_ns);
struct davy_sim_device *davy_synth_apu(struct davy_sim *s, uint64_t timeout_ns);
struct davy_sim_device *davy_synth_gpu(struct davy_sim *s, uint64_t timeout_ns); /* either */
struct davy_sim_device *davy_synth_intel(struct davy_sim *s, bool xe);
struct davy_sim_device *davy_synth_nvidia(struct davy_sim *s, uint32_t bus);

/* A llama-server or an Ollama runner with a model that takes "share" permille of the memory. */
struct davy_sim_process *davy_synth_engine(struct davy_sim *s, struct davy_sim_device *d,
					   enum davy_backend backend, uint32_t share_permille);
/* The compositor: a client of the device with a ring of its own, and no engine. */
struct davy_sim_process *davy_synth_desktop(struct davy_sim *s, struct davy_sim_device *d);

/* Chats: jobs far below the timeout. */
struct davy_sim_load *davy_synth_chat(struct davy_sim *s, struct davy_sim_process *p);
struct davy_sim_pace davy_synth_pace(struct davy_sim *s, const struct davy_sim_process *p);
extern const struct davy_sim_habit davy_synth_chats;

/* When the calm is over. */
uint64_t davy_synth_when(const struct davy_sim *s);

/* "p" ends with the status in so long. */
void davy_synth_end_later(struct davy_sim *s, struct davy_sim_process *p, uint64_t in_ns,
			  int32_t status);

/* A timed_out: the driver resets the ring, the engine loses its device and mostly dies of it. */
void davy_synth_lost_by_timeout(struct davy_sim *s, struct davy_sim_load *l);

/* A reset of the whole device that ends in "in_ns"; every engine on it loses it then. */
void davy_synth_reset_device(struct davy_sim *s, struct davy_sim_device *d, uint64_t in_ns,
			     int32_t result);

#define DAVY_STATUS_ABORT 6
#define DAVY_STATUS_KILL  9
#define DAVY_STATUS_SEGV  11
#define DAVY_STATUS_TERM  15
#define DAVY_STATUS_EXIT1 (1 << 8)

#endif
