/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A workload that has more VRAM than vram_high of its rule is asked to use less. */
#include "record.h"

#include "report/plan_text.h"

static void has(enum davy_vram_why why, uint64_t mib)
{
	struct davy_event ev = event(DAVY_EV_VRAM, 50);

	davy_copy_name(ev.vram.device, sizeof(ev.vram.device), GPU);
	davy_copy_name(ev.vram.cgroup, sizeof(ev.vram.cgroup), "davylamp-exec-50.scope");
	ev.vram.used = mib << 20;
	ev.vram.limit = 8192ULL << 20;
	ev.vram.why = (uint8_t)why;
	tell(&ev);
}

/* As the agent: once a second. */
static void stays_above(uint64_t seconds)
{
	for (uint64_t i = 0; i < seconds; i++) {
		has(DAVY_VRAM_HIGH, 9216);
		pass(S);
	}
}

/* llama-server with a context of 16384 tokens: its KV cache can be smaller. */
static void large_engine(void)
{
	struct davy_event ev;

	serve();
	ev = event(DAVY_EV_WORKLOAD, 50);
	ev.workload.workload = 1;
	ev.workload.adopted = ev.workload.movable = 1;
	ev.workload.can = DAVY_CAN_FREEZE | DAVY_CAN_SHRINK;
	ev.workload.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.workload.backend = DAVY_BACKEND_VULKAN;
	ev.workload.port = 8080;
	davy_copy_name(ev.workload.model, sizeof(ev.workload.model), "tiny.gguf");
	tell(&ev);
	ev = event(DAVY_EV_PROCESS, 50);
	ev.process.start_ticks = 500;
	ev.process.workload = 1;
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.process.backend = DAVY_BACKEND_VULKAN;
	ev.process.context_size = 16384;
	davy_copy_name(ev.process.comm, sizeof(ev.process.comm), "llama-server");
	davy_copy_name(ev.process.model, sizeof(ev.process.model), "tiny.gguf");
	davy_copy_name(ev.process.device, sizeof(ev.process.device), GPU);
	tell(&ev);
}

static void a_workload_above_vram_high_is_shrunk(void **state)
{
	const struct davy_plan *note, *plan;
	char text[256];

	(void)state;
	record_as = "vram_high-shrinks";
	begin_recorded();
	large_engine();
	stays_above(2);
	note = last_of(DAVY_PLAN_NOTE, DAVY_HZ_VRAM_HIGH);
	assert_non_null(note);
	assert_int_equal(note->level, 2);
	assert_int_equal(note->pid, 50);
	davy_reason_text(note, text, sizeof(text));
	assert_string_equal(text,
			    "has 9216 MiB of VRAM, more than vram_high of its rule (8192 MiB)");
	plan = last_action(DAVY_ACTION_SHRINK, DAVY_HZ_VRAM_HIGH);
	assert_non_null(plan);
	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	assert_int_equal(plan->settings.context, 8192);
	assert_replays();
}

static void the_alarm_ends_when_the_memory_is_free(void **state)
{
	(void)state;
	record_as = "vram_high-ends";
	begin_recorded();
	large_engine();
	set("agent.mode", DAVY_MODE_OBSERVE);
	stays_above(3);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_VRAM_HIGH), 1);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_VRAM_HIGH), 0);
	pass(60 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_VRAM_HIGH), 1);
	assert_replays();
}

/* What the quota refuses is no alarm: the workload stays below it. */
static void a_refusal_is_not_this_hazard(void **state)
{
	(void)state;
	record_as = "vram_high-benign";
	begin_recorded();
	large_engine();
	has(DAVY_VRAM_QUOTA, 8000);
	has(DAVY_VRAM_RESERVE, 9000);
	pass(10 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_VRAM_HIGH), 0);
	assert_replays();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_workload_above_vram_high_is_shrunk),
		cmocka_unit_test(the_alarm_ends_when_the_memory_is_free),
		cmocka_unit_test(a_refusal_is_not_this_hazard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
