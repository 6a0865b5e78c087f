/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp status --sensors' and '--programs', for people. */
#include "cli/status_sensors.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/message.h"
#include "sensors/bpf/bpf.h"

static void print_rungs(const json_t *step)
{
	const json_t *rung;
	size_t i;

	json_array_foreach(json_object_get(step, "sources"), i,
			   rung) if (davy_message_text(rung, "reason")[0])
		printf("         not %s (%s): %s\n", davy_message_text(rung, "source"),
		       davy_message_text(rung, "hook"), davy_message_text(rung, "reason"));
	if (davy_message_text(step, "unseen")[0])
		printf("         unseen: %s\n", davy_message_text(step, "unseen"));
}

static const char *used_hook(const json_t *step)
{
	const json_t *rung;
	size_t i;

	json_array_foreach(
		json_object_get(step, "sources"), i,
		rung) if (json_is_true(json_object_get(rung,
						       "used"))) return davy_message_text(rung,
											  "hook");
	return "none";
}

/* A driver that is not here needs one line. "first" is its first step's index. */
static bool print_driver(const json_t *ladder, size_t first)
{
	const char *driver = davy_message_text(json_array_get(ladder, first), "driver");
	const json_t *step, *rung;
	size_t i, j;

	json_array_foreach(ladder, i, step)
	{
		if (strcmp(driver, davy_message_text(step, "driver")) != 0)
			continue;
		json_array_foreach(
			json_object_get(step, "sources"), j,
			rung) if (strcmp(davy_message_text(rung, "reason"), DAVY_NO_MODULE) != 0)
		{
			printf("%s\n", driver);
			return true;
		}
	}
	printf("%s\n  off    " DAVY_NO_MODULE "\n", driver);
	return false;
}

void davy_print_ladder(const json_t *answer)
{
	const json_t *ladder = json_object_get(answer, "ladder"), *step;
	const char *driver = "";
	bool shown = true;
	size_t i;

	json_array_foreach(ladder, i, step)
	{
		if (strcmp(driver, davy_message_text(step, "driver")) != 0)
			shown = print_driver(ladder, i);
		driver = davy_message_text(step, "driver");
		if (!shown)
			continue;
		printf("  %-6s %-22s %8lld seen  %s\n", davy_message_text(step, "state"),
		       davy_message_text(step, "fact"),
		       (long long)davy_message_number(step, "seen", 0), used_hook(step));
		print_rungs(step);
	}
	printf("live: attached, and has told something; ready: attached to a trusted hook, no "
	       "event is known to be its\n");
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
