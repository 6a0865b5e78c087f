/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Held-out days of desktops and administrators: benign. */
#include <errno.h>

#include "lab/check_parts.h"

#define TRIGGER_SUSPEND 3 /* KFD_QUEUE_EVICTION_TRIGGER_SUSPEND */

/* A card with a compositor, a browser with WebGL, and a small server. */
static struct davy_sim_process *check_desktop(struct davy_sim *s, uint64_t vram_mib,
					      uint64_t model_mib, uint64_t think_ns)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q4_K_M.gguf", model_mib * DAVY_MIB, 16384);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *desktop, *browser, *p;

	d->memory.vram_total = d->memory.visible_total = vram_mib * DAVY_MIB;
	desktop = davy_check_app(s, d, "gnome-shell", 300 * DAVY_MIB);
	davy_check_frames(s, desktop, 2 * DAVY_MS, 40);
	browser = davy_check_app(s, d, "firefox", 500 * DAVY_MIB);
	davy_check_frames(s, browser, 7 * DAVY_MS, 60);
	davy_check_wander(s, &browser->client.vram, 250 * DAVY_MIB, 2200 * DAVY_MIB, DAVY_MIN);
	p = davy_check_engine(s, d, &e, model_mib * DAVY_MIB / 10 * 11);
	davy_check_chat(s, p, think_ns);
	return p;
}

/* 24 h of a desktop of 16 GB: frames of 2 to 10 ms, a browser of 0.25 to 2.2 GB, some chats. */
void davy_check_office_day(struct davy_sim *s, uint64_t arg)
{
	(void)arg;
	check_desktop(s, 16368, 4800, 5 * DAVY_MIN);
	davy_check_wander(s, &s->host_other, 6 * DAVY_GIB, 21 * DAVY_GIB, 4 * DAVY_MIN);
}

static uint64_t check_plays(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *game = a->of, *p = &s->process[a->n[0]];

	if (!game->alive) {
		davy_check_start_again(s, game);
		davy_check_load_of(s, p)->stopped = true; /* nobody chats now */
		a->n[1] = davy_sim_between(s, 8500, 11500) * DAVY_MIB;
	}
	if (game->client.vram < a->n[1]) {
		davy_check_allocate(s, game, 96 * DAVY_MIB);
		a->stage = 1;
		return s->now_ns + davy_sim_between(s, 30, 150) * DAVY_MS;
	}
	if (a->stage) {
		a->stage = 0;
		return s->now_ns + davy_sim_around(s, 100 * DAVY_MIN);
	}
	davy_sim_exit(s, game, 0);
	davy_sim_move_in(s, p->pid, p, p->client.evicted); /* it is used again */
	davy_check_go_on(s, davy_check_load_of(s, p));
	return s->now_ns + davy_sim_around(s, 40 * DAVY_MIN);
}

/*
 * A game of 8.5 to 11.5 GB comes for some hours on 16 GB; what the server's idle model cannot keep
 * moves to GTT at once and comes back after the game. Frames of 5 to 9 ms. 12 h.
 */
void davy_check_game_evening(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_process *p = check_desktop(s, 16368, 5600, 20 * DAVY_MIN), *game;
	struct davy_sim_actor *a;

	(void)arg;
	game = davy_check_app(s, p->device, "wine64-preload", 0);
	davy_check_frames(s, game, 7 * DAVY_MS, 120);
	davy_sim_exit(s, game, 0);
	a = davy_sim_add_actor(s, check_plays, game, s->begin_ns + 10 * DAVY_MIN);
	a->n[0] = (uint64_t)(p - s->process);
}

/* Half an hour of a build, then a pause. */
static uint64_t check_builds(struct davy_sim *s, struct davy_sim_actor *a)
{
	bool building = a->stage++ % 40 < 25;

	s->host_other = building ? davy_sim_between(s, a->n[0] / 2, a->n[0]) : 8 * DAVY_GIB;
	s->pressure_permille = building ? (uint32_t)davy_sim_between(s, 0, a->n[1]) : 0;
	return s->now_ns + davy_sim_around(s, 45 * DAVY_S);
}

