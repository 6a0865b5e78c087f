/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules against a GPU, its firmware or its kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "doctor/read.h"

/* Takes the warning, or else the reason, of the rule that excludes the backend. */
static void rules_take_rule(struct davy_doctor_gpu *g, enum davy_backend backend,
			    const struct davy_effective *e)
{
	const struct davy_policy_origin *o = &e->value[DAVY_POLICY_BACKENDS].origin;
	char origin[DAVY_DOCTOR_VALUE];
	const char *why, *source;

	if (!o->rule || davy_effective_allows(e, backend))
		return;
	why = davy_policy_text(o->layer, o->rule->reason);
	source = davy_policy_text(o->layer, o->rule->source);
	g->policy[backend].against = true;
	davy_text_safe(g->policy[backend].why, sizeof(g->policy[backend].why), why);
	snprintf(origin, sizeof(origin), "rule %s%s%.60s", o->rule->name, source[0] ? ", " : "",
		 source);
	davy_text_safe(g->policy[backend].origin, sizeof(g->policy[backend].origin), origin);
}

void davy_read_rules(struct davy_doctor_facts *facts, const struct davy_policy_set *set)
{
	struct davy_effective *e = malloc(sizeof(*e));

	for (size_t i = 0; e && i < facts->gpu_count; i++) {
		struct davy_doctor_gpu *g = &facts->gpu[i];
		struct davy_policy_subject subject = g->subject;

		/* Rules name engines. Default: the engine with most backends. */
		subject.engine =
			facts->engine.engine ? facts->engine.engine : DAVY_ENGINE_LLAMA_SERVER;
		subject.context = facts->engine.context;
		davy_policy_effective(set, &subject, e);
		for (int b = DAVY_BACKEND_VULKAN; b < DAVY_BACKEND_COUNT; b++)
			if (davy_doctor_backends_of(g->subject.vendor) & 1u << b)
				rules_take_rule(g, (enum davy_backend)b, e);
		subject.backend = DAVY_BACKEND_VULKAN;
		subject.forced = true;
		davy_policy_effective(set, &subject, e);
		g->policy_ubatch = davy_effective_count(e, DAVY_POLICY_UBATCH);
	}
	free(e);
}
