/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scenarios: what a simulated host goes through. A row in synth.c and a function in the file of its
 * family (synth_NAME.c), made of actors. Lead times and shapes are those of field reports, each
 * jittered from half to twice; what a comment calls a report is an incident somebody posted.
 */
#ifndef DL_TUNE_SYNTH_H
#define DL_TUNE_SYNTH_H

#include "lab/sim.h"
#include "lab/sim_load.h"
#include "lab/sim_say.h"

struct dl_scenario {
	const char *name;
	const char *what;
	uint32_t class;	 /* enum dl_log_class of its failure; DL_CLASS_NONE: benign */
	uint32_t calm_s; /* ordinary work before it begins; of a benign one, all of it */
	void (*build)(struct dl_sim *s, uint64_t arg);
	uint64_t arg;
};

extern const struct dl_scenario dl_scenarios[];
extern const size_t dl_scenario_count;

/* NULL: there is none of this name. */
const struct dl_scenario *dl_scenario_find(const char *name);
/* A benign one of many hours. */
bool dl_scenario_is_day(const struct dl_scenario *scenario);

/*
 * Makes the trace and its label beside it. "calm_ns": 0, as the scenario has it. -errno; what is
 * unfinished is removed.
 */
int dl_synth_write(const struct dl_scenario *scenario, uint64_t seed, uint64_t calm_ns,
		   const char *trace_path);

/* The same into a function, for tests; *ret_label is filled. */
int dl_synth_run(const struct dl_scenario *scenario, uint64_t seed, uint64_t calm_ns,
		 dl_sim_put put, void *arg, struct dl_label *ret_label);

/* Devices and engines (synth_parts.c). A timeout of 0: the one of a kernel, old or new. */
struct dl_sim_device *dl_synth_dgpu(struct dl_sim *s, uint64_t timeout_ns);
struct dl_sim_device *dl_synth_apu(struct dl_sim *s, uint64_t timeout_ns);
struct dl_sim_device *dl_synth_gpu(struct dl_sim *s, uint64_t timeout_ns); /* either */
struct dl_sim_device *dl_synth_intel(struct dl_sim *s, bool xe);
struct dl_sim_device *dl_synth_nvidia(struct dl_sim *s, uint32_t bus);

/* A llama-server or an Ollama runner with a model that takes "share" permille of the memory. */
struct dl_sim_process *dl_synth_engine(struct dl_sim *s, struct dl_sim_device *d,
				       enum dl_backend backend, uint32_t share_permille);
/* The compositor: a client of the device with a ring of its own, and no engine. */
struct dl_sim_process *dl_synth_desktop(struct dl_sim *s, struct dl_sim_device *d);

/* Chats: jobs far below the timeout. */
struct dl_sim_load *dl_synth_chat(struct dl_sim *s, struct dl_sim_process *p);
struct dl_sim_pace dl_synth_pace(struct dl_sim *s, const struct dl_sim_process *p);
extern const struct dl_sim_habit dl_synth_chats;

/* When the calm is over. */
uint64_t dl_synth_when(const struct dl_sim *s);

/* "p" ends with the status in so long. */
void dl_synth_end_later(struct dl_sim *s, struct dl_sim_process *p, uint64_t in_ns, int32_t status);

/* A timed_out: the driver resets the ring, the engine loses its device and mostly dies of it. */
void dl_synth_lost_by_timeout(struct dl_sim *s, struct dl_sim_load *l);

/* A reset of the whole device that ends in "in_ns"; every engine on it loses it then. */
void dl_synth_reset_device(struct dl_sim *s, struct dl_sim_device *d, uint64_t in_ns,
			   int32_t result);

#define DL_STATUS_ABORT 6
#define DL_STATUS_KILL	9
#define DL_STATUS_SEGV	11
#define DL_STATUS_TERM	15
#define DL_STATUS_EXIT1 (1 << 8)

#endif
