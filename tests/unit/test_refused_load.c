/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A load that does not get its memory: started again with the layers that fit, then on the CPU. */
#include "able.h"

#define GIB (1ULL << 30)

/* A model of 8 GiB with 32 layers; all are requested for the GPU. */
static void begin_load(const char *name)
{
	struct davy_event ev;

	begin_able(name, ALL_CAN);
	ev = event(DAVY_EV_PROCESS, 50);
	ev.process = (struct davy_ev_process){ .start_ticks = 500,
					       .workload = 1,
					       .engine = DAVY_ENGINE_LLAMA_SERVER,
					       .backend = DAVY_BACKEND_VULKAN,
					       .ubatch = 512,
					       .gpu_layers = 99,
					       .layer_count = 32,
					       .model_bytes = 8 * GIB };
	davy_copy_name(ev.process.device, sizeof(ev.process.device), GPU);
	davy_copy_name(ev.process.model, sizeof(ev.process.model), "tiny.gguf");
	tell(&ev);
}

static void is_refused(uint32_t pid, enum davy_vram_why why, uint64_t limit)
{
	struct davy_event ev = event(DAVY_EV_VRAM, pid);

	davy_copy_name(ev.vram.device, sizeof(ev.vram.device), GPU);
	davy_copy_name(ev.vram.cgroup, sizeof(ev.vram.cgroup), "davylamp-exec-1");
	ev.vram.bytes = GIB;
	ev.vram.used = limit - GIB / 2;
	ev.vram.limit = limit;
	ev.vram.count = 1;
	ev.vram.why = (uint8_t)why;
	assert_true(davy_event_valid(&ev));
	tell(&ev);
}

static void gets_enomem(uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_ALLOC_FAILED, pid);

	davy_copy_name(ev.alloc_failed.device, sizeof(ev.alloc_failed.device), GPU);
	ev.alloc_failed.stage = DAVY_ALLOC_IOCTL;
	ev.alloc_failed.error = -12;
	ev.alloc_failed.fresh = 1;
	tell(&ev);
}

static void device_has(uint64_t total, uint64_t used)
{
	struct davy_event ev = event(DAVY_EV_MEMORY, 0);

	davy_copy_name(ev.memory.device, sizeof(ev.memory.device), GPU);
	ev.memory.vram_total = total;
	ev.memory.vram_used = used;
	tell(&ev);
}

static const struct davy_plan *smaller(void)
{
	return last_action(DAVY_ACTION_SHRINK, DAVY_HZ_RUNNER_CRASH);
}

static size_t failures(void)
{
	size_t count = 0;

	for (size_t i = 0; i < kept_count; i++)
		count += kept[i].kind == DAVY_PLAN_FAILURE;
	return count;
}

static size_t action_count(enum davy_action action)
{
	size_t count = 0;

	for (size_t i = 0; i < kept_count; i++)
		count += is_action(&kept[i], action);
	return count;
}

/* It serves a request. */
static void serves(uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_PROGRESS, pid);

	ev.progress.prompt_count = 100;
	ev.progress.depth = 100;
	tell(&ev);
}

static void half_of_the_layers_if_the_room_is_unknown(void **state)
{
	(void)state;
	begin_load(NULL);
	throws(50, OOM);
	ends(50, 1 << 8);
	assert_int_equal(smaller()->verdict, DAVY_VERDICT_GO);
	assert_int_equal(smaller()->settings.gpu_layers_off, 99 - 16);
	assert_int_equal(smaller()->settings.ubatch, 0);
	assert_int_equal(core.breaker_count, 0); /* neither backend nor model is bad */
}

/* 8 GiB and an eighth are 9 GiB in 33 layers: 4 GiB have room for 14. */
static void the_layers_that_fit_into_the_quota(void **state)
{
	(void)state;
	begin_load("refused-load-quota");
	is_refused(50, DAVY_VRAM_QUOTA, 4 * GIB);
	ends(50, 1 << 8);
	assert_int_equal(smaller()->verdict, DAVY_VERDICT_GO);
	assert_int_equal(smaller()->settings.gpu_layers_off, 99 - 14);
	assert_int_equal(failures(), 0); /* the quota works */
	replaced_by(smaller()->id, 50, 51, DAVY_BACKEND_VULKAN, 512);
	rest(1800 * S);
	assert_int_equal(first_workload()->settings.gpu_layers_off, 99 - 14);
	assert_replays();
}

static void the_layers_that_the_others_leave_room_for(void **state)
{
	(void)state;
	begin_load(NULL);
	device_has(16 * GIB, 12 * GIB);
	gets_enomem(50);
	ends(50, 1 << 8);
	assert_int_equal(smaller()->settings.gpu_layers_off, 99 - 14);
	assert_int_equal(core.breaker_count, 0);
}

/* Its own memory does not count against it. */
static void memory_that_it_had_is_room(void **state)
{
	(void)state;
	begin_load(NULL);
	device_has(16 * GIB, 13 * GIB);
	uses(50, GIB, 0);
	gets_enomem(50);
	ends(50, 1 << 8);
	assert_int_equal(smaller()->settings.gpu_layers_off, 99 - 14);
}

static void a_few_layers_are_for_the_cpu(void **state)
{
	(void)state;
	begin_load(NULL);
	is_refused(50, DAVY_VRAM_QUOTA, 2 * GIB);
	ends(50, 1 << 8);
	assert_int_equal(action_count(DAVY_ACTION_SHRINK), 0);
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH)->verdict,
			 DAVY_VERDICT_GO);
}

static void a_second_refusal_ends_on_the_cpu(void **state)
{
	struct davy_event ev;
	uint32_t id;

	(void)state;
	begin_load("refused-load-twice");
	throws(50, OOM);
	ends(50, 1 << 8);
	id = smaller()->id;
	act(id, DAVY_ACT_STOPPED, 0, 0);
	ev = able_event(1, 51, first_workload()->can);
	ev.workload.op = DAVY_WORKLOAD_STARTED;
	tell(&ev);
	sized_process(51, 1, DAVY_BACKEND_VULKAN, 512);
	act(id, DAVY_ACT_STARTED, 51, 0);
	throws(51, OOM);
	ends(51, 1 << 8);
	rest(60 * S); /* the back-off */
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH)->verdict,
			 DAVY_VERDICT_GO);
	assert_int_equal(action_count(DAVY_ACTION_RESTART), 0);
	assert_replays();
}

static void an_end_without_a_refusal_is_none(void **state)
{
	(void)state;
	begin_load(NULL);
	ends(50, 1 << 8);
	assert_int_equal(kept_count, 0);
	begin_load(NULL); /* long before: it has lived with it */
	gets_enomem(50);
	rest(60 * S);
	kept_count = 0;
	ends(50, 1 << 8);
	assert_int_equal(kept_count, 0);
	begin_load(NULL); /* it served */
	serves(50);
	gets_enomem(50);
	kept_count = 0;
	ends(50, 1 << 8);
	assert_int_equal(kept_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_of_the_layers_if_the_room_is_unknown),
		cmocka_unit_test(the_layers_that_fit_into_the_quota),
		cmocka_unit_test(the_layers_that_the_others_leave_room_for),
		cmocka_unit_test(memory_that_it_had_is_room),
		cmocka_unit_test(a_few_layers_are_for_the_cpu),
		cmocka_unit_test(a_second_refusal_ends_on_the_cpu),
		cmocka_unit_test(an_end_without_a_refusal_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
