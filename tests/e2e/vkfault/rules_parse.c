// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *word;
	int value;
} kinds[] = {
	{ "ok", FAULT_OK },	{ "lost", FAULT_LOST }, { "hang", FAULT_HANG },
	{ "slow", FAULT_SLOW }, { "oom", FAULT_OOM },	{ "crash", FAULT_CRASH },
	{ "print", FAULT_PRINT }, { "noise", FAULT_NOISE }, { "spin", FAULT_SPIN },
}, types[] = {
	{ "discrete", DEVICE_DISCRETE },
	{ "integrated", DEVICE_INTEGRATED },
	{ "cpu", DEVICE_CPU },
};

/* Non-negative, with an optional K, M or G (powers of 1024). */
static int parse_number(const char *text, uint64_t *ret_value)
{
	static const char suffixes[] = "KMG";
	const char *suffix;
	unsigned long long value;
	unsigned int shift = 0;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno)
		return -EINVAL;
	if (*end) {
		suffix = strchr(suffixes, *end);
		if (!suffix || end[1])
			return -EINVAL;
		shift = 10 * (unsigned int)(suffix - suffixes + 1);
	}
	if (value > UINT64_MAX >> shift)
		return -EINVAL;
	*ret_value = (uint64_t)value << shift;
	return 0;
}

static int parse_type(const char *text, enum fault_device_type *ret_type)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcmp(text, types[i].word) == 0) {
			*ret_type = (enum fault_device_type)types[i].value;
			return 0;
		}
	}
	return -EINVAL;
}

/* A PCI number, in hexadecimal behind "0x". */
static int parse_id(const char *text, uint64_t *ret_value)
{
	char *end;
	unsigned long long value;

	if (strncmp(text, "0x", 2) != 0)
		return parse_number(text, ret_value);
	value = strtoull(text + 2, &end, 16);
	if (end == text + 2 || *end || value > UINT16_MAX)
		return -EINVAL;
	*ret_value = value;
	return 0;
}

static int parse_setting(const char *key, const char *value, struct fault_rule *rule)
{
	if (strcmp(key, "after") == 0)
		return parse_number(value, &rule->after_count);
	if (strcmp(key, "ms") == 0)
		return parse_number(value, &rule->ms);
	if (strcmp(key, "min") == 0)
		return parse_number(value, &rule->min_bytes);
	if (strcmp(key, "wide") == 0)
		return parse_number(value, &rule->wide);
	if (strcmp(key, "heap") == 0)
		return parse_number(value, &rule->heap_bytes);
	if (strcmp(key, "vendor") == 0)
		return parse_id(value, &rule->vendor);
	if (strcmp(key, "device") == 0)
		return parse_id(value, &rule->device);
	if (strcmp(key, "type") == 0)
		return parse_type(value, &rule->type);
	return -EINVAL;
}

static int parse_word(char *word, struct fault_rule *rule)
{
	char *value = strchr(word, '=');
	size_t i;

	if (value) {
		*value++ = '\0';
		return parse_setting(word, value, rule);
	}
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(word, kinds[i].word) == 0) {
			rule->kind = (enum fault_kind)kinds[i].value;
			return 0;
		}
	}
	return -EINVAL;
}

/* Parses one line, which it changes. "name=" takes the rest of the line, spaces included. */
static int parse_line(char *line, struct fault_rule *rule)
{
	char *word, *rest = line;
	int err = 0;

	while (!err) {
		rest += strspn(rest, " \t\r");
		if (!*rest)
			return 0;
		if (strncmp(rest, "name=", 5) == 0) {
			snprintf(rule->name, sizeof(rule->name), "%s", rest + 5);
			return 0;
		}
		word = rest;
		rest += strcspn(rest, " \t\r");
		if (*rest)
			*rest++ = '\0';
		err = parse_word(word, rule);
	}
	return err;
}

int fault_rule_parse(const char *text, struct fault_rule *ret_rule)
{
	struct fault_rule rule = { .min_bytes = 1 };
	char copy[1024], *line, *save = NULL;
	int err = 0;

	if ((size_t)snprintf(copy, sizeof(copy), "%s", text) >= sizeof(copy))
		return -EINVAL;
	for (line = strtok_r(copy, "\n", &save); line && !err; line = strtok_r(NULL, "\n", &save))
		err = parse_line(line, &rule);
	if (!err)
		*ret_rule = rule;
	return err;
}
