/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests of the core: a history built event by event, and the plans it gave. One history per
 * test; static, because a test file runs one at a time.
 */
#ifndef DAVY_TESTS_HISTORY_H
#define DAVY_TESTS_HISTORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/core.h"

#define MS	   DAVY_NS_PER_MS
#define S	   DAVY_NS_PER_S
#define PLANS_KEPT 256
#define GPU	   "0000:03:00.0"
#define LOST	   "N2vk15DeviceLostErrorE"
#define OOM	   "N2vk22OutOfDeviceMemoryErrorE"

static struct davy_core core;
static struct davy_plan kept[PLANS_KEPT];
static size_t kept_count;
static uint64_t now;
static void (*listener)(const struct davy_event *ev); /* receives every event */

static inline void begin_history(void)
{
	davy_core_init(&core);
	kept_count = 0;
	now = 100 * S;
}

static inline struct davy_event event(enum davy_event_kind kind, uint32_t pid)
{
	struct davy_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.at_ns = now;
	ev.kind = kind;
	ev.pid = pid;
	return ev;
}

static inline void tell(const struct davy_event *ev)
{
	struct davy_plan plans[DAVY_PLANS_MAX];
	size_t count;

	assert_true(davy_event_valid(ev));
	if (listener)
		listener(ev);
	count = davy_core_step(&core, ev, plans, DAVY_PLANS_MAX);
	for (size_t i = 0; i < count && kept_count < PLANS_KEPT; i++)
		kept[kept_count++] = plans[i];
}

/* The number of plans, without the failures that are reported beside them. */
static inline size_t count_told(void)
{
	size_t count = 0;

	for (size_t i = 0; i < kept_count; i++)
		count += kept[i].kind != DAVY_PLAN_FAILURE;
	return count;
}

static inline void pass(uint64_t ns)
{
	uint64_t end = now + ns;

	while (now < end) {
		struct davy_event ev;

		now = end - now > 100 * MS ? now + 100 * MS : end;
		ev = event(DAVY_EV_TICK, 0);
		tell(&ev);
	}
}

static inline void set(const char *key, int64_t value)
{
	struct davy_event ev = event(DAVY_EV_CONFIG, 0);

	davy_copy_name(ev.config.key, sizeof(ev.config.key), key);
	ev.config.value = value;
	tell(&ev);
}

static inline void workload(uint32_t id, uint32_t pid, enum davy_workload_op op,
			    enum davy_backend backend)
{
	struct davy_event ev = event(DAVY_EV_WORKLOAD, pid);

	ev.workload.workload = id;
	ev.workload.op = (uint8_t)op;
	ev.workload.adopted = 1;
	ev.workload.movable = 1;
	ev.workload.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.workload.backend = (uint8_t)backend;
	ev.workload.port = 8080;
	davy_copy_name(ev.workload.model, sizeof(ev.workload.model), "tiny.gguf");
	tell(&ev);
}

static inline void process(uint32_t pid, uint32_t work, enum davy_engine engine,
			   enum davy_backend backend)
{
	struct davy_event ev = event(DAVY_EV_PROCESS, pid);

	ev.process.start_ticks = pid * 10;
	ev.process.workload = work;
	ev.process.engine = (uint8_t)engine;
	ev.process.backend = (uint8_t)backend;
	davy_copy_name(ev.process.comm, sizeof(ev.process.comm), "llama-server");
	davy_copy_name(ev.process.model, sizeof(ev.process.model), "tiny.gguf");
	if (backend != DAVY_BACKEND_CPU)
		davy_copy_name(ev.process.device, sizeof(ev.process.device), GPU);
	tell(&ev);
}

/* An adopted llama-server on Vulkan, in enforce mode: workload 1, pid 50. */
static inline void serve(void)
{
	set("agent.mode", DAVY_MODE_ENFORCE);
	workload(1, 50, DAVY_WORKLOAD_REGISTERED, DAVY_BACKEND_VULKAN);
	process(50, 1, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
}

static inline void served_engine(void)
{
	begin_history();
	serve();
}

static inline void throws(uint32_t pid, const char *type)
{
	struct davy_event ev = event(DAVY_EV_THROW, pid);

	davy_copy_name(ev.thrown.type, sizeof(ev.thrown.type), type);
	tell(&ev);
}

static inline void ends(uint32_t pid, int status)
{
	struct davy_event ev = event(DAVY_EV_PROCESS_EXIT, pid);

	ev.process_exit.start_ticks = pid * 10;
	ev.process_exit.status = status;
	tell(&ev);
}

static inline void tell_graph(uint32_t pid, uint64_t entered_ns, uint64_t count, uint64_t max_ns)
{
	struct davy_event ev = event(DAVY_EV_GRAPH, pid);

	ev.graph.entered_ns = entered_ns;
	ev.graph.graph_count = count;
	ev.graph.max_ns = max_ns;
	tell(&ev);
}

static inline void probe(uint16_t health, uint16_t completion, uint32_t tokens)
{
	struct davy_event ev = event(DAVY_EV_PROBE, 0);

	ev.probe.workload = 1;
	ev.probe.health_status = health;
	ev.probe.completion_status = completion;
	ev.probe.token_count = tokens;
	tell(&ev);
}

static inline void act(uint32_t plan, enum davy_act_stage stage, uint32_t pid, int result)
{
	struct davy_event ev = event(DAVY_EV_ACT, pid);

	ev.act.plan = plan;
	ev.act.workload = 1;
	ev.act.stage = (uint8_t)stage;
	ev.act.result = result;
	tell(&ev);
}

/* Whether the plan is that action, to be carried out; not the outcome of one. */
static inline bool is_action(const struct davy_plan *plan, enum davy_action action)
{
	return plan->kind == DAVY_PLAN_ACTION && plan->action == action;
}

static inline size_t count_of(enum davy_plan_kind kind, enum davy_hazard hazard)
{
	size_t count = 0;

	for (size_t i = 0; i < kept_count; i++)
		count += kept[i].kind == kind && kept[i].hazard == hazard;
	return count;
}

static inline size_t count_of_action(enum davy_action action, enum davy_hazard hazard)
{
	size_t count = 0;

	for (size_t i = 0; i < kept_count; i++)
		count += is_action(&kept[i], action) && kept[i].hazard == hazard;
	return count;
}

/* The last plan of that kind and hazard; fails the test when there is none. */
static inline const struct davy_plan *last_of(enum davy_plan_kind kind, enum davy_hazard hazard)
{
	for (size_t i = kept_count; i-- > 0;)
		if (kept[i].kind == kind && kept[i].hazard == hazard)
			return &kept[i];
	fail_msg("no plan of kind %d for '%s'", (int)kind, davy_hazard_name(hazard));
	return NULL;
}

static inline const struct davy_plan *last_action(enum davy_action action, enum davy_hazard hazard)
{
	for (size_t i = kept_count; i-- > 0;)
		if (is_action(&kept[i], action) && kept[i].hazard == hazard)
			return &kept[i];
	fail_msg("no plan '%s' for '%s'", davy_action_name(action), davy_hazard_name(hazard));
	return NULL;
}

#endif
