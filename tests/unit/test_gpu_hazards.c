/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record.h"

static void ring(uint64_t age_ns, uint64_t timeout_ns, uint64_t seqno, uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_RING, pid);

	davy_copy_name(ev.ring.device, sizeof(ev.ring.device), GPU);
	davy_copy_name(ev.ring.ring, sizeof(ev.ring.ring), "gfx_0.0.0");
	ev.ring.age_ns = age_ns;
	ev.ring.timeout_ns = timeout_ns;
	ev.ring.fence_context = 7;
	ev.ring.fence_seqno = seqno;
	tell(&ev);
}

static void fault(uint32_t pasid, enum davy_fault_class fault_class)
{
	struct davy_event ev = event(DAVY_EV_FAULT, 0);

	davy_copy_name(ev.fault.device, sizeof(ev.fault.device), GPU);
	ev.fault.pasid = pasid;
	ev.fault.fault_class = (uint16_t)fault_class;
	ev.fault.fresh = 1;
	tell(&ev);
}

static void client(uint32_t pasid, uint32_t pid, uint32_t freed)
{
	struct davy_event ev = event(DAVY_EV_PASID, pid);

	ev.pasid.pasid = pasid;
	ev.pasid.freed = freed;
	tell(&ev);
}

static void moved(uint64_t out_bytes, uint64_t in_bytes)
{
	struct davy_event ev = event(DAVY_EV_BO_MOVED, 60);

	davy_copy_name(ev.bo_moved.device, sizeof(ev.bo_moved.device), GPU);
	ev.bo_moved.owner_pid = 61;
	ev.bo_moved.out_bytes = out_bytes;
	ev.bo_moved.in_bytes = in_bytes;
	tell(&ev);
}

static void a_stalled_job_is_reported_at_25_and_75_percent(void **state)
{
	(void)state;
	begin_recording("job_stall-levels");
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	for (uint64_t age = 50 * MS; age < 2 * S; age += 50 * MS, now += 50 * MS)
		ring(age, 2 * S, 1, 60);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_JOB_STALL), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(kept[i].level, 2 * i + 1);
		assert_int_equal(kept[i].observed, 500 * i + 250);
		assert_int_equal(kept[i].pid, 60);
		assert_string_equal(kept[i].ring, "gfx_0.0.0");
	}
	assert_true(kept[1].until_ns > kept[1].at_ns);
	assert_replays();
}

/* "ms" of 2 s, then a pause. */
static void one_job(uint64_t ms, uint64_t seqno, uint64_t pause_ns)
{
	for (uint64_t age = 50; age <= ms; age += 50, now += 50 * MS)
		ring(age * MS, 2 * S, seqno, 60);
	ring(0, 2 * S, 0, 0);
	pass(pause_ns);
}

/* A VAE decode between many short steps, each minute. */
static void one_job_of_half_the_timeout_is_a_note(void **state)
{
	(void)state;
	begin_recording("job_stall-benign-single");
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	for (uint64_t seqno = 1; seqno <= 5; seqno++)
		one_job(1400, seqno, 61 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_JOB_STALL), 5);
	for (size_t i = 0; i < kept_count; i++)
		assert_int_equal(kept[i].level, 1);
	assert_replays();
}

static void two_jobs_of_half_the_timeout_within_a_minute_are_a_sign(void **state)
{
	(void)state;
	begin_recording("job_stall-repeated");
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	one_job(1100, 1, 50 * S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_JOB_STALL)->level, 1);
	one_job(1100, 2, S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_JOB_STALL)->level, 2);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_JOB_STALL)->observed, 500);
	assert_replays();
}

/* The first state is an alarm; its returns are one more, for as long as it comes and goes. */
static void a_state_that_comes_and_goes_is_one_alarm(void **state)
{
	(void)state;
	begin_recording("job_stall-returns");
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	for (uint64_t seqno = 1; seqno <= 28; seqno++)
		one_job(1600, seqno, 120 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_JOB_STALL), 1);
	pass(178 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_JOB_STALL), 1);
	pass(4 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_JOB_STALL), 2);
	assert_int_equal(core.alarm_count, 0);
	assert_replays();
	pass(302 * S);
	kept_count = 0;
	one_job(1600, 100, 11 * S); /* long after its end it is another state */
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_JOB_STALL), 1);
}

