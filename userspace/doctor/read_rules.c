/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the backend policy knows against a GPU, its firmware and kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "doctor/read.h"

/* The rule that leaves it out tells why by its warning, or by its reason. */
static void take_rule(struct dl_doctor_gpu *g, enum dl_backend backend,
		      const struct dl_effective *e)
{
	const struct dl_policy_origin *o = &e->value[DL_POLICY_BACKENDS].origin;
	char origin[DL_DOCTOR_VALUE];
	const char *why, *source;

	if (!o->rule || dl_effective_allows(e, backend))
		return;
	why = dl_policy_text(o->layer, o->rule->because);
	source = dl_policy_text(o->layer, o->rule->source);
	g->policy[backend].against = true;
	dl_text_safe(g->policy[backend].why, sizeof(g->policy[backend].why), why);
	snprintf(origin, sizeof(origin), "rule %s%s%.60s", o->rule->name, source[0] ? ", " : "",
		 source);
	dl_text_safe(g->policy[backend].origin, sizeof(g->policy[backend].origin), origin);
}

void dl_read_rules(struct dl_doctor_facts *facts, const struct dl_policy_set *set)
{
	struct dl_effective *e = malloc(sizeof(*e));

	for (size_t i = 0; e && i < facts->gpu_count; i++) {
		struct dl_doctor_gpu *g = &facts->gpu[i];
		struct dl_policy_subject subject = g->subject;

		/* Rules name engines: without one, that which can use most. */
		subject.engine =
			facts->engine.engine ? facts->engine.engine : DL_ENGINE_LLAMA_SERVER;
		subject.context = facts->engine.context;
		dl_policy_effective(set, &subject, e);
		for (int b = DL_BACKEND_VULKAN; b < DL_BACKEND_COUNT; b++)
			if (dl_doctor_backends_of(g->subject.vendor) & 1u << b)
				take_rule(g, (enum dl_backend)b, e);
		subject.backend = DL_BACKEND_VULKAN;
		subject.forced = true;
		dl_policy_effective(set, &subject, e);
		g->policy_ubatch = dl_effective_count(e, DL_POLICY_UBATCH);
	}
	free(e);
}
