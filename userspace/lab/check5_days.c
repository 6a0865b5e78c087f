/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole days on which nothing fails. */
#include "lab/check5_parts.h"

/* Photographs are developed on a card of 12 GiB, to 96 %, beside a small model. */
void davy_check5_studio_desk(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 12272);
	struct davy_sim_process *shell = davy_check_app(s, d, "plasmashell", 380 * DAVY_MIB);
	struct davy_sim_process *photos = davy_check_app(s, d, "darktable", 300 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check_by_vulkan("gemma-3n-E4B-it-Q4_K_M.gguf", 4300 * DAVY_MIB, 8192);

	(void)arg;
	davy_check_frames(s, shell, 3 * DAVY_MS, 60);
	davy_check_frames(s, photos, 40 * DAVY_MS, 12);
	davy_check3_serve(s, d, &e, 370, 4 * DAVY_MIN);
	davy_check2_tide(s, &photos->client.vram,
			 &(struct davy_check2_tide){ .low = 300 * DAVY_MIB,
						     .high = 6600 * DAVY_MIB,
						     .rate = DAVY_MIB,
						     .high_ns = 40 * DAVY_S,
						     .low_ns = 70 * DAVY_S });
	davy_check3_suspends(s, d, 6 * DAVY_H, 70 * DAVY_MIN);
}

/* Chat, embeddings and a reranker of an office on 48 GiB; pauses at noon and in the evening. */
void davy_check5_rag_office(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 49136);
	struct davy_check_engine chat =
		davy_check_by_rocm("Qwen3.6-27B-Q6_K.gguf", 22 * DAVY_GIB, 65536);
	struct davy_check_engine embed =
		davy_check_by_vulkan("bge-m3-Q8_0.gguf", 640 * DAVY_MIB, 8192);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &chat, 620, 14 * DAVY_S);
	davy_check5_shifts(s, l, 200 * DAVY_MIN, 50 * DAVY_MIN);
	embed.ring = 2;
	l = davy_check3_serve(s, d, &embed, 40, DAVY_S);
	l->habit.answer_min = l->habit.answer_max = 0;
	davy_check5_shifts(s, l, 40 * DAVY_MIN, 30 * DAVY_MIN);
	embed.model = "bge-reranker-v2-m3-Q8_0.gguf";
	embed.ring = 3;
	l = davy_check3_serve(s, d, &embed, 40, 20 * DAVY_S);
	l->habit.answer_min = l->habit.answer_max = 0;
	davy_check_wander(s, &l->p->client.vram, 1400 * DAVY_MIB, 6 * DAVY_GIB, 50 * DAVY_S);
}

/* Two models for agents on a Strix Halo of 128 GiB: deep contexts, a growing prompt cache. */
void davy_check5_halo_agents(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 10 * DAVY_S, 128);
	struct davy_check_engine coder =
		davy_check_by_vulkan("Qwen3-Coder-Next-UD-Q5_K_XL.gguf", 54 * DAVY_GIB, 131072);
	struct davy_check_engine quick =
		davy_check_by_vulkan("gpt-oss-20b-mxfp4.gguf", 11700 * DAVY_MIB, 65536);
	struct davy_sim_load *l;

	(void)arg;
	s->host_other = 12 * DAVY_GIB;
	l = davy_check3_serve(s, d, &coder, 660, 45 * DAVY_S);
	l->habit.keep_permille = 985;
	l->habit.prompt_max = 5000;
	l->pace.prompt_ns = 420 * DAVY_MS;
	l->pace.prompt_slope_ns = 14 * DAVY_MS;
	davy_check5_shifts(s, l, 3 * DAVY_H, DAVY_H);
	davy_check2_tide(s, &l->p->client.system,
			 &(struct davy_check2_tide){ .low = DAVY_GIB,
						     .high = 9 * DAVY_GIB,
						     .rate = 4 << 10,
						     .high_ns = 10 * DAVY_MIN,
						     .low_ns = 5 * DAVY_MIN });
	quick.ring = 2;
	davy_check3_serve(s, d, &quick, 140, 3 * DAVY_MIN);
	davy_check_wander(s, &s->host_other, 11 * DAVY_GIB, 22 * DAVY_GIB, 9 * DAVY_MIN);
}