static void a_job_below_a_quarter_is_silent(void **state)
{
	(void)state;
	begin_history();
	ring(499 * MS, 2 * S, 1, 60);
	assert_int_equal(kept_count, 0);
	ring(500 * MS, 2 * S, 1, 60);
	assert_int_equal(kept_count, 1);
	begin_recording("job_stall-benign"); /* jobs that end, and a queue that has no timeout */
	for (uint64_t seqno = 1; seqno <= 40; seqno++) {
		ring(250 * MS, 2 * S, seqno, 60);
		now += 249 * MS;
		ring(499 * MS, 2 * S, seqno, 60);
		now += 50 * MS;
		ring(0, 2 * S, 0, 0);
	}
	ring(3600 * S, 0, 41, 60);
	assert_int_equal(kept_count, 0);
	assert_replays();
}

static void jobs_that_are_equally_long_are_one_stall(void **state)
{
	(void)state;
	begin_history();
	for (uint64_t seqno = 1; seqno <= 20; seqno++) {
		ring(600 * MS, 2 * S, seqno, 60);
		pass(500 * MS);
		ring(0, 2 * S, 0, 0);
		pass(500 * MS);
	}
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_JOB_STALL), 1);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_JOB_STALL), 0);
	ring(1600 * MS, 2 * S, 21, 60); /* a longer one is news */
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_JOB_STALL), 2);
	ring(0, 2 * S, 0, 0);
	pass(9 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_JOB_STALL), 0);
	pass(2 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_JOB_STALL), 1);
	ring(600 * MS, 2 * S, 22, 60);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_JOB_STALL), 3);
}

static void a_ring_without_timeout_never_stalls(void **state)
{
	(void)state;
	begin_history();
	ring(3600 * S, 0, 1, 60);
	assert_int_equal(kept_count, 0);
}

static void a_first_no_retry_fault_is_noted_a_storm_is_raised(void **state)
{
	(void)state;
	begin_history();
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	client(32771, 60, 0);
	fault(32771, DAVY_FAULT_VM);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_FAULT_STORM)->level, 1);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_FAULT_STORM)->pid, 60);
	for (int i = 0; i < 8; i++, now += 10 * MS)
		fault(32771, DAVY_FAULT_VM);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_FAULT_STORM), 1);
	fault(32771, DAVY_FAULT_VM);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_FAULT_STORM)->level, 3);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_FAULT_STORM)->observed, 10);
}

static void few_retry_faults_are_normal(void **state)
{
	(void)state;
	begin_recording("fault_storm-benign");
	client(5, 60, 0);
	for (int i = 0; i < 40; i++, now += 200 * MS)
		fault(5, DAVY_FAULT_VM_RETRY);
	assert_int_equal(kept_count, 0);
	assert_replays();
}

static void faults_without_pasid_belong_to_the_driver(void **state)
{
	(void)state;
	begin_history();
	for (int i = 0; i < 40; i++)
		fault(0, DAVY_FAULT_VM);
	assert_int_equal(kept_count, 0);
}

static void a_freed_pasid_has_no_owner(void **state)
{
	(void)state;
	begin_history();
	client(9, 60, 0);
	client(9, 60, 1);
	fault(9, DAVY_FAULT_VM);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_FAULT_STORM)->pid, 0);
}

static void evictions_within_the_window_are_a_storm(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_history();
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	moved(255ULL << 20, 0);
	assert_int_equal(kept_count, 0);
	now += S;
	moved(256ULL << 20, 0);
	plan = last_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM);
	assert_int_equal(plan->level, 1); /* once may be a model that takes another's place */
	assert_int_equal(plan->pid, 60);
	assert_int_equal(plan->victim_pid, 61);
	now += 2 * S;
	moved(512ULL << 20, 0);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM)->level, 2);
	moved(556ULL << 20, 64ULL << 20);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM)->level, 3);
}

static void the_same_bytes_over_a_longer_time_raise_nothing(void **state)
{
	(void)state;
	begin_history();
	for (uint64_t i = 1; i <= 40; i++, now += 2100 * MS)
		moved(i << 27, 0);
	assert_int_equal(kept_count, 0);
}

static void a_counter_that_began_anew_is_not_a_flood(void **state)
{
	(void)state;
	begin_history();
	moved(200ULL << 20, 0);
	now += 5 * S;
	moved(1ULL << 20, 0);
	assert_int_equal(kept_count, 0);
}

