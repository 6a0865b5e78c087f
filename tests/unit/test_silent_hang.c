/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs.h"

#include "report/plan_text.h"

#define STUCK_HAS_NO_SAY (60 * S) /* the longest graph so far */

static size_t notes(void)
{
	return count_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED);
}

static void client(uint32_t pid, uint64_t busy_ns)
{
	struct davy_event ev = event(DAVY_EV_CLIENT, pid);

	davy_copy_name(ev.client.device, sizeof(ev.client.device), GPU);
	ev.client.client_id = 3;
	ev.client.busy_ns = busy_ns;
	tell(&ev);
}

static void kfd_use(uint32_t pid, uint32_t queues)
{
	struct davy_event ev = event(DAVY_EV_KFD_USE, pid);

	davy_copy_name(ev.kfd_use.device, sizeof(ev.kfd_use.device), GPU);
	ev.kfd_use.queue_count = queues;
	tell(&ev);
}

static void sensor_of(const char *name, enum davy_sensor_state state)
{
	struct davy_event ev = event(DAVY_EV_SENSOR, 0);

	davy_copy_name(ev.sensor.name, sizeof(ev.sensor.name), name);
	ev.sensor.state = state;
	tell(&ev);
}

static void sensor(enum davy_sensor_state state)
{
	sensor_of("drm_sched", state);
}

static uint64_t busy_ns;

/* Seconds in which the device works for pid 60 for "percent" of the time. */
static void busy(uint32_t seconds, uint32_t percent)
{
	for (uint32_t i = 0; i < seconds; i++) {
		pass(S);
		busy_ns += S / 100 * percent;
		client(60, busy_ns);
	}
}

/* An engine that computes: jobs end, tokens come. */
static void begin(const char *name)
{
	if (name)
		begin_recording(name);
	else
		begin_history();
	busy_ns = 0;
	engine(512, "tiny.gguf");
	client(60, busy_ns);
	begin_jobs(60, RING);
	progress(60, 100, 1, 1);
	for (int i = 0; i < 20; i++) {
		job(60, 200 * MS);
		progress(60, 101 + (uint32_t)i, 2 + (uint64_t)i, 1);
	}
}

static void busy_without_job_or_token_is_wedged_after_its_limit(void **state)
{
	char text[DAVY_PLAN_TEXT_SIZE];

	(void)state;
	begin("engine_wedged-silent");
	busy(30, 100);
	assert_int_equal(notes(), 0);
	busy(2, 100);
	assert_int_equal(notes(), 1);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->level, 3);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->pid, 60);
	davy_reason_text(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED), text, sizeof(text));
	assert_non_null(strstr(text, "GPU busy for 30"));
	busy(40, 100);
	assert_int_equal(notes(), 1);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_ENGINE_WEDGED), 0);
	progress(60, 130, 40, 1); /* it was no hang after all */
	busy(11, 100);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_ENGINE_WEDGED), 1);
	assert_replays();
}

static void tokens_are_enough(void **state)
{
	(void)state;
	begin("engine_wedged-benign-tokens");
	for (uint32_t i = 0; i < 10; i++) {
		busy(25, 100);
		progress(60, 200 + i, 30 + i, 1);
	}
	assert_int_equal(kept_count, 0);
	assert_replays();
}

static void ended_jobs_are_enough(void **state)
{
	(void)state;
	begin("engine_wedged-benign-jobs");
	for (uint32_t i = 0; i < 10; i++) { /* a prompt: no token, and no depth within a batch */
		busy(25, 100);
		job(60, 300 * MS);
	}
	assert_int_equal(notes(), 0);
	assert_replays();
}

static void ended_graphs_are_enough(void **state)
{
	(void)state;
	begin(NULL);
	for (uint64_t i = 1; i < 10; i++) {
		busy(25, 100);
		tell_graph(60, now, 100 + i, STUCK_HAS_NO_SAY);
	}
	assert_int_equal(notes(), 0);
}

