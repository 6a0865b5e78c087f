/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/check3_parts.h"

struct davy_sim_device *davy_check3_card(struct davy_sim *s, uint64_t timeout_ns, uint64_t mib)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, timeout_ns);

	davy_check2_vram(d, mib, 300);
	return d;
}

struct davy_sim_device *davy_check3_second(struct davy_sim *s, uint64_t timeout_ns, uint64_t mib)
{
	struct davy_sim_device *d =
		davy_sim_add_device(s, "0000:0a:00.0", "amdgpu", mib * DAVY_MIB, s->host_total / 2);
	struct davy_event ev = davy_sim_event(s, DAVY_EV_DEVICE, 0);

	davy_copy_name(ev.device.device, sizeof(ev.device.device), d->name);
	davy_copy_name(ev.device.driver, sizeof(ev.device.driver), d->driver);
	ev.device.change = DAVY_DEVICE_ADDED;
	davy_sim_tell(s, &ev);
	davy_sim_add_ring(s, d, "comp_1.1.0", timeout_ns);
	return d;
}

struct davy_sim_device *davy_check3_apu(struct davy_sim *s, uint64_t timeout_ns, uint64_t gib)
{
	struct davy_sim_device *d = davy_synth_apu(s, timeout_ns);

	davy_check2_host(s, d, gib);
	return d;
}

struct davy_sim_load *davy_check3_serve(struct davy_sim *s, struct davy_sim_device *d,
					const struct davy_check_engine *e, uint32_t permille,
					uint64_t think_ns)
{
	bool shared = d->memory.flags & DAVY_MEMORY_SHARED;
	uint64_t total = shared ? d->memory.gtt_total : d->memory.vram_total;

	return davy_check_chat(s, davy_check_engine(s, d, e, total / 1000 * permille), think_ns);
}

struct davy_sim_process *davy_check3_later(struct davy_sim *s, struct davy_sim_device *d,
					   const struct davy_check_engine *e)
{
	struct davy_sim_process *p = davy_check_engine(s, d, e, 0);

	davy_sim_exit(s, p, 0);
	return p;
}

void davy_check3_fails(struct davy_sim *s, const struct davy_sim_device *d,
		       const struct davy_sim_process *p)
{
	davy_sim_subject(s, d, p);
	davy_sim_precursor(s, s->now_ns);
	davy_sim_failed(s);
}

void davy_check3_stick(struct davy_sim *s, struct davy_sim_load *l)
{
	davy_sim_cause(s);
	l->stick = true;
	davy_sim_ask(s, l);
}

void davy_check3_stop(struct davy_sim *s, const struct davy_sim_process *p)
{
	for (size_t i = 0; i < s->actor_count; i++)
		if (s->actor[i].of == p)
			s->actor[i].next_ns = 0;
}

bool davy_check3_suspend(struct davy_sim *s, uint64_t ns)
{
	for (size_t i = 0; i < s->load_count; i++)
		if (s->load[i].p->alive && s->load[i].began_ns)
			return false;
	davy_sim_sleep(s, ns);
	return true;
}

/* n: awake, asleep; stage 1: it resumes */
static uint64_t check3_suspended(struct davy_sim *s, struct davy_sim_actor *a)
{
	uint64_t ns = davy_sim_around(s, a->n[1]);

	if (a->stage) {
		a->stage = 0;
		davy_check2_lines(s, DAVY_LOG_RESET_CHATTER, a->of, NULL, 9);
		return s->now_ns + davy_sim_around(s, a->n[0]);
	}
	if (!davy_check3_suspend(s, ns))
		return s->now_ns + 7 * DAVY_MS;
	a->stage = 1;
	return s->now_ns + ns + 2 * DAVY_S;
}

void davy_check3_suspends(struct davy_sim *s, struct davy_sim_device *d, uint64_t awake_ns,
			  uint64_t asleep_ns)
{
	struct davy_sim_actor *a = davy_sim_add_actor(
		s, check3_suspended, d, s->begin_ns + davy_sim_around(s, 12 * DAVY_MIN));

	a->n[0] = awake_ns;
	a->n[1] = asleep_ns;
}

void davy_check3_ring_line(struct davy_sim *s, enum davy_log_kind kind,
			   const struct davy_sim_device *d, const struct davy_sim_ring *r)
{
	struct davy_event ev = davy_sim_log_of(s, kind, d, NULL);

	davy_copy_name(ev.log.ring, sizeof(ev.log.ring), r->name);
	davy_sim_log_event(s, &ev);
}

/* n: bytes in 100 ms, bytes to fill */
static uint64_t check3_loading(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t *memory = davy_check_memory(p);
	struct davy_sim_load *l = davy_check_load_of(s, p);

	if (!p->alive)
		return 0;
	if (*memory + a->n[0] < a->n[1]) {
		*memory += a->n[0];
		return s->now_ns + 100 * DAVY_MS;
	}
	*memory = a->n[1];
	if (l)
		davy_check_go_on(s, l);
	return 0;
}

void davy_check3_load(struct davy_sim *s, struct davy_sim_process *p, uint64_t bytes, uint64_t rate)
{
	struct davy_sim_load *l = davy_check_load_of(s, p);
	struct davy_sim_actor *a = NULL;

	davy_check_start_again(s, p);
	if (l)
		l->stopped = true;
	for (size_t i = 0; i < s->actor_count && !a; i++)
		if (s->actor[i].act == check3_loading && s->actor[i].of == p)
			a = &s->actor[i];
	if (!a)
		a = davy_sim_add_actor(s, check3_loading, p, 0);
	a->next_ns = s->now_ns + 100 * DAVY_MS;
	a->n[0] = rate * 100;
	a->n[1] = bytes;
}
