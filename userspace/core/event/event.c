/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/event.h"

#include <string.h>

#include "core/event/fields.h"

size_t davy_event_payload_size(uint32_t kind)
{
	return davy_event_shape(kind)->size;
}

const char *davy_event_kind_name(uint32_t kind)
{
	const char *name = davy_event_shape(kind)->name;

	return name ? name : "unknown";
}

const char *davy_device_change_name(uint32_t change)
{
	static const char *const names[DAVY_DEVICE_CHANGE_COUNT] = {
		[DAVY_DEVICE_ADDED] = "added",	 [DAVY_DEVICE_REMOVED] = "removed",
		[DAVY_DEVICE_WEDGED] = "wedged", [DAVY_DEVICE_ERROR] = "error",
		[DAVY_DEVICE_RESET] = "reset",	 [DAVY_DEVICE_COREDUMP] = "coredump",
	};

	return change < DAVY_DEVICE_CHANGE_COUNT && names[change] ? names[change] : "unknown";
}

const char *davy_clock_reason_name(uint32_t reason)
{
	static const char *const names[DAVY_CLOCK_REASON_COUNT] = {
		[DAVY_CLOCK_SW_POWER_CAP] = "sw_power_cap",
		[DAVY_CLOCK_HW_SLOWDOWN] = "hw_slowdown",
		[DAVY_CLOCK_SYNC_BOOST] = "sync_boost",
		[DAVY_CLOCK_SW_THERMAL] = "sw_thermal_slowdown",
		[DAVY_CLOCK_HW_THERMAL] = "hw_thermal_slowdown",
		[DAVY_CLOCK_HW_POWER_BRAKE] = "hw_power_brake_slowdown",
	};

	return reason < DAVY_CLOCK_REASON_COUNT ? names[reason] : "unknown";
}

bool davy_clock_reason_bad(uint32_t reason)
{
	return reason == DAVY_CLOCK_HW_SLOWDOWN || reason == DAVY_CLOCK_SW_THERMAL ||
	       reason == DAVY_CLOCK_HW_THERMAL || reason == DAVY_CLOCK_HW_POWER_BRAKE;
}

const char *davy_kfd_event_name(uint32_t event)
{
	static const char *const names[DAVY_KFD_EVENT_COUNT] = {
		[DAVY_KFD_VM_FAULT] = "vm_fault",
		[DAVY_KFD_THERMAL_THROTTLE] = "thermal_throttle",
		[DAVY_KFD_RESET_BEGIN] = "reset_begin",
		[DAVY_KFD_RESET_END] = "reset_end",
		[DAVY_KFD_MIGRATE_BEGIN] = "migrate_begin",
		[DAVY_KFD_MIGRATE_END] = "migrate_end",
		[DAVY_KFD_PAGE_FAULT_BEGIN] = "page_fault_begin",
		[DAVY_KFD_PAGE_FAULT_END] = "page_fault_end",
		[DAVY_KFD_QUEUES_EVICTED] = "queues_evicted",
		[DAVY_KFD_QUEUES_RESTORED] = "queues_restored",
		[DAVY_KFD_UNMAPPED] = "unmapped",
		[DAVY_KFD_PROCESS_BEGIN] = "process_begin",
		[DAVY_KFD_PROCESS_END] = "process_end",
	};

	return event < DAVY_KFD_EVENT_COUNT && names[event] ? names[event] : "unknown";
}

const char *davy_lockup_origin_name(uint32_t origin)
{
	static const char *const names[DAVY_LOCKUP_ORIGIN_COUNT] = {
		"unknown", "scheduler", "sysfs", "parameter", "default", "none",
	};

	return names[origin < DAVY_LOCKUP_ORIGIN_COUNT ? origin : DAVY_LOCKUP_UNKNOWN];
}

static bool element_valid(const struct davy_event *ev, const struct davy_field *f, size_t index)
{
	const char *text;
	uint64_t value;

	if (f->type == DAVY_FIELD_TEXT) {
		text = davy_field_text(ev, f, index);
		return memchr(text, 0, f->size) && (!f->min || text[0]);
	}
	value = davy_field_number(ev, f, index);
	return value >= f->min && (!f->max || value <= f->max);
}

bool davy_event_valid(const struct davy_event *ev)
{
	const struct davy_event_shape *shape = davy_event_shape(ev->kind);

	if (!shape->name || (shape->of_process && !ev->pid))
		return false;
	for (size_t i = 0; i < shape->field_count; i++) {
		const struct davy_field *f = &shape->fields[i];

		for (size_t j = 0; j <= f->more; j++)
			if (!element_valid(ev, f, j))
				return false;
	}
	return !shape->valid || shape->valid(ev);
}
