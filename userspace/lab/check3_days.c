/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole days of ordinary hosts. */
#include "lab/check3_parts.h"

static const struct davy_check2_tide days_backup = {
	.low = 5 * DAVY_GIB,
	.high = 44 * DAVY_GIB,
	.rate = DAVY_MIB / 4,
	.high_ns = 40 * DAVY_MIN,
	.low_ns = 5 * DAVY_H,
};

/*
 * ENGINES.md, Ollama: two models by ROCm take turns, each unloaded after its keep-alive. A backup
 * fills the host's memory for an hour.
 */
void davy_check3_homelab(struct davy_sim *s, uint64_t arg)
{
	static const struct davy_check2_rounds rounds = {
		.count = 2,
		.status = DAVY_STATUS_TERM,
		.rate = DAVY_MIB,
		.serve_ns = 7 * DAVY_MIN,
		.gap_ns = 12 * DAVY_MIN,
	};
	struct davy_sim_device *d = davy_check3_card(s, 0, 16368);
	struct davy_check_engine e =
		davy_check_by_rocm("qwen3-14b-Q4_K_M.gguf", 9300 * DAVY_MIB, 16384);
	struct davy_sim_process *first;

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	first = davy_check3_serve(s, d, &e, 610, 50 * DAVY_S)->p;
	e.model = "gpt-oss-20b-mxfp4.gguf";
	e.model_bytes = 12700 * DAVY_MIB;
	davy_check3_serve(s, d, &e, 830, 50 * DAVY_S);
	davy_check2_rounds(s, first, &rounds);
	davy_check2_tide(s, &s->host_other, &days_backup);
}

/* A desktop of 12 GiB: Plasma, a browser with many tabs, a Vulkan server; 84 to 94 % of VRAM. */
void davy_check3_plasma_desk(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 12272);
	struct davy_sim_process *shell = davy_check_app(s, d, "kwin_wayland", 400 * DAVY_MIB);
	struct davy_sim_process *browser = davy_check_app(s, d, "firefox", 700 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check_by_vulkan("Mistral-Nemo-12B-Q5_K_M.gguf", 8300 * DAVY_MIB, 16384);

	(void)arg;
	davy_check_frames(s, shell, 3 * DAVY_MS, 60);
	davy_check_frames(s, browser, 6 * DAVY_MS, 30);
	davy_check_wander(s, &browser->client.vram, 500 * DAVY_MIB, 1500 * DAVY_MIB, 40 * DAVY_S);
	davy_check_wander(s, &shell->client.vram, 250 * DAVY_MIB, 600 * DAVY_MIB, 90 * DAVY_S);
	davy_check3_serve(s, d, &e, 770, 90 * DAVY_S);
}

/* ComfyUI by ROCm on 16 GiB: each picture loads its encoder, its model and its decoder, to 97 %. */
void davy_check3_comfy_weights(struct davy_sim *s, uint64_t arg)
{
	static const struct davy_check2_tide pictures = {
		.low = 1800 * DAVY_MIB,
		.high = 15480 * DAVY_MIB,
		.rate = 3 * DAVY_MIB,
		.high_ns = 25 * DAVY_S,
		.low_ns = 70 * DAVY_S,
	};
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16304);
	struct davy_sim_process *shell = davy_check_app(s, d, "gnome-shell", 260 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check_by_rocm("flux1-dev-fp8.safetensors", 12000 * DAVY_MIB, 0);
	struct davy_sim_process *p;

	(void)arg;
	e.comm = "python3";
	e.engine = DAVY_ENGINE_COMFYUI;
	p = davy_check_engine(s, d, &e, pictures.low);
	davy_check_frames(s, shell, 4 * DAVY_MS, 50);
	davy_check2_tide(s, &p->client.vram, &pictures);
}

/* n: bytes that the game has */
static uint64_t days_plays(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *game = l->p + 1;

	if (!game->alive) {
		davy_check_start_again(s, game);
		a->n[0] = 0;
	} else if (a->n[0] < 9200 * DAVY_MIB) {
		a->n[0] += 256 * DAVY_MIB;
		davy_check_allocate(s, game, 256 * DAVY_MIB);
		return s->now_ns + davy_sim_between(s, 300, 1500) * DAVY_MS;
	} else if (!a->stage) {
		a->stage = 1;
		return s->now_ns + davy_sim_around(s, 80 * DAVY_MIN);
	} else {
		a->stage = 0;
		davy_sim_exit(s, game, 0);
		return s->now_ns + davy_sim_around(s, 4 * DAVY_H);
	}
	return s->now_ns + 5 * DAVY_S;
}

