/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: GPU VM faults and illegal instructions of one PASID (amdgpu_iv).
 * Threshold: a first no-retry fault is level 1 (the work behind it is lost: stop new work), "count"
 *   faults within "window" level 3. Retry faults count, and are no sign one by one (XNACK, SVM).
 * False alarms: pasid 0 with vmid 0 is the driver's own traffic after a reset begins.
 * Test: tests/unit/test_gpu_hazards.c, tests/vm fire.
 */
#include "hazards.h"

static void raise(struct dl_step *s, const struct dl_client *client, uint32_t level)
{
	const struct dl_process *p = dl_world_process(&s->core->world, client->pid);
	struct dl_plan note = dl_plan_about(s, DL_HZ_FAULT_STORM, p);

	if (!p)
		note.pid = client->pid;
	dl_copy_name(note.device, sizeof(note.device), s->ev->fault.device);
	note.level = (uint8_t)level;
	note.unit = DL_UNIT_COUNT;
	note.observed = client->fault_count;
	note.threshold = level == 1 ? 1 : dl_config_u64(&s->core->config, DL_CFG_FAULT_COUNT);
	note.evidence[0].count =
		client->fault_count < UINT32_MAX ? (uint32_t)client->fault_count : UINT32_MAX;
	note.device_class = 1;
	if (client->window_ns < note.first_sign_ns)
		note.first_sign_ns = client->window_ns;
	dl_alarm_raise(s, &note);
}

void dl_look_fault_storm(struct dl_step *s)
{
	const struct dl_ev_fault *in = &s->ev->fault;
	const struct dl_config *config = &s->core->config;
	struct dl_client *client;

	if (!in->pasid || in->fault_class == DL_FAULT_NONE)
		return;
	client = dl_world_client_get(&s->core->world, in->pasid, s->now_ns);
	if (s->now_ns - client->window_ns > dl_config_ns(config, DL_CFG_FAULT_WINDOW_MS)) {
		client->window_ns = s->now_ns;
		client->fault_count = 0;
	}
	client->fault_count += in->fresh;
	if (client->fault_count >= dl_config_u64(config, DL_CFG_FAULT_COUNT))
		raise(s, client, 3);
	else if (in->fault_class != DL_FAULT_VM_RETRY)
		raise(s, client, 1);
}