/*
 * make -j32 of a browser beside a server: the linkers use up to 56 of 64 GB for half a minute each,
 * PSI "full" of up to 12 %. No swap storm, nothing is killed. 12 h.
 */
void davy_check_compile_day(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_actor *a;

	(void)arg;
	check_desktop(s, 16368, 6000, 3 * DAVY_MIN);
	a = davy_sim_add_actor(s, check_builds, NULL, s->begin_ns + DAVY_MIN);
	a->n[0] = davy_sim_between(s, 46, 56) * DAVY_GIB;
	a->n[1] = 120;
}

/* A backup reads everything: the page cache is not used memory, but reclaim costs some PSI. */
void davy_check_page_cache(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_actor *a;

	(void)arg;
	check_desktop(s, 24560, 8300, 4 * DAVY_MIN);
	s->host_total = 32 * DAVY_GIB;
	a = davy_sim_add_actor(s, check_builds, NULL, s->begin_ns + DAVY_MIN);
	a->n[0] = davy_sim_between(s, 9, 13) * DAVY_GIB;
	a->n[1] = 60;
}

static uint64_t check_sleeps(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_load *l = davy_check_load_of(s, p);
	uint64_t ns = davy_sim_around(s, 70 * DAVY_MIN);

	switch (a->stage++) {
	case 0:
		if (l->phase != DAVY_SIM_IDLE || l->began_ns) {
			a->stage = 0;
			return s->now_ns + 300 * DAVY_MS;
		}
		davy_check_evict_queues(s, p, TRIGGER_SUSPEND);
		return s->now_ns + 2 * DAVY_MS;
	case 1:
		davy_sim_sleep(s, ns);
		a->n[0] = ns;
		return s->now_ns + ns + 30 * DAVY_MS;
	case 2:
		for (int i = 0; i < 12; i++)
			davy_sim_log(s, DAVY_LOG_RESET_CHATTER, p->device, NULL, 0);
		davy_check_restore_queues(s, p, a->n[0], false);
		p->kfd.evicted_ms -= a->n[0] / DAVY_MS; /* jiffies stand still in a suspend */
		return s->now_ns + DAVY_S;
	}
	a->stage = 0;
	return s->now_ns + davy_sim_around(s, 80 * DAVY_MIN);
}

/*
 * A laptop (780M) that is closed a dozen times in 24 h. kgd2kfd_suspend of 7.2 evicts all queues
 * (trigger 3); at resume "PCIE GART", "SMU is resuming", "ring .. uses VM inv eng" (INCIDENTS B2:
 * look-alikes).
 */
void davy_check_laptop_sleeps(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_rocm("gemma-4-4b-it-Q4_K_M.gguf", 2600 * DAVY_MIB, 16384);
	struct davy_sim_device *d = davy_synth_apu(s, 0);
	struct davy_sim_process *p, *desktop;

	(void)arg;
	desktop = davy_check_app(s, d, "kwin_wayland", 220 * DAVY_MIB);
	davy_check_frames(s, desktop, 3 * DAVY_MS, 60);
	p = davy_check_engine(s, d, &e, 3400 * DAVY_MIB);
	davy_check_chat(s, p, 4 * DAVY_MIN);
	davy_check_wander(s, &s->host_other, 4 * DAVY_GIB, 14 * DAVY_GIB, 3 * DAVY_MIN);
	davy_sim_add_actor(s, check_sleeps, p, s->begin_ns + 9 * DAVY_MIN);
}

static uint64_t check_tool_runs(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *tool = a->of;
	struct davy_event ev;

	if (tool->alive) {
		davy_sim_exit(s, tool, 0);
		return s->now_ns + davy_sim_between(s, 50, 70) * DAVY_S;
	}
	davy_check_start_again(s, tool);
	if (davy_random_chance(&s->random, 500)) {
		ev = davy_sim_fact(s, DAVY_FACT_OPEN_REFUSED, NULL, tool);
		davy_copy_name(ev.fact.name, sizeof(ev.fact.name), "kfd");
		ev.fact.error = -EACCES;
		davy_sim_tell(s, &ev);
	}
	return s->now_ns + davy_sim_between(s, 1200, 3000) * DAVY_MS;
}

