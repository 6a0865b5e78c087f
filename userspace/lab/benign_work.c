/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Benign: ordinary work, at rest and at its limits. Nothing here may raise an alarm. */
#include "lab/scenarios.h"

#define HOUR_OF(ns) ((ns) / DL_H % 24)

static const struct dl_sim_habit seldom = {
	.prompt_min = 60,
	.prompt_max = 4000,
	.answer_min = 40,
	.answer_max = 600,
	.keep_permille = 500,
	.think_ns = 4 * DL_MIN,
};

/* What others on the host do with its memory. */
static uint64_t breathe(struct dl_sim *s, struct dl_sim_actor *a)
{
	if (!a->n[0])
		a->n[0] = s->host_other;
	s->host_other = dl_random_near(&s->random, a->n[0], 60);
	return s->now_ns + dl_sim_around(s, 20 * DL_S);
}

static enum dl_backend any_backend(struct dl_sim *s)
{
	return dl_random_chance(&s->random, 500) ? DL_BACKEND_VULKAN : DL_BACKEND_ROCM;
}

void dl_benign_idle(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_gpu(s, 0);

	(void)arg;
	dl_synth_engine(s, d, any_backend(s), (uint32_t)dl_sim_between(s, 300, 850));
	dl_synth_desktop(s, d);
	dl_sim_add_actor(s, breathe, NULL, s->begin_ns + DL_S);
}

/* At night nobody asks. */
static uint64_t day_and_night(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_load *l = a->of;
	bool day = HOUR_OF(s->now_ns) >= 8;

	l->habit.think_ns = day ? 2 * DL_MIN : DL_H;
	return s->now_ns + 10 * DL_MIN;
}

/* Argument: 1 a whole day, 0 busy hours. */
void dl_benign_chats(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_gpu(s, 0);
	struct dl_sim_process *p =
		dl_synth_engine(s, d, any_backend(s), (uint32_t)dl_sim_between(s, 300, 850));
	struct dl_sim_pace pace = dl_synth_pace(s, p);
	struct dl_sim_load *l = dl_sim_add_load(s, p, &pace, arg ? &seldom : &dl_synth_chats);

	if (arg)
		dl_sim_add_actor(s, day_and_night, l, s->begin_ns + DL_MIN);
	dl_sim_add_actor(s, breathe, NULL, s->begin_ns + DL_S);
}

/* Prompts up to the whole context; jobs stay below 40 % of the timeout (the argument, in s). */
void dl_benign_deep(struct dl_sim *s, uint64_t arg)
{
	static const struct dl_sim_habit deep = {
		.prompt_min = 8000,
		.prompt_max = 60000,
		.answer_min = 50,
		.answer_max = 400,
		.think_ns = 40 * DL_S,
	};
	uint64_t timeout_ns = arg * DL_S;
	struct dl_sim_device *d = dl_synth_gpu(s, timeout_ns);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_VULKAN, 600);
	struct dl_sim_pace pace = dl_synth_pace(s, p);
	uint64_t least_ns = timeout_ns / dl_sim_between(s, 25, 50);

	p->progress.context_size = 65536;
	pace.prompt_ns = least_ns;
	pace.prompt_slope_ns = (timeout_ns * 37 / 100 - least_ns) / 64;
	pace.noise_permille = 30;
	dl_sim_add_load(s, p, &pace, &deep);
}

/* Every job takes 45 % of the timeout, and did so from the first: images, not tokens. */
void dl_benign_constant(struct dl_sim *s, uint64_t arg)
{
	static const struct dl_sim_habit images = {
		.prompt_min = 512 * 20,
		.prompt_max = 512 * 40,
		.answer_min = 1,
		.answer_max = 1,
		.think_ns = 30 * DL_S,
	};
	struct dl_sim_device *d = dl_synth_gpu(s, arg * DL_S);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_VULKAN, 600);
	struct dl_sim_pace pace = dl_synth_pace(s, p);

	p->progress.context_size = 32768;
	pace.prompt_ns = arg * DL_S * 44 / 100;
	pace.prompt_slope_ns = 0;
	pace.noise_permille = 20;
	dl_sim_add_load(s, p, &pace, &images);
}