static void refused(enum davy_alloc_stage stage, uint32_t count)
{
	struct davy_event ev = event(DAVY_EV_ALLOC_FAILED, 60);

	davy_copy_name(ev.alloc_failed.device, sizeof(ev.alloc_failed.device), GPU);
	ev.alloc_failed.stage = stage;
	ev.alloc_failed.count = ev.alloc_failed.fresh = count;
	ev.alloc_failed.error = stage == DAVY_ALLOC_RESOURCE ? -28 : -12;
	ev.alloc_failed.bytes = 16ULL << 20;
	tell(&ev);
}

static void a_repeatedly_full_heap_is_reported(void **state)
{
	(void)state;
	begin_history();
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	refused(DAVY_ALLOC_RESOURCE, 63);
	assert_int_equal(kept_count, 0);
	now += S;
	refused(DAVY_ALLOC_RESOURCE, 1);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ALLOC_FAILURE)->level, 1);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ALLOC_FAILURE)->pid, 60);
}

static void the_same_refusals_spread_out_are_a_model_load(void **state)
{
	(void)state;
	begin_recording("alloc_failure-benign");
	for (uint32_t i = 1; i <= 40; i++, now += 2100 * MS)
		refused(DAVY_ALLOC_RESOURCE, 30);
	assert_int_equal(kept_count, 0);
	assert_replays();
}

static void a_verdict_rises_with_its_stage(void **state)
{
	(void)state;
	begin_history();
	refused(DAVY_ALLOC_VALIDATE, 1);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ALLOC_FAILURE)->level, 1);
	refused(DAVY_ALLOC_POPULATE, 1);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ALLOC_FAILURE)->level, 2);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ALLOC_FAILURE)->result, -12);
}

/* It frees its cache and tries again: each time with success, so that the next is minutes later. */
static void one_failed_ioctl_of_pytorchs_allocator_is_a_note(void **state)
{
	(void)state;
	begin_recording("alloc_failure-benign-pytorch");
	for (int i = 0; i < 10; i++) {
		refused(DAVY_ALLOC_IOCTL, 1);
		pass(90 * S);
	}
	for (size_t i = 0; i < kept_count; i++)
		assert_int_equal(kept[i].level, 1);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_ALLOC_FAILURE), 10);
	assert_replays();
}

static void failed_ioctls_rise_with_their_number(void **state)
{
	(void)state;
	begin_recording("alloc_failure-ioctls");
	refused(DAVY_ALLOC_IOCTL, 1);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ALLOC_FAILURE)->level, 1);
	pass(5 * S);
	refused(DAVY_ALLOC_IOCTL, 1);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ALLOC_FAILURE)->level, 2);
	pass(5 * S);
	refused(DAVY_ALLOC_IOCTL, 4);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ALLOC_FAILURE)->level, 3);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ALLOC_FAILURE)->observed, 6);
	assert_replays();
}

static void a_reset_is_attributed_to_the_job_that_timed_out(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	ring(500 * MS, 2 * S, 4, 60);
	now += 1500 * MS;
	ev = event(DAVY_EV_JOB_TIMEOUT, 60);
	davy_copy_name(ev.job_timeout.device, sizeof(ev.job_timeout.device), GPU);
	davy_copy_name(ev.job_timeout.ring, sizeof(ev.job_timeout.ring), "gfx_0.0.0");
	ev.job_timeout.fence_seqno = 4;
	ev.job_timeout.age_ns = 2 * S;
	tell(&ev);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_RESET)->first_precursor_ns,
			 now - 1500 * MS);
	now += S;
	ev = event(DAVY_EV_PROCESS_EXIT, 60);
	tell(&ev);
	ev = event(DAVY_EV_RESET, 0);
	davy_copy_name(ev.reset.device, sizeof(ev.reset.device), GPU);
	tell(&ev);
	assert_string_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_RESET)->model,
			    "tiny.gguf"); /* though gone */
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_RESET)->level, 2);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_RESET)->pid, 60);
	ev.reset.result = -5;
	tell(&ev);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_RESET)->level, 3);
}

/* Cumulative MiB of a mover, as in the BPF program: moves back run in the owner's context. */
static void moved_by(uint32_t evictor, uint32_t owner, uint64_t out, uint64_t in)
{
	struct davy_event ev = event(DAVY_EV_BO_MOVED, evictor);

	davy_copy_name(ev.bo_moved.device, sizeof(ev.bo_moved.device), GPU);
	ev.bo_moved.owner_pid = owner;
	ev.bo_moved.out_bytes = out << 20;
	ev.bo_moved.in_bytes = in << 20;
	tell(&ev);
}