/*
 * nvtop all day, rocm-smi from an exporter without rights each minute (it may not open /dev/kfd),
 * an amdgpu_top with a small buffer. 12 h.
 */
void davy_check_watching_tools(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_process *p = check_desktop(s, 20464, 11600, 2 * DAVY_MIN), *tool;

	(void)arg;
	davy_check_app(s, p->device, "nvtop", 0);
	tool = davy_check_app(s, p->device, "amdgpu_top", 12 * DAVY_MIB);
	davy_check_frames(s, tool, DAVY_MS, 2);
	tool = davy_check_app(s, p->device, "rocm-smi", 0);
	davy_sim_exit(s, tool, 0);
	davy_sim_add_actor(s, check_tool_runs, tool, s->begin_ns + 20 * DAVY_S);
}

static void check_user_reset(struct davy_sim *s, const struct davy_sim_process *p, bool begun)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_KFD, 0);

	davy_copy_name(ev.kfd.device, sizeof(ev.kfd.device), p->device->name);
	ev.kfd.event = begun ? DAVY_KFD_RESET_BEGIN : DAVY_KFD_RESET_END;
	ev.kfd.driver_ns = s->now_ns;
	if (begun)
		davy_copy_name(ev.kfd.detail, sizeof(ev.kfd.detail), "user trigger");
	davy_sim_tell(s, &ev);
	davy_sim_reset(s, p->device, begun, 0);
}

static uint64_t check_admin_resets(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		davy_sim_exit(s, p, DAVY_STATUS_TERM);
		return s->now_ns + davy_sim_between(s, 10, 90) * DAVY_S;
	case 1:
		check_user_reset(s, p, true);
		return s->now_ns + davy_sim_between(s, 600, 3000) * DAVY_MS;
	case 2:
		check_user_reset(s, p, false);
		davy_sim_log(s, DAVY_LOG_RESET_CHATTER, p->device, NULL, 0);
		return s->now_ns + davy_sim_around(s, 30 * DAVY_S);
	}
	davy_check_start_again(s, p);
	davy_check_ramp(s, &p->client.vram, 9 * DAVY_GIB, s->now_ns, 4 * DAVY_S);
	davy_check_go_on(s, davy_check_load_of(s, p));
	return 0;
}

/*
 * Once a day the administrator stops the server and writes to debugfs' amdgpu_gpu_recover (KERNEL
 * 2.10): "GPU reset begin!", cause "user trigger", nobody uses the GPU. 12 h before and after.
 */
void davy_check_idle_reset(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_rocm("Mistral-Nemo-12B-Q5_K_M.gguf", 8300 * DAVY_MIB, 16384);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_check_engine(s, d, &e, 9 * DAVY_GIB);

	(void)arg;
	davy_check_chat(s, p, 2 * DAVY_MIN);
	davy_sim_add_actor(s, check_admin_resets, p, s->begin_ns + s->calm_ns / 3);
}

static uint64_t check_updates(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_event ev = davy_sim_event(s, DAVY_EV_DEVICE, 0);

	if (a->stage++ == 0) {
		davy_sim_exit(s, p, DAVY_STATUS_TERM);
		return s->now_ns + davy_sim_between(s, 2, 40) * DAVY_S;
	}
	if (a->stage == 4) {
		davy_check_start_again(s, p);
		davy_check_ramp(s, &p->client.vram, 21 * DAVY_GIB, s->now_ns, 9 * DAVY_S);
		davy_check_go_on(s, davy_check_load_of(s, p));
		return 0;
	}
	davy_copy_name(ev.device.device, sizeof(ev.device.device), p->device->name);
	davy_copy_name(ev.device.driver, sizeof(ev.device.driver), p->device->driver);
	ev.device.change = a->stage == 2 ? DAVY_DEVICE_REMOVED : DAVY_DEVICE_ADDED;
	davy_sim_tell(s, &ev);
	if (a->stage == 3)
		davy_sim_log(s, DAVY_LOG_RESET_CHATTER, p->device, NULL, 0);
	return s->now_ns + davy_sim_around(s, a->stage == 2 ? 70 * DAVY_S : 20 * DAVY_S);
}

