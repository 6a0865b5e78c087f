/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel facts as events: the catalogue, counts reported once, hostile records. */
#include "history.h"
#include "root.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/event/fact.h"
#include "report/event_text.h"
#include "sensors/bpf/bpf_refusal.h"
#include "sensors/bpf/bpf_state.h"
#include "sensors/bpf/ioctl_table.h"
#include "sensors/source_order.h"

static struct davy_event said[16];
static size_t said_count;

static void keep(void *arg, const struct davy_event *ev)
{
	(void)arg;
	assert_true(davy_event_valid(ev));
	assert_true(said_count < 16);
	said[said_count++] = *ev;
}

static int make_bpf(void **state)
{
	struct davy_bpf *b = calloc(1, sizeof(*b));

	if (!b)
		return -1;
	b->hooks.sink = keep;
	b->sums_reported = calloc(DAVY_REPORTED_MAX, sizeof(*b->sums_reported));
	memset(b->shared.fd, -1, sizeof(b->shared.fd));
	for (size_t i = 0; i < DAVY_OBJ_COUNT; i++) {
		b->objects[i].name = davy_object_rows[i].name;
		b->objects[i].bytes = davy_object_rows[i].bytes;
		if (davy_bpf_object_list(&b->objects[i]))
			return -1;
	}
	said_count = 0;
	*state = b;
	return b->sums_reported ? 0 : -1;
}

static int free_bpf(void **state)
{
	struct davy_bpf *b = *state;

	free(b->sums_reported);
	free(b);
	return 0;
}

static struct davy_wire_fact record(enum davy_fact fact)
{
	struct davy_wire_fact w = {
		.head = { .kind = DAVY_WIRE_FACT, .size = sizeof(w), .tgid = 7, .boot_ns = 99 },
		.dev = "0000:03:00.0",
		.name = "gfx_0.0.0",
		.count = 1,
		.pid = 42,
		.fact = fact,
	};

	return w;
}

static void read_record(struct davy_bpf *b, const struct davy_wire_fact *w)
{
	assert_int_equal(davy_bpf_record(b, (void *)w, sizeof(*w)), 0);
}

static void every_fact_has_a_unique_name(void **state)
{
	(void)state;
	for (uint32_t i = 1; i < DAVY_FACT_COUNT; i++) {
		if (i > DAVY_FACT_NVIDIA_XID && i < DAVY_FACT_HOT)
			continue;
		assert_true(davy_fact_known(i));
		assert_true(davy_fact_text(i)[0]);
		for (uint32_t j = 1; j < i; j++)
			assert_string_not_equal(davy_fact_name(i), davy_fact_name(j));
	}
	assert_false(davy_fact_known(DAVY_FACT_NONE));
	assert_false(davy_fact_known(DAVY_FACT_COUNT));
	assert_string_equal(davy_fact_name(DAVY_FACT_COUNT + 5), "unknown");
}

static void a_rare_fact_arrives_with_all_fields(void **state)
{
	struct davy_wire_fact w = record(DAVY_FACT_RING_RESET);

	w.error = -ETIME;
	w.duration_ns = 3000000;
	w.fence_context = 5;
	w.fence_seqno = 6;
	read_record(*state, &w);
	assert_int_equal(said_count, 1);
	assert_int_equal(said[0].kind, DAVY_EV_FACT);
	assert_int_equal(said[0].pid, 42);
	assert_int_equal(said[0].at_ns, 99);
	assert_int_equal(said[0].fact.by_pid, 7);
	assert_int_equal(said[0].fact.error, -ETIME);
	assert_int_equal(said[0].fact.duration_ns, 3000000);
	assert_string_equal(said[0].fact.device, "0000:03:00.0");
	assert_string_equal(said[0].fact.name, "gfx_0.0.0");
	read_record(*state, &w);
	assert_int_equal(said_count, 2); /* twice is twice */
}

