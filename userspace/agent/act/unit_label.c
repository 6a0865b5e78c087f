/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Consent in a container's own definition: if agent.adopt_labels is 1, a container of root's Docker
 * or Podman with the label io.davylamp.adopt=enforce is adopted when an engine starts in it.
 */
#include "agent/agent.h"

#include <stdio.h>
#include <stdlib.h>

#include "act/container_unit.h"
#include "agent/act/units.h"

#define ASK_MS	  10000
#define ID_DIGITS 12 /* as in 'docker ps' */

static void on_label(void *arg, const struct davy_unit_answer *said)
{
	struct davy_agent *a = arg;

	if (!said->error && davy_unit_name_valid(said->state->consent))
		davy_unit_adopt_by_label(a, said->state->consent);
}

static void unit_label_ask(struct davy_agent *a, struct davy_tracked *t, const char *runtime)
{
	char name[DAVY_UNIT_LEN];

	t->label_asked = true;
	snprintf(name, sizeof(name), "%s:%.*s", runtime, ID_DIGITS, t->reported.container);
	if (davy_unit_name_valid(name))
		davy_container_request(a->loop, a->units->dir, "label", name, ASK_MS, on_label, a);
}

void davy_units_labels(struct davy_agent *a)
{
	if (!a->core.config.value[DAVY_CFG_ADOPT_LABELS])
		return;
	for (size_t i = 0; i < DAVY_TRACKED_MAX; i++) {
		struct davy_tracked *t = &a->tracked[i];
		const struct davy_ev_process *p = &t->reported;

		if (!t->pid || t->label_asked || p->engine == DAVY_ENGINE_NONE || p->workload ||
		    !p->container[0])
			continue;
		if (p->runtime == DAVY_RUNTIME_PODMAN)
			unit_label_ask(a, t, "podman");
		else if (p->runtime == DAVY_RUNTIME_DOCKER || p->runtime == DAVY_RUNTIME_OTHER)
			unit_label_ask(a, t, "docker"); /* with a cgroup parent of its own */
	}
}
