/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All adopted services: opens and closes them, and reads their state in turn and when systemd
 * reports a change.
 */
#include "agent/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/act/units.h"

#define ASK_AGAIN_NS  (10 * DAVY_NS_PER_S) /* for a change that was not reported */
#define ASK_SILENT_NS (2 * DAVY_NS_PER_S)

static void units_on_changed(void *arg, const char *name)
{
	struct davy_service *u = davy_unit_named(arg, name);

	if (u && !u->act.plan)
		davy_unit_look(u);
}

static void units_on_lost(void *arg)
{
	struct davy_agent *a = arg;

	a->units->lost = true;
}

/* An absolute path: unit files, which are in another folder, contain it. */
static void find_dir(struct davy_agent *a)
{
	char here[PATH_MAX] = "";
	const char *dir = a->options.state_dir;

	if (dir[0] != '/' && !getcwd(here, sizeof(here)))
		here[0] = 0;
	if (snprintf(a->units->dir, PATH_MAX, "%s%s%s/units", here, here[0] ? "/" : "", dir) >=
	    PATH_MAX)
		a->units->dir[0] = 0;
}

void davy_units_open(struct davy_agent *a)
{
	struct davy_unit_hooks hooks = { .changed = units_on_changed,
					 .lost = units_on_lost,
					 .arg = a };

	a->units = calloc(1, sizeof(*a->units));
	if (a->units) {
		find_dir(a);
		hooks.dir = a->units->dir;
	}
	if (a->units && davy_systemd_new(a->loop, &hooks, &a->units->systemd)) {
		free(a->units);
		a->units = NULL;
	}
	if (!a->units)
		return;
	davy_units_read(a);
}

void davy_units_close(struct davy_agent *a)
{
	if (!a->units)
		return;
	davy_systemd_free(a->units->systemd);
	for (size_t i = 0; i < DAVY_ADOPTED_MAX; i++)
		free(a->units->unit[i].start);
	free(a->units);
	a->units = NULL;
}

void davy_units_tick(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_units *units = a->units;
	uint64_t pause_ns = units && units->lost ? ASK_SILENT_NS : ASK_AGAIN_NS;
	bool ask;

	if (!units)
		return;
	davy_units_read_tick(a, now_ns);
	ask = now_ns - units->asked_ns >= pause_ns;
	if (ask)
		davy_units_labels(a);
	if (!units->adopted.count)
		return; /* the first one is asked about at once */
	if (ask) {
		units->asked_ns = now_ns;
		units->lost = false;
	}
	for (size_t i = 0; i < DAVY_ADOPTED_MAX; i++) {
		struct davy_service *u = &units->unit[i];

		if (!u->name[0])
			continue;
		davy_unit_watch_tick(u);
		if (u->act.awaits)
			davy_unit_act_tick(u);
		if (!ask || u->act.plan)
			continue;
		davy_unit_look_again(u);
		davy_unit_look(u);
	}
}
