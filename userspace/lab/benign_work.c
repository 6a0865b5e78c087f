/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Benign: normal work, idle and at its limits. Must not raise an alarm. */
#include "lab/scenarios.h"

#define HOUR_OF(ns) ((ns) / DAVY_H % 24)

static const struct davy_sim_habit seldom = {
	.prompt_min = 60,
	.prompt_max = 4000,
	.answer_min = 40,
	.answer_max = 600,
	.keep_permille = 500,
	.think_ns = 4 * DAVY_MIN,
};

/* Other processes change the host's free memory. */
static uint64_t breathe(struct davy_sim *s, struct davy_sim_actor *a)
{
	if (!a->n[0])
		a->n[0] = s->host_other;
	s->host_other = davy_random_near(&s->random, a->n[0], 60);
	return s->now_ns + davy_sim_around(s, 20 * DAVY_S);
}

static enum davy_backend any_backend(struct davy_sim *s)
{
	return davy_random_chance(&s->random, 500) ? DAVY_BACKEND_VULKAN : DAVY_BACKEND_ROCM;
}

void davy_benign_idle(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_gpu(s, 0);

	(void)arg;
	davy_synth_engine(s, d, any_backend(s), (uint32_t)davy_sim_between(s, 300, 850));
	davy_synth_desktop(s, d);
	davy_sim_add_actor(s, breathe, NULL, s->begin_ns + DAVY_S);
}

/* No requests at night. */
static uint64_t day_and_night(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	bool day = HOUR_OF(s->now_ns) >= 8;

	l->habit.think_ns = day ? 2 * DAVY_MIN : DAVY_H;
	return s->now_ns + 10 * DAVY_MIN;
}

/* Argument: 1 a whole day, 0 busy hours. */
void davy_benign_chats(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_gpu(s, 0);
	struct davy_sim_process *p =
		davy_synth_engine(s, d, any_backend(s), (uint32_t)davy_sim_between(s, 300, 850));
	struct davy_sim_pace pace = davy_synth_pace(s, p);
	struct davy_sim_load *l = davy_sim_add_load(s, p, &pace, arg ? &seldom : &davy_synth_chats);

	if (arg)
		davy_sim_add_actor(s, day_and_night, l, s->begin_ns + DAVY_MIN);
	davy_sim_add_actor(s, breathe, NULL, s->begin_ns + DAVY_S);
}

/* Prompts up to the whole context; jobs stay below 40 % of the timeout (the argument, in s). */
void davy_benign_deep(struct davy_sim *s, uint64_t arg)
{
	static const struct davy_sim_habit deep = {
		.prompt_min = 8000,
		.prompt_max = 60000,
		.answer_min = 50,
		.answer_max = 400,
		.think_ns = 40 * DAVY_S,
	};
	uint64_t timeout_ns = arg * DAVY_S;
	struct davy_sim_device *d = davy_synth_gpu(s, timeout_ns);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 600);
	struct davy_sim_pace pace = davy_synth_pace(s, p);
	uint64_t least_ns = timeout_ns / davy_sim_between(s, 25, 50);

	p->progress.context_size = 65536;
	pace.prompt_ns = least_ns;
	pace.prompt_slope_ns = (timeout_ns * 37 / 100 - least_ns) / 64;
	pace.noise_permille = 30;
	davy_sim_add_load(s, p, &pace, &deep);
}

/* Every job takes 45 % of the timeout from the start: images, not tokens. */
void davy_benign_constant(struct davy_sim *s, uint64_t arg)
{
	static const struct davy_sim_habit images = {
		.prompt_min = 512 * 20,
		.prompt_max = 512 * 40,
		.answer_min = 1,
		.answer_max = 1,
		.think_ns = 30 * DAVY_S,
	};
	struct davy_sim_device *d = davy_synth_gpu(s, arg * DAVY_S);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 600);
	struct davy_sim_pace pace = davy_synth_pace(s, p);

	p->progress.context_size = 32768;
	pace.prompt_ns = arg * DAVY_S * 44 / 100;
	pace.prompt_slope_ns = 0;
	pace.noise_permille = 20;
	davy_sim_add_load(s, p, &pace, &images);
}