static void an_engine_without_work_may_be_silent(void **state)
{
	(void)state;
	begin(NULL);
	progress(60, 0, 21, 0);
	busy(300, 100); /* another process's work under its name, or a wrong counter */
	assert_int_equal(notes(), 0);
	progress(60, 0, 21, 1); /* work comes, and the silence begins with it */
	busy(29, 100);
	assert_int_equal(notes(), 0);
	busy(3, 100);
	assert_int_equal(notes(), 1);
}

static void a_device_that_is_not_busy_is_no_hang(void **state)
{
	(void)state;
	begin(NULL);
	busy(300, 70);
	pass(300 * S); /* and no source reports anything */
	assert_int_equal(notes(), 0);
}

static void a_pause_resets_the_busy_time(void **state)
{
	(void)state;
	begin(NULL);
	busy(20, 100);
	pass(60 * S);	     /* it waits for something else */
	client(60, busy_ns); /* and its counter stood still */
	busy(29, 100);
	assert_int_equal(notes(), 0);
	busy(3, 100);
	assert_int_equal(notes(), 1);
}

static void a_job_that_runs_for_ever_is_busy_too(void **state)
{
	(void)state;
	begin(NULL);
	set("job_stall.level1", 1000);
	for (int i = 0; i < 40; i++) {
		pass(S);
		ring_runs(60, RING, (uint64_t)(i + 1) * S, 0, 9); /* a ring without timeout */
	}
	assert_int_equal(notes(), 1);
	ring_runs(60, RING, S, 0, 10); /* another job: the old one has ended */
	pass(11 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_ENGINE_WEDGED), 1);
}

/* stable-diffusion.cpp's upscaler: one job of 40 s on a ring of 60 s. */
static void a_job_that_the_driver_lets_run_is_no_hang(void **state)
{
	(void)state;
	begin(NULL);
	set("job_stall.level1", 1000);
	for (int i = 0; i < 59; i++) {
		pass(S);
		ring_runs(60, RING, (uint64_t)(i + 1) * S, 60 * S, 9);
	}
	assert_int_equal(notes(), 0);
	for (int i = 0; i < 10; i++) { /* its timeout did nothing */
		pass(S);
		ring_runs(60, RING, 60 * S, 60 * S, 9);
	}
	assert_int_equal(notes(), 1);
}

static void jobs_of_other_processes_do_not_count(void **state)
{
	(void)state;
	begin(NULL);
	for (int i = 0; i < 35; i++) {
		busy(1, 100);
		ring_runs(61, RING, 100 * MS, 10 * S, (uint64_t)i);
	}
	assert_int_equal(notes(), 1);
}

static void without_a_source_there_is_no_silence(void **state)
{
	(void)state;
	begin_history();
	busy_ns = 0;
	process(60, 0, DAVY_ENGINE_COMFYUI, DAVY_BACKEND_ROCM);
	client(60, 0);
	busy(600, 100);
	assert_int_equal(kept_count, 0);
	begin_jobs(60, RING);
	job(60, 100 * MS);
	busy(20, 100);
	sensor(DAVY_SENSOR_RELEASED); /* the source of job ends is lost */
	busy(600, 100);
	assert_int_equal(kept_count, 0);
	sensor(DAVY_SENSOR_LIVE);
	job(60, 100 * MS);
	busy(32, 100);
	assert_int_equal(notes(), 1);
}

static void a_kfd_process_is_given_time_for_a_batch(void **state)
{
	(void)state;
	begin_recording("engine_wedged-kfd");
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_ROCM);
	kfd_use(60, 4);
	progress(60, 1, 0, 1);
	begin_jobs(60, "sdma0");
	job(60, MS);			   /* page tables: no end of what it computes */
	for (uint32_t i = 1; i < 4; i++) { /* 2048 tokens at 18 a second */
		pass(114 * S);
		progress(60, 2048 * i, 0, 1);
	}
	assert_int_equal(kept_count, 0);
	pass(121 * S);
	assert_int_equal(notes(), 1);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->threshold, 120 * S);
	assert_replays();
}

