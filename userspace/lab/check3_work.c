/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hard work that harms nothing. */
#include "lab/check3_parts.h"

/* llama-bench in a loop over three models, each to 97 % of VRAM; each run ends with status 0. */
void davy_check3_bench_loops(struct davy_sim *s, uint64_t arg)
{
	static const struct davy_check2_rounds rounds = {
		.count = 3,
		.status = 0,
		.rate = 2 * DAVY_MIB,
		.serve_ns = 3 * DAVY_MIN,
		.gap_ns = 3 * DAVY_S,
	};
	struct davy_sim_device *d = davy_check3_card(s, 0, 16368);
	struct davy_sim_process *first = NULL;

	(void)arg;
	for (uint64_t i = 0; i < 3; i++) {
		struct davy_check_engine e = davy_check_by_vulkan(
			"gpt-oss-20b-mxfp4.gguf", (14000 + 300 * i) * DAVY_MIB, 8192);
		struct davy_sim_load *l;

		e.comm = "llama-bench";
		e.engine = DAVY_ENGINE_LLAMA_CPP;
		e.role = DAVY_ROLE_TOOL;
		l = davy_check3_serve(s, d, &e, i ? 0 : 920, DAVY_S);
		l->habit.prompt_min = l->habit.prompt_max = 4096;
		l->habit.keep_permille = 0;
		first = first ? first : l->p;
	}
	davy_check2_rounds(s, first, &rounds);
}

/* llama.cpp#17870's cure: 128,000 tokens by ubatches of 64, jobs up to 45 % of 2 s. */
void davy_check3_small_steps(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 2 * DAVY_S, 128);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.8-27B-Q4_K_M.gguf", 16800 * DAVY_MIB, 131072);
	struct davy_sim_load *l;

	(void)arg;
	e.ubatch = 64;
	l = davy_check3_serve(s, d, &e, 420, 4 * DAVY_MIN);
	l->habit.prompt_max = 30000;
	l->habit.keep_permille = 900;
	l->pace.prompt_ns = 110 * DAVY_MS;
	l->pace.prompt_slope_ns = 5500000; /* 0.8 s at the full depth */
	l->pace.noise_permille = 60;
}

/* A grid search by PyTorch on ROCm: each step peaks at 97 %, its cache is given back and taken. */
void davy_check3_torch_grid(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 24560);
	struct davy_sim_process *p = davy_check_app(s, d, "python3", 0);
	struct davy_sim_process *shell = davy_check_app(s, d, "gnome-shell", 180 * DAVY_MIB);

	(void)arg;
	p->by_kfd = true;
	p->ring = NULL;
	p->kfd.queue_count = 8;
	davy_check_frames(s, shell, 3 * DAVY_MS, 30);
	davy_check_peaks(s, p,
			 &(struct davy_check_peaks){ .base = 9 * DAVY_GIB,
						     .peak = 23320 * DAVY_MIB,
						     .period_ns = 8 * DAVY_S,
						     .cache = 5 * DAVY_GIB });
}

static void work_kfd(struct davy_sim *s, const struct davy_sim_process *p,
		     enum davy_kfd_event event, uint32_t trigger, uint64_t bytes)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_KFD, p->pid);

	davy_copy_name(ev.kfd.device, sizeof(ev.kfd.device), p->device->name);
	ev.kfd.driver_ns = s->now_ns;
	ev.kfd.event = event;
	ev.kfd.trigger = trigger;
	ev.kfd.addr = 0x7f0000000000 + davy_sim_between(s, 0, 1 << 20) * 4096;
	ev.kfd.bytes = bytes;
	ev.kfd.flags = event == DAVY_KFD_PAGE_FAULT_END ? DAVY_KFD_MIGRATED : 0;
	davy_sim_tell(s, &ev);
}

static uint64_t work_migrates(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint32_t faults = (uint32_t)davy_sim_between(s, 20, 2500);
	uint64_t bytes = davy_sim_between(s, 1, 512) * 2 * DAVY_MIB;

	davy_sim_fault(s, p, DAVY_FAULT_VM_RETRY, 0x7f0000000000, faults);
	davy_sim_hot_fact(s, DAVY_FACT_KFD_PAGE_FAULT, p, 0, faults / 8 + 1);
	work_kfd(s, p, DAVY_KFD_PAGE_FAULT_BEGIN, 0, 0);
	work_kfd(s, p, DAVY_KFD_MIGRATE_BEGIN, 1, bytes);
	work_kfd(s, p, DAVY_KFD_MIGRATE_END, 1, bytes);
	work_kfd(s, p, DAVY_KFD_PAGE_FAULT_END, 0, 0);
	p->kfd.fault_count += faults;
	p->kfd.pages_in += bytes / 4096;
	return s->now_ns + davy_sim_around(s, 2 * DAVY_S);
}