static void a_hot_count_is_reported_once_in_any_order(void **state)
{
	struct davy_wire_fact w = record(DAVY_FACT_GPU_FAULT);
	uint64_t fresh = 0;

	w.pid = 0;
	w.pasid = 32769;
	w.what = DAVY_FAULT_VM;
	w.detail = DAVY_FAULT_DETAIL(3, 0x1b, 0, DAVY_FAULT_ADDR_KNOWN);
	for (uint64_t count = 1; count <= 4; count++) {
		w.count = count == 2 ? 3 : count == 3 ? 2 : count; /* 1 3 2 4 */
		read_record(*state, &w);
	}
	read_record(*state, &w);
	assert_int_equal(said_count, 3);
	for (size_t i = 0; i < said_count; i++)
		fresh += said[i].fault.fresh;
	assert_int_equal(fresh, 4);
	assert_int_equal(said[0].kind, DAVY_EV_FAULT);
	assert_int_equal(said[0].pid, 0);
	assert_int_equal(said[0].fault.vmid, 3);
	assert_int_equal(said[0].fault.client_id, 0x1b);
	assert_int_equal(said[0].fault.src_id, 0);
	assert_int_equal(said[0].fault.flags, DAVY_FAULT_ADDR_KNOWN);
	w.pasid = 32770; /* another PASID has a separate count */
	w.count = 2;
	read_record(*state, &w);
	assert_int_equal(said[3].fault.fresh, 2);
	w.device = 8; /* and so is that of a device that came under the same name */
	read_record(*state, &w);
	assert_int_equal(said[4].fault.fresh, 2);
}

static void a_record_that_is_not_ours_is_passed_over(void **state)
{
	struct davy_wire_fact w = record(DAVY_FACT_COUNT);

	read_record(*state, &w);
	w = record(DAVY_FACT_ALLOC_FAILED);
	w.what = 9; /* no such stage */
	read_record(*state, &w);
	w = record(DAVY_FACT_RING_RESET);
	w.head.size = 40;
	read_record(*state, &w);
	w.head.size = sizeof(w);
	assert_int_equal(davy_bpf_record(*state, &w, sizeof(w) - 8), 0);
	w.head.kind = 4711;
	read_record(*state, &w);
	assert_int_equal(said_count, 0);
	w = record(DAVY_FACT_RING_RESET);
	memset(w.dev, 'x', sizeof(w.dev)); /* not terminated */
	memset(w.name, '\n', sizeof(w.name));
	read_record(*state, &w);
	assert_int_equal(said_count, 1);
}

static void a_hostile_name_keeps_its_line_and_json(void **state)
{
	struct davy_wire_fact w = record(DAVY_FACT_OPEN_REFUSED);
	char text[DAVY_EVENT_TEXT_SIZE], *json;

	memcpy(w.name, "dri/\n\033[2J\"\xff", 11);
	read_record(*state, &w);
	assert_true(davy_event_text(&said[0], text, sizeof(text)));
	assert_null(strpbrk(text, "\n\033"));
	json = davy_event_json(&said[0]);
	assert_non_null(json);
	assert_null(strchr(json, '\n'));
	free(json);
}

static void verdicts_are_unambiguous_and_fit_the_map(void **state)
{
	struct davy_ioctl_row a, b;
	size_t count = 0;

	(void)state;
	for (; davy_ioctl_row(count, &a); count++)
		for (size_t i = 0; i < count && davy_ioctl_row(i, &b); i++)
			assert_false(!strcmp(a.driver, b.driver) && a.number == b.number &&
				     a.error == b.error);
	assert_in_range(count, 40, DAVY_MAX_VERDICTS);
}

/* Nothing is loaded: every step is off and names what is lost. */
static void a_ladder_without_sources_lists_what_is_not_seen(void **state)
{
	const struct davy_source_other smi = { "kfd_smi", "/dev/kfd", "not open", false, 0 };
	struct davy_source_order step;
	size_t count = 0;

	for (; davy_source_order(*state, &smi, 1, count, &step); count++) {
		assert_int_equal(step.state, DAVY_SOURCE_OFF);
		assert_in_range(step.choice_count, 1, DAVY_SOURCE_SOURCES);
		assert_true(step.unseen[0] && step.fact[0] && step.driver[0]);
		for (size_t i = 0; i < step.choice_count; i++)
			assert_true(step.choice[i].reason[0]);
	}
	assert_true(count > 50);
}

/* What is no program takes the place of those that are off, with its own count. */
static void a_source_that_is_no_program_stands_in(void **state)
{
	const struct davy_source_other smi = { "kfd_smi", "/dev/kfd", "", true, 7 };
	struct davy_source_order step;
	size_t used = 0;

	for (size_t i = 0; davy_source_order(*state, &smi, 1, i, &step); i++) {
		if (step.used == step.choice_count)
			continue;
		assert_string_equal(step.choice[step.used].source, "kfd_smi");
		assert_string_equal(step.choice[step.used].hook, "/dev/kfd");
		assert_int_equal(step.state, DAVY_SOURCE_LIVE);
		assert_int_equal(step.seen_count, 7);
		used++;
	}
	assert_int_equal(used, 7);
}

