/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which action follows a hazard, its target, its size, and the action after it. */
#include "able.h"
#include "jobs.h"

#include "report/plan_text.h"

#define RING_NAME "gfx_0.0.0"
#define MIB	  (1ULL << 20)

/* A job that has run for four fifths of its timeout of 10 s. */
static void stalls(uint32_t pid, uint64_t seqno)
{
	ring_runs(pid, RING_NAME, 8 * S, 10 * S, seqno);
}

static const struct davy_plan *last_act(void)
{
	for (size_t i = kept_count; i-- > 0;)
		if (kept[i].kind == DAVY_PLAN_ACTION)
			return &kept[i];
	fail_msg("nothing was done");
	return NULL;
}

static size_t act_count(void)
{
	size_t count = 0;

	for (size_t i = 0; i < kept_count; i++)
		count += kept[i].kind == DAVY_PLAN_ACTION;
	return count;
}

static const struct davy_plan *expect(enum davy_action action, enum davy_verdict verdict)
{
	const struct davy_plan *plan = last_act();

	assert_string_equal(davy_action_name(plan->action), davy_action_name(action));
	assert_string_equal(davy_refusal_name(plan->refusal), "");
	assert_int_equal(plan->verdict, verdict);
	return plan;
}

static const struct davy_plan *goes(enum davy_action action)
{
	return expect(action, DAVY_VERDICT_GO);
}

static void refused(enum davy_action action, enum davy_refusal refusal)
{
	assert_string_equal(davy_action_name(last_act()->action), davy_action_name(action));
	assert_string_equal(davy_refusal_name(last_act()->refusal), davy_refusal_name(refusal));
}

/* Four jobs that take that long: what headroom needs. */
static void long_jobs(uint32_t pid, uint64_t ns)
{
	lockup("compute", 10 * S);
	begin_jobs(pid, RING);
	for (int i = 0; i < 4; i++)
		job(pid, ns);
}

/* Jobs that take longer and longer. */
static void growing_jobs(uint32_t pid)
{
	lockup("compute", 10 * S);
	begin_jobs(pid, RING);
	for (uint64_t i = 0; i < 14; i++)
		job(pid, (3000 + i * 200) * MS);
}

static void a_stall_is_paused_and_its_engine_moved(void **state)
{
	const struct davy_plan *plan;
	size_t acts;

	(void)state;
	begin_able("ladder-stall", ALL_CAN);
	ring_runs(50, RING_NAME, 6 * S, 10 * S, 1);
	assert_int_equal(act_count(), 0); /* level 2: it may end yet */
	stalls(50, 1);
	plan = goes(DAVY_ACTION_PAUSE);
	assert_int_equal(plan->hazard, DAVY_HZ_JOB_STALL);
	assert_int_equal(plan->lease_ns, 2 * S);
	assert_int_equal(plan->pid, 50);
	act(plan->id, DAVY_ACT_IN_FORCE, 0, 0);
	plan = goes(DAVY_ACTION_MIGRATE_CPU);
	assert_int_equal(plan->passed_action, DAVY_ACTION_SHRINK); /* no ubatch is known to fit */
	assert_int_equal(plan->passed_refusal, DAVY_REFUSED_UNABLE);
	assert_int_equal(plan->keeps, 1);
	replaced_by(plan->id, 50, 51, DAVY_BACKEND_CPU, 512);
	assert_int_equal(first_workload()->effect_count, 1);
	acts = act_count();
	pass(60 * S);
	assert_int_equal(act_count(), acts);
	assert_replays();
}

static void without_a_freezer_it_is_moved_at_once(void **state)
{
	const struct davy_plan *plan;
	char text[DAVY_PLAN_TEXT_SIZE];

	(void)state;
	begin_able(NULL, 0);
	stalls(50, 1);
	plan = goes(DAVY_ACTION_MIGRATE_CPU);
	assert_int_equal(plan->keeps, 0);
	davy_plan_text(plan, text, sizeof(text));
	assert_non_null(strstr(text, "after shrink: not possible for this workload"));
}

