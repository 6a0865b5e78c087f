/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Second held-out set, benign: what else uses a GPU and its host. */
#include <errno.h>

#include "lab/check2_parts.h"

/*
 * KERNEL.md section 11 (fdinfo of a desktop's clients): video in a browser all evening, mpv at
 * times, and a small model that looks at pictures. VRAM goes up and down with each tab.
 */
void davy_check2_films(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("gemma-4-4b", 3 * DAVY_GIB, 8192);
	struct davy_sim_device *d = davy_synth_gpu(s, 0);
	struct davy_check2_tide tabs = {
		.low = 300 * DAVY_MIB,
		.high = 2600 * DAVY_MIB,
		.rate = DAVY_MIB / 5,
		.high_ns = 6 * DAVY_MIN,
		.low_ns = 4 * DAVY_MIN,
	};
	struct davy_check2_visits mpv = {
		.period_ns = 50 * DAVY_MIN,
		.stay_ns = 25 * DAVY_MIN,
		.bytes = 700 * DAVY_MIB,
	};
	struct davy_sim_process *firefox, *film;

	(void)arg;
	davy_check_frames(s, davy_synth_desktop(s, d), 4 * DAVY_MS, 60);
	firefox = davy_check_app(s, d, "firefox", tabs.low);
	davy_check_frames(s, firefox, 6 * DAVY_MS, 60);
	davy_check2_tide(s, davy_check_memory(firefox), &tabs);
	film = davy_check2_absent(s, d, "mpv");
	film->ring = &d->ring[0];
	davy_check_frames(s, film, 2 * DAVY_MS, 24);
	davy_check2_visits(s, film, &mpv);
	davy_check_chat(s, davy_check_engine(s, d, &e, 37 * DAVY_GIB / 10), 70 * DAVY_S);
}

/*
 * ENGINES.md A0.8 (on UMA watch MemAvailable): a vector store beside a model of 42 GiB on an APU
 * fills the host to 11 % and is compacted, some times an hour.
 */
void davy_check2_vector_store(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("Llama-3.3-70B", 40 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_apu(s, 10 * DAVY_S);
	struct davy_check2_tide index = {
		.low = 9 * DAVY_GIB,
		.high = 42 * DAVY_GIB,
		.rate = davy_sim_between(s, 30, 120) * 1024,
		.high_ns = 5 * DAVY_MIN,
		.low_ns = 6 * DAVY_MIN,
	};

	(void)arg;
	davy_check2_host(s, d, 96);
	davy_check_chat(s, davy_check_engine(s, d, &e, 42 * DAVY_GIB), 12 * DAVY_S);
	davy_check2_tide(s, &s->host_other, &index);
}

/* Virtual machines with huge pages take half the host's memory beside a headless card in use. */
void davy_check2_guests(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-14B", 9 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_check2_tide guests = {
		.low = 7 * DAVY_GIB,
		.high = 41 * DAVY_GIB,
		.rate = davy_sim_between(s, 300, 1200) * 1024,
		.high_ns = 50 * DAVY_MIN,
		.low_ns = 20 * DAVY_MIN,
		.exact = true,
	};

	(void)arg;
	d->memory.flags = DAVY_MEMORY_MAY_SUSPEND;
	davy_check_chat(s, davy_check_engine(s, d, &e, 10 * DAVY_GIB), 6 * DAVY_S);
	davy_check2_tide(s, &s->host_other, &guests);
}

/*
 * FIELD.md section 4, 4 (permissions): a monitoring agent without the group "render" tries vainfo
 * and is refused each time. The engine has its group.
 */
void davy_check2_refused_tools(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("Qwen3-8B", 5 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_gpu(s, 0);
	struct davy_check2_visits tool = {
		.period_ns = 5 * DAVY_MIN,
		.stay_ns = 60 * DAVY_MS,
		.status = DAVY_STATUS_EXIT1,
		.refused = true,
	};
	struct davy_sim_process *p = davy_check_engine(s, d, &e, 6 * DAVY_GIB);

	(void)arg;
	davy_check_chat(s, p, 20 * DAVY_S);
	davy_check_wander(s, davy_check_memory(p), 6000 * DAVY_MIB, 6300 * DAVY_MIB, DAVY_MIN);
	davy_check2_visits(s, davy_sim_add_process(s, NULL, "vainfo"), &tool);
}

static uint64_t check2_test_case(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t bytes = davy_sim_between(s, 64, 1500) * DAVY_MIB;
	bool greedy = a->n[0] % 9 == 8;

	if (!a->stage) {
		a->n[0]++;
		a->n[1] = greedy ? UINT64_MAX : davy_sim_between(s, 1, 9);
		a->stage = 1;
	}
	if (a->n[1] && !davy_check_allocate(s, p, bytes)) {
		a->n[1]--;
		return s->now_ns + davy_sim_between(s, 20, 400) * DAVY_MS;
	}
	p->client.vram = p->client.gtt = 0;
	a->stage = 0;
	return s->now_ns + davy_sim_around(s, 4 * DAVY_S);
}

/*
 * Vulkan's conformance tests (dEQP-VK.memory.allocation) on a developer's headless card: one in
 * nine allocates until it gets -ENOMEM, which is what it tests.
 */
void davy_check2_vulkan_tests(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 10 * DAVY_S);
	struct davy_sim_process *p = davy_check_app(s, d, "deqp-vk", 0);

	(void)arg;
	davy_check_frames(s, p, DAVY_MS, 200);
	davy_sim_add_actor(s, check2_test_case, p, s->begin_ns + 5 * DAVY_S);
}

