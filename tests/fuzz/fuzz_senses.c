/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's texts about devices: fdinfo, uevents, the host's memory, lockup timeouts
 * and their descriptions, the dmem controller. The first byte chooses; parts end at a NUL.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sensors/gpu/dmem.h"
#include "sensors/gpu/fdinfo.h"
#include "sensors/gpu/host_memory.h"
#include "sensors/gpu/lockup_rules.h"
#include "sensors/gpu/module_text.h"
#include "sensors/gpu/uevent_said.h"

#define PARTS 9

static void must(bool holds)
{
	if (!holds)
		abort();
}

#define ENDED(field) must(memchr(field, 0, sizeof(field)) != NULL)

/* The input's parts; missing ones are empty. */
static void split(const char *text, const char *end, const char **part)
{
	for (size_t i = 0; i < PARTS; i++) {
		part[i] = text;
		if (text < end)
			text += strlen(text) + 1;
		if (text > end)
			text = end;
	}
}

static void read_fdinfo(const char *text)
{
	struct davy_fdinfo info;

	must(davy_fdinfo_parse(text, &info) == (info.driver[0] != 0));
	ENDED(info.driver);
	ENDED(info.device);
}

static const char *or_none(const char *text)
{
	return text[0] ? text : NULL;
}

static void hear_uevent(const char **part)
{
	struct davy_uevent u = {
		.action = or_none(part[0]),
		.subsystem = or_none(part[1]),
		.name = or_none(part[2]),
		.device = or_none(part[3]),
		.driver = or_none(part[4]),
		.wedged = or_none(part[5]),
		.error = or_none(part[6]),
		.reset = or_none(part[7]),
		.pid = or_none(part[8]),
	};
	struct davy_event events[DAVY_UEVENT_EVENTS];
	enum davy_uevent_meaning meaning;
	size_t count;

	meaning = davy_uevent_read(&u, 1, events, &count);
	must(count <= DAVY_UEVENT_EVENTS && (meaning == DAVY_UEVENT_SAID || !count));
	for (size_t i = 0; i < count; i++)
		must(davy_event_valid(&events[i]));
}

static void read_host(const char *text)
{
	struct davy_ev_memory m = { .host_total = 1, .host_available = 1 };

	davy_meminfo_parse(text, &m);
	must(m.host_total == 1 || m.host_total % 1024 == 0);
	must(davy_pressure_parse(text) <= 1000);
}

static void check_lockups(const struct davy_lockups *l)
{
	struct davy_lockups kept = { .count = 0 };

	must(l->count <= DAVY_LOCKUPS_MAX);
	for (size_t i = 0; i < l->count; i++) {
		must(l->at[i].origin < DAVY_LOCKUP_ORIGIN_COUNT && l->at[i].queue[0]);
		must(l->at[i].origin != DAVY_LOCKUP_UNKNOWN || !l->at[i].timeout_ns);
		ENDED(l->at[i].queue);
		must(davy_lockups_update(&kept, &l->at[i]));
		must(!davy_lockups_update(&kept, &l->at[i]));
	}
}

static void read_lockups(const char **part)
{
	char queue[DAVY_RING_NAME_LEN], option[16];
	struct davy_lockup_defaults d;
	bool described = davy_lockup_defaults_parse(part[2], &d);
	struct davy_lockups l;

	davy_lockup_amdgpu(part[0], part[1], described ? &d : NULL, part[3][0] == 'g', &l);
	must(l.count == DAVY_LOCKUP_KINDS);
	check_lockups(&l);
	davy_lockup_radeon(part[0], described ? &d : NULL, &l);
	must(l.count == 1);
	check_lockups(&l);
	davy_lockup_queue_of(part[4], part[5], queue, sizeof(queue));
	must(queue[0] && memchr(queue, 0, sizeof(queue)));
	davy_module_option(part[1], "lockup_timeout", option, sizeof(option));
	ENDED(option);
}

static void add_up_i915(const uint8_t *data, size_t size)
{
	uint64_t ms[3] = { 0 }, least;

	memcpy(ms, data, size < sizeof(ms) ? size : sizeof(ms));
	least = davy_lockup_i915_ms(ms[0], ms[1], ms[2]);
	must(!ms[2] || (least && least <= ms[2]));
}

/* A parsed value is written, and parsed again as the same. */
static void read_dmem(const char *text)
{
	struct davy_dmem_line lines[4], again;
	size_t count = davy_dmem_parse(text, lines, 4);
	char line[128];

	must(count <= 4);
	for (size_t i = 0; i < count; i++) {
		ENDED(lines[i].device);
		ENDED(lines[i].region);
		snprintf(line, sizeof(line), "drm/%s/%s %llu\n", lines[i].device, lines[i].region,
			 (unsigned long long)lines[i].bytes);
		must(davy_dmem_parse(line, &again, 1) == 1 &&
		     !memcmp(&again, &lines[i], sizeof(again)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *part[PARTS];
	char *text;

	if (!size)
		return 0;
	text = malloc(size); /* reads beyond its end are detected */
	must(text != NULL);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	split(text, text + size - 1, part);
	switch (data[0] % 6) {
	case 0:
		read_fdinfo(text);
		break;
	case 1:
		hear_uevent(part);
		break;
	case 2:
		read_host(text);
		break;
	case 3:
		read_lockups(part);
		break;
	case 4:
		add_up_i915(data + 1, size - 1);
		break;
	default:
		read_dmem(text);
		break;
	}
	free(text);
	return 0;
}