static void a_pause_that_fails_holds_nothing_up(void **state)
{
	(void)state;
	begin_able(NULL, ALL_CAN);
	stalls(50, 1);
	act(goes(DAVY_ACTION_PAUSE)->id, DAVY_ACT_FAILED, 0, -3);
	goes(DAVY_ACTION_MIGRATE_CPU);
	begin_able(NULL, ALL_CAN);
	stalls(50, 1);
	goes(DAVY_ACTION_PAUSE);
	for (int i = 0; i < 60; i++) { /* no approval comes */
		stalls(50, 1);
		pass(100 * MS);
	}
	goes(DAVY_ACTION_MIGRATE_CPU);
}

static void a_workload_that_cannot_move_is_restarted(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_able(NULL, DAVY_CAN_KEEP);
	ev = able_event(1, 50, DAVY_CAN_KEEP);
	ev.workload.movable = 0;
	tell(&ev);
	stalls(50, 1);
	assert_int_equal(goes(DAVY_ACTION_RESTART)->keeps, 1);
}

static void a_ubatch_that_fits_is_taken_before_the_cpu(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_able("ladder-headroom", ALL_CAN);
	long_jobs(50, 8 * S);
	plan = goes(DAVY_ACTION_PAUSE);
	assert_int_equal(plan->hazard, DAVY_HZ_JOB_HEADROOM);
	act(plan->id, DAVY_ACT_IN_FORCE, 0, 0);
	plan = goes(DAVY_ACTION_SHRINK);
	assert_int_equal(plan->fitting_ubatch, 256);
	assert_int_equal(plan->settings.ubatch, 256);
	assert_int_equal(plan->keeps, 1);
	replaced_by(plan->id, 50, 51, DAVY_BACKEND_VULKAN, 256);
	assert_int_equal(first_workload()->settings.ubatch, 256);
	begin_jobs(51, RING);
	for (int i = 0; i < 4; i++)
		job(51, 3 * S);
	pass(30 * S);
	assert_int_equal(act_count(), 2); /* they fit now */
	assert_replays();
}

/* Each restart takes a ubatch that fits, at most half of the last one. */
static void headroom_of_level_two_halves_down_to_the_floor(void **state)
{
	uint32_t pid = 50, ubatch = 512;
	size_t acts;

	(void)state;
	begin_able(NULL, ALL_CAN & ~DAVY_CAN_FREEZE);
	set("job_headroom.ubatch_floor", 128);
	for (; ubatch > 128; pid++) {
		uint32_t from = ubatch;

		growing_jobs(pid);
		assert_int_equal(goes(DAVY_ACTION_SHRINK)->level, 2);
		ubatch = last_act()->settings.ubatch;
		assert_in_range(ubatch, 128, from / 2);
		replaced_by(last_act()->id, pid, pid + 1, DAVY_BACKEND_VULKAN, ubatch);
		pass(30 * S);
	}
	acts = act_count();
	growing_jobs(pid);
	assert_int_equal(act_count(), acts); /* at the floor; level 3 would move it */
}