/*
 * HSA_XNACK=1 (KERNEL.md 5.2): pages of managed memory migrate by faults that are served, for ever.
 */
void davy_check3_xnack_apu(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 65520);
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-32B", 61000 * DAVY_MIB, 32768);
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "python3.12";
	e.engine = DAVY_ENGINE_GENERIC;
	l = davy_check3_serve(s, d, &e, 880, 20 * DAVY_S);
	davy_sim_add_actor(s, work_migrates, l->p, s->begin_ns + DAVY_S);
}

/* A server that has used 97 % for weeks before the agent starts, and a desktop beside it. */
void davy_check3_found_full(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 20464);
	struct davy_sim_process *desktop = davy_check_app(s, d, "gnome-shell", 300 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.6-27B-IQ4_XS.gguf", 14400 * DAVY_MIB, 65536);

	(void)arg;
	e.found = true;
	davy_check_frames(s, desktop, 3 * DAVY_MS, 60);
	davy_check_wander(s, &desktop->client.vram, 220 * DAVY_MIB, 380 * DAVY_MIB, 60 * DAVY_S);
	davy_check3_serve(s, d, &e, 945, 45 * DAVY_S);
}

/* Speech to text, a chat and a voice on one APU: short jobs of three processes on three rings. */
void davy_check3_voice_chain(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 2 * DAVY_S, 64);
	struct davy_check_engine e =
		davy_check_by_vulkan("ggml-large-v3-turbo.bin", 1600 * DAVY_MIB, 2048);
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "whisper-server";
	e.engine = DAVY_ENGINE_WHISPER_CPP;
	l = davy_check3_serve(s, d, &e, 40, 25 * DAVY_S);
	l->habit.prompt_min = 500;
	l->habit.prompt_max = 1500;
	l->habit.answer_max = 60;
	e = davy_check_by_vulkan("Qwen3-8B-Q4_K_M.gguf", 4800 * DAVY_MIB, 8192);
	e.ring = 2;
	davy_check3_serve(s, d, &e, 140, 25 * DAVY_S);
	e = davy_check_by_vulkan("orpheus-3b-Q8_0.gguf", 3500 * DAVY_MIB, 4096);
	e.ring = 3;
	l = davy_check3_serve(s, d, &e, 90, 25 * DAVY_S);
	l->habit.answer_min = 300;
	l->habit.answer_max = 1200;
	davy_check_wander(s, &s->host_other, 6 * DAVY_GIB, 20 * DAVY_GIB, 90 * DAVY_S);
}

/* podman auto-update: the container is replaced every few hours, with status 0. */
void davy_check3_nightly_pulls(struct davy_sim *s, uint64_t arg)
{
	static const struct davy_check2_rounds rounds = {
		.count = 1,
		.status = 0,
		.rate = DAVY_MIB,
		.serve_ns = 3 * DAVY_H,
		.gap_ns = 40 * DAVY_S,
	};
	struct davy_sim_device *d = davy_check3_card(s, 0, 24560);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3.6-27B-Q5_K_M.gguf", 20400 * DAVY_MIB, 32768);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 900, 45 * DAVY_S);
	l->p->info.runtime = DAVY_RUNTIME_PODMAN;
	davy_check2_rounds(s, l->p, &rounds);
	davy_check2_tide(s, &s->host_other,
			 &(struct davy_check2_tide){ .low = 4 * DAVY_GIB,
						     .high = 30 * DAVY_GIB,
						     .rate = DAVY_MIB / 2,
						     .high_ns = 10 * DAVY_MIN,
						     .low_ns = 50 * DAVY_MIN });
}

/*
 * Blender's Cycles by HIP: scenes of 60 to 94 % of VRAM for a minute each, a desktop that stutters.
 */
void davy_check3_blender_hip(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16304);
	struct davy_sim_process *p = davy_check_app(s, d, "blender", 600 * DAVY_MIB);
	struct davy_sim_process *shell = davy_check_app(s, d, "gnome-shell", 320 * DAVY_MIB);

	(void)arg;
	p->by_kfd = true;
	p->kfd.queue_count = 4;
	davy_check_frames(s, shell, 30 * DAVY_MS, 25);
	davy_check_frames(s, p, 12 * DAVY_MS, 20);
	davy_check2_tide(s, &p->client.vram,
			 &(struct davy_check2_tide){ .low = 600 * DAVY_MIB,
						     .high = 14700 * DAVY_MIB,
						     .rate = 4 * DAVY_MIB,
						     .high_ns = 60 * DAVY_S,
						     .low_ns = 12 * DAVY_S });
}

