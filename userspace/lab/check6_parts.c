/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/check6_parts.h"

#include <errno.h>
#include <string.h>

uint64_t davy_check6_in(struct davy_sim *s, uint64_t least_ms, uint64_t most_ms)
{
	return s->now_ns + davy_sim_between(s, least_ms, most_ms) * DAVY_MS;
}

struct davy_sim_process *davy_check6_desktop(struct davy_sim *s, struct davy_sim_device *d,
					     const char *comm, uint64_t mib)
{
	struct davy_sim_process *p = davy_check_app(s, d, comm, mib * DAVY_MIB);

	davy_check_frames(s, p, davy_sim_between(s, 2, 7) * DAVY_MS, 60);
	return p;
}

/* of: the process; n: least, most, period */
static uint64_t check6_torch_step(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (p->alive) {
		*davy_check_memory(p) = davy_sim_between(s, a->n[0], a->n[1]);
		p->client.busy_ns += a->n[2] / 1000 * davy_sim_between(s, 500, 950);
	}
	return s->now_ns + davy_sim_around(s, a->n[2]);
}

struct davy_sim_process *davy_check6_torch(struct davy_sim *s, struct davy_sim_device *d,
					   const char *comm, uint32_t least, uint32_t most,
					   uint64_t period_ns)
{
	bool shared = d->memory.flags & DAVY_MEMORY_SHARED;
	uint64_t total = shared ? d->memory.gtt_total : d->memory.vram_total;
	struct davy_check_engine e = {
		.comm = comm,
		.model = "",
		.engine = DAVY_ENGINE_GENERIC,
		.backend = DAVY_BACKEND_ROCM,
		.ring = DAVY_CHECK_NO_RING,
	};
	struct davy_sim_process *p = davy_check_engine(s, d, &e, total / 1000 * least);
	struct davy_sim_actor *a =
		davy_sim_add_actor(s, check6_torch_step, p, s->begin_ns + 2 * DAVY_S);

	a->n[0] = total / 1000 * least;
	a->n[1] = total / 1000 * most;
	a->n[2] = period_ns;
	return p;
}

struct davy_check_engine davy_check6_vllm(uint32_t backend, const char *model, uint64_t model_bytes,
					  uint32_t context)
{
	struct davy_check_engine e = davy_check2_by(backend, model, model_bytes, context);

	e.comm = "VLLM::EngineCor";
	e.engine = DAVY_ENGINE_VLLM;
	return e;
}

void davy_check6_device(struct davy_sim *s, struct davy_sim_device *d,
			enum davy_device_change change)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_DEVICE, 0);

	davy_copy_name(ev.device.device, sizeof(ev.device.device), d->name);
	davy_copy_name(ev.device.driver, sizeof(ev.device.driver), d->driver);
	ev.device.change = change;
	davy_sim_tell(s, &ev);
	d->tells_memory = change == DAVY_DEVICE_ADDED && strcmp(d->driver, "nvidia") != 0;
}

struct davy_sim_device *davy_check6_flex(struct davy_sim *s)
{
	struct davy_sim_device *d =
		davy_sim_add_device(s, "0000:30:00.0", "i915", 6068 * DAVY_MIB, s->host_total / 2);

	davy_check6_device(s, d, DAVY_DEVICE_ADDED);
	return d;
}

struct davy_sim_process *davy_check6_service(struct davy_sim *s, const char *comm)
{
	struct davy_sim_process *p = davy_sim_add_process(s, NULL, comm);

	davy_sim_start(s, p);
	return p;
}

void davy_check6_out(struct davy_sim *s, const struct davy_sim_process *by,
		     const struct davy_sim_device *d)
{
	for (size_t i = 0; i < s->process_count; i++) {
		struct davy_sim_process *p = &s->process[i];

		if (p->device != d || !p->alive || !p->client.vram)
			continue;
		if (p->by_kfd)
			davy_check_evict_queues(s, p, 3); /* SUSPEND */
		davy_sim_move_out(s, by->pid, p, p->client.vram);
	}
}