static void two_that_evict_each_other_are_one_thrash(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_recording("eviction_storm-thrash");
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	process(61, 0, DAVY_ENGINE_OLLAMA_RUNNER, DAVY_BACKEND_VULKAN);
	for (uint64_t i = 1; i <= 40; i++) { /* 50 MiB a second: no storm of 256 in 2 s */
		moved_by(60, 61, i * 50, 0);
		moved_by(60, 60, 0, i * 50);
		pass(500 * MS);
		moved_by(61, 60, i * 50, 0);
		moved_by(61, 61, 0, i * 50);
		pass(500 * MS);
	}
	plan = last_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM), 1);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_EVICTION_STORM), 0);
	assert_int_equal(plan->level, 3);
	assert_true((plan->pid == 60 && plan->victim_pid == 61) ||
		    (plan->pid == 61 && plan->victim_pid == 60));
	assert_int_equal(plan->threshold, 256ULL << 20);
	pass(15 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_EVICTION_STORM), 1);
	assert_replays();
}

static void a_storm_of_two_becomes_one_thrash(void **state)
{
	(void)state;
	begin_history();
	for (uint64_t i = 1; i <= 8; i++) { /* 1 GiB at once, in turn */
		moved_by(60, 61, i * 1024, 0);
		moved_by(60, 60, 0, (i - 1) * 1024);
		pass(S);
		moved_by(61, 61, 0, i * 1024);
		moved_by(61, 60, i * 1024, 0);
		pass(S);
	}
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM)->level, 3);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM)->pid, 60);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM),
			 3); /* each evictor, then the thrash */
}

static void a_load_over_an_idle_model_is_no_thrash(void **state)
{
	(void)state;
	begin_recording("eviction_storm-benign");
	moved_by(60, 61, 4096, 0);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM)->level, 1);
	pass(45 * S);
	moved_by(61, 61, 0, 4096); /* its turn comes, and it evicts the other */
	moved_by(61, 60, 4096, 0);
	pass(45 * S);
	moved_by(60, 60, 0, 4096);
	moved_by(60, 61, 8192, 0);
	for (size_t i = 0; i < kept_count; i++)
		assert_int_equal(kept[i].level, 1);
	assert_replays();
}

static void busy_client(uint32_t pid, uint64_t busy_ns)
{
	struct davy_event ev = event(DAVY_EV_CLIENT, pid);

	davy_copy_name(ev.client.device, sizeof(ev.client.device), GPU);
	ev.client.busy_ns = busy_ns;
	tell(&ev);
}

/* Neither graphs nor tokens are seen, but its client's engines are busy: the model is not idle. */
static void evictions_of_a_busy_model_count(void **state)
{
	(void)state;
	for (uint32_t busy = 0; busy < 2; busy++) {
		begin_history();
		process(61, 0, DAVY_ENGINE_VLLM, DAVY_BACKEND_ROCM);
		for (uint64_t i = 0; i < 3; i++, now += S)
			busy_client(61, busy * i * S);
		moved_by(60, 61, 300, 0);
		now += 2001 * MS;
		moved_by(60, 61, 600, 0);
		assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM)->level, 1 + busy);
	}
}

/* A model with finished jobs is not idle, however short they are. */
static void a_model_with_finished_jobs_is_not_idle(void **state)
{
	struct davy_event ev = event(DAVY_EV_JOB_TIMES, 61);

	(void)state;
	begin_history();
	process(61, 0, DAVY_ENGINE_VLLM, DAVY_BACKEND_ROCM);
	davy_copy_name(ev.job_times.device, sizeof(ev.job_times.device), GPU);
	davy_copy_name(ev.job_times.ring, sizeof(ev.job_times.ring), "comp_1.0.0");
	for (uint64_t i = 1; i < 4; i++, now += S) {
		ev.at_ns = now;
		ev.job_times.count = i;
		ev.job_times.sum_ns = i * 5 * MS;
		ev.job_times.max_ns = 5 * MS;
		tell(&ev);
	}
	moved_by(60, 61, 300, 0);
	now += 2001 * MS;
	moved_by(60, 61, 600, 0);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM)->level, 2);
}

static void client_with(uint32_t pid, uint64_t vram)
{
	struct davy_event ev = event(DAVY_EV_CLIENT, pid);

	davy_copy_name(ev.client.device, sizeof(ev.client.device), GPU);
	ev.client.client_id = pid;
	ev.client.vram = vram;
	tell(&ev);
}

