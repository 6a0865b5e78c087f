/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: bytes one process moves out of VRAM, and moves back in, within a window.
 * Threshold: "bytes" out within "window" is level 2; a quarter of it back in as well is thrash,
 *   level 3. The subject is the evictor, whose allocation needs the room; the owner is the victim.
 * False alarms: a free or a first placement is no move (told apart in the kernel program); the load
 *   of one model evicts an idle one once: under the default that takes over 256 MiB in 2 s.
 * Test: tests/unit/test_gpu_hazards.c, tests/vm fire and fill.
 */
#include "hazards.h"

static uint64_t grown(uint64_t *seen, uint64_t now)
{
	uint64_t by = now >= *seen ? now - *seen : now; /* smaller: the counter began anew */

	*seen = now;
	return by;
}

static void raise(struct dl_step *s, struct dl_mover_state *m, uint32_t level)
{
	const struct dl_process *p = dl_world_process(&s->core->world, m->evictor_pid);
	struct dl_plan note = dl_plan_about(s, DL_HZ_EVICTION_STORM, p);

	dl_copy_name(note.device, sizeof(note.device), m->device);
	note.level = (uint8_t)level;
	note.unit = DL_UNIT_BYTES;
	note.observed = m->window_out_bytes;
	note.threshold = dl_config_u64(&s->core->config, DL_CFG_EVICTION_BYTES);
	note.victim_pid = m->owner_pid;
	note.first_sign_ns = m->first_sign_ns;
	dl_alarm_raise(s, &note);
}

void dl_look_eviction_storm(struct dl_step *s)
{
	const struct dl_ev_bo_moved *in = &s->ev->bo_moved;
	const struct dl_config *config = &s->core->config;
	uint64_t limit = dl_config_u64(config, DL_CFG_EVICTION_BYTES);
	struct dl_mover_state *m;

	m = dl_world_mover_get(&s->core->world, in->device, s->ev->pid, in->owner_pid, s->now_ns);
	if (s->now_ns - m->window_ns > dl_config_ns(config, DL_CFG_EVICTION_WINDOW_MS)) {
		m->window_ns = m->first_sign_ns = s->now_ns;
		m->window_out_bytes = m->window_in_bytes = 0;
	}
	m->window_out_bytes += grown(&m->out_bytes, in->out_bytes);
	m->window_in_bytes += grown(&m->in_bytes, in->in_bytes);
	if (m->window_out_bytes < limit)
		return;
	raise(s, m, m->window_in_bytes >= limit / 4 ? 3 : 2);
}
