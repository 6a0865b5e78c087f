/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: an engine that should use a GPU, by its workload's backend or its GPU layers argument,
 *   computes without one: its backend is the CPU, it has no device, or only a software device
 *   (Mesa's llvmpipe).
 * Threshold: "age" since it was first seen, if it serves requests by then. Level 2 if it was seen
 *   to compute, otherwise level 1. Level 2 immediately if access to a GPU node was denied. The
 *   alarm stays until the engine has a device or ends.
 * False alarms: engines configured for the CPU; managers, tools and Ollama's discovery; an engine
 *   that is still looking for its device (about 50 s of scans); a server whose worker holds the
 *   device; a process that could not be read completely; a display node (dri/card0), which no
 *   engine needs.
 * Test: tests/unit/test_silent_cpu.c.
 */
#include "core/hazard/hazards.h"

#include <inttypes.h>
#include <string.h>

#define LOOK_NS DAVY_NS_PER_S

static bool silent_cpu_is_gpu(uint8_t backend)
{
	return backend != DAVY_BACKEND_UNKNOWN && backend != DAVY_BACKEND_CPU;
}

static bool silent_cpu_wants_gpu(struct davy_step *s, const struct davy_process *p)
{
	const struct davy_workload *w = davy_world_workload(&s->core->world, p->workload);

	if (w && w->asked != DAVY_BACKEND_UNKNOWN)
		return silent_cpu_is_gpu(w->asked);
	return p->gpu_layers > 0 || p->gpu_layers == DAVY_LAYERS_ALL;
}

static bool silent_cpu_has_gpu(const struct davy_process *p)
{
	if (p->refused_ns && p->role == DAVY_ROLE_DISCOVERY)
		return false; /* what it reports decides for the runners after it */
	if (davy_same_name(p->device, DAVY_LLVMPIPE) || p->backend == DAVY_BACKEND_CPU)
		return false;
	return p->device[0] || (p->backend != DAVY_BACKEND_UNKNOWN && !p->refused_ns);
}

/* A Python server has its device in a worker process. */
static bool silent_cpu_child_has_gpu(struct davy_step *s, uint32_t pid)
{
	struct davy_world *w = &s->core->world;

	for (size_t set = 0; set < DAVY_WORLD_PROCESS_SETS; set++)
		for (size_t way = 0; way < DAVY_WORLD_WAYS; way++) {
			const struct davy_process *p = &w->processes[set][way];

			if (p->pid && p->ppid == pid && silent_cpu_has_gpu(p))
				return true;
		}
	return false;
}

/* "": none or several are known. A refused node has no device: nothing behind it was opened. */
static const char *silent_cpu_only_device(const struct davy_step *s)
{
	const struct davy_world *w = &s->core->world;
	const char *only = "";

	for (size_t i = 0; i < DAVY_WORLD_DEVICES; i++) {
		if (!w->devices[i].used_ns || !w->devices[i].device[0])
			continue;
		if (only[0])
			return "";
		only = w->devices[i].device;
	}
	return only;
}

static bool silent_cpu_serves(const struct davy_process *p)
{
	if (p->role != DAVY_ROLE_SERVER && p->role != DAVY_ROLE_RUNNER)
		return false;
	if (p->refused_ns || p->worked_ns || p->checked_ok_ns)
		return true;
	return p->model[0] && p->port && !(p->flags & DAVY_PROCESS_PORT_ASSUMED);
}

static void silent_cpu_describe(const struct davy_step *s, const struct davy_process *p,
				struct davy_plan *note)
{
	const struct davy_workload *w = davy_world_workload(&s->core->world, p->workload);

	if (p->refused_ns)
		note->form = DAVY_FORM_REFUSED;
	else if (w && silent_cpu_is_gpu(w->asked))
		davy_copy_name(note->detail, sizeof(note->detail), davy_backend_name(w->asked));
	else
		note->form = DAVY_FORM_LAYERS;
}

/* A software device is no device. */
static const char *silent_cpu_device_of(const struct davy_step *s, const struct davy_process *p)
{
	return p->refused_ns ? silent_cpu_only_device(s) : "";
}

static void silent_cpu_raise(struct davy_step *s, const struct davy_process *p)
{
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_SILENT_CPU, p);

	note.level = p->refused_ns || p->worked_ns || p->checked_ok_ns ? 2 : 1;
	note.unit = DAVY_UNIT_NS;
	note.observed = s->now_ns - p->met_ns;
	if (!p->refused_ns)
		note.threshold = davy_threshold_ns(s, DAVY_CFG_SILENT_CPU_AGE_MS, NULL, p);
	note.first_precursor_ns = p->met_ns;
	davy_copy_name(note.device, sizeof(note.device), silent_cpu_device_of(s, p));
	silent_cpu_describe(s, p, &note);
	davy_alarm_raise(s, &note);
}

