/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole days on which nothing fails. */
#include "lab/check4_parts.h"

static struct davy_check_engine days_ollama(const char *model, uint64_t model_bytes)
{
	struct davy_check_engine e = davy_check_by_rocm(model, model_bytes, 16384);

	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	return e;
}

/* A desktop with a browser that fills a card of 8 GB to 95 %, and a small model. */
void davy_check4_writer_desk(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 8176);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d);
	struct davy_sim_process *browser = davy_check_app(s, d, "firefox", 500 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-4B-Instruct-Q5_K_M.gguf", 2900 * DAVY_MIB, 16384);

	(void)arg;
	davy_check_frames(s, desktop, 3 * DAVY_MS, 60);
	davy_check_frames(s, browser, 5 * DAVY_MS, 30);
	davy_check3_serve(s, d, &e, 520, 3 * DAVY_MIN);
	davy_check2_tide(s, &browser->client.vram,
			 &(struct davy_check2_tide){ .low = 400 * DAVY_MIB,
						     .high = 2600 * DAVY_MIB,
						     .rate = DAVY_MIB / 4,
						     .high_ns = 6 * DAVY_MIN,
						     .low_ns = 9 * DAVY_MIN });
	davy_check3_suspends(s, d, 5 * DAVY_H, 50 * DAVY_MIN);
}

/* Three models in turns all day; 24 GiB. */
void davy_check4_two_shifts(struct davy_sim *s, uint64_t arg)
{
	static const struct {
		const char *model;
		uint64_t mib;
	} models[] = {
		{ "gemma-3-27b-it-Q4_K_M.gguf", 16500 },
		{ "qwen3-coder-30b-Q4_K_M.gguf", 18600 },
		{ "bge-m3-Q8_0.gguf", 640 },
	};
	struct davy_sim_device *d = davy_check3_card(s, 0, 24560);
	struct davy_sim_process *p, *first = NULL;

	(void)arg;
	for (size_t i = 0; i < 3; i++) {
		struct davy_check_engine e = days_ollama(models[i].model, models[i].mib * DAVY_MIB);

		p = davy_check_engine(s, d, &e, i ? 0 : models[i].mib * DAVY_MIB);
		davy_check_chat(s, p, 35 * DAVY_S);
		if (!first)
			first = p;
	}
	davy_check_turns(s, first, 3, 2 * DAVY_MIB, 8 * DAVY_MIN);
}

/* of: the game; n: bytes of its start */
static uint64_t days_play(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *game = a->of;
	struct davy_sim_process *server = s->load[0].p;
	uint64_t left;

	if (!game->alive) {
		davy_check_start_again(s, game);
		a->n[0] = davy_sim_between(s, 5, 9) * DAVY_GIB;
		a->stage = 0;
		return s->now_ns + 5 * DAVY_S;
	}
	if (game->client.vram < a->n[0] && a->stage++ < 90) { /* its menus and levels */
		davy_check_allocate(s, game, 128 * DAVY_MIB);
		return s->now_ns + davy_sim_around(s, 400 * DAVY_MS);
	}
	if (a->stage < 100) {
		a->stage = 100;
		return s->now_ns + davy_sim_around(s, 70 * DAVY_MIN);
	}
	if (a->stage == 100) {
		a->stage = 101;
		davy_sim_exit(s, game, 0);
		return s->now_ns + 2 * DAVY_S;
	}
	left = server->client.evicted;
	if (left) { /* the server's next request brings it back */
		davy_sim_move_in(s, server->pid, server, left < DAVY_GIB ? left : DAVY_GIB);
		return s->now_ns + davy_sim_around(s, 300 * DAVY_MS);
	}
	return s->now_ns + davy_sim_around(s, 3 * DAVY_H);
}

/* Games that push a resting server out of 16 GiB for an hour; it comes back after each. */
void davy_check4_game_weekend(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 16304);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d), *game;
	struct davy_check_engine e =
		davy_check_by_vulkan("gpt-oss-20b-mxfp4.gguf", 11700 * DAVY_MIB, 16384);

	(void)arg;
	davy_check_frames(s, desktop, 3 * DAVY_MS, 60);
	davy_check3_serve(s, d, &e, 760, 12 * DAVY_MIN);
	game = davy_check2_absent(s, d, "eldenring.exe");
	game->ring = &d->ring[0];
	davy_check_frames(s, game, 9 * DAVY_MS, 60);
	davy_sim_add_actor(s, days_play, game, s->begin_ns + 10 * DAVY_MIN);
}

static uint64_t days_stall(struct davy_sim *s, struct davy_sim_actor *a)
{
	(void)a;
	s->pressure_permille = (uint32_t)davy_sim_between(s, 0, 60);
	return s->now_ns + davy_sim_around(s, 40 * DAVY_S);
}

/* Compilers and linkers fill the host of an APU to 90 % and stall it for moments; a model rests. */
void davy_check4_kernel_builds(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 64);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d);
	struct davy_check_engine e =
		davy_check_by_vulkan("qwen2.5-coder-7b-Q6_K.gguf", 6300 * DAVY_MIB, 32768);

	(void)arg;
	s->host_other = 9 * DAVY_GIB;
	davy_check_frames(s, desktop, 4 * DAVY_MS, 60);
	davy_check3_serve(s, d, &e, 190, 6 * DAVY_MIN);
	davy_check2_tide(s, &s->host_other,
			 &(struct davy_check2_tide){ .low = 9 * DAVY_GIB,
						     .high = 48 * DAVY_GIB,
						     .rate = 300 << 10,
						     .high_ns = 3 * DAVY_MIN,
						     .low_ns = 8 * DAVY_MIN });
	davy_sim_add_actor(s, days_stall, NULL, s->begin_ns + DAVY_MIN);
}

