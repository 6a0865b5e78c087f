/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silent_cpu: an engine that should compute on a GPU and does not. */
#include "record.h"

#include "report/plan_text.h"

#define PID 50

static struct davy_event server(enum davy_backend backend, int32_t layers)
{
	struct davy_event ev = event(DAVY_EV_PROCESS, PID);

	ev.process.start_ticks = 77;
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.process.role = DAVY_ROLE_SERVER;
	ev.process.backend = (uint8_t)backend;
	ev.process.gpu_layers = layers;
	ev.process.port = 9931;
	davy_copy_name(ev.process.model, sizeof(ev.process.model), "tiny.gguf");
	return ev;
}

static void works(uint32_t pid, uint64_t count)
{
	struct davy_event ev = event(DAVY_EV_PROGRESS, pid);

	ev.progress.generated_count = count;
	tell(&ev);
}

static size_t notes(void)
{
	return count_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_CPU);
}

static void gpu_layers_on_the_cpu_are_reported_after_a_minute(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_recording("silent_cpu-layers");
	ev = server(DAVY_BACKEND_UNKNOWN, 99);
	tell(&ev);
	pass(20 * S);
	ev = server(DAVY_BACKEND_CPU, 99);
	tell(&ev);
	works(PID, 100);
	pass(39 * S);
	assert_int_equal(notes(), 0);
	pass(2 * S);
	assert_int_equal(notes(), 1);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_CPU)->level, 2);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_CPU)->pid, PID);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_CPU)->first_precursor_ns, 100 * S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_CPU)->form, DAVY_FORM_LAYERS);
	pass(600 * S); /* silence is no recovery */
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_SILENT_CPU), 0);
	assert_int_equal(notes(), 1);
	assert_replays();
}

static void an_idle_engine_on_the_cpu_is_a_note(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	ev = server(DAVY_BACKEND_CPU, DAVY_LAYERS_ALL);
	tell(&ev);
	pass(61 * S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_CPU)->level, 1);
	works(PID, 1);
	pass(S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_CPU)->level, 2);
}

static void a_workload_that_requests_a_gpu_is_enough(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	workload(1, PID, DAVY_WORKLOAD_REGISTERED, DAVY_BACKEND_VULKAN);
	ev = server(DAVY_BACKEND_UNKNOWN, DAVY_LAYERS_AUTO); /* no device was ever seen */
	ev.process.workload = 1;
	tell(&ev);
	works(PID, 1);
	pass(61 * S);
	assert_string_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_CPU)->detail, "vulkan");
}

static void mesas_software_device_is_no_gpu(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	ev = server(DAVY_BACKEND_VULKAN, 99);
	davy_copy_name(ev.process.device, sizeof(ev.process.device), "llvmpipe");
	tell(&ev);
	pass(61 * S);
	assert_int_equal(notes(), 1);
}

static void the_alarm_ends_when_a_device_is_in_use(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	ev = server(DAVY_BACKEND_CPU, 99);
	tell(&ev);
	pass(61 * S);
	ev = server(DAVY_BACKEND_VULKAN, 99);
	davy_copy_name(ev.process.device, sizeof(ev.process.device), GPU);
	tell(&ev);
	pass(2 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_SILENT_CPU), 1);
}

static void silent(struct davy_event *ev)
{
	tell(ev);
	works(PID, 5);
	pass(200 * S);
	assert_int_equal(notes(), 0);
}

static void an_engine_that_was_ordered_to_the_cpu_raises_nothing(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	ev = server(DAVY_BACKEND_CPU, 0);
	silent(&ev);
	begin_history();
	ev = server(DAVY_BACKEND_CPU, DAVY_LAYERS_AUTO);
	silent(&ev);
	begin_recording(
		"silent_cpu-benign"); /* moved there by us, its own arguments notwithstanding */
	workload(1, PID, DAVY_WORKLOAD_STARTED, DAVY_BACKEND_CPU);
	ev = server(DAVY_BACKEND_CPU, 99);
	ev.process.workload = 1;
	silent(&ev);
	assert_replays();
}

static void a_process_without_a_model_raises_nothing(void **state)
{
	static const enum davy_role others[] = { DAVY_ROLE_UNKNOWN, DAVY_ROLE_MANAGER,
						 DAVY_ROLE_DISCOVERY, DAVY_ROLE_TOOL };
	struct davy_event ev;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		begin_history();
		ev = server(DAVY_BACKEND_CPU, 99);
		ev.process.role = (uint8_t)others[i];
		silent(&ev);
	}
	begin_history(); /* still loading: it computed nothing and does not listen */
	ev = server(DAVY_BACKEND_CPU, 99);
	ev.process.flags = DAVY_PROCESS_PORT_ASSUMED;
	tell(&ev);
	pass(200 * S);
	assert_int_equal(notes(), 0);
	ev.process.flags = DAVY_PROCESS_PARTIAL; /* its open files are unknown */
	silent(&ev);
}

