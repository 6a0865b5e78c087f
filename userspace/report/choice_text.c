/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/text.h"
#include "report/choice_text.h"

#define SHOWN (4 * DAVY_CHOICE_TEXT)

/* Whether an earlier node has printed the rule with its reason. */
static bool choice_text_printed(const struct davy_choice *c, size_t before)
{
	const struct davy_rule *rule = c->node[before].value->origin.rule;

	for (size_t i = 0; i < before; i++)
		if (c->node[i].value && c->node[i].value->origin.rule == rule)
			return true;
	return false;
}

static void choice_text_print_origin(FILE *out, int indent, const struct davy_policy_origin *o,
				     bool again)
{
	const struct davy_rule *r = o->rule;
	const char *source = davy_policy_text(o->layer, r->source);
	const char *date = davy_policy_text(o->layer, r->date);
	char text[SHOWN];

	fprintf(out, "%*s%s, %s:%u, rule %s%s\n", indent, "",
		davy_layer_name((enum davy_layer)o->layer->layer),
		davy_text_shown(text, sizeof(text), o->layer->path), o->line, r->name,
		o->pinned ? ", pinned" : "");
	if (again)
		return;
	if (r->reason)
		fprintf(out, "%*sbecause %s\n", indent, "",
			davy_text_shown(text, sizeof(text), davy_policy_text(o->layer, r->reason)));
	if (source[0] || date[0])
		fprintf(out, "%*s%s%s%s\n", indent, "", davy_text_shown(text, sizeof(text), source),
			source[0] && date[0] ? ", " : "", date);
}

void davy_choice_print(FILE *out, const struct davy_choice *c)
{
	static const char *const marks[DAVY_MARK_COUNT] = { "    ", "yes ", " no ", "warn" };
	char text[SHOWN];

	for (size_t i = 0; i < c->node_count; i++) {
		const struct davy_choice_node *n = &c->node[i];
		int indent = n->depth ? 6 : 0;

		fprintf(out, "%s %*s%s: %s\n", marks[n->mark], indent, "",
			davy_choice_step_name(n->step),
			davy_text_shown(text, sizeof(text), n->text));
		if (n->value)
			choice_text_print_origin(out, indent + 11, &n->value->origin,
						 choice_text_printed(c, i));
	}
	if (c->left_out)
		fprintf(out, "%u more entries had no room\n", c->left_out);
}
