/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts a text to a layer. */
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "store/policy_file.h"
#include "store/policy_words.h"

#define LINE_MAX_LEN 256

struct reader {
	struct davy_policy_layer *layer;
	struct davy_rule *rule; /* of the section being read */
	const char *at;		/* text that was not read yet */
	const char *end;
	int line;
	char text[LINE_MAX_LEN]; /* of the line, unchanged */
	int pin_line;		 /* of the rule */
	int said_line[3];	 /* because, source, date */
	int wrong_line;
	size_t wrong_column;
	char wrong[DAVY_CONFIG_ERROR_LEN];
};

/* Reports the first invalid line; the rest of the file is not read. "offset" is in r->text. */
static int __attribute__((format(printf, 4, 5)))
fail(struct reader *r, int line, size_t offset, const char *format, ...)
{
	va_list list;

	if (r->wrong_line)
		return 0;
	r->wrong_line = line;
	r->wrong_column = offset + 1;
	va_start(list, format);
	vsnprintf(r->wrong, sizeof(r->wrong), format, list);
	va_end(list);
	return 0;
}

static size_t indent(const struct reader *r)
{
	return strspn(r->text, " \t");
}

/* The start of the value: after the first sign at which libinih splits a line. */
static size_t value_offset(const struct reader *r)
{
	size_t at = strcspn(r->text, "=:");

	at += r->text[at] != 0;
	return at + strspn(r->text + at, " \t");
}

/* The required keys of a rule are checked when the next rule begins, or the file ends. */
static void end_rule(struct reader *r)
{
	const struct davy_rule *rule = r->rule;
	bool waits;

	if (!rule || r->wrong_line)
		return;
	waits = rule->condition[DAVY_IF_BACKEND].text || rule->condition[DAVY_IF_LOCKUP_BELOW].text;
	if (!rule->value_count) {
		fail(r, (int)rule->line, 0,
		     "rule '%s' sets no value; expected backends, ubatch, environment NAME or "
		     "another key",
		     rule->name);
		return;
	}
	for (size_t i = 0; i < rule->value_count && waits; i++)
		if (rule->value[i].key == DAVY_POLICY_BACKENDS)
			fail(r, (int)rule->value[i].line, 0,
			     "'backends' is not allowed in a rule with 'if %s'; "
			     "move it to another rule",
			     rule->condition[DAVY_IF_BACKEND].text ? "backend" : "lockup_below");
	if (r->layer->layer == DAVY_LAYER_SHIPPED && !(rule->reason && rule->source && rule->date))
		fail(r, (int)rule->line, 0,
		     "rule '%s' has no '%s'; shipped rules need 'because', 'source' and 'date'",
		     rule->name,
		     !rule->reason   ? "because"
		     : !rule->source ? "source"
				     : "date");
}

static void begin_rule(struct reader *r, const char *name, size_t offset)
{
	struct davy_rule *first = davy_policy_rule_find(r->layer, name);

	end_rule(r);
	r->pin_line = 0;
	memset(r->said_line, 0, sizeof(r->said_line));
	if (first) {
		fail(r, r->line, offset, "duplicate rule '%s'; first defined in line %u", name,
		     first->line);
		return;
	}
	r->rule = davy_policy_rule_add(r->layer, name);
	if (r->rule)
		r->rule->line = (uint32_t)r->line;
	else if (r->layer->rule_count == DAVY_RULES_MAX)
		fail(r, r->line, offset, "too many rules (at most %d)", DAVY_RULES_MAX);
	else
		fail(r, r->line, offset,
		     "'%.60s' is no name of a rule, expected a to z, 0 to 9 and '-', at most %d",
		     name, DAVY_RULE_NAME_LEN - 1);
}

static void policy_reader_take_section(struct reader *r)
{
	size_t open = indent(r), word = open + 1 + strspn(r->text + open + 1, " \t");
	const char *end = strchr(r->text + word, ']');
	size_t len, name;
	char text[LINE_MAX_LEN];

	if (!end) {
		fail(r, r->line, open, "'[' without ']', expected '[rule NAME]'");
		return;
	}
	len = strspn(end + 1, " \t\r");
	if (!strchr("#;", end[1 + len])) { /* matches the terminating 0 too */
		fail(r, r->line, (size_t)(end + 1 + len - r->text),
		     "unexpected '%s' after the section name", end + 1 + len);
		return;
	}
	len = strcspn(r->text + word, " \t]");
	if (len != 4 || memcmp(r->text + word, "rule", 4) != 0) {
		fail(r, r->line, word, "unknown section '%.*s', expected '[rule NAME]'",
		     len > 80 ? 80 : (int)len, r->text + word);
		return;
	}
	name = word + len + strspn(r->text + word + len, " \t");
	len = (size_t)(end - r->text) - name;
	while (len && strchr(" \t", r->text[name + len - 1]))
		len--;
	snprintf(text, sizeof(text), "%.*s", (int)len, r->text + name);
	begin_rule(r, text, name);
}

