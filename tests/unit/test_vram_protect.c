/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vram_protect on a tree of plain files, with amounts of one digit, because a plain file keeps the
 * rest of a longer value. tests/vm/dmem does the same on a kernel with the controller.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "act/caps.h"
#include "agent/act/vram_protect.h"
#include "agent/agent.h"
#include "root.h"

#define TREE   "/sys/fs/cgroup"
#define ONE    "/a.slice/one.service"
#define TWO    "/a.slice/two.service"
#define DEVICE "0000:03:00.0"
#define REGION "drm/" DEVICE "/vram"

static char state_dir[128];
static struct davy_agent *agent;
static struct davy_vram_protect wanted;

static int make_tree(void **state)
{
	int err = make_root(state);

	if (err)
		return err;
	PUT("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
	PUT(TREE "/cgroup.controllers", "cpuset cpu io memory dmem\n");
	PUT(TREE "/dmem.capacity", REGION " 8\ndrm/0000:04:00.0/vram0 8\n");
	PUT(TREE "/a.slice/dmem.low", "");
	PUT(TREE ONE "/dmem.low", "");
	PUT(TREE TWO "/dmem.low", "");
	PUT("/state/none", "");
	agent = calloc(1, sizeof(*agent));
	assert_non_null(agent);
	snprintf(state_dir, sizeof(state_dir), "%s/state", root);
	agent->options.state_dir = state_dir;
	davy_agent_intents_open(agent);
	memset(&wanted, 0, sizeof(wanted));
	return 0;
}

static int remove_tree(void **state)
{
	davy_agent_intents_close(agent);
	free(agent);
	return remove_root(state);
}

static void remove_file(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s%s", root, name);
	assert_int_equal(unlink(path), 0);
}

static void set(void)
{
	davy_agent_vram_protect(agent, &wanted);
	memset(&wanted, 0, sizeof(wanted));
}

static const char *low_of(const char *group)
{
	static char text[256];
	char path[512];

	snprintf(path, sizeof(path), "%s" TREE "%s/dmem.low", root, group);
	assert_true(davy_read_file(path, text, sizeof(text)) >= 0);
	return text;
}

static void the_groups_above_get_the_sum(void **state)
{
	(void)state;
	davy_vram_protect_add(&wanted, ONE, DEVICE, 2);
	davy_vram_protect_add(&wanted, TWO, DEVICE, 3);
	set();
	assert_string_equal(low_of(ONE), REGION " 2");
	assert_string_equal(low_of(TWO), REGION " 3");
	assert_string_equal(low_of("/a.slice"), REGION " 5");
	davy_vram_protect_add(&wanted, TWO, DEVICE, 3); /* the other one has ended */
	set();
	assert_string_equal(low_of(ONE), REGION " 0");
	assert_string_equal(low_of(TWO), REGION " 3");
	assert_string_equal(low_of("/a.slice"), REGION " 3");
	set();
	assert_string_equal(low_of(TWO), REGION " 0");
	assert_string_equal(low_of("/a.slice"), REGION " 0");
}

static void more_than_the_device_has_is_not_protected(void **state)
{
	(void)state;
	davy_vram_protect_add(&wanted, ONE, DEVICE, 9);
	set();
	assert_string_equal(low_of(ONE), REGION " 8");
}

static void a_value_of_another_program_stays(void **state)
{
	(void)state;
	PUT(TREE "/a.slice/dmem.low", REGION " 7");
	davy_vram_protect_add(&wanted, ONE, DEVICE, 2);
	set();
	assert_string_equal(low_of(ONE), REGION " 2");
	assert_string_equal(low_of("/a.slice"), REGION " 9"); /* of others, and ours */
	PUT(TREE ONE "/dmem.low", REGION " 4");
	set();
	assert_string_equal(low_of(ONE), REGION " 4");
	assert_string_equal(low_of("/a.slice"), REGION " 7");
	davy_vram_protect_add(&wanted, ONE, DEVICE, 2); /* more is in force */
	set();
	assert_string_equal(low_of(ONE), REGION " 4");
}

static void a_workload_that_cannot_be_protected_takes_nothing_from_others(void **state)
{
	(void)state;
	davy_vram_protect_add(&wanted, TWO, DEVICE, 3);
	set();
	PUT(TREE "/b.slice/dmem.low", "");
	PUT(TREE "/b.slice/session/cgroup.procs", "");
	davy_vram_protect_add(&wanted, "/b.slice/session", DEVICE, 1); /* has no dmem.low */
	davy_vram_protect_add(&wanted, ONE, DEVICE, 2);
	davy_vram_protect_add(&wanted, TWO, DEVICE, 3);
	set();
	assert_int_equal(agent->vram.protect_error, -ENOTSUP);
	assert_string_equal(low_of("/b.slice"), "");
	assert_string_equal(low_of(ONE), REGION " 2");
	assert_string_equal(low_of(TWO), REGION " 3");
	assert_string_equal(low_of("/a.slice"), REGION " 5");
}

static void more_groups_than_there_are_places_are_an_error(void **state)
{
	char group[64];

	(void)state;
	for (int i = 0; i <= DAVY_VRAM_PROTECTS; i++) {
		snprintf(group, sizeof(group), TREE "/g%d/dmem.low", i);
		put(group, "", 0);
		snprintf(group, sizeof(group), "/g%d", i);
		davy_vram_protect_add(&wanted, group, DEVICE, 1);
	}
	set();
	assert_int_equal(agent->vram.protect_error, -ENOSPC);
	assert_string_equal(low_of("/g0"), REGION " 1");
}

static void what_is_in_force_is_kept_and_reported(void **state)
{
	json_t *list;

	(void)state;
	davy_vram_protect_add(&wanted, ONE, DEVICE, 1);
	set();
	list = davy_agent_vram_protected(agent);
	assert_int_equal(json_array_size(list), 2);
	json_decref(list);
	PUT(TREE ONE "/dmem.low", REGION " 6"); /* ours is not written again */
	davy_vram_protect_add(&wanted, ONE, DEVICE, 1);
	set();
	assert_string_equal(low_of(ONE), REGION " 6");
}

/* An action's value, and a rule's above it: taken back in the order that restores the first one. */
static void values_on_top_of_each_other_are_taken_back(void **state)
{
	struct davy_intent cap = { .action = DAVY_ACTION_CAP, .plan = 7, .workload = 1 }, *effect;
	char why[DAVY_REASON_LEN];

	(void)state;
	assert_int_equal(davy_cap_plan(ONE, DAVY_CAP_DMEM_LOW, REGION, 1, &cap, why), 0);
	effect = davy_agent_intend_value(agent, &cap);
	assert_non_null(effect);
	assert_int_equal(davy_value_set(effect), 0);
	davy_vram_protect_add(&wanted, ONE, DEVICE, 2);
	set();
	assert_string_equal(low_of(ONE), REGION " 2");
	davy_agent_intents_close(agent);
	assert_string_equal(low_of(ONE), REGION " 0");
	assert_string_equal(low_of("/a.slice"), REGION " 0");
}

static void without_the_controller_it_is_an_error(void **state)
{
	(void)state;
	PUT(TREE "/cgroup.controllers", "cpu memory\n");
	remove_file(TREE ONE "/dmem.low");
	remove_file(TREE "/a.slice/dmem.low");
	davy_vram_protect_add(&wanted, ONE, DEVICE, 2);
	set();
	assert_int_equal(agent->vram.protect_error, -ENOTSUP);
}

int main(void)
{
#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, make_tree, remove_tree)
	const struct CMUnitTest tests[] = {
		IN_TREE(the_groups_above_get_the_sum),
		IN_TREE(more_than_the_device_has_is_not_protected),
		IN_TREE(a_value_of_another_program_stays),
		IN_TREE(a_workload_that_cannot_be_protected_takes_nothing_from_others),
		IN_TREE(more_groups_than_there_are_places_are_an_error),
		IN_TREE(what_is_in_force_is_kept_and_reported),
		IN_TREE(values_on_top_of_each_other_are_taken_back),
		IN_TREE(without_the_controller_it_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
