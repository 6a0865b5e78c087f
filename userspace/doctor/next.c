/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/next.h"

#include <stdarg.h>
#include <string.h>

static __attribute__((format(printf, 3, 4))) void next_say(struct davy_next *next,
							   const char *missing, const char *command,
							   ...)
{
	va_list args;

	snprintf(next->missing, sizeof(next->missing), "%s", missing);
	va_start(args, command);
	vsnprintf(next->command, sizeof(next->command), command, args);
	va_end(args);
}

static const struct davy_doctor_gpu *next_without_driver(const struct davy_doctor_facts *facts)
{
	for (size_t i = 0; i < facts->gpu_count; i++)
		if (!facts->gpu[i].driver[0] && facts->gpu[i].wanted[0])
			return &facts->gpu[i];
	return NULL;
}

static const struct davy_doctor_running *next_not_adopted(const struct davy_doctor_facts *facts)
{
	const struct davy_doctor_running *found = NULL;

	for (size_t i = 0; i < facts->running_count; i++)
		if (!facts->running[i].adopted && (!found || !found->unit[0]))
			found = &facts->running[i];
	return found;
}

void davy_doctor_next(const struct davy_doctor_facts *facts, struct davy_next *ret_next)
{
	const struct davy_doctor_gpu *gpu = next_without_driver(facts);
	const struct davy_doctor_running *engine = next_not_adopted(facts);

	if (gpu)
		next_say(ret_next, "a driver for a GPU: engines cannot use it", "modprobe %s",
			 gpu->wanted);
	else if (!facts->lamp.runs && facts->lamp.installed)
		next_say(ret_next, "the agent: nothing is watched",
			 "systemctl enable --now davylamp");
	else if (!facts->lamp.runs)
		next_say(ret_next, "the agent: nothing is watched", "davylamp run");
	else if (engine && engine->unit[0])
		next_say(ret_next, "an adopted engine: the agent only observes this one",
			 "davylamp policy adopt %s", engine->unit);
	else if (engine)
		next_say(ret_next, "an adopted engine: start this one with davylamp exec",
			 "davylamp exec --explain -- COMMAND");
	else if (!facts->running_count)
		next_say(ret_next, "an engine: none runs", "davylamp exec -- COMMAND");
	else if (strcmp(facts->lamp.mode, "enforce") != 0)
		next_say(ret_next,
			 "mode = enforce in /etc/davylamp/hazards.conf: actions are only planned",
			 "davylamp top");
	else
		next_say(ret_next, "nothing", "davylamp top");
}