/*
 * Read function for inih. inih would split a line that is too long, and would append a line that
 * begins with blanks to the previous value: both are refused.
 */
static char *policy_reader_next_line(char *str, int num, void *stream)
{
	struct reader *r = stream;
	const char *eol;
	size_t len;

	if (r->wrong_line || r->at >= r->end || !*r->at)
		return NULL;
	r->line++;
	len = strnlen(r->at, (size_t)(r->end - r->at));
	eol = memchr(r->at, '\n', len);
	len = eol ? (size_t)(eol - r->at) : len;
	if (len + 2 > (size_t)num || len >= sizeof(r->text)) {
		fail(r, r->line, (size_t)num - 2, "a line of %zu bytes, expected at most %d", len,
		     num - 2);
		return NULL;
	}
	memcpy(r->text, r->at, len);
	r->text[len] = 0;
	r->at += len + (eol != NULL);
	memcpy(str, r->text + indent(r), len - indent(r) + 1);
	if (str[0] == '[')
		policy_reader_take_section(r);
	return r->wrong_line ? NULL : str;
}

static int policy_reader_set_twice(struct reader *r, const char *key, uint32_t first)
{
	return fail(r, r->line, indent(r), "duplicate '%s'; first set in line %u", key, first);
}

static int policy_reader_full(struct reader *r, int err)
{
	return fail(r, r->line, indent(r),
		    err == -ENOSPC ? "too many values in a rule (at most %d)"
				   : "too long for a value; a rule has at most %d",
		    DAVY_RULE_VALUES_MAX);
}

static int on_condition(struct reader *r, const char *key, const char *name, const char *value)
{
	size_t offset = indent(r) + (size_t)(name - key);
	struct davy_policy_wrong wrong;
	uint64_t number;
	uint32_t i = 0;
	int err;

	while (davy_condition_name(i) && !davy_same_name(name, davy_condition_name(i)))
		i++;
	if (!davy_condition_name(i)) {
		davy_policy_unknown_condition(name, &wrong);
		return fail(r, r->line, offset, "%s", wrong.why);
	}
	if (r->rule->condition[i].text)
		return policy_reader_set_twice(r, key, r->rule->condition[i].line);
	if (!davy_policy_condition_read((enum davy_condition)i, value, &number, &wrong))
		return fail(r, r->line, value_offset(r) + wrong.offset, "%s", wrong.why);
	err = davy_rule_if(r->layer, r->rule, (enum davy_condition)i, value, number);
	if (err)
		return policy_reader_full(r, err);
	r->rule->condition[i].line = (uint32_t)r->line;
	return 1;
}

static const struct davy_rule_value *set_before(const struct reader *r, uint32_t key,
						const char *name)
{
	for (size_t i = 0; i < r->rule->value_count; i++) {
		const struct davy_rule_value *v = &r->rule->value[i];

		if (v->key == key &&
		    (!name || davy_same_name(davy_policy_text(r->layer, v->name), name)))
			return v;
	}
	return NULL;
}

/* "name" is NULL except for variables and arguments. */
static int on_value(struct reader *r, uint32_t index, const char *key, const char *name,
		    const char *value)
{
	const struct davy_rule_value *first = set_before(r, index, name);
	struct davy_policy_wrong wrong;
	uint32_t number;
	int err;

	if (name && !davy_policy_name_read((enum davy_policy_key)index, name, &wrong))
		return fail(r, r->line, indent(r) + (size_t)(name - key) + wrong.offset, "%s",
			    wrong.why);
	if (first)
		return policy_reader_set_twice(r, key, first->line);
	if (index == DAVY_POLICY_THRESHOLD && r->layer->layer != DAVY_LAYER_AGENT)
		return fail(r, r->line, indent(r),
			    "'threshold' is the agent's, expected the value in hazards.conf");
	if (r->layer->layer == DAVY_LAYER_FLEET && !davy_fleet_may(index))
		return fail(r, r->line, indent(r),
			    "'%s' in the fleet's layer, expected backends, ubatch, vram_reserve or "
			    "warn",
			    key);
	if (!davy_policy_value_read((enum davy_policy_key)index, value, &number, &wrong))
		return fail(r, r->line, value_offset(r) + wrong.offset, "%s", wrong.why);
	err = davy_rule_set(r->layer, r->rule, (enum davy_policy_key)index, name, value, number);
	if (err)
		return policy_reader_full(r, err);
	r->rule->value[r->rule->value_count - 1].line = (uint32_t)r->line;
	return 1;
}