/* A driver's update: the server stops, the module goes and comes, the server starts. 12 h. */
void davy_check_driver_update(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3-32B-Q4_K_M.gguf", 19 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p;

	(void)arg;
	d->memory.vram_total = d->memory.visible_total = 24560 * DAVY_MIB;
	p = davy_check_engine(s, d, &e, 21 * DAVY_GIB);
	davy_check_chat(s, p, 2 * DAVY_MIN);
	davy_sim_add_actor(s, check_updates, p, s->begin_ns + s->calm_ns / 2);
}

/*
 * The noise of B2's look-alikes for 24 h: bursts of "init_user_pages" (amd-gr-005), hundreds of
 * failed pins (amd-ttm-003), the NPU, buffers of ended queues, the resume of a sleeping second GPU,
 * a corrected AER error now and then, one "hogged CPU" each half day.
 */
void davy_check_harmless_lines(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = check_desktop(s, 16368, 4800, 3 * DAVY_MIN)->device;

	(void)arg;
	davy_check_line_each(s, DAVY_LOG_USER_PAGES_FAILED, d, 25 * DAVY_MIN, 30);
	davy_check_line_each(s, DAVY_LOG_PIN_FAILED, d, 5 * DAVY_MIN, 1);
	davy_check_line_each(s, DAVY_LOG_NPU, NULL, 11 * DAVY_MIN, 2);
	davy_check_line_each(s, DAVY_LOG_QUEUE_BUFFER_FREED, d, 45 * DAVY_MIN, 6);
	davy_check_line_each(s, DAVY_LOG_RESET_CHATTER, d, 20 * DAVY_MIN, 12);
	davy_check_line_each(s, DAVY_LOG_AER_CORRECTED, d, 5 * DAVY_H, 1);
	davy_check_line_each(s, DAVY_LOG_WORKER_HOGGED, NULL, 12 * DAVY_H, 1);
}

static uint64_t check_restarts(struct davy_sim *s, struct davy_sim_actor *a)
{
	static const int32_t ways[] = { 0, DAVY_STATUS_TERM, DAVY_STATUS_KILL, 2 /* SIGINT */ };
	struct davy_sim_process *p = a->of;
	struct davy_sim_load *l = davy_check_load_of(s, p);
	bool running = l->phase != DAVY_SIM_IDLE;
	int32_t way = ways[davy_sim_between(s, 0, 3)];

	if (!p->alive) {
		davy_check_start_again(s, p);
		p->client.vram = 6 * DAVY_GIB;
		davy_check_go_on(s, l);
		return s->now_ns + davy_sim_around(s, 8 * DAVY_MIN);
	}
	davy_sim_exit(s, p, way);
	if (running && way)
		davy_check_xid(s, p->device, p, davy_random_chance(&s->random, 500) ? 43 : 45);
	return s->now_ns + davy_sim_around(s, 20 * DAVY_S);
}

/*
 * A developer's day: a server is ended by Ctrl-C, TERM, KILL or its end, and started again with
 * other settings, each ten min; in the middle of work NVIDIA's driver says Xid 43 or 45 (channel
 * removed: NVIDIA's catalogue, "user application"). 12 h.
 */
void davy_check_killed_by_user(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3-8B-Q4_K_M.gguf", 4800 * DAVY_MIB, 16384);
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_sim_process *p;

	(void)arg;
	e.backend = DAVY_BACKEND_CUDA;
	p = davy_check_engine(s, d, &e, 6 * DAVY_GIB);
	davy_check_chat(s, p, 20 * DAVY_S);
	davy_sim_add_actor(s, check_restarts, p, s->begin_ns + 5 * DAVY_MIN);
}
