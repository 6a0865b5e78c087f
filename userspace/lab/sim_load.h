/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The work of one engine: requests come, prompts are computed in ubatches, tokens one by one. */
#ifndef DAVY_SIM_LOAD_H
#define DAVY_SIM_LOAD_H

#include "lab/sim.h"

/* How long a job takes. */
struct davy_sim_pace {
	uint64_t prompt_ns;	  /* a full ubatch at depth 0 */
	uint64_t prompt_slope_ns; /* more for each 1024 tokens of depth */
	uint64_t prompt_curve_ns; /* and for each square of these */
	uint64_t token_ns;	  /* one token at depth 0 */
	uint64_t token_slope_ns;
	uint32_t noise_permille;
};

/* What is asked of it. */
struct davy_sim_habit {
	uint32_t prompt_min, prompt_max; /* tokens */
	uint32_t answer_min, answer_max;
	uint32_t keep_permille; /* how often a request goes on where the last one ended */
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
	uint32_t want_prompt;	/* the next request has such a prompt; 0: as the habit says */
	uint32_t slow_permille; /* of the usual time of a job */
	uint64_t began_ns;	/* of the job that runs */
	bool fatal;		/* a job that runs for an eighth of its timeout is the sign */
	bool stick;		/* the job that runs, or the next, never ends */
	bool stopped;
	void (*timed_out)(struct davy_sim *s, struct davy_sim_load *l);
	uint64_t gap_ns; /* for timed_out: until what it brings about */
};

/* Begins with a pause. The process is started, its progress.context_size and ubatch are set. */
struct davy_sim_load *davy_sim_add_load(struct davy_sim *s, struct davy_sim_process *p,
					const struct davy_sim_pace *pace,
					const struct davy_sim_habit *habit);

/* The next request comes now, if none is under way. */
void davy_sim_ask(struct davy_sim *s, struct davy_sim_load *l);

/* How long a job of a full ubatch takes at a depth, without noise. */
uint64_t davy_sim_prompt_job_ns(const struct davy_sim_pace *pace, uint32_t depth);

#endif
