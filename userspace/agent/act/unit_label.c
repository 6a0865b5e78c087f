/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Consent in a container's own definition: if agent.adopt_labels is 1, a container of root's Docker
 * or Podman with the label io.davylamp.adopt=enforce is adopted when an engine runs in it. Each
 * container is asked about once, one at a time, so that a release holds.
 */
#include "agent/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act/container_unit.h"
#include "agent/act/units.h"

#define ASK_MS 10000

static void on_label(void *arg, const struct davy_unit_answer *said)
{
	struct davy_agent *a = arg;
	struct davy_units *units = a->units;

	units->label_asking = false;
	if (said->error) /* the runtime does not answer: again */
		units->label[--units->label_count % DAVY_UNIT_LABELS][0] = 0;
	else if (davy_unit_name_valid(said->state->consent))
		davy_unit_adopt_by_label(a, said->state->consent);
}

static bool unit_label_known(const struct davy_units *units, const char *container)
{
	for (size_t i = 0; i < DAVY_UNIT_LABELS; i++)
		if (units->label[i][0] && !strncmp(units->label[i], container, DAVY_UNIT_DIGITS))
			return true;
	return false;
}

static void unit_label_ask(struct davy_agent *a, const char *runtime, const char *container)
{
	struct davy_units *units = a->units;
	char name[DAVY_UNIT_LEN], *digits = units->label[units->label_count % DAVY_UNIT_LABELS];

	snprintf(digits, DAVY_UNIT_DIGITS + 1, "%s", container);
	snprintf(name, sizeof(name), "%s:%s", runtime, digits);
	units->label_count++;
	units->label_asking =
		davy_unit_name_valid(name) &&
		!davy_container_request(a->loop, units->dir, "label", name, ASK_MS, on_label, a);
}

void davy_units_labels(struct davy_agent *a)
{
	if (!a->core.config.value[DAVY_CFG_ADOPT_LABELS])
		return;
	for (size_t i = 0; i < DAVY_TRACKED_MAX && !a->units->label_asking; i++) {
		const struct davy_tracked *t = &a->tracked[i];
		const struct davy_ev_process *p = &t->reported;

		if (!t->pid || p->engine == DAVY_ENGINE_NONE || p->workload || !p->container[0] ||
		    unit_label_known(a->units, p->container))
			continue;
		if (p->runtime == DAVY_RUNTIME_PODMAN)
			unit_label_ask(a, "podman", p->container);
		else if (p->runtime == DAVY_RUNTIME_DOCKER || p->runtime == DAVY_RUNTIME_OTHER)
			unit_label_ask(a, "docker", p->container); /* with another parent */
	}
}