/* Shaders are compiled on the CPU while the graph is entered: the ring is idle. */
static uint64_t compile(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_load *l = a->of;

	if (!a->stage++) {
		l->p->ring = NULL;
		a->n[0] = l->pace.prompt_ns;
		l->pace.prompt_ns = dl_sim_between(s, 5, 40) * DL_S;
		dl_sim_ask(s, l);
	}
	if (l->p->graph.graph_count < 3 || l->began_ns)
		return s->now_ns + 10 * DL_MS;
	l->p->ring = &l->p->device->ring[1];
	l->pace.prompt_ns = a->n[0];
	return 0;
}

void dl_benign_first_graphs(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_gpu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_VULKAN, 500);

	(void)arg;
	dl_sim_add_actor(s, compile, dl_synth_chat(s, p), s->begin_ns + DL_S);
}

/* Near every threshold, over none. */
static uint64_t flap(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;

	dl_sim_alloc_failed(s, p, DL_ALLOC_RESOURCE, -28, 8 * DL_MIB,
			    (uint32_t)dl_sim_between(s, 20, 50));
	if (a->stage++ % 2)
		dl_sim_move_in(s, p->pid, p, p->client.evicted);
	else
		dl_sim_move_out(s, p->pid, p, dl_sim_between(s, 100, 200) * DL_MIB);
	return s->now_ns + dl_sim_around(s, 40 * DL_S);
}

void dl_benign_flapping(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 2 * DL_S);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_VULKAN, 860);
	struct dl_sim_pace pace = dl_synth_pace(s, p);

	(void)arg;
	pace.prompt_ns = 500 * DL_MS; /* level 1 of job_stall */
	pace.prompt_slope_ns = 0;
	pace.noise_permille = 200;
	dl_sim_add_load(s, p, &pace, &dl_synth_chats);
	dl_sim_add_actor(s, flap, p, s->begin_ns + DL_MIN);
}

/* The host sleeps for long: CLOCK_BOOTTIME goes on, everything in VRAM is moved out and back. */
static uint64_t sleep_on_it(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_load *l = a->of;
	struct dl_sim_process *p = l->p;

	if (!a->stage && (l->phase != DL_SIM_IDLE || l->began_ns))
		return s->now_ns + 100 * DL_MS;
	if (a->stage == 0 && a->n[0] < 60) { /* 5 GB/s and less: longer than two windows */
		if (!a->n[0])
			a->n[1] = p->client.vram / 60 + DL_MIB;
		dl_sim_move_out(s, s->process[1].pid, p, a->n[1]);
		a->n[0]++;
		return s->now_ns + 80 * DL_MS;
	}
	if (!a->stage++) {
		uint64_t ns = dl_sim_around(s, 40 * DL_MIN);

		dl_sim_sleep(s, ns);
		return s->now_ns + ns;
	}
	if (a->stage == 2) {
		dl_sim_log(s, DL_LOG_RESET_CHATTER, p->device, NULL, 0);
		return s->now_ns + 200 * DL_MS;
	}
	dl_sim_move_in(s, p->pid, p, p->client.evicted / 4 + DL_MIB);
	if (p->client.evicted)
		return s->now_ns + 100 * DL_MS;
	a->stage = 0;
	a->n[0] = 0;
	return s->now_ns + dl_sim_around(s, 10 * DL_MIN);
}

void dl_benign_sleep(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, any_backend(s), 500);
	struct dl_sim_process *sleeper = dl_sim_add_process(s, NULL, "systemd-sleep");

	(void)arg;
	dl_sim_start(s, sleeper);
	dl_sim_add_actor(s, sleep_on_it, dl_synth_chat(s, p), s->begin_ns + 3 * DL_MIN);
}

/* Ollama looks for devices with a child that it kills; runners end by SIGTERM when idle. */
static uint64_t discover(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;

	if (a->stage++ % 2) {
		dl_sim_exit(s, p, DL_STATUS_KILL);
		return s->now_ns + dl_sim_around(s, 5 * DL_MIN);
	}
	p->pid += (uint32_t)dl_sim_between(s, 1, 90);
	dl_sim_start(s, p);
	return s->now_ns + dl_sim_around(s, 2 * DL_S);
}

void dl_benign_discovery(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_gpu(s, 0);
	struct dl_sim_process *p;

	(void)arg;
	dl_synth_chat(s, dl_synth_engine(s, d, DL_BACKEND_ROCM, 500));
	p = dl_sim_add_process(s, d, "ollama");
	p->info.engine = DL_ENGINE_OLLAMA_RUNNER;
	p->info.role = DL_ROLE_DISCOVERY;
	p->pid += 100000; /* nobody's by then */
	dl_sim_add_actor(s, discover, p, s->begin_ns + 30 * DL_S);
}