static void a_kfd_process_with_traced_graphs_has_a_shorter_limit(void **state)
{
	(void)state;
	begin_history();
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_ROCM);
	kfd_use(60, 4);
	progress(60, 1, 0, 1);
	tell_graph(60, 0, 50, STUCK_HAS_NO_SAY);
	pass(31 * S);
	assert_int_equal(notes(), 1);
}

static void a_kfd_process_at_rest_is_left_alone(void **state)
{
	(void)state;
	begin_history();
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_ROCM);
	kfd_use(60, 4);
	progress(60, 1, 0, 0);
	pass(600 * S);
	process(61, 0, DAVY_ENGINE_VLLM, DAVY_BACKEND_ROCM);
	kfd_use(61, 4); /* no source reports its work */
	pass(600 * S);
	kfd_use(60, 0);
	progress(60, 2, 0, 1); /* it computes, but not there */
	pass(600 * S);
	assert_int_equal(kept_count, 0);
}

static void an_adopted_engine_is_probed_first(void **state)
{
	(void)state;
	served_engine();
	client(50, 0);
	begin_jobs(50, RING);
	job(50, 100 * MS);
	progress(50, 1, 0, 1);
	for (int i = 1; i <= 31; i++) {
		pass(S);
		client(50, (uint64_t)i * S);
	}
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 1);
	assert_int_equal(last_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED)->threshold, 30 * S);
	probe(200, 200, 1);
	for (int i = 32; i <= 60; i++) {
		pass(S);
		client(50, (uint64_t)i * S);
	}
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 1);
	for (int i = 61; i <= 64; i++) {
		pass(S);
		client(50, (uint64_t)i * S);
	}
	assert_int_equal(count_of(DAVY_PLAN_CHECK, DAVY_HZ_ENGINE_WEDGED), 2);
	probe(200, 0, 0);
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_ENGINE_WEDGED)->verdict,
			 DAVY_VERDICT_GO);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_ENGINE_WEDGED)->form, DAVY_FORM_SILENT);
}

static void a_slow_cpu_is_no_hang(void **state)
{
	(void)state;
	begin_history();
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_CPU);
	busy_ns = 0;
	client(60, 0);
	progress(60, 1, 0, 1);
	busy(600, 100);
	assert_int_equal(kept_count, 0);
}

static void a_process_without_reported_ends_affects_no_other(void **state)
{
	static const char *const others[] = { "fdinfo", "kmsg", "kfd_smi" };

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		begin_history();
		busy_ns = 0;
		process(60, 0, DAVY_ENGINE_COMFYUI, DAVY_BACKEND_ROCM);
		client(60, 0);
		begin_jobs(60, RING);
		job(60, 100 * MS);
		sensor_of(others[i], DAVY_SENSOR_REFUSED);
		busy(32, 100);
		assert_int_equal(notes(), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(busy_without_job_or_token_is_wedged_after_its_limit),
		cmocka_unit_test(tokens_are_enough),
		cmocka_unit_test(ended_jobs_are_enough),
		cmocka_unit_test(ended_graphs_are_enough),
		cmocka_unit_test(an_engine_without_work_may_be_silent),
		cmocka_unit_test(a_device_that_is_not_busy_is_no_hang),
		cmocka_unit_test(a_pause_resets_the_busy_time),
		cmocka_unit_test(a_job_that_runs_for_ever_is_busy_too),
		cmocka_unit_test(a_job_that_the_driver_lets_run_is_no_hang),
		cmocka_unit_test(jobs_of_other_processes_do_not_count),
		cmocka_unit_test(without_a_source_there_is_no_silence),
		cmocka_unit_test(a_kfd_process_is_given_time_for_a_batch),
		cmocka_unit_test(a_kfd_process_with_traced_graphs_has_a_shorter_limit),
		cmocka_unit_test(a_kfd_process_at_rest_is_left_alone),
		cmocka_unit_test(an_adopted_engine_is_probed_first),
		cmocka_unit_test(a_slow_cpu_is_no_hang),
		cmocka_unit_test(a_process_without_reported_ends_affects_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