static void a_device_may_be_a_workers(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	ev = server(DAVY_BACKEND_UNKNOWN, 99);
	tell(&ev);
	ev = event(DAVY_EV_PROCESS, 60);
	ev.process.start_ticks = 78;
	ev.process.ppid = PID;
	ev.process.engine = DAVY_ENGINE_VLLM;
	ev.process.role = DAVY_ROLE_RUNNER;
	ev.process.backend = DAVY_BACKEND_ROCM;
	davy_copy_name(ev.process.device, sizeof(ev.process.device), GPU);
	tell(&ev);
	pass(200 * S);
	assert_int_equal(notes(), 0);
	ends(60, 0);
	ev = event(DAVY_EV_PROCESS_EXIT, 60);
	tell(&ev);
	pass(2 * S);
	assert_int_equal(notes(), 1);
}

static void an_exec_begins_anew(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	ev = server(DAVY_BACKEND_UNKNOWN, DAVY_LAYERS_AUTO);
	ev.process.engine = DAVY_ENGINE_NONE;
	tell(&ev);
	pass(300 * S);
	ev = server(DAVY_BACKEND_CPU, 99);
	tell(&ev);
	pass(59 * S);
	assert_int_equal(notes(), 0);
	pass(3 * S);
	assert_int_equal(notes(), 1);
}

static void refuse(const char *node)
{
	struct davy_event ev = event(DAVY_EV_FACT, PID);

	ev.fact.fact = DAVY_FACT_OPEN_REFUSED;
	ev.fact.error = -13;
	ev.fact.count = ev.fact.fresh = 1;
	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), node);
	tell(&ev);
}

static void a_refused_node_is_reported_at_once(void **state)
{
	static const char *const nodes[] = { "dri/renderD129", "kfd", "nvidia0", "nvidiactl" };
	char text[DAVY_PLAN_TEXT_SIZE];
	struct davy_event ev;

	(void)state;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		begin_history();
		ev = server(DAVY_BACKEND_UNKNOWN, 99);
		ev.process.flags = DAVY_PROCESS_PORT_ASSUMED; /* it does not serve yet */
		tell(&ev);
		pass(S);
		refuse(nodes[i]);
		assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_CPU)->level, 2);
		assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_CPU)->at_ns, 101 * S);
		davy_reason_text(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_CPU), text, sizeof(text));
		assert_string_equal(text,
				    "is configured to use a GPU, but may not open its device file");
		pass(100 * S);
		assert_int_equal(notes(), 1);
		assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_SILENT_CPU), 0);
		ev = server(DAVY_BACKEND_VULKAN, 99); /* another node did */
		davy_copy_name(ev.process.device, sizeof(ev.process.device), GPU);
		tell(&ev);
		pass(2 * S);
		assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_SILENT_CPU), 1);
	}
}

static void an_unneeded_node_may_be_refused(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_recording("silent_cpu-benign-node");
	ev = server(DAVY_BACKEND_UNKNOWN, 99);
	tell(&ev);
	refuse("dri/card0"); /* a display's */
	refuse("nvidia-modeset");
	ev = server(DAVY_BACKEND_VULKAN, 99);
	davy_copy_name(ev.process.device, sizeof(ev.process.device), GPU);
	tell(&ev);
	refuse("dri/renderD129"); /* it has another */
	pass(100 * S);
	assert_int_equal(notes(), 0);
	assert_replays();
	begin_history();
	ev = server(DAVY_BACKEND_CPU, 0); /* it wants none */
	tell(&ev);
	refuse("kfd");
	assert_int_equal(notes(), 0);
}

/* Field report amd-dm-002: the service's user may not open the nodes. */
static void a_discovery_that_is_refused_is_reported(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	ev = server(DAVY_BACKEND_ROCM, DAVY_LAYERS_AUTO); /* only its library is mapped */
	ev.process.role = DAVY_ROLE_DISCOVERY;
	tell(&ev);
	refuse("kfd");
	assert_int_equal(notes(), 1);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_CPU)->level, 2);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_CPU)->form, DAVY_FORM_REFUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpu_layers_on_the_cpu_are_reported_after_a_minute),
		cmocka_unit_test(an_idle_engine_on_the_cpu_is_a_note),
		cmocka_unit_test(a_workload_that_requests_a_gpu_is_enough),
		cmocka_unit_test(mesas_software_device_is_no_gpu),
		cmocka_unit_test(the_alarm_ends_when_a_device_is_in_use),
		cmocka_unit_test(an_engine_that_was_ordered_to_the_cpu_raises_nothing),
		cmocka_unit_test(a_process_without_a_model_raises_nothing),
		cmocka_unit_test(a_device_may_be_a_workers),
		cmocka_unit_test(an_exec_begins_anew),
		cmocka_unit_test(a_refused_node_is_reported_at_once),
		cmocka_unit_test(an_unneeded_node_may_be_refused),
		cmocka_unit_test(a_discovery_that_is_refused_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