/* of: the game; the server is before; n: what the game wants */
static uint64_t days_of_games(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *game = a->of, *server = game - 1;

	switch (a->stage++) {
	case 0: /* the server is unloaded first */
		davy_sim_exit(s, server, DAVY_STATUS_TERM);
		a->n[0] = davy_sim_between(s, 9, 14) * DAVY_GIB;
		return s->now_ns + davy_sim_between(s, 3, 20) * DAVY_S;
	case 1:
		davy_check_start_again(s, game);
		return s->now_ns + DAVY_S;
	case 2:
		if (game->client.vram < a->n[0]) {
			game->client.vram += 96 * DAVY_MIB;
			a->stage = 2;
			return s->now_ns + davy_sim_around(s, 250 * DAVY_MS);
		}
		return s->now_ns + davy_sim_around(s, 55 * DAVY_MIN);
	case 3:
		davy_sim_exit(s, game, davy_random_chance(&s->random, 150) ? DAVY_STATUS_SEGV : 0);
		return s->now_ns + davy_sim_between(s, 2, 90) * DAVY_S;
	default:
		a->stage = 0;
		davy_check3_load(s, server, server->info.model_bytes / 100 * 108, 2 * DAVY_MIB);
		return s->now_ns + davy_sim_around(s, 100 * DAVY_MIN);
	}
}

/* A proxy unloads the model before each game and loads it after; some games crash by themselves. */
void davy_check5_swap_for_games(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 16304);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d), *game;
	struct davy_check_engine e =
		davy_check_by_vulkan("gpt-oss-20b-mxfp4.gguf", 11700 * DAVY_MIB, 32768);

	(void)arg;
	davy_check_frames(s, desktop, 3 * DAVY_MS, 60);
	davy_check3_serve(s, d, &e, 770, 90 * DAVY_S);
	game = davy_check2_absent(s, d, "bg3_dx11.exe");
	game->ring = &d->ring[0];
	davy_check_frames(s, game, 11 * DAVY_MS, 75);
	davy_sim_add_actor(s, days_of_games, game, s->begin_ns + 9 * DAVY_MIN);
}

/* Tests in containers on 24 GiB: some succeed, some fail, some are killed; a server stays. */
void davy_check5_ci_containers(struct davy_sim *s, uint64_t arg)
{
	static const int32_t status[] = { 0, DAVY_STATUS_EXIT1, DAVY_STATUS_KILL };
	struct davy_sim_device *d = davy_check3_card(s, 0, 24560);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3-14B-Q4_K_M.gguf", 8900 * DAVY_MIB, 16384);

	(void)arg;
	davy_check3_serve(s, d, &e, 420, 50 * DAVY_S);
	for (size_t i = 0; i < 3; i++) {
		struct davy_sim_process *p = davy_check2_absent(s, d, "pytest");

		p->by_kfd = true;
		p->kfd.queue_count = 2;
		p->info.flags = 0;
		p->info.runtime = DAVY_RUNTIME_DOCKER;
		davy_check2_visits(s, p,
				   &(struct davy_check2_visits){ .period_ns = 9 * DAVY_MIN,
								 .stay_ns = 5 * DAVY_MIN,
								 .bytes = 4500 * DAVY_MIB,
								 .status = status[i] });
	}
}

/* A backup reads all disks of a small server: little memory, stalls, a NIC without pages. */
void davy_check5_night_backup(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 64);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q5_K_M.gguf", 5700 * DAVY_MIB, 16384);

	(void)arg;
	s->host_other = 8 * DAVY_GIB;
	davy_check3_serve(s, d, &e, 170, 2 * DAVY_MIN);
	davy_check2_tide(s, &s->host_other,
			 &(struct davy_check2_tide){ .low = 8 * DAVY_GIB,
						     .high = 47 * DAVY_GIB,
						     .rate = 90 << 10,
						     .high_ns = 80 * DAVY_MIN,
						     .low_ns = 25 * DAVY_MIN });
	davy_check5_pressure(s, 80, 25 * DAVY_S);
	davy_check_line_each(s, DAVY_LOG_PAGE_ALLOC_FAILED, NULL, 50 * DAVY_MIN, 3);
}

/* of: the server's load */
static uint64_t days_asleep(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	if (l->stopped && p->client.vram)
		davy_sim_move_out(s, p->pid, p, 768 * DAVY_MIB);
	else if (!l->stopped && p->client.evicted)
		davy_sim_move_in(s, p->pid, p, 1536 * DAVY_MIB);
	else
		return s->now_ns + 500 * DAVY_MS;
	return s->now_ns + davy_sim_around(s, 120 * DAVY_MS);
}

/* A card without a display sleeps when its server rests: VRAM goes to the host and comes back. */
void davy_check5_sleeping_card(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 16304);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-14B-Q4_K_M.gguf", 8900 * DAVY_MIB, 16384);
	struct davy_sim_load *l = davy_check3_serve(s, d, &e, 630, 20 * DAVY_S);

	(void)arg;
	d->memory.flags |= DAVY_MEMORY_MAY_SUSPEND;
	davy_check5_shifts(s, l, 8 * DAVY_MIN, 30 * DAVY_MIN);
	davy_check_wander(s, &s->host_other, 6 * DAVY_GIB, 30 * DAVY_GIB, 5 * DAVY_MIN);
	davy_sim_add_actor(s, days_asleep, l, s->begin_ns + DAVY_MIN);
}