static void a_missing_right_is_no_reason_to_try_again(void **state)
{
	(void)state;
	assert_false(davy_refusal_may_pass(-EPERM));
	assert_false(davy_refusal_may_pass(-EACCES));
	assert_true(davy_refusal_may_pass(-ENOENT));
	for (int err = -1; err > -40; err--)
		assert_true(davy_refusal_text(err)[0]);
	assert_int_equal(davy_module_state("no_such_module"), DAVY_MODULE_NONE);
}

static void a_refused_allocation_of_vram_is_an_event(void **state)
{
	struct davy_wire_vram w = {
		.head = { .kind = DAVY_WIRE_VRAM, .size = sizeof(w), .tgid = 7, .boot_ns = 99 },
		.dev = "0000:03:00.0",
		.bytes = 16 << 20,
		.used = 60 << 20,
		.limit = 64 << 20,
		.count = 3,
		.why = DAVY_VRAM_QUOTA,
	};
	char text[DAVY_EVENT_TEXT_SIZE];

	memset(w.name, '\n', sizeof(w.name)); /* not terminated */
	assert_int_equal(davy_bpf_record(*state, &w, sizeof(w)), 0);
	assert_int_equal(said_count, 1);
	assert_int_equal(said[0].pid, 7);
	assert_int_equal(said[0].vram.count, 3);
	assert_true(davy_event_text(&said[0], text, sizeof(text)));
	assert_null(strchr(text, '\n'));
	assert_non_null(strstr(text, "16384 KiB for pid 7 refused over its quota"));
	assert_non_null(strstr(text, "has 61440 of 65536 KiB (3 times)"));
	w.why = DAVY_VRAM_WHY_COUNT;
	assert_int_equal(davy_bpf_record(*state, &w, sizeof(w)), 0);
	w.why = DAVY_VRAM_NONE;
	assert_int_equal(davy_bpf_record(*state, &w, sizeof(w)), 0);
	assert_int_equal(said_count, 1);
}

static void without_bpf_among_the_security_modules_the_parameter_is_named(void **state)
{
	(void)state;
	assert_non_null(strstr(davy_lsm_refusal(), "mount securityfs"));
	PUT("/sys/kernel/security/lsm", "lockdown,yama,notbpf,bpfx\n");
	assert_string_equal(davy_lsm_refusal(),
			    "no quota: boot with 'lsm=lockdown,yama,notbpf,bpfx,bpf'");
	PUT("/sys/kernel/security/lsm", "lockdown,bpf,ima");
	assert_null(davy_lsm_refusal());
	PUT("/sys/kernel/security/lsm", "lockdown,tomoyo,bpf\n");
	assert_null(davy_lsm_refusal());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_fact_has_a_unique_name),
		cmocka_unit_test_setup_teardown(a_rare_fact_arrives_with_all_fields, make_bpf,
						free_bpf),
		cmocka_unit_test_setup_teardown(a_hot_count_is_reported_once_in_any_order, make_bpf,
						free_bpf),
		cmocka_unit_test_setup_teardown(a_record_that_is_not_ours_is_passed_over, make_bpf,
						free_bpf),
		cmocka_unit_test_setup_teardown(a_hostile_name_keeps_its_line_and_json, make_bpf,
						free_bpf),
		cmocka_unit_test(verdicts_are_unambiguous_and_fit_the_map),
		cmocka_unit_test_setup_teardown(a_source_that_is_no_program_stands_in, make_bpf,
						free_bpf),
		cmocka_unit_test_setup_teardown(a_ladder_without_sources_lists_what_is_not_seen,
						make_bpf, free_bpf),
		cmocka_unit_test(a_missing_right_is_no_reason_to_try_again),
		cmocka_unit_test_setup_teardown(a_refused_allocation_of_vram_is_an_event, make_bpf,
						free_bpf),
		cmocka_unit_test_setup_teardown(
			without_bpf_among_the_security_modules_the_parameter_is_named, make_root,
			remove_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
