/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The work of one engine: requests, prompts computed in ubatches, single tokens. */
#ifndef DAVY_SIM_LOAD_H
#define DAVY_SIM_LOAD_H

#include "lab/sim.h"

/* Durations of jobs. */
struct davy_sim_pace {
	uint64_t prompt_ns;	  /* a full ubatch at depth 0 */
	uint64_t prompt_slope_ns; /* more for each 1024 tokens of depth */
	uint64_t prompt_curve_ns; /* and for each square of these */
	uint64_t token_ns;	  /* one token at depth 0 */
	uint64_t token_slope_ns;
	uint32_t noise_permille;
};

/* Its requests. */
struct davy_sim_habit {
	uint32_t prompt_min, prompt_max; /* tokens */
	uint32_t answer_min, answer_max;
	uint32_t keep_permille; /* chance that a request continues the last one */
	uint64_t think_ns;	/* between two requests, half of it to twice */
};

enum davy_sim_phase {
	DAVY_SIM_IDLE = 0,
	DAVY_SIM_PROMPT = 1,
	DAVY_SIM_ANSWER = 2,
};

struct davy_sim_load {
	struct davy_sim_process *p;
	struct davy_sim_actor *actor;
	struct davy_sim_pace pace;
	struct davy_sim_habit habit;
	uint32_t phase;
	uint32_t depth, prompt_left, answer_left, tokens;
	uint32_t want_prompt;	/* prompt of the next request; 0: by the habit */
	uint32_t slow_permille; /* job duration relative to the usual one */
	uint64_t began_ns;	/* of the running job */
	bool fatal;		/* a job of an eighth of its timeout is the precursor */
	bool stick;		/* the running job, or the next one, never ends */
	bool stopped;
	void (*timed_out)(struct davy_sim *s, struct davy_sim_load *l);
	uint64_t gap_ns; /* for timed_out: delay of the consequence */
};

/* Begins with a pause. Start the process and set progress.context_size and ubatch before. */
struct davy_sim_load *davy_sim_add_load(struct davy_sim *s, struct davy_sim_process *p,
					const struct davy_sim_pace *pace,
					const struct davy_sim_habit *habit);

/* Starts the next request now, unless one is running. */
void davy_sim_ask(struct davy_sim *s, struct davy_sim_load *l);

/* How long a job of a full ubatch takes at a depth, without noise. */
uint64_t davy_sim_prompt_job_ns(const struct davy_sim_pace *pace, uint32_t depth);

#endif
