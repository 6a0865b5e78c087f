/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines, losses and counters that look like a failure, and none follows. */
#include <errno.h>

#include "lab/check4_parts.h"

static uint64_t noise_lost(struct davy_sim *s, struct davy_sim_actor *a)
{
	(void)a;
	davy_sim_tell_lost(s, "kernel events");
	return s->now_ns + davy_sim_around(s, 30 * DAVY_S);
}

/* of: the game; n: bytes that it took from others */
static uint64_t noise_level(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *game = a->of, *server = s->load[0].p;

	a->stage = !a->stage;
	if (a->stage) {
		davy_check_allocate(s, game, davy_sim_between(s, 800, 2600) * DAVY_MIB);
		return s->now_ns + davy_sim_around(s, 4 * DAVY_MIN);
	}
	game->client.vram = 3 * DAVY_GIB;
	game->client.gtt = 0;
	davy_sim_move_in(s, server->pid, server, server->client.evicted);
	return s->now_ns + davy_sim_around(s, 6 * DAVY_MIN);
}

/* A third of the events is lost while a game takes VRAM from a server, and gives it back. */
void davy_check4_lossy_games(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 12272);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q6_K.gguf", 6800 * DAVY_MIB, 16384);
	struct davy_sim_process *game;

	(void)arg;
	s->lossy_permille = 330;
	davy_check3_serve(s, d, &e, 640, 45 * DAVY_S);
	game = davy_check_app(s, d, "Cyberpunk2077.e", 3 * DAVY_GIB);
	davy_check_frames(s, game, 8 * DAVY_MS, 75);
	davy_sim_add_actor(s, noise_level, game, s->begin_ns + 3 * DAVY_MIN);
	davy_sim_add_actor(s, noise_lost, NULL, s->begin_ns + DAVY_MIN);
}

/* Someone tests drivers: amdgpu is unloaded and loaded each 40 minutes, a server ends before. */
void davy_check4_driver_reload(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 16368);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3-14B-Q5_K_M.gguf", 10500 * DAVY_MIB, 16384);

	(void)arg;
	davy_check3_serve(s, d, &e, 680, 15 * DAVY_S);
	davy_check4_reloads(s, d, 40 * DAVY_MIN, DAVY_MIN);
}

/* of: the server */
static uint64_t noise_interrupt(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (p->alive) {
		davy_sim_exit(s, p, DAVY_STATUS_KILL);
		for (uint32_t i = 0; i < 3; i++)
			davy_check_xid(s, p->device, p, 45);
		return s->now_ns + davy_sim_around(s, 20 * DAVY_S);
	}
	davy_check3_load(s, p, 30 * DAVY_GIB, 2 * DAVY_MIB);
	return s->now_ns + davy_sim_around(s, 14 * DAVY_MIN);
}

/* NVIDIA: someone stops vLLM in the middle of answers; Xid 45 of its channels follows each time. */
void davy_check4_ctrl_c(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3-14B-FP8", 15 * DAVY_GIB, 32768);
	struct davy_sim_load *l;

	(void)arg;
	davy_check2_vram(d, 32607, 300);
	e.comm = "VLLM::EngineCor";
	e.engine = DAVY_ENGINE_VLLM;
	l = davy_check3_serve(s, d, &e, 900, DAVY_S);
	davy_check4_port_each(s, DAVY_LOG_AER_CORRECTED, "0000:00:01.0", 4 * DAVY_MIN);
	davy_sim_add_actor(s, noise_interrupt, l->p, s->begin_ns + 6 * DAVY_MIN);
}

/* of: the first of five jobs */
static uint64_t noise_fifth(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (p->alive) {
		davy_sim_exit(s, p, 0);
		return s->now_ns + davy_sim_around(s, 90 * DAVY_S);
	}
	davy_check_start_again(s, p);
	p->client.vram = 1200 * DAVY_MIB;
	p->kfd.queue_count = 4;
	davy_check2_lines(s, DAVY_LOG_OVERSUBSCRIBED, NULL, NULL,
			  (uint32_t)davy_sim_between(s, 1, 3));
	return s->now_ns + davy_sim_around(s, 5 * DAVY_MIN);
}