static void an_evictor_is_throttled_and_its_victim_is_not(void **state)
{
	const struct davy_plan *plan;
	uint64_t bytes = 0;
	uint32_t first;

	(void)state;
	begin_able("ladder-evictor", ALL_CAN);
	able(2, 60, ALL_CAN);
	sized_process(60, 2, DAVY_BACKEND_VULKAN, 512);
	uses(60, 6144 * MIB, 0); /* the victim has most of the memory */
	for (int i = 0; i < 40; i++, pass(100 * MS)) {
		progress(60, 100, (uint64_t)i + 1, 1); /* and works */
		evicts(50, 60, bytes += 20 * MIB);
	}
	plan = last_action(DAVY_ACTION_PAUSE, DAVY_HZ_EVICTION_STORM);
	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	assert_int_equal(plan->level, 2);
	assert_int_equal(plan->workload, 1);
	assert_int_equal(plan->victim_pid, 60);
	assert_int_equal(plan->lease_ns, 2 * S);
	first = plan->id;
	act(first, DAVY_ACT_IN_FORCE, 0, 0);
	assert_int_equal(act_count(), 1); /* it does not get its share before the pause is over */
	pass(2 * S);
	act(first, DAVY_ACT_RELEASED, 0, 0);
	plan = goes(DAVY_ACTION_THROTTLE);
	assert_int_equal(plan->passed_action, DAVY_ACTION_PAUSE);
	assert_int_equal(plan->on_permille, 500);
	assert_int_equal(plan->lease_ns, 30 * S);
	first = plan->id;
	act(first, DAVY_ACT_IN_FORCE, 0, 0);
	for (uint64_t i = 0; i < 120; i++, pass(100 * MS)) {
		progress(60, 100, i + 100, 1);
		evicts(50, 60, bytes += 20 * MIB);
	}
	plan = goes(DAVY_ACTION_THROTTLE);
	assert_int_equal(plan->on_permille, 250); /* a half was not enough */
	assert_int_equal(plan->passed_action, DAVY_ACTION_THROTTLE);
	act(plan->id, DAVY_ACT_IN_FORCE, 0, 0);
	act(first, DAVY_ACT_RELEASED, 0, 0); /* that lease was taken over */
	assert_int_equal(first_workload()->freeze_plan, plan->id);
	assert_int_equal(count_of(DAVY_PLAN_OUTCOME, DAVY_HZ_EVICTION_STORM), 3);
	for (int i = 0; i < 210; i++, pass(100 * MS))
		if (i % 20 == 0)
			evicts(50, 60, bytes += 300 * MIB); /* now and then */
	first = plan->id;
	plan = goes(DAVY_ACTION_THROTTLE);
	assert_int_not_equal(plan->id, first); /* renewed */
	assert_int_equal(plan->on_permille, 250);
	act(plan->id, DAVY_ACT_IN_FORCE, 0, 0);
	assert_int_equal(count_of(DAVY_PLAN_OUTCOME, DAVY_HZ_EVICTION_STORM), 3);
	first = plan->id;
	pass(30 * S); /* nothing is evicted any more */
	assert_int_equal(goes(DAVY_ACTION_THROTTLE)->id, first);
	act(first, DAVY_ACT_RELEASED, 0, 0);
	assert_int_equal(first_workload()->freeze_plan, 0);
	assert_int_equal(first_workload()->hour_count, 3);
	assert_replays();
}

static void throttle_once(uint64_t *bytes)
{
	size_t acts = act_count();

	for (int i = 0; i < 200 && act_count() == acts; i++, pass(100 * MS))
		evicts(50, 60, *bytes += 30 * MIB);
	if (last_act()->action == DAVY_ACTION_PAUSE) {
		uint32_t id = last_act()->id;

		act(id, DAVY_ACT_IN_FORCE, 0, 0);
		pass(2 * S);
		act(id, DAVY_ACT_RELEASED, 0, 0);
	}
	act(goes(DAVY_ACTION_THROTTLE)->id, DAVY_ACT_IN_FORCE, 0, 0);
}

/* How long it is renewed although nothing is seen, until it ends. */
static uint64_t held_for(void)
{
	uint64_t since = now;

	while (first_workload()->freeze_plan && now - since < 3600 * S) {
		const struct davy_plan *plan = last_act();

		if (first_workload()->act_plan == plan->id)
			act(plan->id, DAVY_ACT_IN_FORCE, 0, 0);
		pass(S);
	}
	return now - since;
}

static void a_storm_that_comes_back_is_held_down_longer(void **state)
{
	uint64_t bytes = 0, first, second, third;

	(void)state;
	begin_able(NULL, ALL_CAN);
	throttle_once(&bytes);
	first = held_for();
	assert_true(first < 60 * S);
	throttle_once(&bytes);
	second = held_for();
	throttle_once(&bytes);
	third = held_for();
	assert_true(second > first + 20 * S);
	assert_true(third > second + 40 * S);
	rest(1200 * S);
	throttle_once(&bytes);
	assert_true(held_for() <= first + S);
}

