/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs the decision of a start: what speaks against it, and what was changed. */
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "exec/exec_case.h"
#include "verb/verb.h"

#define SHOWN 900 /* davy_log() has 1 kB */

void davy_exec_say_value(const char *key, const struct davy_policy_value *v)
{
	const struct davy_policy_origin *o = &v->origin;
	char text[SHOWN], path[4 * DAVY_POLICY_PATH_LEN];

	snprintf(text, sizeof(text), "policy: %s%s%s = %s (%s:%u, rule %s)%s%s", key,
		 v->name ? " " : "", v->name ? v->name : "", v->text,
		 davy_text_shown(path, sizeof(path), o->layer->path), o->line, o->rule->name,
		 o->rule->reason ? ": " : "", davy_policy_text(o->layer, o->rule->reason));
	davy_log("%s", text);
}

static const char *chosen_name(const struct davy_choice *d)
{
	return d->refused			    ? "nothing"
	       : d->backend == DAVY_BACKEND_CPU	    ? "the CPU"
	       : d->backend == DAVY_BACKEND_UNKNOWN ? "the engine's own choice"
						    : davy_backend_name(d->backend);
}

static void say_node(const struct davy_choice *d, const struct davy_choice_node *n)
{
	bool speaks = n->mark == DAVY_MARK_WARN || (n->mark == DAVY_MARK_NO && n->depth);
	char text[SHOWN];

	if (!speaks)
		return;
	davy_text_shown(text, sizeof(text), n->text);
	if (n->step == DAVY_STEP_MEMORY)
		davy_log("%s: %s", davy_backend_name(n->backend), text);
	else if (n->mark == DAVY_MARK_WARN)
		davy_log("%s%s; starting on %s anyway",
			 n->step == DAVY_STEP_RULES ? "policy: " : "", text, chosen_name(d));
	else
		davy_log("%s", text);
}

static bool moved_away(const struct davy_exec_case *c)
{
	const struct davy_choice *d = &c->choice;

	for (size_t i = 0; i < d->node_count; i++)
		if (d->node[i].step == DAVY_STEP_BACKEND && d->node[i].mark == DAVY_MARK_NO)
			return true;
	return false;
}

void davy_exec_say(const struct davy_exec_case *c)
{
	const struct davy_choice *d = &c->choice;
	const struct davy_policy_value *rules = &d->before.value[DAVY_POLICY_BACKENDS];
	char text[SHOWN];

	for (size_t i = 0; i < d->node_count; i++)
		say_node(d, &d->node[i]);
	if (d->refused) {
		davy_log("%s",
			 davy_text_shown(text, sizeof(text), d->node[d->node_count - 1].text));
		return;
	}
	if (c->question.want == DAVY_WANT_AUTO && rules->origin.rule &&
	    d->backend == DAVY_BACKEND_CPU)
		davy_exec_say_value("backends", rules);
	if (c->question.want <= DAVY_WANT_COMMAND && d->backend != DAVY_BACKEND_UNKNOWN &&
	    moved_away(c))
		davy_log("starting on %s", chosen_name(d));
	if (d->unknown && c->question.subject.engine && d->backend != DAVY_BACKEND_CPU)
		davy_log("model '%s' is unknown to the policy: it starts with the safe settings",
			 c->question.subject.model);
	if (c->launch.facts.engine == DAVY_ENGINE_NONE)
		davy_log("'%s' is not a known engine; an engine that it starts is recognised and "
			 "changed by variables",
			 davy_text_shown(text, sizeof(text), c->options.command[0]));
}
