/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/fields.h"

#include <assert.h>
#include <string.h>

#include "core/event/fact.h"
#include "core/event/plan.h"

static const char *fault_class_name(uint32_t class)
{
	static const char *const names[DAVY_FAULT_CLASS_COUNT] = {
		[DAVY_FAULT_NONE] = "none",	    [DAVY_FAULT_VM] = "vm",
		[DAVY_FAULT_VM_RETRY] = "vm_retry", [DAVY_FAULT_ILLEGAL] = "illegal",
		[DAVY_FAULT_ECC] = "ecc",	    [DAVY_FAULT_SDMA] = "sdma",
		[DAVY_FAULT_WAVE] = "wave",
	};

	return class < DAVY_FAULT_CLASS_COUNT ? names[class] : "unknown";
}

static const char *sensor_state_name(uint32_t state)
{
	static const char *const names[DAVY_SENSOR_STATE_COUNT] = { "live", "absent", "refused",
								    "released", "lost" };

	return names[state];
}

static const char *workload_op_name(uint32_t op)
{
	static const char *const names[] = { "registered", "started", "gone" };

	return names[op];
}

static const char *scope_name(uint32_t scope)
{
	static const char *const names[DAVY_SCOPE_COUNT] = { "none", "driver", "device", "model" };

	return names[scope];
}

static const char *rules_mode_name(uint32_t mode)
{
	return mode ? davy_mode_name((enum davy_mode)(mode - 1)) : "";
}

static const char *vram_why_name(uint32_t why)
{
	static const char *const names[DAVY_VRAM_WHY_COUNT] = { "none",	     "quota", "reserve",
								"placement", "raced", "high" };

	return names[why];
}

static bool order_valid(const struct davy_event *ev)
{
	return davy_action_known(ev->order.action) &&
	       (!ev->order.undo || davy_action_known(ev->order.undo));
}

static bool restored_valid(const struct davy_event *ev)
{
	return davy_action_has(ev->restored.action, DAVY_ACTS_SETS | DAVY_ACTS_MOVES);
}

static bool fact_valid(const struct davy_event *ev)
{
	return davy_fact_known(ev->fact.fact);
}

static bool scores_valid(const struct davy_event *ev)
{
	return ev->scores.confirmed <= ev->scores.alarms;
}

static bool tuning_valid(const struct davy_event *ev)
{
	struct davy_tuner tuner;

	memset(&tuner, 0, sizeof(tuner));
	memcpy(&tuner, ev->tuning.head, DAVY_TUNER_HEAD);
	tuner.of[ev->tuning.backend] = ev->tuning.of;
	return davy_tuner_valid(&tuner);
}

/* clang-format off */
/* NOLINTBEGIN(bugprone-macro-parentheses): parts of initializers and names of members */
#define SIZE_OF(at) sizeof(((struct davy_event *)0)->at)
#define FIELD(of_type, its_name, at, ...) \
	{ .type = DAVY_FIELD_##of_type, .name = its_name, .size = SIZE_OF(at), \
	  .offset = offsetof(struct davy_event, at), __VA_ARGS__ }
#define TEXT(name, at, ...)	FIELD(TEXT, name, at, __VA_ARGS__)
#define NUMBER(name, at, ...)	FIELD(NUMBER, name, at, __VA_ARGS__)
#define SIGNED(name, at, ...)	FIELD(SIGNED, name, at, __VA_ARGS__)
#define FLAG(name, at, ...)	FIELD(FLAG, name, at, __VA_ARGS__)
#define NAME(name, at, of, ...)	FIELD(NAME, name, at, .text = of, __VA_ARGS__)

#define EACH(at)		.more = SIZE_OF(at) / SIZE_OF(at[0]) - 1
#define IF_SET			.shown = DAVY_FIELD_IF_SET
#define HIDDEN			.shown = DAVY_FIELD_NEVER
#define BITS(bits)		.mask = bits
#define NEEDED			.min = 1
#define UP_TO(most)		.max = most
#define BELOW(limit)		.max = (limit) - 1

#define WORKLOAD(at) NUMBER("workload", at, NEEDED)
#define BACKEND(name, at, ...) \
	NAME(name, at, davy_backend_name, BELOW(DAVY_BACKEND_COUNT), __VA_ARGS__)