static void an_evictor_of_nobodys_is_let_be(void **state)
{
	uint64_t bytes = 0;

	(void)state;
	begin_able("ladder-bystander", ALL_CAN);
	process(70, 0, DAVY_ENGINE_NONE, DAVY_BACKEND_VULKAN); /* the compositor, say */
	for (uint64_t i = 0; i < 100; i++, pass(100 * MS)) {
		progress(50, 100, i + 1, 1);
		evicts(70, 50, bytes += 30 * MIB);
	}
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM)->level, 2);
	assert_int_equal(act_count(), 0);
	assert_replays();
}

/* Process 60 has nine tenths of the engine's time, and 50's job is late. */
static void late_because_of_60(void)
{
	for (uint64_t i = 0; i < 80; i++, pass(100 * MS)) {
		uses(50, 1024 * MIB, i * 5 * MS);
		uses(60, 1024 * MIB, i * 90 * MS);
	}
	stalls(50, 1);
}

static void the_owner_of_the_engine_is_acted_on_for_a_stall(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_able("ladder-culprit", ALL_CAN);
	able(2, 60, ALL_CAN);
	sized_process(60, 2, DAVY_BACKEND_VULKAN, 512);
	late_because_of_60();
	assert_int_equal(goes(DAVY_ACTION_PAUSE)->workload, 2);
	assert_int_equal(last_act()->pid, 60);
	assert_replays();
	begin_able(NULL, ALL_CAN);
	ev = able_event(2, 60, ALL_CAN);
	ev.workload.pinned = 1;
	tell(&ev);
	sized_process(60, 2, DAVY_BACKEND_VULKAN, 512);
	late_because_of_60();
	assert_int_equal(goes(DAVY_ACTION_PAUSE)->workload, 1); /* a reset would end it anyway */
	begin_able(NULL, ALL_CAN);
	process(60, 0, DAVY_ENGINE_NONE, DAVY_BACKEND_VULKAN);
	late_because_of_60();
	assert_int_equal(goes(DAVY_ACTION_PAUSE)->workload, 1);
}

static void admission_is_decided_and_reported_once(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_able("ladder-refused", ALL_CAN);
	ev = able_event(1, 50, ALL_CAN);
	ev.workload.pinned = 1;
	tell(&ev);
	for (int i = 0; i < 50; i++, pass(100 * MS))
		stalls(50, 1);
	refused(DAVY_ACTION_PAUSE, DAVY_REFUSED_PINNED);
	assert_int_equal(act_count(), 1);
	ev.workload.adopted = 0;
	ev.at_ns = now;
	tell(&ev);
	pass(20 * S);
	stalls(50, 2);
	refused(DAVY_ACTION_PAUSE, DAVY_REFUSED_NOT_ADOPTED);
	set("agent.mode", DAVY_MODE_OBSERVE);
	pass(20 * S);
	stalls(50, 3);
	refused(DAVY_ACTION_PAUSE, DAVY_REFUSED_MODE);
	assert_replays();
}

static void advice_is_given_once_and_nothing_begins(void **state)
{
	(void)state;
	begin_able("ladder-advice", ALL_CAN);
	set("agent.mode", DAVY_MODE_ADVISE);
	for (int i = 0; i < 50; i++, pass(100 * MS))
		stalls(50, 1);
	assert_int_equal(last_action(DAVY_ACTION_PAUSE, DAVY_HZ_JOB_STALL)->verdict,
			 DAVY_VERDICT_ADVISED);
	expect(DAVY_ACTION_MIGRATE_CPU, DAVY_VERDICT_ADVISED); /* what would come after it */
	assert_int_equal(act_count(), 2);
	assert_int_equal(first_workload()->act_plan, 0);
	assert_replays();
}

static void a_rivals_engine_is_not_replaced(void **state)
{
	struct davy_event ev = { 0 };

	(void)state;
	begin_able(NULL, ALL_CAN & ~DAVY_CAN_FREEZE);
	ev = event(DAVY_EV_PROCESS, 40);
	ev.process.start_ticks = 400;
	ev.process.engine = DAVY_ENGINE_LLAMA_SWAP;
	ev.process.role = DAVY_ROLE_MANAGER;
	tell(&ev);
	ev = event(DAVY_EV_PROCESS, 50);
	ev.process.start_ticks = 500;
	ev.process.ppid = 40;
	ev.process.workload = 1;
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.process.backend = DAVY_BACKEND_VULKAN;
	tell(&ev);
	stalls(50, 1);
	refused(DAVY_ACTION_MIGRATE_CPU, DAVY_REFUSED_RIVAL);
}

