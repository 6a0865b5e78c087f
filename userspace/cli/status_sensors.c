/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp status --sensors' and '--programs' as text. */
#include "cli/status_sensors.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/message.h"
#include "sensors/bpf/bpf.h"

static void status_print_sources(const json_t *step)
{
	const json_t *source;
	size_t i;

	json_array_foreach(json_object_get(step, "sources"), i,
			   source) if (davy_message_text(source, "reason")[0])
		printf("         not %s (%s): %s\n", davy_message_text(source, "source"),
		       davy_message_text(source, "hook"), davy_message_text(source, "reason"));
	if (davy_message_text(step, "unseen")[0])
		printf("         not observed: %s\n", davy_message_text(step, "unseen"));
}

static const char *status_used_hook(const json_t *step)
{
	const json_t *source;
	size_t i;

	json_array_foreach(
		json_object_get(step, "sources"), i,
		source) if (json_is_true(json_object_get(source,
							 "used"))) return davy_message_text(source,
											    "hook");
	return "none";
}

/* Prints one line for a driver that is not loaded. "first" is the index of its first fact. */
static bool status_print_driver(const json_t *order, size_t first)
{
	const char *driver = davy_message_text(json_array_get(order, first), "driver");
	const json_t *step, *source;
	size_t i, j;

	json_array_foreach(order, i, step)
	{
		if (strcmp(driver, davy_message_text(step, "driver")) != 0)
			continue;
		json_array_foreach(json_object_get(step, "sources"), j,
				   source) if (strcmp(davy_message_text(source, "reason"),
						      DAVY_NO_MODULE) != 0)
		{
			printf("%s\n", driver);
			return true;
		}
	}
	printf("%s\n  off    " DAVY_NO_MODULE "\n", driver);
	return false;
}

/* The source of each GPU's memory, or that it has none. */
static void status_print_memory(const json_t *list)
{
	const json_t *gpu;
	size_t i;

	if (json_array_size(list))
		printf("memory of each GPU\n");
	json_array_foreach(list, i, gpu) printf(
		"  %-14s %-8s %s%s%s\n", davy_message_text(gpu, "device"),
		davy_message_text(gpu, "driver"), davy_message_text(gpu, "source"),
		*davy_message_text(gpu, "reason") ? ": " : "", davy_message_text(gpu, "reason"));
}

void davy_print_source_order(const json_t *answer)
{
	const json_t *order = json_object_get(answer, "source_orders"), *step;
	const char *driver = "";
	bool shown = true;
	size_t i;

	json_array_foreach(order, i, step)
	{
		if (strcmp(driver, davy_message_text(step, "driver")) != 0)
			shown = status_print_driver(order, i);
		driver = davy_message_text(step, "driver");
		if (!shown)
			continue;
		printf("  %-6s %-22s %8lld seen  %s\n", davy_message_text(step, "state"),
		       davy_message_text(step, "fact"),
		       (long long)davy_message_number(step, "seen", 0), status_used_hook(step));
		status_print_sources(step);
	}
	status_print_memory(json_object_get(answer, "memory"));
	printf("live: attached, events were seen; ready: attached to a known hook, no event seen "
	       "yet\n");
}

void davy_print_programs(const json_t *answer)
{
	const json_t *p;
	size_t i;

	json_array_foreach(json_object_get(answer, "programs"), i, p)
		printf("%-11s %-26s %-52s %-9s %s\n", davy_message_text(p, "object"),
		       davy_message_text(p, "program"), davy_message_text(p, "hook"),
		       davy_message_text(p, "state"), davy_message_text(p, "reason"));
}