#define SETTINGS(at) \
	NUMBER("ubatch", at.ubatch, IF_SET), \
	NUMBER("context", at.context, IF_SET), \
	NUMBER("parallel", at.parallel, IF_SET), \
	NAME("cache_type", at.cache_type, davy_cache_name, BELOW(DAVY_TUNER_CACHE_COUNT), IF_SET), \
	NUMBER("gpu_layers_off", at.gpu_layers_off, IF_SET)

#define SHAPE(its_name, of)	.name = its_name, .size = SIZE_OF(of)
#define FIELDS(...) \
	.fields = (const struct davy_field[]){ __VA_ARGS__ }, \
	.field_count = sizeof((const struct davy_field[]){ __VA_ARGS__ }) / \
		       sizeof(struct davy_field)
/* NOLINTEND(bugprone-macro-parentheses) */

/* The fields of a kind are in the order of JSON. */
static const struct davy_event_shape shapes[DAVY_EV_COUNT] = {
	[DAVY_EV_TICK] = { .name = "tick", .hidden = true },
	[DAVY_EV_CONFIG] = { SHAPE("config", config), FIELDS(
		TEXT("key", config.key),
		SIGNED("value", config.value),
	) },
	/* Hidden: report/process_json.c prints a process. */
	[DAVY_EV_PROCESS] = { SHAPE("process", process), .of_process = true, FIELDS(
		TEXT("comm", process.comm, HIDDEN),
		NUMBER("engine", process.engine, BELOW(DAVY_ENGINE_COUNT), HIDDEN),
		NUMBER("role", process.role, BELOW(DAVY_ROLE_COUNT), HIDDEN),
		NUMBER("backend", process.backend, BELOW(DAVY_BACKEND_COUNT), HIDDEN),
		NUMBER("runtime", process.runtime, BELOW(DAVY_RUNTIME_COUNT), HIDDEN),
		TEXT("device", process.device, HIDDEN),
		TEXT("devices", process.more_devices[0], EACH(process.more_devices), HIDDEN),
		TEXT("model", process.model, HIDDEN),
		TEXT("architecture", process.architecture, HIDDEN),
		TEXT("quantisation", process.quantisation, HIDDEN),
		TEXT("cache_k", process.cache_k, HIDDEN),
		TEXT("cache_v", process.cache_v, HIDDEN),
		TEXT("unit", process.unit, HIDDEN),
		TEXT("container", process.container, HIDDEN),
		TEXT("pod", process.pod, HIDDEN),
		NUMBER("start_ticks", process.start_ticks),
	) },
	[DAVY_EV_PROCESS_EXIT] = { SHAPE("process_exit", process_exit), FIELDS(
		SIGNED("status", process_exit.status),
	) },
	[DAVY_EV_THROW] = { SHAPE("exception", thrown), FIELDS(
		TEXT("exception", thrown.type),
	) },
	[DAVY_EV_GRAPH] = { SHAPE("graph", graph), .hidden = true },
	[DAVY_EV_FAULT] = { SHAPE("gpu_fault", fault), FIELDS(
		TEXT("device", fault.device),
		NUMBER("addr", fault.addr),
		NUMBER("pasid", fault.pasid),
		NUMBER("vmid", fault.vmid),
		NUMBER("client_id", fault.client_id),
		NUMBER("src_id", fault.src_id),
		NAME("class", fault.fault_class, fault_class_name),
		FLAG("write", fault.flags, BITS(DAVY_FAULT_WRITE)),
		FLAG("addr_known", fault.flags, BITS(DAVY_FAULT_ADDR_KNOWN)),
		NUMBER("count", fault.count),
		NUMBER("fresh", fault.fresh),
	) },
	[DAVY_EV_PASID] = { SHAPE("pasid", pasid), FIELDS(
		NUMBER("pasid", pasid.pasid),
		FLAG("freed", pasid.freed),
	) },
	[DAVY_EV_BO_MOVED] = { SHAPE("bo_moved", bo_moved), FIELDS(
		TEXT("device", bo_moved.device),
		NUMBER("owner_pid", bo_moved.owner_pid),
		NUMBER("owner_pasid", bo_moved.owner_pasid),
		NUMBER("out_bytes", bo_moved.out_bytes),
		NUMBER("in_bytes", bo_moved.in_bytes),
		NUMBER("out_count", bo_moved.out_count),
		NUMBER("in_count", bo_moved.in_count),
	) },
	[DAVY_EV_RING] = { SHAPE("ring", ring), FIELDS(
		TEXT("device", ring.device),
		TEXT("ring", ring.ring),
		NUMBER("timeout_ns", ring.timeout_ns),
		NUMBER("age_ns", ring.age_ns),
		NUMBER("fence_context", ring.fence_context),
		NUMBER("fence_seqno", ring.fence_seqno),
		NUMBER("running", ring.running_count),
	) },
	[DAVY_EV_JOB_TIMEOUT] = { SHAPE("job_timeout", job_timeout), FIELDS(
		TEXT("device", job_timeout.device),
		TEXT("ring", job_timeout.ring),
		NUMBER("fence_context", job_timeout.fence_context),
		NUMBER("fence_seqno", job_timeout.fence_seqno),
		NUMBER("age_ns", job_timeout.age_ns),
		NUMBER("pasid", job_timeout.pasid),
	) },
	[DAVY_EV_RESET] = { SHAPE("reset", reset), FIELDS(
		TEXT("device", reset.device),
		SIGNED("result", reset.result),
		FLAG("begun", reset.begun),
	) },
	[DAVY_EV_WORKLOAD] = { SHAPE("workload", workload), FIELDS(
		WORKLOAD(workload.workload),
		NAME("op", workload.op, workload_op_name, UP_TO(DAVY_WORKLOAD_GONE)),
		NAME("engine", workload.engine, davy_engine_name, BELOW(DAVY_ENGINE_COUNT)),
		BACKEND("backend", workload.backend),
		TEXT("device", workload.device, HIDDEN),
		TEXT("model", workload.model),
		NUMBER("port", workload.port),
	) },
	[DAVY_EV_PROBE] = { SHAPE("probe", probe), FIELDS(
		NUMBER("workload", probe.workload),
		NUMBER("health", probe.health_status),
		NUMBER("completion", probe.completion_status),
		NUMBER("tokens", probe.token_count),
		NUMBER("ms", probe.completion_ms),
		FLAG("compute_failed", probe.flags, BITS(DAVY_PROBE_COMPUTE_FAILED), IF_SET),
	) },
	[DAVY_EV_ACT] = { SHAPE("act", act), FIELDS(
		NUMBER("plan", act.plan),
		NUMBER("workload", act.workload),
		NUMBER("stage", act.stage, BELOW(DAVY_ACT_STAGE_COUNT)),
		SIGNED("result", act.result),
	) },
	[DAVY_EV_BREAKER] = { SHAPE("breaker", breaker), .hidden = true, FIELDS(
		TEXT("device", breaker.device),
		TEXT("model", breaker.model),
		NUMBER("backend", breaker.backend, BELOW(DAVY_BACKEND_COUNT)),
		NUMBER("state", breaker.state, BELOW(DAVY_BREAKER_STATE_COUNT)),
	) },
	[DAVY_EV_SENSOR] = { SHAPE("sensor", sensor), FIELDS(
		TEXT("name", sensor.name),
		NAME("state", sensor.state, sensor_state_name, BELOW(DAVY_SENSOR_STATE_COUNT)),
		NUMBER("count", sensor.count),
		NUMBER("gap_ns", sensor.gap_ns),
		TEXT("reason", sensor.reason),
	) },
	[DAVY_EV_ALLOC_FAILED] = { SHAPE("alloc_failed", alloc_failed), FIELDS(
		TEXT("device", alloc_failed.device),
		NUMBER("bytes", alloc_failed.bytes),
		NUMBER("count", alloc_failed.count),
		SIGNED("error", alloc_failed.error),
		NUMBER("what", alloc_failed.what),
		NUMBER("stage", alloc_failed.stage, NEEDED, UP_TO(DAVY_ALLOC_POPULATE)),
	) },
	[DAVY_EV_FACT] = { SHAPE("fact", fact), .valid = fact_valid, FIELDS(
		NUMBER("fact", fact.fact, BELOW(DAVY_FACT_COUNT), HIDDEN), /* "event" */
		NUMBER("count", fact.count),
		SIGNED("error", fact.error),
		TEXT("device", fact.device, IF_SET),
		TEXT("name", fact.name, IF_SET),
		NUMBER("by", fact.by_pid, IF_SET),
		NUMBER("pasid", fact.pasid, IF_SET),
		NUMBER("bytes", fact.bytes, IF_SET),
		NUMBER("addr", fact.addr, IF_SET),
		NUMBER("duration_ns", fact.duration_ns, IF_SET),
		NUMBER("fence_context", fact.fence_context, IF_SET),
		NUMBER("fence_seqno", fact.fence_seqno, IF_SET),
		NUMBER("detail", fact.detail, IF_SET),
		NUMBER("what", fact.what, IF_SET),
		NUMBER("fresh", fact.fresh, IF_SET),
	) },
	[DAVY_EV_JOB_TIMES] = { SHAPE("job_times", job_times), FIELDS(
		TEXT("device", job_times.device),
		TEXT("ring", job_times.ring),
		NUMBER("count", job_times.count),
		NUMBER("sum_ns", job_times.sum_ns),
		NUMBER("max_ns", job_times.max_ns),
		NUMBER("slots", job_times.slot[0], EACH(job_times.slot)),
	) },
	[DAVY_EV_MEMORY] = { SHAPE("memory", memory), FIELDS(
		TEXT("device", memory.device),
		NUMBER("vram_total", memory.vram_total),
		NUMBER("vram_used", memory.vram_used),
		FLAG("shared_memory", memory.flags, BITS(DAVY_MEMORY_SHARED)),
		NUMBER("visible_total", memory.visible_total, IF_SET),
		NUMBER("visible_used", memory.visible_used, IF_SET),
		NUMBER("gtt_total", memory.gtt_total, IF_SET),
		NUMBER("gtt_used", memory.gtt_used, IF_SET),
		NUMBER("evictions", memory.eviction_count, IF_SET),
		NUMBER("vram_lost", memory.vram_lost_count, IF_SET),
		NUMBER("host_total", memory.host_total, IF_SET),
		NUMBER("host_available", memory.host_available, IF_SET),
		NUMBER("pressure_permille", memory.pressure_permille, IF_SET),
		FLAG("may_suspend", memory.flags, BITS(DAVY_MEMORY_MAY_SUSPEND), IF_SET),
	) },
	[DAVY_EV_CLIENT] = { SHAPE("client", client), .of_process = true, FIELDS(
		TEXT("device", client.device),
		NUMBER("client_id", client.client_id),
		NUMBER("vram", client.vram),
		NUMBER("gtt", client.gtt),
		NUMBER("system", client.system),
		NUMBER("evicted", client.evicted),
		NUMBER("busy_ns", client.busy_ns),
		FLAG("gone", client.gone),
	) },
	[DAVY_EV_DEVICE] = { SHAPE("device", device), FIELDS(
		TEXT("device", device.device),
		TEXT("driver", device.driver),
		NAME("change", device.change, davy_device_change_name,
		     NEEDED, BELOW(DAVY_DEVICE_CHANGE_COUNT)),
		TEXT("detail", device.detail),
		SIGNED("value", device.value),
	) },
	[DAVY_EV_LOG] = { SHAPE("log", log), FIELDS(
		NAME("kind", log.kind, davy_log_kind_name, BELOW(DAVY_LOG_KIND_COUNT)),
		NAME("role", log.role, davy_log_role_name, BELOW(DAVY_PART_COUNT)),
		NAME("class", log.log_class, davy_log_class_name, BELOW(DAVY_CLASS_COUNT)),
		TEXT("device", log.device, IF_SET),
		TEXT("ring", log.ring, IF_SET),
		TEXT("comm", log.comm, IF_SET),
		NUMBER("named_pid", log.named_pid, IF_SET),
		NUMBER("addr", log.addr, IF_SET),
		NUMBER("code", log.code, IF_SET),
		NUMBER("repeats", log.repeats, IF_SET),
		NAME("hazard", log.hazard, davy_log_hazard_name, BELOW(DAVY_LOG_HZ_COUNT), IF_SET),
		SIGNED("error", log.error, IF_SET),
	) },
	[DAVY_EV_KFD] = { SHAPE("kfd", kfd), FIELDS(
		TEXT("device", kfd.device),
		NAME("kind", kfd.event, davy_kfd_event_name,
		     NEEDED, BELOW(DAVY_KFD_EVENT_COUNT)),
		TEXT("detail", kfd.detail, IF_SET),
		NUMBER("driver_ns", kfd.driver_ns, IF_SET),
		NUMBER("addr", kfd.addr, IF_SET),
		NUMBER("bytes", kfd.bytes, IF_SET),
		NUMBER("mask", kfd.mask, IF_SET),
		NUMBER("trigger", kfd.trigger, IF_SET),
		NUMBER("from", kfd.from, IF_SET),
		NUMBER("to", kfd.to, IF_SET),
		NUMBER("write", kfd.flags, BITS(DAVY_KFD_WRITE), IF_SET),
		NUMBER("migrated", kfd.flags, BITS(DAVY_KFD_MIGRATED), IF_SET),
		NUMBER("rescheduled", kfd.flags, BITS(DAVY_KFD_RESCHEDULED), IF_SET),
		SIGNED("error", kfd.error, IF_SET),
	) },
	[DAVY_EV_KFD_USE] = { SHAPE("kfd_use", kfd_use), .of_process = true, FIELDS(
		TEXT("device", kfd_use.device),
		NUMBER("vram", kfd_use.vram),
		NUMBER("evicted_ms", kfd_use.evicted_ms),
		NUMBER("faults", kfd_use.fault_count),
		NUMBER("pages_in", kfd_use.pages_in),
		NUMBER("pages_out", kfd_use.pages_out),
		NUMBER("queues", kfd_use.queue_count),
		FLAG("gone", kfd_use.gone),
	) },
	[DAVY_EV_LOCKUP] = { SHAPE("lockup_timeout", lockup), FIELDS(
		TEXT("device", lockup.device),
		TEXT("queue", lockup.queue),
		NUMBER("timeout_ns", lockup.timeout_ns),
		NAME("origin", lockup.origin, davy_lockup_origin_name,
		     BELOW(DAVY_LOCKUP_ORIGIN_COUNT)),
	) },
	[DAVY_EV_DMEM] = { SHAPE("dmem", dmem), FIELDS(
		TEXT("device", dmem.device),
		TEXT("region", dmem.region),
		TEXT("unit", dmem.unit),
		NUMBER("capacity", dmem.capacity),
		NUMBER("current", dmem.current),
		NUMBER("low", dmem.low, IF_SET),
		NUMBER("max", dmem.max, IF_SET),
	) },
	[DAVY_EV_CONFIG_FOR] = { SHAPE("config_for", config_for), FIELDS(
		TEXT("key", config_for.config.key),
		SIGNED("value", config_for.config.value),
		TEXT("for", config_for.name),
		NAME("scope", config_for.scope, scope_name, NEEDED, BELOW(DAVY_SCOPE_COUNT)),
	) },
	[DAVY_EV_PROGRESS] = { SHAPE("progress", progress), .of_process = true, FIELDS(
		NUMBER("prompt_tokens", progress.prompt_count),
		NUMBER("generated_tokens", progress.generated_count),
		NUMBER("depth", progress.depth),
		NUMBER("context_size", progress.context_size),
		NUMBER("busy_slots", progress.busy_slots),
		NUMBER("slots", progress.slots),
	) },
	[DAVY_EV_ORDER] = { SHAPE("order", order), .valid = order_valid, FIELDS(
		WORKLOAD(order.workload),
		NAME("rung", order.action, davy_action_name),
		NAME("undoes", order.undo, davy_action_name, IF_SET),
		BACKEND("to_backend", order.to_backend, IF_SET),
		NUMBER("on_permille", order.on_permille, UP_TO(1000), IF_SET),
		NUMBER("lease_ns", order.lease_ns, UP_TO(DAVY_ORDER_LEASE_MAX_NS), IF_SET),
		NUMBER("cap_bytes", order.cap_bytes, IF_SET),
		NUMBER("heap", order.heap, UP_TO(DAVY_OF_VRAM), IF_SET),
		SETTINGS(order.settings),
	) },
	[DAVY_EV_RESTORED] = { SHAPE("left", restored), .valid = restored_valid, FIELDS(
		WORKLOAD(restored.workload),
		NAME("rung", restored.action, davy_action_name),
		NAME("hazard", restored.hazard, davy_hazard_name, BELOW(DAVY_HZ_COUNT)),
		BACKEND("from_backend", restored.backend),
		TEXT("device", restored.device, IF_SET),
		SETTINGS(restored.settings),
		NUMBER("depth", restored.depth, IF_SET),
	) },
	[DAVY_EV_CLOCK] = { SHAPE("clock", clock), FIELDS(
		NUMBER("wall_s", clock.wall_s),
	) },
	[DAVY_EV_TUNING] = { SHAPE("tuning", tuning), .valid = tuning_valid, FIELDS(
		WORKLOAD(tuning.workload),
		BACKEND("backend", tuning.backend),
		NUMBER("flags", tuning.flags, BELOW(2 * DAVY_TUNING_FORGET), HIDDEN),
		FLAG("first", tuning.flags, BITS(DAVY_TUNING_FIRST)),
		FLAG("last", tuning.flags, BITS(DAVY_TUNING_LAST)),
		NUMBER("failures", tuning.of.failures, IF_SET),
		NUMBER("failed_depth", tuning.of.failed_depth, IF_SET),
		NUMBER("ubatch", tuning.of.setting[DAVY_TUNER_UBATCH].size, IF_SET),
		NUMBER("context", tuning.of.setting[DAVY_TUNER_CONTEXT].size, IF_SET),
		NUMBER("parallel", tuning.of.setting[DAVY_TUNER_PARALLEL].size, IF_SET),
		NUMBER("layers", tuning.of.setting[DAVY_TUNER_LAYERS].size, IF_SET),
	) },
	[DAVY_EV_RULES] = { SHAPE("rules", rules), FIELDS(
		WORKLOAD(rules.workload),
		NAME("mode", rules.mode, rules_mode_name, UP_TO(DAVY_MODE_COUNT)),
		NUMBER("fixed", rules.fixed, BELOW(1 << DAVY_TUNER_SETTINGS)),
		NUMBER("ubatch_floor", rules.ubatch_floor),
	) },
	[DAVY_EV_FINDING] = { SHAPE("finding", finding), FIELDS(
		NAME("engine", finding.engine, davy_engine_name, BELOW(DAVY_ENGINE_COUNT)),
		BACKEND("backend", finding.backend),
		TEXT("where", finding.where, NEEDED),
		SIGNED("status", finding.status),
		FLAG("adopted", finding.adopted),
		TEXT("device", finding.device, IF_SET),
		TEXT("model", finding.model, IF_SET),
	) },
	[DAVY_EV_OWNER] = { SHAPE("owner", owner), .of_process = true, FIELDS(
		NUMBER("uid", owner.uid),
	) },
	[DAVY_EV_CLOCKS] = { SHAPE("clocks_lowered", clocks), FIELDS(
		TEXT("device", clocks.device, NEEDED),
		NAME("reason", clocks.reason, davy_clock_reason_name,
		     BELOW(DAVY_CLOCK_REASON_COUNT)),
	) },
	[DAVY_EV_SCORES] = { SHAPE("scores", scores), .hidden = true, .valid = scores_valid, FIELDS(
		NAME("hazard", scores.hazard, davy_hazard_name, NEEDED, BELOW(DAVY_HZ_COUNT)),
		NUMBER("level", scores.level, .min = DAVY_SCORED_FROM, .max = 3),
		NUMBER("alarms", scores.alarms, UP_TO(DAVY_SCORES_MAX)),
		NUMBER("confirmed", scores.confirmed),
	) },
	[DAVY_EV_VRAM] = { SHAPE("vram", vram), FIELDS(
		TEXT("device", vram.device),
		TEXT("cgroup", vram.cgroup),
		NUMBER("bytes", vram.bytes),
		NUMBER("used", vram.used),
		NUMBER("limit", vram.limit),
		NUMBER("count", vram.count),
		NAME("why", vram.why, vram_why_name, NEEDED, BELOW(DAVY_VRAM_WHY_COUNT)),
	) },
};
/* clang-format on */

