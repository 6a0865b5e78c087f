/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: workloads that can bear every action, and what they run with. */
#ifndef DAVY_TESTS_ABLE_H
#define DAVY_TESTS_ABLE_H

#include "record.h"

#define ALL_CAN 0x3f

static inline struct davy_event able_event(uint32_t id, uint32_t pid, uint8_t can)
{
	struct davy_event ev = event(DAVY_EV_WORKLOAD, pid);

	ev.workload.workload = id;
	ev.workload.adopted = 1;
	ev.workload.movable = 1;
	ev.workload.can = can;
	ev.workload.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.workload.backend = DAVY_BACKEND_VULKAN;
	ev.workload.port = 8080;
	davy_copy_name(ev.workload.device, sizeof(ev.workload.device), GPU);
	davy_copy_name(ev.workload.model, sizeof(ev.workload.model), "tiny.gguf");
	return ev;
}

static inline void able(uint32_t id, uint32_t pid, uint8_t can)
{
	struct davy_event ev = able_event(id, pid, can);

	tell(&ev);
}

/* llama-server with ubatch 512 and a context of 32768 in four slots. */
static inline void sized_process(uint32_t pid, uint32_t id, enum davy_backend backend,
				 uint32_t ubatch)
{
	struct davy_event ev = event(DAVY_EV_PROCESS, pid);

	ev.process.start_ticks = pid * 10;
	ev.process.workload = id;
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.process.backend = (uint8_t)backend;
	ev.process.ubatch = ubatch;
	ev.process.context_size = 32768;
	ev.process.parallel = 4;
	davy_copy_name(ev.process.cache_k, sizeof(ev.process.cache_k), "f16");
	davy_copy_name(ev.process.cache_v, sizeof(ev.process.cache_v), "f16");
	davy_copy_name(ev.process.comm, sizeof(ev.process.comm), "llama-server");
	davy_copy_name(ev.process.model, sizeof(ev.process.model), "tiny.gguf");
	if (backend != DAVY_BACKEND_CPU)
		davy_copy_name(ev.process.device, sizeof(ev.process.device), GPU);
	tell(&ev);
}

/* Workload 1, pid 50, and the mode in which something is done about it. */
static inline void begin_able(const char *name, uint8_t can)
{
	if (name)
		begin_recording(name);
	else
		begin_history();
	set("agent.mode", DAVY_MODE_ENFORCE);
	able(1, 50, can);
	sized_process(50, 1, DAVY_BACKEND_VULKAN, 512);
}

static inline struct davy_workload *first_workload(void)
{
	return &core.world.workloads[0];
}

static inline void act_of(uint32_t work, uint32_t plan, enum davy_act_stage stage, uint32_t pid,
			  int result)
{
	struct davy_event ev = event(DAVY_EV_ACT, pid);

	ev.act.plan = plan;
	ev.act.workload = work;
	ev.act.stage = (uint8_t)stage;
	ev.act.result = result;
	tell(&ev);
}

/* The act is done: another process serves in the place of the first. */
static inline void replaced_by(uint32_t plan, uint32_t old, uint32_t pid, enum davy_backend backend,
			       uint32_t ubatch)
{
	struct davy_event ev = able_event(1, pid, first_workload()->can);

	act(plan, DAVY_ACT_STOPPED, 0, 0);
	ends(old, 15);
	ev.workload.op = DAVY_WORKLOAD_STARTED;
	ev.workload.backend = (uint8_t)backend;
	tell(&ev);
	sized_process(pid, 1, backend, ubatch);
	act(plan, DAVY_ACT_STARTED, pid, 0);
	act(plan, DAVY_ACT_SERVING, 0, 0);
}

/* Time of which a trace need not hold every tick. */
static inline void rest(uint64_t ns)
{
	uint64_t end = now + ns;

	while (now < end) {
		struct davy_event ev;

		now = end - now > 5 * S ? now + 5 * S : end;
		ev = event(DAVY_EV_TICK, 0);
		tell(&ev);
	}
}

/* Bytes that one process has moved out of another's VRAM; in all. */
static inline void evicts(uint32_t evictor, uint32_t owner, uint64_t out_bytes)
{
	struct davy_event ev = event(DAVY_EV_BO_MOVED, evictor);

	davy_copy_name(ev.bo_moved.device, sizeof(ev.bo_moved.device), GPU);
	ev.bo_moved.owner_pid = owner;
	ev.bo_moved.out_bytes = out_bytes;
	tell(&ev);
}

static inline void uses(uint32_t pid, uint64_t vram, uint64_t busy_ns)
{
	struct davy_event ev = event(DAVY_EV_CLIENT, pid);

	davy_copy_name(ev.client.device, sizeof(ev.client.device), GPU);
	ev.client.client_id = pid;
	ev.client.vram = vram;
	ev.client.busy_ns = busy_ns;
	tell(&ev);
}

static inline const struct davy_plan *undo_of(enum davy_hazard hazard)
{
	return last_action(DAVY_ACTION_UNDO, hazard);
}

static inline size_t undo_count(void)
{
	size_t count = 0;

	for (size_t i = 0; i < kept_count; i++)
		count += is_action(&kept[i], DAVY_ACTION_UNDO);
	return count;
}

static inline void left_by_another(enum davy_action action, enum davy_hazard hazard,
				   uint32_t ubatch)
{
	struct davy_event ev = event(DAVY_EV_RESTORED, 0);

	ev.restored.workload = 1;
	ev.restored.action = (uint8_t)action;
	ev.restored.hazard = (uint8_t)hazard;
	ev.restored.backend = DAVY_BACKEND_VULKAN;
	ev.restored.settings.ubatch = ubatch;
	davy_copy_name(ev.restored.device, sizeof(ev.restored.device), GPU);
	tell(&ev);
}

#endif
