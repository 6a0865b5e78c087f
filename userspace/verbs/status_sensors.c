/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp status --sensors' and '--programs', for people. */
#include "status_sensors.h"

#include <stdio.h>
#include <string.h>

#include "../lib/message.h"

static void print_rungs(const json_t *step)
{
	const json_t *rung;
	size_t i;

	json_array_foreach(json_object_get(step, "sources"), i,
			   rung) if (dl_message_text(rung, "reason")[0])
		printf("         not %s (%s): %s\n", dl_message_text(rung, "source"),
		       dl_message_text(rung, "hook"), dl_message_text(rung, "reason"));
	if (dl_message_text(step, "unseen")[0])
		printf("         unseen: %s\n", dl_message_text(step, "unseen"));
}

static const char *used_hook(const json_t *step)
{
	const json_t *rung;
	size_t i;

	json_array_foreach(
		json_object_get(step, "sources"), i,
		rung) if (json_is_true(json_object_get(rung,
						       "used"))) return dl_message_text(rung,
											"hook");
	return "none";
}

void dl_print_ladder(const json_t *answer)
{
	const json_t *step;
	const char *driver = "";
	size_t i;

	json_array_foreach(json_object_get(answer, "ladder"), i, step)
	{
		if (strcmp(driver, dl_message_text(step, "driver")) != 0)
			printf("%s\n", dl_message_text(step, "driver"));
		driver = dl_message_text(step, "driver");
		printf("  %-6s %-22s %8lld seen  %s\n", dl_message_text(step, "state"),
		       dl_message_text(step, "fact"), (long long)dl_message_number(step, "seen", 0),
		       used_hook(step));
		print_rungs(step);
	}
	printf("live: attached, and has told something; ready: attached to a trusted hook, nothing "
	       "happened yet\n");
}

void dl_print_programs(const json_t *answer)
{
	const json_t *p;
	size_t i;

	json_array_foreach(json_object_get(answer, "programs"), i, p)
		printf("%-11s %-26s %-52s %-9s %s\n", dl_message_text(p, "object"),
		       dl_message_text(p, "program"), dl_message_text(p, "hook"),
		       dl_message_text(p, "state"), dl_message_text(p, "reason"));
}