static int on_pin(struct reader *r, const char *value)
{
	struct davy_policy_wrong wrong;

	if (r->layer->layer != DAVY_LAYER_ADMIN)
		return fail(r, r->line, indent(r),
			    "'pin' in the %s layer, expected it in the administrator's",
			    davy_layer_name((enum davy_layer)r->layer->layer));
	if (r->pin_line)
		return policy_reader_set_twice(r, "pin", (uint32_t)r->pin_line);
	r->pin_line = r->line;
	if (!davy_policy_pin_read(value, &r->rule->pin, &wrong))
		return fail(r, r->line, value_offset(r) + wrong.offset, "%s", wrong.why);
	return 1;
}

static const char *const said_keys[] = { "because", "source", "date" };

static int policy_reader_on_said(struct reader *r, int which, const char *value)
{
	struct davy_policy_wrong wrong;
	int err;

	if (r->said_line[which])
		return policy_reader_set_twice(r, said_keys[which], (uint32_t)r->said_line[which]);
	r->said_line[which] = r->line;
	if (!davy_policy_said_read(said_keys[which], value, &wrong) ||
	    (which == 2 && !davy_policy_date_read(value, &wrong)))
		return fail(r, r->line, value_offset(r) + wrong.offset, "%s", wrong.why);
	err = davy_rule_say(r->layer, r->rule, which == 0 ? value : NULL, which == 1 ? value : NULL,
			    which == 2 ? value : NULL);
	return err ? policy_reader_full(r, err) : 1;
}

static int policy_reader_on_key(void *arg, const char *section, const char *key, const char *value)
{
	struct reader *r = arg;
	struct davy_policy_wrong wrong;
	size_t len = strcspn(key, " \t");
	const char *name = key + len + strspn(key + len, " \t");

	(void)section; /* truncated at 49 bytes */
	if (!r->rule)
		return fail(r, r->line, indent(r),
			    "'%.80s' before the first rule, expected '[rule NAME]' above it", key);
	if (len == 2 && !memcmp(key, "if", 2))
		return on_condition(r, key, name, value);
	for (uint32_t i = 0; davy_policy_key_name(i); i++) {
		const char *known = davy_policy_key_name(i);
		bool named = i == DAVY_POLICY_ENVIRONMENT || i == DAVY_POLICY_ARGUMENT;

		if (strlen(known) == len && !memcmp(key, known, len) && (named || !*name))
			return on_value(r, i, key, named ? name : NULL, value);
	}
	if (davy_same_name(key, "pin"))
		return on_pin(r, value);
	for (int i = 0; i < 3; i++)
		if (davy_same_name(key, said_keys[i]))
			return policy_reader_on_said(r, i, value);
	davy_policy_unknown_key(key, &wrong);
	return fail(r, r->line, indent(r), "%s", wrong.why);
}

static int policy_reader_parse(struct reader *r, const char *text, size_t size)
{
	int line;

	r->at = text;
	r->end = text + size;
	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		r->at += 3;
	line = ini_parse_stream(policy_reader_next_line, r, policy_reader_on_key, r);
	if (line < 0)
		return -ENOMEM;
	if (line && (!r->wrong_line || line < r->wrong_line)) {
		r->wrong_line = 0;
		fail(r, line, 0,
		     "syntax error; expected '[rule NAME]', 'key = value' or "
		     "'# comment'");
	}
	if (!r->wrong_line && r->at < r->end)
		fail(r, r->line + 1, 0, "NUL byte in the file");
	end_rule(r);
	return 0;
}

int davy_policy_text_read(const char *text, size_t size, const char *name, enum davy_layer kind,
			  struct davy_policy_layer *ret_layer, char error[DAVY_CONFIG_ERROR_LEN])
{
	struct reader *r = calloc(1, sizeof(*r));
	char raw[DAVY_CONFIG_ERROR_LEN];
	int err = -ENOMEM;

	if (r)
		r->layer = malloc(sizeof(*r->layer));
	if (r && r->layer) {
		davy_policy_layer_init(r->layer, kind);
		davy_copy_name(r->layer->path, sizeof(r->layer->path), name);
		err = policy_reader_parse(r, text, size);
	}
	if (!err && r->wrong_line) {
		err = -EBADMSG;
		snprintf(raw, sizeof(raw), "%.160s:%d:%zu: %.330s", name, r->wrong_line,
			 r->wrong_column, r->wrong);
		davy_text_safe(error, DAVY_CONFIG_ERROR_LEN, raw);
	} else if (!err) {
		davy_policy_layer_copy(ret_layer, r->layer);
	}
	if (r)
		free(r->layer);
	free(r);
	return err;
}