static void no_memory(uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_ALLOC_FAILED, pid);

	davy_copy_name(ev.alloc_failed.device, sizeof(ev.alloc_failed.device), GPU);
	ev.alloc_failed.stage = DAVY_ALLOC_IOCTL;
	ev.alloc_failed.error = -12;
	ev.alloc_failed.fresh = 6;
	tell(&ev);
}

static void without_memory_models_go_and_then_context(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_able("ladder-memory", ALL_CAN);
	no_memory(50);
	plan = goes(DAVY_ACTION_UNLOAD);
	act(plan->id, DAVY_ACT_SERVING, 0, 0);
	pass(5 * S);
	no_memory(50);
	goes(DAVY_ACTION_UNLOAD); /* it is given time to show */
	pass(6 * S);
	no_memory(50);
	pass(100 * MS);
	plan = goes(DAVY_ACTION_SHRINK);
	assert_int_equal(plan->settings.context, 16384);
	assert_int_equal(plan->settings.ubatch, 0);
	assert_int_equal(plan->passed_action, DAVY_ACTION_UNLOAD);
	assert_int_equal(plan->passed_refusal, DAVY_REFUSED_NOT);
	replaced_by(plan->id, 50, 51, DAVY_BACKEND_VULKAN, 512);
	assert_replays();
}

static void context_stops_at_its_floor_and_slots_follow(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_able(NULL, DAVY_CAN_SHRINK);
	set("shrink.context_floor", 20000);
	no_memory(50);
	plan = goes(DAVY_ACTION_SHRINK);
	assert_int_equal(plan->settings.context, 0);
	assert_int_equal(plan->settings.parallel, 2);
}

static void exhaustion_caps_the_growing_process(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_able("ladder-exhaustion", DAVY_CAN_CAP);
	for (uint64_t i = 0; i < 200 && !count_of_action(DAVY_ACTION_CAP, DAVY_HZ_EXHAUSTION);
	     i++) {
		ev = event(DAVY_EV_MEMORY, 0);
		davy_copy_name(ev.memory.device, sizeof(ev.memory.device), GPU);
		ev.memory.vram_total = 8192 * MIB;
		ev.memory.vram_used = (6000 + 10 * i) * MIB;
		tell(&ev);
		uses(50, (5000 + 10 * i) * MIB, 0);
		pass(200 * MS);
	}
	assert_in_range(goes(DAVY_ACTION_CAP)->cap_bytes, 5000 * MIB, 7000 * MIB);
	assert_int_equal(last_act()->passed_action, DAVY_ACTION_UNLOAD);
	act(last_act()->id, DAVY_ACT_IN_FORCE, 0, 0);
	assert_int_equal(first_workload()->effects[0].action, DAVY_ACTION_CAP);
	assert_replays();
}

static void budgets_of_a_workload_and_of_the_host(void **state)
{
	(void)state;
	begin_able("ladder-budget", DAVY_CAN_UNLOAD);
	set("budget.acts_per_hour", 0);
	no_memory(50);
	refused(DAVY_ACTION_UNLOAD, DAVY_REFUSED_BUDGET);
	set("budget.acts_per_hour", 12);
	set("budget.host_acts_per_hour", 1);
	pass(20 * S);
	no_memory(50);
	act(goes(DAVY_ACTION_UNLOAD)->id, DAVY_ACT_SERVING, 0, 0);
	able(2, 60, DAVY_CAN_UNLOAD);
	sized_process(60, 2, DAVY_BACKEND_VULKAN, 512);
	no_memory(60);
	refused(DAVY_ACTION_UNLOAD, DAVY_REFUSED_HOST_BUDGET);
	rest(3600 * S); /* another hour */
	no_memory(60);
	goes(DAVY_ACTION_UNLOAD);
	assert_replays();
}