/* Who opens a GPU's node wants the GPU, also the child that only looks for devices. */
static bool silent_cpu_expected(struct davy_step *s, const struct davy_process *p)
{
	if (p->refused_ns && (p->gpu_layers || p->role == DAVY_ROLE_DISCOVERY))
		return true;
	return silent_cpu_serves(p) && silent_cpu_wants_gpu(s, p);
}

static void silent_cpu_look_at(struct davy_step *s, struct davy_process *p)
{
	if (p->engine == DAVY_ENGINE_NONE || silent_cpu_has_gpu(p) || !silent_cpu_expected(s, p) ||
	    (p->flags & DAVY_PROCESS_PARTIAL) || silent_cpu_child_has_gpu(s, p->pid)) {
		if (p->on_cpu)
			davy_alarm_clear(s, DAVY_HZ_SILENT_CPU, p->pid, silent_cpu_device_of(s, p),
					 "");
		p->on_cpu = 0;
		if (silent_cpu_has_gpu(p))
			p->refused_ns = 0;
		return;
	}
	if (!p->refused_ns &&
	    s->now_ns - p->met_ns < davy_threshold_ns(s, DAVY_CFG_SILENT_CPU_AGE_MS, NULL, p))
		return;
	p->on_cpu = 1;
	silent_cpu_raise(s, p); /* refreshes an active alarm */
}

/* Device nodes for computing: a render node, KFD, NVIDIA's. */
static bool silent_cpu_is_compute_node(const char *name)
{
	return !strncmp(name, "dri/renderD", 11) || !strcmp(name, "kfd") ||
	       !strcmp(name, "nvidiactl") ||
	       (!strncmp(name, "nvidia", 6) && name[6] >= '0' && name[6] <= '9');
}

static void silent_cpu_look_at_fact(struct davy_step *s)
{
	struct davy_process *p = davy_world_process(&s->core->world, s->ev->pid);

	if (s->ev->fact.fact != DAVY_FACT_OPEN_REFUSED || !p ||
	    !silent_cpu_is_compute_node(s->ev->fact.name))
		return;
	p->refused_ns = s->now_ns ? s->now_ns : 1;
	silent_cpu_look_at(s, p);
}

static void silent_cpu_look(struct davy_step *s)
{
	struct davy_world *w = &s->core->world;

	if (s->ev->kind == DAVY_EV_FACT) {
		silent_cpu_look_at_fact(s);
		return;
	}

	if (s->now_ns - w->cpu_looked_ns < LOOK_NS)
		return;
	w->cpu_looked_ns = s->now_ns;
	for (size_t set = 0; set < DAVY_WORLD_PROCESS_SETS; set++)
		for (size_t way = 0; way < DAVY_WORLD_WAYS; way++)
			if (w->processes[set][way].pid)
				silent_cpu_look_at(s, &w->processes[set][way]);
}

static void silent_cpu_reason(const struct davy_plan *p, struct davy_clause *c)
{
	if (p->form == DAVY_FORM_REFUSED)
		c->say(c, "is configured to use a GPU, but may not open its device file");
	else
		c->say(c,
		       "has run for %" PRIu64
		       " s without a GPU, although it is configured to use one (%s)",
		       p->observed / DAVY_NS_PER_S,
		       p->form == DAVY_FORM_LAYERS ? "its arguments name GPU layers" : p->detail);
}

const struct davy_hazard_row davy_hazard_silent_cpu = {
	.sees = DAVY_SEES(DAVY_EV_TICK) | DAVY_SEES(DAVY_EV_FACT),
	.look = silent_cpu_look,
	.reason = silent_cpu_reason,
	.precursor.seen_in_events = true,
	.precursor.leads = DAVY_CAN_DISCOVERY_MISS,
	.precursor.forms = 1 << DAVY_FORM_REFUSED,
	.precursor.horizon = DAVY_CFG_FORESIGHT_HORIZON_MS,
};