/* A large model and its draft by two servers on one card: 96 %, busy without a pause. */
void davy_check3_draft_model(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 24560);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.8-27B-Q4_K_M.gguf", 16800 * DAVY_MIB, 65536);

	(void)arg;
	davy_check3_serve(s, d, &e, 840, 800 * DAVY_MS);
	e = davy_check_by_vulkan("Qwen3.8-0.6B-Q8_0.gguf", 700 * DAVY_MIB, 65536);
	e.ring = 2;
	davy_check3_serve(s, d, &e, 115, 800 * DAVY_MS);
}

/* n: bytes that the preview has */
static uint64_t work_preview(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p, *app = p + 1;

	switch (a->stage) {
	case 0:
		a->n[0] += 200 * DAVY_MIB;
		davy_check_allocate(s, app, 200 * DAVY_MIB);
		a->stage = a->n[0] >= davy_sim_between(s, 2200, 4200) * DAVY_MIB;
		return s->now_ns + (a->stage ? davy_sim_around(s, 35 * DAVY_S) : 150 * DAVY_MS);
	case 1:
		a->stage = 2;
		a->n[0] = app->client.gtt = 0;
		app->client.vram = 350 * DAVY_MIB;
		return s->now_ns + DAVY_S;
	default:
		break;
	}
	if (p->client.evicted) {
		davy_sim_move_in(s, p->pid, p, 256 * DAVY_MIB);
		return s->now_ns + 100 * DAVY_MS;
	}
	a->stage = 0;
	return s->now_ns + davy_sim_around(s, 14 * DAVY_MIN);
}

/*
 * KERNEL.md 7: a preview of FreeCAD evicts some GiB of a server for half a minute, a few times an
 * hour; all of it comes back.
 */
void davy_check3_short_evictions(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 20464);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.6-27B-IQ4_XS.gguf", 14400 * DAVY_MIB, 32768);
	struct davy_sim_load *l;
	struct davy_sim_process *app;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 860, 2 * DAVY_MIN);
	app = davy_check_app(s, d, "freecad", 350 * DAVY_MIB);
	davy_check_frames(s, app, 5 * DAVY_MS, 40);
	davy_sim_add_actor(s, work_preview, l, s->begin_ns + davy_sim_around(s, 3 * DAVY_MIN));
}

/* An Arc B580 embeds a mail archive: thousands of jobs of 60 to 300 ms in bursts, VRAM constant. */
void davy_check3_embeddings(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_intel(s, true);
	struct davy_check_engine e = davy_check_by_vulkan("bge-m3-Q8_0.gguf", 640 * DAVY_MIB, 8192);
	struct davy_sim_load *l;

	(void)arg;
	e.ring = 1;
	l = davy_check3_serve(s, d, &e, 130, 400 * DAVY_MS);
	l->habit.prompt_min = 200;
	l->habit.prompt_max = 7000;
	l->habit.answer_min = l->habit.answer_max = 1;
	l->habit.keep_permille = 0;
	e = davy_check_by_vulkan("Qwen3-8B-Q4_K_M.gguf", 4800 * DAVY_MIB, 16384);
	e.ring = 0;
	davy_check3_serve(s, d, &e, 510, 60 * DAVY_S);
}

/* A laptop with a Radeon for the desktop and an NVIDIA card for the model; it sleeps at times. */
void davy_check3_hybrid_laptop(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *apu = davy_check3_apu(s, 2 * DAVY_S, 32);
	struct davy_sim_device *card = davy_synth_nvidia(s, 0);
	struct davy_sim_process *desktop = davy_synth_desktop(s, apu);
	struct davy_sim_process *browser = davy_check_app(s, apu, "chromium", 800 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3-8B-Q4_K_M.gguf", 4800 * DAVY_MIB, 16384);

	(void)arg;
	card->memory.vram_total = 8 * DAVY_GIB;
	davy_check_frames(s, desktop, 4 * DAVY_MS, 60);
	davy_check_frames(s, browser, 8 * DAVY_MS, 40);
	davy_check_wander(s, &browser->client.gtt, 400 * DAVY_MIB, 2600 * DAVY_MIB, 30 * DAVY_S);
	davy_check3_serve(s, card, &e, 780, 2 * DAVY_MIN);
	davy_check3_suspends(s, apu, 2 * DAVY_H, DAVY_H);
}