const struct davy_event_shape *davy_event_shape(uint32_t kind)
{
	return &shapes[kind < DAVY_EV_COUNT ? kind : 0];
}

const char *davy_field_text(const struct davy_event *ev, const struct davy_field *f, size_t index)
{
	assert(f->type == DAVY_FIELD_TEXT && index <= f->more);
	return (const char *)ev + f->offset + index * f->size;
}

static uint64_t field_whole(const struct davy_field *f, const void *at)
{
	const int32_t *with_precursor = at;

	switch (f->size) {
	case sizeof(uint8_t):
		return *(const uint8_t *)at;
	case sizeof(uint16_t):
		return *(const uint16_t *)at;
	case sizeof(uint32_t):
		return f->type == DAVY_FIELD_SIGNED ? (uint64_t)*with_precursor
						    : *(const uint32_t *)at;
	default:
		assert(f->size == sizeof(uint64_t));
		return *(const uint64_t *)at;
	}
}

uint64_t davy_field_number(const struct davy_event *ev, const struct davy_field *f, size_t index)
{
	uint64_t whole;

	assert(f->type != DAVY_FIELD_TEXT && index <= f->more);
	whole = field_whole(f, (const uint8_t *)ev + f->offset + index * f->size);
	return f->mask ? (whole & f->mask) != 0 : whole;
}
