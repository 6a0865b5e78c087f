/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/text.h"
#include "report/choice_text.h"

#define SHOWN (4 * DL_CHOICE_TEXT)

/* Whether a node before it has told the rule with its reason. */
static bool told(const struct dl_choice *c, size_t before)
{
	const struct dl_rule *rule = c->node[before].value->origin.rule;

	for (size_t i = 0; i < before; i++)
		if (c->node[i].value && c->node[i].value->origin.rule == rule)
			return true;
	return false;
}

static void print_origin(FILE *out, int indent, const struct dl_policy_origin *o, bool again)
{
	const struct dl_rule *r = o->rule;
	const char *source = dl_policy_text(o->layer, r->source);
	const char *date = dl_policy_text(o->layer, r->date);
	char text[SHOWN];

	fprintf(out, "%*s%s, %s:%u, rule %s%s\n", indent, "",
		dl_layer_name((enum dl_layer)o->layer->layer),
		dl_text_shown(text, sizeof(text), o->layer->path), o->line, r->name,
		o->pinned ? ", pinned" : "");
	if (again)
		return;
	if (r->because)
		fprintf(out, "%*sbecause %s\n", indent, "",
			dl_text_shown(text, sizeof(text), dl_policy_text(o->layer, r->because)));
	if (source[0] || date[0])
		fprintf(out, "%*s%s%s%s\n", indent, "", dl_text_shown(text, sizeof(text), source),
			source[0] && date[0] ? ", " : "", date);
}

void dl_choice_print(FILE *out, const struct dl_choice *c)
{
	static const char *const marks[DL_MARK_COUNT] = { "    ", "yes ", " no ", "warn" };
	char text[SHOWN];

	for (size_t i = 0; i < c->node_count; i++) {
		const struct dl_choice_node *n = &c->node[i];
		int indent = n->depth ? 6 : 0;

		fprintf(out, "%s %*s%s: %s\n", marks[n->mark], indent, "",
			dl_choice_step_name(n->step), dl_text_shown(text, sizeof(text), n->text));
		if (n->value)
			print_origin(out, indent + 11, &n->value->origin, told(c, i));
	}
	if (c->left_out)
		fprintf(out, "%u more found no room\n", c->left_out);
}