static void check2_dock(struct davy_sim *s, struct davy_sim_device *d, uint32_t change)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_DEVICE, 0);

	davy_copy_name(ev.device.device, sizeof(ev.device.device), d->name);
	davy_copy_name(ev.device.driver, sizeof(ev.device.driver), d->driver);
	ev.device.change = change;
	davy_sim_tell(s, &ev);
	d->tells_memory = change == DAVY_DEVICE_ADDED;
	if (d->tells_memory)
		davy_check2_lines(s, DAVY_LOG_RESET_CHATTER, d, NULL, 20);
}

static uint64_t check2_docking(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	switch (a->stage) {
	case 0:
		davy_sim_exit(s, p, 0);
		a->stage = 1;
		return s->now_ns + davy_sim_between(s, 5, 60) * DAVY_S;
	case 1:
		check2_dock(s, p->device, DAVY_DEVICE_REMOVED);
		a->stage = 2;
		return s->now_ns + davy_sim_around(s, 40 * DAVY_MIN);
	case 2:
		check2_dock(s, p->device, DAVY_DEVICE_ADDED);
		a->stage = 3;
		return s->now_ns + davy_sim_between(s, 4, 40) * DAVY_S;
	case 3:
		davy_check_start_again(s, p);
		a->stage = 4;
		return s->now_ns + 100 * DAVY_MS;
	default:
		if (p->client.vram < a->n[0]) {
			p->client.vram += 120 * DAVY_MIB;
			return s->now_ns + 100 * DAVY_MS;
		}
		davy_check_go_on(s, l);
		a->stage = 0;
		return s->now_ns + davy_sim_around(s, 100 * DAVY_MIN);
	}
}

/* KERNEL.md section 11 (uevents): an eGPU goes and comes with a laptop's dock, never under work. */
void davy_check2_egpu(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("gemma-4-12b", 8 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_dgpu(s, 2 * DAVY_S);
	struct davy_sim_process *p = davy_check_engine(s, d, &e, 9 * DAVY_GIB);

	(void)arg;
	davy_sim_add_actor(s, check2_docking, davy_check_chat(s, p, 25 * DAVY_S),
			   s->begin_ns + davy_sim_around(s, 60 * DAVY_MIN))
		->n[0] = p->client.vram;
}

static uint64_t check2_warm(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	if (l->phase != DAVY_SIM_IDLE)
		davy_sim_kfd(s, DAVY_KFD_THERMAL_THROTTLE, l->p, 0, 0);
	l->slow_permille = (uint32_t)davy_sim_between(s, 1000, 1350);
	return s->now_ns + davy_sim_around(s, 25 * DAVY_S);
}

/*
 * KFD's SMI event 2: a card in a small case throttles all afternoon at its normal limit and works
 * on at three quarters of its speed. No line of the log.
 */
void davy_check2_hot_summer(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Mistral-Nemo-12B", 8 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_check_engine(s, d, &e, 10 * DAVY_GIB);

	(void)arg;
	davy_sim_add_actor(s, check2_warm, davy_check_chat(s, p, 2 * DAVY_S),
			   s->begin_ns + 20 * DAVY_MIN);
}

/* n: bytes, how long the first graph takes */
static uint64_t check2_compiles(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	switch (a->stage) {
	case 0:
		davy_sim_exit(s, p, 0);
		a->stage = 1;
		return s->now_ns + davy_sim_between(s, 2, 20) * DAVY_S;
	case 1:
		davy_check_start_again(s, p);
		a->stage = 2;
		return s->now_ns + 100 * DAVY_MS;
	case 2:
		if (p->client.vram < a->n[0]) {
			p->client.vram += 250 * DAVY_MIB;
			return s->now_ns + 100 * DAVY_MS;
		}
		p->graph.entered_ns = s->now_ns;
		a->n[1] = davy_sim_around(s, 25 * DAVY_S);
		a->stage = 3;
		return s->now_ns + a->n[1];
	default:
		p->graph.entered_ns = 0;
		p->graph.graph_count++;
		p->graph.last_ns = p->graph.max_ns = a->n[1];
		davy_check_go_on(s, l);
		a->stage = 0;
		return s->now_ns + davy_sim_around(s, 80 * DAVY_MIN);
	}
}

/*
 * ENGINES.md A4.1 (no pipeline cache of ggml's own): Mesa was updated, its cache is empty at each
 * start in a container; the first graph compiles shaders on the CPU for half a minute, no job
 * runs.
 */
void davy_check2_cold_cache(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("Qwen3-14B", 9 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_dgpu(s, 2 * DAVY_S);
	struct davy_sim_process *p = davy_check_engine(s, d, &e, 10 * DAVY_GIB);

	(void)arg;
	davy_sim_add_actor(s, check2_compiles, davy_check_chat(s, p, 15 * DAVY_S),
			   s->begin_ns + davy_sim_around(s, 20 * DAVY_MIN))
		->n[0] = p->client.vram;
}
