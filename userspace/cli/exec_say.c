/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a start says of its decision: what stands against it, and what was done for that. */
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "cli/exec_case.h"
#include "cli/verbs.h"

#define SHOWN 900 /* a message has 1 kB */

void dl_exec_say_value(const char *key, const struct dl_policy_value *v)
{
	const struct dl_policy_origin *o = &v->origin;
	char text[SHOWN], path[4 * DL_POLICY_PATH_LEN];

	snprintf(text, sizeof(text), "policy: %s%s%s = %s (%s:%u, rule %s)%s%s", key,
		 v->name ? " " : "", v->name ? v->name : "", v->text,
		 dl_text_shown(path, sizeof(path), o->layer->path), o->line, o->rule->name,
		 o->rule->because ? ": " : "", dl_policy_text(o->layer, o->rule->because));
	dl_log("%s", text);
}

static const char *chosen_name(const struct dl_choice *d)
{
	return d->refused			  ? "nothing"
	       : d->backend == DL_BACKEND_CPU	  ? "the CPU"
	       : d->backend == DL_BACKEND_UNKNOWN ? "the engine's own choice"
						  : dl_backend_name(d->backend);
}

static void say_node(const struct dl_choice *d, const struct dl_choice_node *n)
{
	bool speaks = n->mark == DL_MARK_WARN || (n->mark == DL_MARK_NO && n->depth);
	char text[SHOWN];

	if (!speaks)
		return;
	dl_text_shown(text, sizeof(text), n->text);
	if (n->step == DL_STEP_MEMORY)
		dl_log("%s: %s", dl_backend_name(n->backend), text);
	else if (n->mark == DL_MARK_WARN)
		dl_log("%s%s; starting on %s all the same",
		       n->step == DL_STEP_RULES ? "policy: " : "", text, chosen_name(d));
	else
		dl_log("%s", text);
}

static bool moved_away(const struct dl_exec_case *c)
{
	const struct dl_choice *d = &c->choice;

	for (size_t i = 0; i < d->node_count; i++)
		if (d->node[i].step == DL_STEP_BACKEND && d->node[i].mark == DL_MARK_NO)
			return true;
	return false;
}

void dl_exec_say(const struct dl_exec_case *c)
{
	const struct dl_choice *d = &c->choice;
	const struct dl_policy_value *rules = &d->before.value[DL_POLICY_BACKENDS];
	char text[SHOWN];

	for (size_t i = 0; i < d->node_count; i++)
		say_node(d, &d->node[i]);
	if (d->refused) {
		dl_log("%s", dl_text_shown(text, sizeof(text), d->node[d->node_count - 1].text));
		return;
	}
	if (c->question.want == DL_WANT_AUTO && rules->origin.rule && d->backend == DL_BACKEND_CPU)
		dl_exec_say_value("backends", rules);
	if (c->question.want <= DL_WANT_COMMAND && d->backend != DL_BACKEND_UNKNOWN &&
	    moved_away(c))
		dl_log("starting on %s", chosen_name(d));
	if (d->unknown && c->question.subject.engine && d->backend != DL_BACKEND_CPU)
		dl_log("'%s' is unknown to the policy: it starts with the safe set, and is watched",
		       c->question.subject.model);
	if (c->launch.facts.engine == DL_ENGINE_NONE)
		dl_log("'%s' is no engine davylamp knows: it is watched, but cannot be moved to "
		       "the CPU",
		       dl_text_shown(text, sizeof(text), c->options.command[0]));
}
