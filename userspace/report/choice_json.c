/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/text.h"
#include "report/choice_text.h"

#define SHOWN (4 * DAVY_CHOICE_TEXT)

static void choice_json_set_text(json_t *o, const char *key, const char *text)
{
	char safe[SHOWN];

	if (text && text[0])
		json_object_set_new(o, key, json_string(davy_text_shown(safe, sizeof(safe), text)));
}

json_t *davy_policy_value_json(const struct davy_policy_value *v)
{
	const struct davy_policy_origin *at = &v->origin;
	json_t *o = json_pack("{s:s, s:i, s:s, s:b}", "layer",
			      davy_layer_name((enum davy_layer)at->layer->layer), "line",
			      (int)at->line, "rule", at->rule->name, "pinned", at->pinned);

	choice_json_set_text(o, "file", at->layer->path);
	choice_json_set_text(o, "name", v->name);
	choice_json_set_text(o, "value", v->text);
	choice_json_set_text(o, "because", davy_policy_text(at->layer, at->rule->reason));
	choice_json_set_text(o, "source", davy_policy_text(at->layer, at->rule->source));
	choice_json_set_text(o, "date", davy_policy_text(at->layer, at->rule->date));
	return o;
}

static json_t *node_json(const struct davy_choice_node *n)
{
	json_t *o = json_pack("{s:s, s:s}", "step", davy_choice_step_name(n->step), "mark",
			      davy_choice_mark_name(n->mark));

	if (n->backend != DAVY_BACKEND_UNKNOWN)
		json_object_set_new(o, "backend", json_string(davy_backend_name(n->backend)));
	choice_json_set_text(o, "text", n->text);
	if (n->value)
		json_object_set_new(o, "evidence", davy_policy_value_json(n->value));
	return o;
}

static json_t *tree_json(const struct davy_choice *c)
{
	json_t *tree = json_array(), *last = NULL;

	for (size_t i = 0; i < c->node_count; i++) {
		const struct davy_choice_node *n = &c->node[i];
		json_t *o = node_json(n), *below;

		if (!n->depth || !last) {
			json_array_append_new(tree, o);
			last = o;
			continue;
		}
		below = json_object_get(last, "below");
		if (!below) {
			below = json_array();
			json_object_set_new(last, "below", below);
		}
		json_array_append_new(below, o);
	}
	return tree;
}

json_t *davy_choice_json(const struct davy_choice *c)
{
	return json_pack("{s:o, s:b, s:b, s:b, s:o}", "backend",
			 c->refused || !c->backend ? json_null()
						   : json_string(davy_backend_name(c->backend)),
			 "refused", c->refused, "pinned", c->pinned, "unknown", c->unknown, "tree",
			 tree_json(c));
}