/* What a game pushed out comes back when the server works. */
static uint64_t days_returns(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p, *game = p + 1;
	uint64_t step = 400 * DAVY_MIB;

	l->slow_permille = p->client.evicted ? 1500 : 1000;
	if (!game->alive && p->client.evicted && l->phase != DAVY_SIM_IDLE)
		davy_sim_move_in(s, p->pid, p, step < p->client.evicted ? step : p->client.evicted);
	return s->now_ns + 300 * DAVY_MS;
}

/*
 * FeralInteractive/gamemode#445 and llama.cpp#5380, where the driver moves memory back: a game
 * takes VRAM from a server that rests, for an hour or two, a few times a day.
 */
void davy_check3_steam_nights(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 16368);
	struct davy_check_engine e =
		davy_check_by_vulkan("gpt-oss-20b-mxfp4.gguf", 11600 * DAVY_MIB, 16384);
	struct davy_sim_load *l;
	struct davy_sim_process *game;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 740, 6 * DAVY_MIN);
	game = davy_check2_absent(s, d, "eldenring.exe");
	game->ring = &d->ring[0];
	davy_check_frames(s, game, 9 * DAVY_MS, 90);
	davy_sim_add_actor(s, days_plays, l, s->begin_ns + davy_sim_around(s, 20 * DAVY_MIN));
	davy_sim_add_actor(s, days_returns, l, s->begin_ns + DAVY_S);
}

/* llama-swap on a Strix Halo of 128 GiB: models of 30, 47 and 63 GiB in turns, killed when idle. */
void davy_check3_strix_router(struct davy_sim *s, uint64_t arg)
{
	static const struct {
		const char *name;
		uint64_t mib;
	} models[] = {
		{ "Qwen3.6-35B-A3B-Q6_K.gguf", 28300 },
		{ "Llama-3.3-70B-Q4_K_M.gguf", 44100 },
		{ "gpt-oss-120b-mxfp4.gguf", 59400 },
	};
	struct davy_sim_device *d = davy_check3_apu(s, 10 * DAVY_S, 128);
	struct davy_sim_process *first = NULL;

	(void)arg;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct davy_check_engine e =
			davy_check_by_vulkan(models[i].name, models[i].mib * DAVY_MIB, 32768);
		struct davy_sim_process *p =
			davy_check3_serve(s, d, &e, i ? 0 : 310, 40 * DAVY_S)->p;

		first = first ? first : p;
	}
	davy_check_turns(s, first, 3, DAVY_MIB, 17 * DAVY_MIN);
	davy_check_wander(s, &s->host_other, 6 * DAVY_GIB, 22 * DAVY_GIB, 4 * DAVY_MIN);
}

static uint64_t days_xe_faults(struct davy_sim *s, struct davy_sim_actor *a)
{
	davy_sim_hot_fact(s, DAVY_FACT_XE_PAGE_FAULT, a->of, 0,
			  (uint32_t)davy_sim_between(s, 1, 60));
	return s->now_ns + davy_sim_around(s, 20 * DAVY_S);
}

/* vLLM for XPU on an Arc Pro B60 of 24 GiB: 92 % for ever, probes, faults that are served. */
void davy_check3_arc_vllm(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_intel(s, true);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_SYCL, "Qwen3-14B-AWQ", 9800 * DAVY_MIB, 32768);
	struct davy_sim_load *l;

	(void)arg;
	davy_check2_vram(d, 24480, 200);
	e.comm = "VLLM::EngineCor";
	e.engine = DAVY_ENGINE_VLLM;
	l = davy_check3_serve(s, d, &e, 920, 15 * DAVY_S);
	davy_sim_add_actor(s, days_xe_faults, l->p, s->begin_ns + DAVY_S);
}

static uint64_t days_pressure(struct davy_sim *s, struct davy_sim_actor *a)
{
	uint64_t left = davy_sim_host_available(s);

	(void)a;
	s->pressure_permille = 0;
	if (left < s->host_total / 6)
		s->pressure_permille = (uint32_t)davy_sim_between(s, 5, 70);
	return s->now_ns + 10 * DAVY_S;
}