/* of: the trainer; n: bytes before */
static uint64_t days_checkpoint(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	a->stage = !a->stage;
	p->client.system += a->stage ? 11 * DAVY_GIB : -(11 * DAVY_GIB);
	return s->now_ns +
	       (a->stage ? davy_sim_around(s, 50 * DAVY_S) : davy_sim_around(s, 20 * DAVY_MIN));
}

/* A training at up to 95 % of 24 GiB, which writes its state every 20 minutes. */
void davy_check4_training_day(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 24560);
	struct davy_sim_process *p = davy_check_app(s, d, "python3", 0);

	(void)arg;
	p->by_kfd = true;
	p->ring = NULL;
	p->kfd.queue_count = 12;
	p->client.system = 6 * DAVY_GIB;
	davy_check_peaks(s, p,
			 &(struct davy_check_peaks){ .base = 15 * DAVY_GIB,
						     .peak = 22 * DAVY_GIB,
						     .period_ns = 26 * DAVY_S,
						     .cache = 800 * DAVY_MIB });
	davy_sim_add_actor(s, days_checkpoint, p, s->begin_ns + 15 * DAVY_MIN);
}

/* Guests get the second card by passthrough: it leaves its driver and comes back, all day. */
void davy_check4_guest_vms(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 16368);
	struct davy_sim_device *second = davy_check3_second(s, 10 * DAVY_S, 8176);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-14B-Q4_K_M.gguf", 9 * DAVY_GIB, 16384);
	struct davy_check_engine small =
		davy_check_by_vulkan("Llama-3.2-3B-Q4_K_M.gguf", 2000 * DAVY_MIB, 8192);

	(void)arg;
	davy_check_frames(s, desktop, 3 * DAVY_MS, 60);
	davy_check3_serve(s, d, &e, 640, 2 * DAVY_MIN);
	small.ring = 0;
	davy_check3_serve(s, second, &small, 260, 90 * DAVY_S);
	davy_check_wander(s, &s->host_other, 10 * DAVY_GIB, 38 * DAVY_GIB, 25 * DAVY_MIN);
	davy_check4_reloads(s, second, 70 * DAVY_MIN, 35 * DAVY_MIN);
}

/* of: the browser */
static uint64_t days_shrink(struct davy_sim *s, struct davy_sim_actor *a)
{
	davy_sim_hot_fact(s, DAVY_FACT_I915_SHRINK, a->of, 96 * DAVY_MIB,
			  (uint32_t)davy_sim_between(s, 1, 40));
	return s->now_ns + davy_sim_around(s, 3 * DAVY_MIN);
}

static uint64_t days_commute(struct davy_sim *s, struct davy_sim_actor *a)
{
	(void)a;
	if (!davy_check3_suspend(s, davy_sim_around(s, 70 * DAVY_MIN)))
		return s->now_ns + 7 * DAVY_MS;
	return s->now_ns + davy_sim_around(s, 170 * DAVY_MIN);
}

/* A laptop with i915 that commutes: it sleeps eight times, its page cache shrinks buffers. */
void davy_check4_train_laptop(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_intel(s, false);
	struct davy_sim_process *browser = davy_check_app(s, d, "chrome", 700 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check_by_vulkan("Phi-4-mini-instruct-Q4_K_M.gguf", 2500 * DAVY_MIB, 8192);

	(void)arg;
	e.ring = DAVY_CHECK_NO_RING;
	davy_check3_serve(s, d, &e, 95, 4 * DAVY_MIN);
	davy_check_wander(s, &browser->client.gtt, 500 * DAVY_MIB, 2200 * DAVY_MIB, 20 * DAVY_S);
	davy_check2_tide(s, &s->host_other,
			 &(struct davy_check2_tide){ .low = 8 * DAVY_GIB,
						     .high = 24 * DAVY_GIB,
						     .rate = 200 << 10,
						     .high_ns = 5 * DAVY_MIN,
						     .low_ns = 12 * DAVY_MIN });
	davy_sim_add_actor(s, days_shrink, browser, s->begin_ns + 2 * DAVY_MIN);
	davy_sim_add_actor(s, days_commute, NULL, s->begin_ns + 25 * DAVY_MIN);
}

/* of: the load; n: think time by day */
static uint64_t days_night(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	a->stage = !a->stage;
	l->habit.think_ns = a->stage ? 2 * DAVY_S : 5 * DAVY_MIN;
	l->habit.prompt_min = a->stage ? 6000 : 60;
	l->habit.prompt_max = a->stage ? 14000 : 1500;
	l->habit.answer_max = a->stage ? 60 : 400;
	l->habit.keep_permille = a->stage ? 0 : 600;
	davy_sim_ask(s, l);
	return s->now_ns +
	       (a->stage ? davy_sim_around(s, 3 * DAVY_H) : davy_sim_around(s, 5 * DAVY_H));
}

/* xe, 12 GiB: chats by day, at night documents with long prompts, one after another. */
void davy_check4_night_rag(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check4_xe(s, 12216);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q5_K_M.gguf", 5900 * DAVY_MIB, 32768);
	struct davy_check_engine index =
		davy_check_by_vulkan("Qwen3-Embedding-0.6B-Q8_0.gguf", 640 * DAVY_MIB, 8192);
	struct davy_sim_load *l;

	(void)arg;
	e.ring = 0;
	index.ring = 1;
	l = davy_check3_serve(s, d, &e, 780, 5 * DAVY_MIN);
	davy_check3_serve(s, d, &index, 90, 2 * DAVY_MIN)->habit.answer_max = 41;
	davy_sim_add_actor(s, days_night, l, s->begin_ns + 20 * DAVY_MIN);
}