static void faults(uint32_t count)
{
	struct davy_event ev = event(DAVY_EV_PASID, 50);

	ev.pasid.pasid = 7;
	tell(&ev);
	for (uint32_t i = 0; i < count; i++) {
		ev = event(DAVY_EV_FAULT, 0);
		davy_copy_name(ev.fault.device, sizeof(ev.fault.device), GPU);
		ev.fault.pasid = 7;
		ev.fault.fault_class = DAVY_FAULT_VM;
		ev.fault.fresh = 1;
		tell(&ev);
	}
}

static void driver(const char *name)
{
	struct davy_event ev = event(DAVY_EV_DEVICE, 0);

	davy_copy_name(ev.device.device, sizeof(ev.device.device), GPU);
	davy_copy_name(ev.device.driver, sizeof(ev.device.driver), name);
	ev.device.change = DAVY_DEVICE_ADDED;
	tell(&ev);
}

static void a_storm_of_faults_changes_the_backend(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_able("ladder-switch", ALL_CAN);
	driver("amdgpu");
	faults(1);
	assert_int_equal(act_count(), 0); /* one alone may be anything */
	faults(12);
	plan = goes(DAVY_ACTION_SWITCH);
	assert_int_equal(plan->to_backend, DAVY_BACKEND_ROCM);
	assert_int_equal(plan->keeps, 0); /* the device has failed */
	assert_int_equal(last_of(DAVY_PLAN_BREAKER, DAVY_HZ_FAULT_STORM)->backend,
			 DAVY_BACKEND_VULKAN);
	replaced_by(plan->id, 50, 51, DAVY_BACKEND_ROCM, 512);
	assert_int_equal(first_workload()->effects[0].backend, DAVY_BACKEND_VULKAN);
	assert_replays();
	begin_able(NULL, ALL_CAN & ~DAVY_CAN_SWITCH);
	faults(12);
	goes(DAVY_ACTION_MIGRATE_CPU);
}

static void a_replacement_that_fails_leaves_one_that_serves(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_able(NULL, DAVY_CAN_SHRINK | DAVY_CAN_KEEP);
	no_memory(50);
	plan = goes(DAVY_ACTION_SHRINK);
	act(plan->id, DAVY_ACT_STARTED, 51, 0);
	act(plan->id, DAVY_ACT_FAILED, 0, -5); /* the old one has gone on */
	assert_int_equal(first_workload()->pid, 50);
	assert_int_equal(first_workload()->effect_count, 0);
	assert_int_equal(act_count(), 1);
	begin_able(NULL, DAVY_CAN_SHRINK);
	no_memory(50);
	plan = goes(DAVY_ACTION_SHRINK);
	act(plan->id, DAVY_ACT_STOPPED, 0, 0);
	ends(50, 15);
	act(plan->id, DAVY_ACT_FAILED, 0, -5);
	refused(DAVY_ACTION_RESTART, DAVY_REFUSED_BACKOFF);
	pass(2 * S);
	goes(DAVY_ACTION_RESTART);
}

static void quarantine_after_many_openings(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_able("ladder-quarantine", 0);
	ev = able_event(1, 50, 0);
	ev.workload.movable = 0;
	tell(&ev);
	ev = event(DAVY_EV_BREAKER, 0);
	davy_copy_name(ev.breaker.device, sizeof(ev.breaker.device), GPU);
	davy_copy_name(ev.breaker.model, sizeof(ev.breaker.model), "tiny.gguf");
	ev.breaker.backend = DAVY_BACKEND_VULKAN;
	ev.breaker.state = DAVY_BREAKER_HALF_OPEN;
	ev.breaker.open_count = 2;
	tell(&ev);
	ends(50, 11);
	act(goes(DAVY_ACTION_RESTART)->id, DAVY_ACT_SERVING, 0, 0); /* the third */
	sized_process(51, 1, DAVY_BACKEND_VULKAN, 512);
	rest(2500 * S); /* half open again */
	ends(51, 11);
	assert_int_equal(goes(DAVY_ACTION_QUARANTINE)->until_ns - now, 4800 * S);
	act(last_act()->id, DAVY_ACT_SERVING, 0, 0);
	assert_true(davy_core_workload_busy(&core, 1)); /* it is started again */
	rest(4700 * S);
	goes(DAVY_ACTION_QUARANTINE);
	rest(200 * S);
	assert_int_equal(goes(DAVY_ACTION_UNDO)->undone, DAVY_ACTION_QUARANTINE);
	assert_replays();
}