/*
 * Distribution packages are built on an APU's host: 60 compilers, links of 20 GiB, a small model.
 */
void davy_check3_build_farm(struct davy_sim *s, uint64_t arg)
{
	static const struct davy_check2_tide links = {
		.low = 9 * DAVY_GIB,
		.high = 69 * DAVY_GIB,
		.rate = DAVY_MIB / 2,
		.high_ns = 3 * DAVY_MIN,
		.low_ns = 6 * DAVY_MIN,
	};
	struct davy_sim_device *d = davy_check3_apu(s, 10 * DAVY_S, 96);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-Coder-30B-A3B-Q4_K_M.gguf", 18600 * DAVY_MIB, 32768);

	(void)arg;
	davy_check3_serve(s, d, &e, 270, 2 * DAVY_MIN);
	davy_check2_tide(s, &s->host_other, &links);
	davy_sim_add_actor(s, days_pressure, NULL, s->begin_ns + DAVY_S);
}

static uint64_t days_capped(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_CLOCKS, 0);
	struct davy_sim_load *l = a->of;

	davy_copy_name(ev.clocks.device, sizeof(ev.clocks.device), l->p->device->name);
	ev.clocks.reason = DAVY_CLOCK_SW_POWER_CAP;
	if (l->phase != DAVY_SIM_IDLE)
		davy_sim_tell(s, &ev);
	return s->now_ns + 5 * DAVY_S;
}

/* Two RTX 3090 at 220 W: clocks are lowered all day; a riser's link errors are corrected. */
void davy_check3_power_capped(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3-32B-AWQ", 19300 * DAVY_MIB, 40960);

	(void)arg;
	e.comm = "VLLM::Worker_TP";
	e.engine = DAVY_ENGINE_VLLM;
	for (uint32_t i = 0; i < 2; i++) {
		struct davy_sim_device *d = davy_synth_nvidia(s, i);
		struct davy_sim_load *l = davy_check3_serve(s, d, &e, 930, 20 * DAVY_S);

		davy_sim_add_actor(s, days_capped, l, s->begin_ns + DAVY_S);
		davy_check_line_each(s, DAVY_LOG_AER_CORRECTED, d, 35 * DAVY_MIN, 3);
	}
}

/* A laptop that sleeps ten times a day with its model in memory. */
void davy_check3_sleepy_laptop(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 2 * DAVY_S, 32);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q4_K_M.gguf", 4800 * DAVY_MIB, 16384);

	(void)arg;
	davy_check_frames(s, desktop, 5 * DAVY_MS, 60);
	davy_check_wander(s, &s->host_other, 5 * DAVY_GIB, 15 * DAVY_GIB, 60 * DAVY_S);
	davy_check3_serve(s, d, &e, 240, 3 * DAVY_MIN);
	davy_check3_suspends(s, d, 90 * DAVY_MIN, 50 * DAVY_MIN);
}

static uint64_t days_shrinks(struct davy_sim *s, struct davy_sim_actor *a)
{
	davy_sim_hot_fact(s, DAVY_FACT_I915_SHRINK, a->of, davy_sim_between(s, 1, 30) * DAVY_MIB,
			  1);
	return s->now_ns + davy_sim_around(s, 25 * DAVY_S);
}

/* A media server on an Intel NUC: transcodes, a photo index in the page cache, a small chat. */
void davy_check3_quick_sync(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_intel(s, false);
	struct davy_sim_process *media = davy_check_app(s, d, "jellyfin-ffmpeg", 350 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check_by_vulkan("gemma-4-4b-it-Q4_K_M.gguf", 2600 * DAVY_MIB, 8192);

	(void)arg;
	davy_check_frames(s, media, 5 * DAVY_MS, 120);
	davy_check_wander(s, &media->client.gtt, 200 * DAVY_MIB, 1800 * DAVY_MIB, 9 * DAVY_MIN);
	davy_check_wander(s, &s->host_other, 12 * DAVY_GIB, 24 * DAVY_GIB, 2 * DAVY_MIN);
	davy_sim_add_actor(s, days_shrinks, media, s->begin_ns + DAVY_S);
	davy_check3_serve(s, d, &e, 110, 4 * DAVY_MIN);
}
