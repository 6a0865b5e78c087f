/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's uevents of GPUs, as amdgpu, i915 and xe send them. */
#include "history.h"

#include "sensors/gpu/uevent_said.h"

static struct davy_event events[DAVY_UEVENT_EVENTS];
static size_t count;

static enum davy_uevent_meaning heard(const struct davy_uevent *u)
{
	memset(events, 0x55, sizeof(events));
	return davy_uevent_read(u, 77, events, &count);
}

static void a_wedged_device_is_reported_with_its_process(void **state)
{
	struct davy_uevent u = { .action = "change",
				 .subsystem = "drm",
				 .name = "card0",
				 .device = "0000:03:00.0",
				 .driver = "xe",
				 .wedged = "rebind,bus-reset",
				 .pid = "4711" };

	(void)state;
	assert_int_equal(heard(&u), DAVY_UEVENT_SAID);
	assert_int_equal(count, 1);
	assert_true(davy_event_valid(&events[0]));
	assert_int_equal(events[0].at_ns, 77);
	assert_int_equal(events[0].pid, 4711);
	assert_int_equal(events[0].device.change, DAVY_DEVICE_WEDGED);
	assert_int_equal(events[0].device.value, 0);
	assert_string_equal(events[0].device.device, "0000:03:00.0");
	assert_string_equal(events[0].device.driver, "xe");
	assert_string_equal(events[0].device.detail, "rebind,bus-reset");
}

static void errors_and_resets_of_i915_are_reported(void **state)
{
	struct davy_uevent u = { .action = "change", .subsystem = "drm", .name = "card1" };

	(void)state;
	assert_int_equal(heard(&u), DAVY_UEVENT_SAID);
	assert_int_equal(count, 0); /* a mode set, a hotplug of a monitor */
	u.error = "1";
	u.reset = "1";
	assert_int_equal(heard(&u), DAVY_UEVENT_SAID);
	assert_int_equal(count, 2);
	assert_int_equal(events[0].device.change, DAVY_DEVICE_ERROR);
	assert_int_equal(events[0].device.value, 1);
	assert_int_equal(events[1].device.change, DAVY_DEVICE_RESET);
	assert_string_equal(events[1].device.device, "");
	u.error = "0";
	u.reset = NULL;
	heard(&u);
	assert_int_equal(count, 1);
	assert_int_equal(events[0].device.value, 0);
}

static void invalid_pids_are_left_out(void **state)
{
	static const char *const wrong[] = { "",    "-1",   "+1",	  "1 2",
					     "12x", "0x1f", "4294967297", "99999999999999999999" };
	struct davy_uevent u = { .action = "change", .subsystem = "drm", .wedged = "none" };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		u.pid = wrong[i];
		heard(&u);
		assert_int_equal(events[0].pid, 0);
	}
}

static void added_and_removed_devices_are_distinguished(void **state)
{
	struct davy_uevent u = { .action = "add", .subsystem = "drm", .name = "card0" };

	(void)state;
	assert_int_equal(heard(&u), DAVY_UEVENT_CHANGED);
	u.action = "remove";
	assert_int_equal(heard(&u), DAVY_UEVENT_LEAVING);
	u.name = "card0-DP-1";
	assert_int_equal(heard(&u), DAVY_UEVENT_CHANGED);
	u.name = NULL;
	assert_int_equal(heard(&u), DAVY_UEVENT_CHANGED);
	u.subsystem = "pci";
	u.action = "unbind";
	assert_int_equal(heard(&u), DAVY_UEVENT_CHANGED);
	u.action = "change";
	assert_int_equal(heard(&u), DAVY_UEVENT_NOTHING);
	u.subsystem = "devcoredump";
	u.action = "add";
	assert_int_equal(heard(&u), DAVY_UEVENT_NOTHING);
	u.name = "devcd3";
	assert_int_equal(heard(&u), DAVY_UEVENT_COREDUMP);
	u.action = "remove";
	assert_int_equal(heard(&u), DAVY_UEVENT_NOTHING);
	u.action = NULL;
	assert_int_equal(heard(&u), DAVY_UEVENT_NOTHING);
	u.action = "change";
	u.subsystem = NULL;
	assert_int_equal(heard(&u), DAVY_UEVENT_NOTHING);
	assert_int_equal(count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wedged_device_is_reported_with_its_process),
		cmocka_unit_test(errors_and_resets_of_i915_are_reported),
		cmocka_unit_test(invalid_pids_are_left_out),
		cmocka_unit_test(added_and_removed_devices_are_distinguished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