/* A card whose VRAM the host can hold, or not; "flags" as in davy_ev_memory. */
static void memory(uint64_t vram_used, uint64_t available, uint32_t flags)
{
	struct davy_event ev = event(DAVY_EV_MEMORY, 0);

	davy_copy_name(ev.memory.device, sizeof(ev.memory.device), GPU);
	ev.memory.vram_total = 16384 * MIB;
	ev.memory.vram_used = vram_used;
	ev.memory.gtt_total = 16384 * MIB;
	ev.memory.gtt_used = vram_used;
	ev.memory.host_total = 32768 * MIB;
	ev.memory.host_available = available;
	ev.memory.flags = flags;
	tell(&ev);
}

static void a_full_card_that_may_sleep_is_kept_awake(void **state)
{
	(void)state;
	begin_able("ladder-awake", 0);
	uses(50, 8192 * MIB, 0);
	memory(8192 * MIB, 20480 * MIB, DAVY_MEMORY_MAY_SUSPEND);
	assert_int_equal(act_count(), 0); /* there is room for it */
	memory(8192 * MIB, 8192 * MIB, 0);
	assert_int_equal(act_count(), 0); /* it does not sleep */
	memory(8192 * MIB, 8192 * MIB, DAVY_MEMORY_MAY_SUSPEND);
	assert_string_equal(goes(DAVY_ACTION_AWAKE)->device, GPU);
	act(last_act()->id, DAVY_ACT_IN_FORCE, 0, 0);
	pass(S);
	memory(8192 * MIB, 8192 * MIB, 0);
	rest(1200 * S);
	assert_int_equal(act_count(), 1); /* it stays awake */
	assert_replays();
}

static void a_host_without_memory_stops_the_largest_owner(void **state)
{
	(void)state;
	begin_able("ladder-stop", 0);
	uses(50, 20480 * MIB, 0);
	memory(20480 * MIB, 3000 * MIB, DAVY_MEMORY_SHARED);
	assert_int_equal(act_count(), 0); /* level 1 or 2, and it can do nothing about it */
	memory(20480 * MIB, 500 * MIB, DAVY_MEMORY_SHARED);
	assert_int_equal(goes(DAVY_ACTION_RESTART)->passed_action, DAVY_ACTION_SHRINK);
	replaced_by(last_act()->id, 50, 51, DAVY_BACKEND_VULKAN, 512);
	uses(51, 1024 * MIB, 0);
	memory(1024 * MIB, 20480 * MIB, DAVY_MEMORY_SHARED);
	pass(30 * S);
	uses(51, 20480 * MIB, 0); /* and again */
	memory(20480 * MIB, 500 * MIB, DAVY_MEMORY_SHARED);
	assert_int_equal(goes(DAVY_ACTION_STOP)->passed_action, DAVY_ACTION_RESTART);
	act(last_act()->id, DAVY_ACT_SERVING, 0, 0);
	rest(3600 * S);
	assert_int_equal(act_count(), 2); /* clients may start it again */
	assert_replays();
}

static void queues_evicted(uint32_t pid, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct davy_event ev = event(DAVY_EV_KFD, pid);

		davy_copy_name(ev.kfd.device, sizeof(ev.kfd.device), GPU);
		ev.kfd.event = DAVY_KFD_QUEUES_EVICTED;
		tell(&ev);
		pass(100 * MS);
	}
}

static void a_process_that_stops_other_queues_is_throttled(void **state)
{
	(void)state;
	begin_able("ladder-queues", ALL_CAN);
	sized_process(60, 0, DAVY_BACKEND_ROCM, 512);
	queues_evicted(50, 4); /* no process needs the memory: 50 is affected */
	assert_int_equal(act_count(), 0);
	pass(20 * S);
	evicts(50, 60, 30 * MIB);
	queues_evicted(60, 4);
	assert_int_equal(goes(DAVY_ACTION_THROTTLE)->workload, 1);
	assert_int_equal(last_act()->victim_pid, 60);
	assert_replays();
}