void davy_check6_back(struct davy_sim *s, const struct davy_sim_device *d, uint32_t permille)
{
	for (size_t i = 0; i < s->process_count; i++) {
		struct davy_sim_process *p = &s->process[i];

		if (p->device != d || !p->alive || !p->client.evicted)
			continue;
		davy_sim_move_in(s, p->pid, p, p->client.evicted / 1000 * permille);
		if (permille == 1000)
			davy_sim_move_in(s, p->pid, p, p->client.evicted);
		if (p->by_kfd)
			davy_check_restore_queues(s, p, 900 * DAVY_MS, false);
	}
}

/* of: the device; n: awake, asleep, index of the process; stage 0: awake, 1: empty, 2: resumed */
static uint64_t check6_sleep(struct davy_sim *s, struct davy_sim_actor *a)
{
	uint64_t ns = davy_sim_around(s, a->n[1]);

	switch (a->stage) {
	case 0:
		if (!davy_check3_suspend(s, 0))
			return s->now_ns + 7 * DAVY_MS;
		davy_check6_out(s, &s->process[a->n[2]], a->of);
		a->stage = 1;
		return s->now_ns + 350 * DAVY_MS;
	case 1:
		if (!davy_check3_suspend(s, ns))
			return s->now_ns + 7 * DAVY_MS;
		a->stage = 2;
		return s->now_ns + ns + davy_sim_between(s, 900, 2500) * DAVY_MS;
	default:
		davy_check2_lines(s, DAVY_LOG_RESET_CHATTER, a->of, NULL, 11);
		davy_check6_back(s, a->of, 1000);
		a->stage = 0;
		return s->now_ns + davy_sim_around(s, a->n[0]);
	}
}

void davy_check6_sleeps(struct davy_sim *s, struct davy_sim_device *d, uint64_t awake_ns,
			uint64_t asleep_ns)
{
	struct davy_sim_process *by = davy_check6_service(s, "systemd-sleep");
	struct davy_sim_actor *a = davy_sim_add_actor(
		s, check6_sleep, d, s->begin_ns + davy_sim_around(s, 7 * DAVY_MIN));

	a->n[0] = awake_ns;
	a->n[1] = asleep_ns;
	a->n[2] = (uint64_t)(by - s->process);
}

/* of: the process; n: awake, asleep, index of the kernel's worker; stage 1: it sleeps */
static uint64_t check6_rest(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_load *l = davy_check_load_of(s, p);

	if (!a->stage) {
		if (l->phase != DAVY_SIM_IDLE)
			return s->now_ns + 200 * DAVY_MS;
		l->stopped = true;
		davy_check6_out(s, &s->process[a->n[2]], p->device);
		a->stage = 1;
		return s->now_ns + davy_sim_around(s, a->n[1]);
	}
	davy_check6_back(s, p->device, 1000);
	davy_check_go_on(s, l);
	a->stage = 0;
	return s->now_ns + davy_sim_around(s, a->n[0]);
}

void davy_check6_rests(struct davy_sim *s, struct davy_sim_process *p, uint64_t awake_ns,
		       uint64_t asleep_ns)
{
	struct davy_sim_process *by = davy_check6_service(s, "kworker/u64:3");
	struct davy_sim_actor *a =
		davy_sim_add_actor(s, check6_rest, p, s->begin_ns + davy_sim_around(s, awake_ns));

	a->n[0] = awake_ns;
	a->n[1] = asleep_ns;
	a->n[2] = (uint64_t)(by - s->process);
}

/* of: the device; n: reason, period */
static uint64_t check6_clock(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_device *d = a->of;
	struct davy_event ev = davy_sim_event(s, DAVY_EV_CLOCKS, 0);

	davy_copy_name(ev.clocks.device, sizeof(ev.clocks.device), d->name);
	ev.clocks.reason = (uint32_t)a->n[0];
	davy_sim_tell(s, &ev);
	return s->now_ns + davy_sim_around(s, a->n[1]);
}

void davy_check6_clocks(struct davy_sim *s, struct davy_sim_device *d,
			enum davy_clock_reason reason, uint64_t period_ns)
{
	struct davy_sim_actor *a =
		davy_sim_add_actor(s, check6_clock, d, s->begin_ns + davy_sim_around(s, period_ns));

