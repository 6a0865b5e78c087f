/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_gtt_host: a device that uses host memory takes the last of it (amd-vk-015: 530 MB of 128 GB
 * were left), or a card that suspends moves its VRAM there (amd-rpm-001). host_crash: workers that
 * hang (amd-svm-010: 125 s before the first hung task, amd-svm-009: 245), driver warnings, heat.
 */
#include "lab/scenarios.h"

#define STEP_NS	     (100 * DAVY_MS)
#define LOW_PERMILLE 80 /* of the host's memory: the precursor, see INCIDENTS */

static void press(struct davy_sim *s)
{
	uint64_t permille = davy_sim_host_available(s) * 1000 / s->host_total;

	s->pressure_permille = permille < 40 ? (uint32_t)(40 - permille) * 15 : 0;
	if (permille < LOW_PERMILLE)
		davy_sim_precursor(s, s->now_ns);
}

static void out_of_memory(struct davy_sim *s, struct davy_sim_process *victim)
{
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_OOM_VICTIM, NULL, victim);

	davy_sim_log(s, DAVY_LOG_OOM_INVOKED, NULL, NULL, 0);
	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), victim->info.comm);
	ev.fact.bytes = victim->client.system;
	davy_sim_tell(s, &ev);
	davy_sim_failed(s);
	davy_sim_log(s, DAVY_LOG_OOM_KILL, NULL, victim, 0);
	davy_synth_end_later(s, victim, 30 * DAVY_MS, DAVY_STATUS_KILL);
}

/* n[0]: bytes a step, GTT and host memory in turn; slow at the end, because of reclaim. */
static uint64_t eat(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t bytes = davy_random_near(&s->random, a->n[0], 300);

	davy_sim_cause(s);
	if (davy_sim_host_available(s) < s->host_total / 100)
		bytes /= 5;
	if (a->n[1]++ % 3)
		p->client.gtt += bytes;
	else
		p->client.system += bytes;
	press(s);
	if (davy_sim_host_available(s) > 200 * DAVY_MIB)
		return s->now_ns + STEP_NS;
	out_of_memory(s, p);
	return 0;
}

/* Argument: seconds until the rest of the memory is used. */
void davy_synth_uma(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_apu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 450);
	struct davy_sim_actor *a;

	davy_synth_chat(s, p);
	davy_sim_subject(s, d, p);
	a = davy_sim_add_actor(s, eat, p, davy_synth_when(s));
	a->n[0] = davy_sim_host_available(s) / (davy_sim_around(s, arg * DAVY_S) / STEP_NS);
}

/* n[0]: bytes a step */
static uint64_t suspend_card(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_sim_precursor(s, s->now_ns); /* VRAM use exceeds the host's free memory */
	davy_sim_move_out(s, s->process[1].pid, p, a->n[0]);
	press(s);
	if (davy_sim_host_available(s) > 300 * DAVY_MIB)
		return s->now_ns + STEP_NS;
	out_of_memory(s, p);
	return 0;
}

void davy_synth_rpm(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_process *p;
	struct davy_sim_device *d;

	(void)arg;
	s->host_total = 32 * DAVY_GIB;
	d = davy_synth_dgpu(s, 0);
	d->memory.vram_total = 24 * DAVY_GIB;
	d->memory.gtt_total = 31 * DAVY_GIB;
	p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 900);
	s->host_other = 12 * DAVY_GIB;
	davy_sim_start(s, davy_sim_add_process(s, NULL, "kworker/u64:3"));
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, suspend_card, p, davy_synth_when(s))->n[0] =
		20 * DAVY_GIB / (davy_sim_around(s, 8 * DAVY_S) / STEP_NS);
}

static uint64_t hang_workers(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	if (!a->stage++) {
		l->stick = true;
		a->n[1] = s->now_ns + davy_sim_around(s, a->n[0]);
	}
	davy_sim_precursor(s, s->now_ns);
	if (s->now_ns < a->n[1]) {
		uint64_t next_ns = s->now_ns + davy_sim_around(s, 15 * DAVY_S);

		davy_sim_log(s, DAVY_LOG_KILLED_ENTITY, p->device, NULL, 0);
		return next_ns < a->n[1] ? next_ns : a->n[1];
	}
	davy_sim_log(s, DAVY_LOG_HUNG_TASK, NULL, NULL, 0);
	davy_sim_failed(s);
	return 0;
}

/* Argument: seconds from the first line to the hung task. */
void davy_synth_hung_workers(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_gpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_ROCM, 600);

	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, hang_workers, davy_synth_chat(s, p), davy_synth_when(s))->n[0] =
		arg * DAVY_S;
}

static uint64_t warn(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_device *d = a->of;

	if (!a->stage++)
		a->n[0] = davy_sim_between(s, 4, 9);
	davy_sim_precursor(s, s->now_ns);
	if (a->stage <= a->n[0]) {
		davy_sim_log(s, DAVY_LOG_DRIVER_WARNING, d, NULL, 0);
		return s->now_ns + davy_sim_around(s, 90 * DAVY_S / a->stage);
	}
	davy_sim_log(s, DAVY_LOG_OOPS, NULL, NULL, 0);
	davy_sim_failed(s);
	return 0;
}

void davy_synth_driver_warnings(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_gpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 500);

	(void)arg;
	davy_synth_chat(s, p);
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, warn, d, davy_synth_when(s));
}

/* Ever more frequent throttling, then the driver's shutdown message. */
static uint64_t heat(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_device *d = s->device;

	if (!a->stage++)
		a->n[0] = davy_sim_between(s, 6, 14);
	davy_sim_cause(s);
	if (a->stage <= a->n[0]) {
		struct davy_event ev = davy_sim_event(s, DAVY_EV_KFD, 0);

		if (a->stage == 3)
			davy_sim_precursor(s, s->now_ns);
		davy_copy_name(ev.kfd.device, sizeof(ev.kfd.device), d->name);
		ev.kfd.driver_ns = s->now_ns;
		ev.kfd.event = DAVY_KFD_THERMAL_THROTTLE;
		ev.kfd.mask = 1;
		davy_sim_tell(s, &ev);
		return s->now_ns + davy_sim_around(s, 40 * DAVY_S / a->stage);
	}
	if (a->stage == a->n[0] + 1) {
		davy_sim_log(s, DAVY_LOG_OVER_TEMPERATURE, d, NULL, 0);
		return s->now_ns + davy_sim_around(s, 20 * DAVY_S);
	}
	davy_sim_log(s, DAVY_LOG_PANIC, NULL, NULL, 0);
	davy_sim_failed(s);
	return 0;
}

void davy_synth_over_temperature(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_ROCM, 700);

	(void)arg;
	davy_synth_chat(s, p);
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, heat, d, davy_synth_when(s));
}