static void resets(void)
{
	struct davy_event ev = event(DAVY_EV_JOB_TIMEOUT, 50);

	davy_copy_name(ev.job_timeout.device, sizeof(ev.job_timeout.device), GPU);
	davy_copy_name(ev.job_timeout.ring, sizeof(ev.job_timeout.ring), RING_NAME);
	tell(&ev);
	ev = event(DAVY_EV_RESET, 0);
	davy_copy_name(ev.reset.device, sizeof(ev.reset.device), GPU);
	ev.reset.begun = 1;
	tell(&ev);
	pass(S);
	ev = event(DAVY_EV_RESET, 0);
	davy_copy_name(ev.reset.device, sizeof(ev.reset.device), GPU);
	tell(&ev);
}

static void the_second_reset_moves_its_owner(void **state)
{
	(void)state;
	begin_able("ladder-reset", ALL_CAN);
	driver("amdgpu");
	resets();
	assert_int_equal(act_count(), 0);
	rest(300 * S);
	resets();
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_RESET)->level, 3);
	assert_int_equal(goes(DAVY_ACTION_SWITCH)->to_backend, DAVY_BACKEND_ROCM);
	assert_int_equal(last_act()->keeps, 0);
	assert_replays();
}

static void a_spill_and_its_end(void **state)
{
	(void)state;
	begin_able("ladder-spill", DAVY_CAN_UNLOAD);
	uses(50, 14000 * MIB, 0);
	for (uint64_t i = 0; i < 100; i++, pass(200 * MS)) {
		struct davy_event ev = event(DAVY_EV_MEMORY, 0);

		davy_copy_name(ev.memory.device, sizeof(ev.memory.device), GPU);
		ev.memory.vram_total = 16384 * MIB;
		ev.memory.vram_used = 16300 * MIB;
		ev.memory.gtt_total = 32768 * MIB;
		ev.memory.gtt_used = (i < 20 ? 1000 : 5000) * MIB;
		tell(&ev);
	}
	assert_int_equal(goes(DAVY_ACTION_UNLOAD)->hazard, DAVY_HZ_SILENT_SPILL);
	assert_replays();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stall_is_paused_and_its_engine_moved),
		cmocka_unit_test(without_a_freezer_it_is_moved_at_once),
		cmocka_unit_test(a_pause_that_fails_holds_nothing_up),
		cmocka_unit_test(a_workload_that_cannot_move_is_restarted),
		cmocka_unit_test(a_ubatch_that_fits_is_taken_before_the_cpu),
		cmocka_unit_test(headroom_of_level_two_halves_down_to_the_floor),
		cmocka_unit_test(an_evictor_is_throttled_and_its_victim_is_not),
		cmocka_unit_test(a_storm_that_comes_back_is_held_down_longer),
		cmocka_unit_test(an_evictor_of_nobodys_is_let_be),
		cmocka_unit_test(the_owner_of_the_engine_is_acted_on_for_a_stall),
		cmocka_unit_test(admission_is_decided_and_reported_once),
		cmocka_unit_test(advice_is_given_once_and_nothing_begins),
		cmocka_unit_test(a_rivals_engine_is_not_replaced),
		cmocka_unit_test(without_memory_models_go_and_then_context),
		cmocka_unit_test(context_stops_at_its_floor_and_slots_follow),
		cmocka_unit_test(exhaustion_caps_the_growing_process),
		cmocka_unit_test(budgets_of_a_workload_and_of_the_host),
		cmocka_unit_test(a_storm_of_faults_changes_the_backend),
		cmocka_unit_test(a_replacement_that_fails_leaves_one_that_serves),
		cmocka_unit_test(quarantine_after_many_openings),
		cmocka_unit_test(a_full_card_that_may_sleep_is_kept_awake),
		cmocka_unit_test(a_host_without_memory_stops_the_largest_owner),
		cmocka_unit_test(a_process_that_stops_other_queues_is_throttled),
		cmocka_unit_test(the_second_reset_moves_its_owner),
		cmocka_unit_test(a_spill_and_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