/* ROCm/cvs#169: "Runlist is getting oversubscribed" when a fifth process comes; all end well. */
void davy_check4_oversub_line(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 32752);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3-14B-Q6_K.gguf", 12 * DAVY_GIB, 16384);
	struct davy_sim_process *p;

	(void)arg;
	davy_check3_serve(s, d, &e, 400, 25 * DAVY_S);
	for (uint32_t i = 0; i < 3; i++) {
		p = davy_check_app(s, d, "rccl-tests", 900 * DAVY_MIB);
		p->by_kfd = true;
		p->ring = NULL;
		p->kfd.queue_count = 4;
	}
	p = davy_check2_absent(s, d, "rccl-tests");
	p->by_kfd = true;
	davy_sim_add_actor(s, noise_fifth, p, s->begin_ns + 2 * DAVY_MIN);
}

static uint64_t noise_fallback(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_device *d = a->of;

	davy_check3_ring_line(s, DAVY_LOG_FENCE_FALLBACK, d,
			      &d->ring[davy_sim_between(s, 0, 1) ? 0 : d->ring_count - 1]);
	return s->now_ns + davy_sim_around(s, 25 * DAVY_MIN);
}

/* A guest with a card by passthrough: an interrupt is late at times, the timer finds the fence. */
void davy_check4_guest_fallbacks(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16368);
	struct davy_check_engine e =
		davy_check_by_vulkan("Mistral-Nemo-12B-Q6_K.gguf", 10 * DAVY_GIB, 16384);

	(void)arg;
	s->host_total = 24 * DAVY_GIB;
	d->memory.gtt_total = 12 * DAVY_GIB;
	davy_check3_serve(s, d, &e, 700, 20 * DAVY_S);
	davy_sim_add_actor(s, noise_fallback, d, s->begin_ns + 9 * DAVY_MIN);
}

/* A dock sends "PME: Spurious native interrupt!" for ports without a GPU; a model answers. */
void davy_check4_dock_pme(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 64);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-30B-A3B-Q4_K_M.gguf", 18 * DAVY_GIB, 32768);

	(void)arg;
	davy_check_frames(s, desktop, 4 * DAVY_MS, 60);
	davy_check3_serve(s, d, &e, 430, 50 * DAVY_S);
	davy_check4_port_each(s, DAVY_LOG_PME_SPURIOUS, "0000:00:08.3", 17 * DAVY_MIN);
	davy_check4_port_each(s, DAVY_LOG_AER_CORRECTED, "0000:00:03.1", 6 * DAVY_MIN);
}

/* n: runs of the worker that hogged a CPU */
static uint64_t noise_hog(struct davy_sim *s, struct davy_sim_actor *a)
{
	static const uint32_t printed[] = { 4, 5, 7, 11, 19 };

	davy_sim_log(s, DAVY_LOG_RESTORE_WORKER_HOGGED, NULL, NULL, printed[a->stage++]);
	if (a->stage == sizeof(printed) / sizeof(printed[0]))
		return 0;
	return s->now_ns + davy_sim_around(s, (20 + 25 * a->stage) * DAVY_MIN);
}

/* amd-svm-007: lines about the restore worker, an hour apart; pictures go on for the whole day. */
void davy_check4_few_hogs(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 16304);
	struct davy_sim_process *p = davy_check_app(s, d, "python3", 0);

	(void)arg;
	p->by_kfd = true;
	p->ring = NULL;
	p->kfd.queue_count = 8;
	davy_check_peaks(s, p,
			 &(struct davy_check_peaks){ .base = 6 * DAVY_GIB,
						     .peak = 12 * DAVY_GIB,
						     .period_ns = 20 * DAVY_S,
						     .cache = 2 * DAVY_GIB });
	davy_sim_add_actor(s, noise_hog, NULL, s->begin_ns + 12 * DAVY_MIN);
}

static uint64_t noise_order4(struct davy_sim *s, struct davy_sim_actor *a)
{
	(void)a;
	davy_sim_log(s, DAVY_LOG_PAGE_ALLOC_FAILED, NULL, NULL, 0);
	davy_check2_lines(s, DAVY_LOG_TRACE, NULL, NULL, 16);
	davy_check2_lines(s, DAVY_LOG_MEMORY_REPORT, NULL, NULL, 25);
	return s->now_ns + davy_sim_around(s, 35 * DAVY_MIN);
}