/* Shaders are compiled on the CPU while the graph is entered: the ring is idle. */
static uint64_t work_compile(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	if (!a->stage++) {
		l->p->ring = NULL;
		a->n[0] = l->pace.prompt_ns;
		l->pace.prompt_ns = davy_sim_between(s, 5, 40) * DAVY_S;
		davy_sim_ask(s, l);
	}
	if (l->p->graph.graph_count < 3 || l->began_ns)
		return s->now_ns + 10 * DAVY_MS;
	l->p->ring = &l->p->device->ring[1];
	l->pace.prompt_ns = a->n[0];
	return 0;
}

void davy_benign_first_graphs(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_gpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 500);

	(void)arg;
	davy_sim_add_actor(s, work_compile, davy_synth_chat(s, p), s->begin_ns + DAVY_S);
}

/* Near every threshold, above none. */
static uint64_t flap(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_sim_alloc_failed(s, p, DAVY_ALLOC_RESOURCE, -28, 8 * DAVY_MIB,
			      (uint32_t)davy_sim_between(s, 20, 50));
	if (a->stage++ % 2)
		davy_sim_move_in(s, p->pid, p, p->client.evicted);
	else
		davy_sim_move_out(s, p->pid, p, davy_sim_between(s, 100, 200) * DAVY_MIB);
	return s->now_ns + davy_sim_around(s, 40 * DAVY_S);
}

void davy_benign_flapping(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 2 * DAVY_S);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 860);
	struct davy_sim_pace pace = davy_synth_pace(s, p);

	(void)arg;
	pace.prompt_ns = 500 * DAVY_MS; /* level 1 of job_stall */
	pace.prompt_slope_ns = 0;
	pace.noise_permille = 200;
	davy_sim_add_load(s, p, &pace, &davy_synth_chats);
	davy_sim_add_actor(s, flap, p, s->begin_ns + DAVY_MIN);
}

/* A long suspend: CLOCK_BOOTTIME continues, all VRAM is moved out and back. */
static uint64_t sleep_on_it(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	if (!a->stage && (l->phase != DAVY_SIM_IDLE || l->began_ns))
		return s->now_ns + 100 * DAVY_MS;
	if (a->stage == 0 && a->n[0] < 60) { /* 5 GB/s and less: longer than two windows */
		if (!a->n[0])
			a->n[1] = p->client.vram / 60 + DAVY_MIB;
		davy_sim_move_out(s, s->process[1].pid, p, a->n[1]);
		a->n[0]++;
		return s->now_ns + 80 * DAVY_MS;
	}
	if (!a->stage++) {
		uint64_t ns = davy_sim_around(s, 40 * DAVY_MIN);

		davy_sim_sleep(s, ns);
		return s->now_ns + ns;
	}
	if (a->stage == 2) {
		davy_sim_log(s, DAVY_LOG_RESET_CHATTER, p->device, NULL, 0);
		return s->now_ns + 200 * DAVY_MS;
	}
	davy_sim_move_in(s, p->pid, p, p->client.evicted / 4 + DAVY_MIB);
	if (p->client.evicted)
		return s->now_ns + 100 * DAVY_MS;
	a->stage = 0;
	a->n[0] = 0;
	return s->now_ns + davy_sim_around(s, 10 * DAVY_MIN);
}

void davy_benign_sleep(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, any_backend(s), 500);
	struct davy_sim_process *sleeper = davy_sim_add_process(s, NULL, "systemd-sleep");

	(void)arg;
	davy_sim_start(s, sleeper);
	davy_sim_add_actor(s, sleep_on_it, davy_synth_chat(s, p), s->begin_ns + 3 * DAVY_MIN);
}

/* Ollama looks for devices with a child that it kills; runners end by SIGTERM when idle. */
static uint64_t work_discover(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (a->stage++ % 2) {
		davy_sim_exit(s, p, DAVY_STATUS_KILL);
		return s->now_ns + davy_sim_around(s, 5 * DAVY_MIN);
	}
	p->pid += (uint32_t)davy_sim_between(s, 1, 90);
	davy_sim_start(s, p);
	return s->now_ns + davy_sim_around(s, 2 * DAVY_S);
}

void davy_benign_discovery(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_gpu(s, 0);
	struct davy_sim_process *p;

	(void)arg;
	davy_synth_chat(s, davy_synth_engine(s, d, DAVY_BACKEND_ROCM, 500));
	p = davy_sim_add_process(s, d, "ollama");
	p->info.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	p->info.role = DAVY_ROLE_DISCOVERY;
	p->pid += 100000; /* unused by then */
	davy_sim_add_actor(s, work_discover, p, s->begin_ns + 30 * DAVY_S);
}