static void memory_left(uint64_t bytes)
{
	struct davy_event ev = event(DAVY_EV_MEMORY, 0);

	davy_copy_name(ev.memory.device, sizeof(ev.memory.device), GPU);
	ev.memory.vram_total = 24ULL << 30;
	ev.memory.host_total = 64ULL << 30;
	ev.memory.host_available = bytes;
	tell(&ev);
}

/* Ten gigabytes are evicted in five seconds, in any context. */
static uint32_t emptied_by(uint32_t pid)
{
	struct davy_event ev;

	process(61, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	client_with(61, 10ULL << 30);
	ev = event(DAVY_EV_PROGRESS, 61);
	ev.progress.generated_count = 1;
	tell(&ev);
	for (uint64_t i = 1; i <= 50; i++) {
		moved_by(pid, 61, i * 200, 0);
		pass(100 * MS);
	}
	return last_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM)->level;
}

static void a_suspend_soon_after_work_is_a_note(void **state)
{
	(void)state;
	begin_recording("eviction_storm-benign-suspend");
	process(70, 0, DAVY_ENGINE_NONE, DAVY_BACKEND_CPU); /* systemd-sleep */
	assert_int_equal(emptied_by(70), 1);
	assert_replays();
	begin_history();
	assert_int_equal(emptied_by(71), 1); /* a kworker, of which nothing is known */
	begin_history();
	memory_left(15ULL << 30); /* the moved data leaves half of the host's memory */
	assert_int_equal(emptied_by(70), 2);
	begin_history();
	client_with(72, 1); /* a game that starts */
	assert_int_equal(emptied_by(72), 2);
}

/* A browser takes memory of an idle model, which comes back: once is no thrash, again is. */
static void what_leaves_and_comes_back_once_is_no_thrash(void **state)
{
	(void)state;
	begin_recording("eviction_storm-benign-once");
	moved_by(60, 61, 500, 0);
	pass(15 * S);
	moved_by(61, 61, 0, 500);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM)->level, 1);
	assert_replays();
	moved_by(60, 61, 1000, 0);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EVICTION_STORM)->level, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stalled_job_is_reported_at_25_and_75_percent),
		cmocka_unit_test(one_job_of_half_the_timeout_is_a_note),
		cmocka_unit_test(two_jobs_of_half_the_timeout_within_a_minute_are_a_sign),
		cmocka_unit_test(a_state_that_comes_and_goes_is_one_alarm),
		cmocka_unit_test(a_job_below_a_quarter_is_silent),
		cmocka_unit_test(jobs_that_are_equally_long_are_one_stall),
		cmocka_unit_test(a_ring_without_timeout_never_stalls),
		cmocka_unit_test(a_first_no_retry_fault_is_noted_a_storm_is_raised),
		cmocka_unit_test(few_retry_faults_are_normal),
		cmocka_unit_test(faults_without_pasid_belong_to_the_driver),
		cmocka_unit_test(a_freed_pasid_has_no_owner),
		cmocka_unit_test(evictions_within_the_window_are_a_storm),
		cmocka_unit_test(the_same_bytes_over_a_longer_time_raise_nothing),
		cmocka_unit_test(a_counter_that_began_anew_is_not_a_flood),
		cmocka_unit_test(a_repeatedly_full_heap_is_reported),
		cmocka_unit_test(the_same_refusals_spread_out_are_a_model_load),
		cmocka_unit_test(a_verdict_rises_with_its_stage),
		cmocka_unit_test(one_failed_ioctl_of_pytorchs_allocator_is_a_note),
		cmocka_unit_test(failed_ioctls_rise_with_their_number),
		cmocka_unit_test(a_reset_is_attributed_to_the_job_that_timed_out),
		cmocka_unit_test(two_that_evict_each_other_are_one_thrash),
		cmocka_unit_test(a_storm_of_two_becomes_one_thrash),
		cmocka_unit_test(a_load_over_an_idle_model_is_no_thrash),
		cmocka_unit_test(evictions_of_a_busy_model_count),
		cmocka_unit_test(a_model_with_finished_jobs_is_not_idle),
		cmocka_unit_test(a_suspend_soon_after_work_is_a_note),
		cmocka_unit_test(what_leaves_and_comes_back_once_is_no_thrash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