/* A backup over the network: the NIC's driver fails to get pages of order 4, and goes on. */
void davy_check4_net_alloc_warns(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 48);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3-14B-Q4_K_M.gguf", 9 * DAVY_GIB, 16384);

	(void)arg;
	s->host_other = 11 * DAVY_GIB;
	davy_check3_serve(s, d, &e, 300, 25 * DAVY_S);
	davy_check_wander(s, &s->host_other, 10 * DAVY_GIB, 22 * DAVY_GIB, 12 * DAVY_S);
	davy_sim_add_actor(s, noise_order4, NULL, s->begin_ns + 8 * DAVY_MIN);
}

/* of: the runner */
static uint64_t noise_unpinned(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		davy_sim_exit(s, p, DAVY_STATUS_KILL);
		return s->now_ns + davy_sim_around(s, 3 * DAVY_MIN);
	case 1:
		davy_check3_load(s, p, 13 * DAVY_GIB, DAVY_MIB);
		return s->now_ns + davy_sim_between(s, 1, 9) * DAVY_S;
	default:
		a->stage = 0;
		davy_sim_log(s, DAVY_LOG_NV_MAP_FAILED, NULL, NULL, 0);
		return s->now_ns + davy_sim_around(s, 11 * DAVY_MIN);
	}
}

/* ggml-org/llama.cpp#9629: host memory cannot be pinned at each load; unpinned memory is used. */
void davy_check4_map_warns(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_check_engine e = davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3-30B-A3B-Q4_K_M.gguf",
						    18 * DAVY_GIB, 16384);

	(void)arg;
	davy_check2_vram(d, 16303, 300);
	davy_sim_add_actor(s, noise_unpinned, davy_check3_serve(s, d, &e, 800, 20 * DAVY_S)->p,
			   s->begin_ns + 7 * DAVY_MIN);
}

static uint64_t noise_stall(struct davy_sim *s, struct davy_sim_actor *a)
{
	(void)a;
	s->pressure_permille = (uint32_t)davy_sim_between(s, 0, 140);
	return s->now_ns + davy_sim_around(s, 12 * DAVY_S);
}

/* A host of 32 GiB swaps for its databases; a model and a desktop on 24 GiB do not care. */
void davy_check4_host_swaps(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 24560);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3-32B-Q4_K_M.gguf", 19 * DAVY_GIB, 16384);

	(void)arg;
	s->host_total = 32 * DAVY_GIB;
	s->host_other = 25 * DAVY_GIB;
	davy_check_frames(s, desktop, 3 * DAVY_MS, 60);
	davy_check3_serve(s, d, &e, 850, 20 * DAVY_S);
	davy_check_wander(s, &desktop->client.vram, 500 * DAVY_MIB, 1400 * DAVY_MIB, 10 * DAVY_S);
	davy_check_wander(s, &s->host_other, 24 * DAVY_GIB, 30 * DAVY_GIB, 9 * DAVY_S);
	davy_sim_add_actor(s, noise_stall, NULL, s->begin_ns + DAVY_MIN);
}

/* of: the device */
static uint64_t noise_warm(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_device *d = a->of;
	struct davy_event ev = davy_sim_event(s, DAVY_EV_CLOCKS, 0);

	davy_copy_name(ev.clocks.device, sizeof(ev.clocks.device), d->name);
	ev.clocks.reason =
		davy_sim_between(s, 0, 2) ? DAVY_CLOCK_SW_POWER_CAP : DAVY_CLOCK_SW_THERMAL;
	davy_sim_tell(s, &ev);
	return s->now_ns + davy_sim_around(s, 20 * DAVY_S);
}

/* NVIDIA, quiet fans: the driver lowers the clocks at its targets of power and temperature. */
void davy_check4_quiet_fans(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_check_engine e = davy_check2_by(
		DAVY_BACKEND_CUDA, "gemma-3-27b-it-qat-q4_0.gguf", 16 * DAVY_GIB, 16384);

	(void)arg;
	davy_check3_serve(s, d, &e, 820, 3 * DAVY_S);
	davy_check_line_each(s, DAVY_LOG_NV_NO_MEMORY, d, 12 * DAVY_MIN, 2);
	davy_sim_add_actor(s, noise_warm, d, s->begin_ns + 2 * DAVY_MIN);
}
