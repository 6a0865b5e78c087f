/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of a layer, as the agent writes it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/policy_file.h"

static void policy_text_put(FILE *out, const char *key, const char *value)
{
	fprintf(out, *value ? "%s = %s\n" : "%s =%s\n", key, value);
}

static void put_said(FILE *out, const struct davy_policy_layer *layer, const char *key,
		     uint32_t text)
{
	if (text)
		policy_text_put(out, key, davy_policy_text(layer, text));
}

static void put_rule(FILE *out, const struct davy_policy_layer *layer, const struct davy_rule *rule)
{
	fprintf(out, "\n[rule %s]\n", rule->name);
	for (uint32_t i = 0; i < DAVY_IF_COUNT; i++) {
		if (!rule->condition[i].text)
			continue;
		fprintf(out, "if ");
		policy_text_put(out, davy_condition_name(i),
				davy_policy_text(layer, rule->condition[i].text));
	}
	for (size_t i = 0; i < rule->value_count; i++) {
		const struct davy_rule_value *v = &rule->value[i];

		fprintf(out, "%s", davy_policy_key_name(v->key));
		if (v->name)
			fprintf(out, " %s", davy_policy_text(layer, v->name));
		policy_text_put(out, "", davy_policy_text(layer, v->text));
	}
	if (rule->pin)
		policy_text_put(out, "pin", "yes");
	put_said(out, layer, "because", rule->reason);
	put_said(out, layer, "source", rule->source);
	put_said(out, layer, "date", rule->date);
}

static bool same_text(const struct davy_policy_layer *a, uint32_t at_a,
		      const struct davy_policy_layer *b, uint32_t at_b)
{
	return !at_a == !at_b && !strcmp(davy_policy_text(a, at_a), davy_policy_text(b, at_b));
}

/* Compares the content of a file; line numbers and the place of texts do not count. */
static bool same_rule(const struct davy_policy_layer *a, const struct davy_rule *rule_a,
		      const struct davy_policy_layer *b, const struct davy_rule *rule_b)
{
	if (strcmp(rule_a->name, rule_b->name) != 0 || rule_a->pin != rule_b->pin ||
	    rule_a->value_count != rule_b->value_count ||
	    !same_text(a, rule_a->reason, b, rule_b->reason) ||
	    !same_text(a, rule_a->source, b, rule_b->source) ||
	    !same_text(a, rule_a->date, b, rule_b->date))
		return false;
	for (int i = 0; i < DAVY_IF_COUNT; i++) {
		const struct davy_rule_condition *c = &rule_a->condition[i],
						 *d = &rule_b->condition[i];

		if (c->number != d->number || !same_text(a, c->text, b, d->text))
			return false;
	}
	for (size_t i = 0; i < rule_a->value_count; i++) {
		const struct davy_rule_value *v = &rule_a->value[i], *w = &rule_b->value[i];

		if (v->key != w->key || v->number != w->number ||
		    !same_text(a, v->name, b, w->name) || !same_text(a, v->text, b, w->text))
			return false;
	}
	return true;
}

/* Reads the text back: a text that a reader would refuse or misinterpret is not written. */
static int policy_text_check(const struct davy_policy_layer *layer, const char *text, size_t size,
			     char error[DAVY_CONFIG_ERROR_LEN])
{
	struct davy_policy_layer *back = malloc(sizeof(*back));
	int err = back ? 0 : -ENOMEM;

	if (!err)
		err = davy_policy_text_read(text, size, layer->path, (enum davy_layer)layer->layer,
					    back, error);
	if (err == -EBADMSG)
		err = -EINVAL;
	for (uint32_t i = 0; !err && i < layer->rule_count; i++)
		if (i >= back->rule_count ||
		    !same_rule(layer, &layer->rule[i], back, &back->rule[i])) {
			err = -EINVAL;
			snprintf(error, DAVY_CONFIG_ERROR_LEN,
				 "rule '%s' would be different when read again",
				 layer->rule[i].name);
		}
	free(back);
	return err;
}

int davy_policy_text_write(const struct davy_policy_layer *layer, char **ret_text, size_t *ret_size,
			   char error[DAVY_CONFIG_ERROR_LEN])
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int err;

	error[0] = 0;
	if (!out)
		return -ENOMEM;
	if (layer->layer == DAVY_LAYER_AGENT)
		fprintf(out,
			"# Written by davylamp from what it saw; replaced whole at each change.\n"
			"# What must stay as it is goes into backend.conf of the configuration, "
			"with 'pin = yes'.\n");
	for (uint32_t i = 0; i < layer->rule_count; i++)
		put_rule(out, layer, &layer->rule[i]);
	err = fclose(out) ? -ENOMEM : 0;
	if (!err && size > DAVY_POLICY_FILE_MAX - 2) {
		err = -EINVAL;
		snprintf(error, DAVY_CONFIG_ERROR_LEN, "%zu bytes, a file has at most %zu", size,
			 DAVY_POLICY_FILE_MAX - 2);
	}
	if (!err)
		err = policy_text_check(layer, text, size, error);
	if (err) {
		free(text);
		return err;
	}
	*ret_text = text;
	*ret_size = size;
	return 0;
}