	a->n[0] = reason;
	a->n[1] = period_ns;
}

/* of: a process of the device; n: period */
static uint64_t check6_hot(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_event ev = davy_sim_event(s, DAVY_EV_KFD, 0);

	davy_copy_name(ev.kfd.device, sizeof(ev.kfd.device), p->device->name);
	ev.kfd.driver_ns = s->now_ns;
	ev.kfd.event = DAVY_KFD_THERMAL_THROTTLE;
	ev.kfd.mask = 1u << davy_sim_between(s, 0, 3);
	davy_sim_tell(s, &ev);
	return s->now_ns + davy_sim_around(s, a->n[0]);
}

void davy_check6_heat(struct davy_sim *s, struct davy_sim_process *p, uint64_t period_ns)
{
	davy_sim_add_actor(s, check6_hot, p, s->begin_ns + davy_sim_around(s, period_ns))->n[0] =
		period_ns;
}

/* of: the process; n: period, held; stage: how often it was halved */
static uint64_t check6_probe(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t free_bytes = p->device->memory.vram_total - davy_sim_vram_used(s, p->device);
	uint64_t bytes;

	if (a->n[1]) {
		p->client.vram -= a->n[1];
		a->n[1] = 0;
		return s->now_ns + davy_sim_around(s, a->n[0]);
	}
	bytes = (free_bytes * 3 + DAVY_GIB) >> a->stage++;
	if (davy_check_hip_allocate(s, p, bytes) == -ENOMEM)
		return davy_check6_in(s, 4, 30);
	a->stage = 0;
	a->n[1] = bytes;
	return davy_check6_in(s, 200, 3000);
}

void davy_check6_probes(struct davy_sim *s, struct davy_sim_process *p, uint64_t period_ns)
{
	davy_sim_add_actor(s, check6_probe, p, s->begin_ns + davy_sim_around(s, period_ns))->n[0] =
		period_ns;
}

/* of: the process; n: period */
static uint64_t check6_shrink(struct davy_sim *s, struct davy_sim_actor *a)
{
	davy_sim_hot_fact(s, DAVY_FACT_I915_SHRINK, a->of, davy_sim_between(s, 1, 40) * DAVY_MIB,
			  (uint32_t)davy_sim_between(s, 1, 12));
	return s->now_ns + davy_sim_around(s, a->n[0]);
}

void davy_check6_shrinks(struct davy_sim *s, struct davy_sim_process *p, uint64_t period_ns)
{
	davy_sim_add_actor(s, check6_shrink, p, s->begin_ns + davy_sim_around(s, period_ns))->n[0] =
		period_ns;
}

/* of: the process; n: bytes, period */
static uint64_t check6_spill(struct davy_sim *s, struct davy_sim_actor *a)
{
	davy_sim_hot_fact(s, DAVY_FACT_VRAM_SPILL, a->of, davy_sim_between(s, a->n[0] / 4, a->n[0]),
			  (uint32_t)davy_sim_between(s, 1, 4));
	return s->now_ns + davy_sim_around(s, a->n[1]);
}

void davy_check6_spills(struct davy_sim *s, struct davy_sim_process *p, uint64_t bytes,
			uint64_t period_ns)
{
	struct davy_sim_actor *a =
		davy_sim_add_actor(s, check6_spill, p, s->begin_ns + davy_sim_around(s, period_ns));

	a->n[0] = bytes;
	a->n[1] = period_ns;
}

static uint64_t check6_tell_lost(struct davy_sim *s, struct davy_sim_actor *a)
{
	davy_sim_tell_lost(s, "ring buffer");
	return s->now_ns + davy_sim_around(s, a->n[0]);
}

void davy_check6_lossy(struct davy_sim *s, uint32_t permille, uint64_t period_ns)
{
	s->lossy_permille = permille;
	davy_sim_add_actor(s, check6_tell_lost, NULL, s->begin_ns + period_ns)->n[0] = period_ns;
}
