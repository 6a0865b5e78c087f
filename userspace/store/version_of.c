/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the version that introduced a rule of the agent's layer: compares versions, the newest
 * first.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "store/versions.h"

/* The lines of a rule, with its head; NULL: the text has no such rule. */
static const char *section(const char *text, const char *rule, size_t *ret_size)
{
	const char *at = text, *end;
	size_t len = strlen(rule);

	while ((at = strstr(at, "[rule "))) {
		const char *name = at + 6;

		if ((at == text || at[-1] == '\n') && !strncmp(name, rule, len) && name[len] == ']')
			break;
		at = name;
	}
	if (!at)
		return NULL;
	end = strstr(at, "\n[");
	*ret_size = end ? (size_t)(end - at) : strlen(at);
	while (*ret_size && at[*ret_size - 1] == '\n')
		--*ret_size;
	return at;
}

static bool has_as(const char *text, const char *rule, const char *now, size_t size)
{
	size_t then_size = 0;
	const char *then = section(text, rule, &then_size);

	return then && then_size == size && !memcmp(then, now, size);
}

struct numbers {
	size_t count;
	uint32_t at[DAVY_VERSIONS_KEPT];
};

static void on_version(void *arg, const struct davy_version *version)
{
	struct numbers *n = arg;

	if (n->count < DAVY_VERSIONS_KEPT)
		n->at[n->count++] = version->number;
}

/* Goes back as long as the rule is the same without a gap. */
static int version_of_go_back(struct davy_db *db, const struct numbers *n, const char *rule,
			      const char *now, size_t size, struct davy_version *ret_version)
{
	for (size_t i = 1; i < n->count; i++) {
		struct davy_version version;
		char *text = NULL;
		int err = davy_version_get(db, n->at[i], &version, &text);
		bool same = !err && has_as(text, rule, now, size);

		free(text);
		if (err)
			return err;
		if (!same)
			break;
		*ret_version = version;
	}
	return 0;
}

int davy_version_of_rule(struct davy_db *db, const char *rule, struct davy_version *ret_version)
{
	struct numbers n = { 0 };
	struct davy_version version;
	char *text = NULL;
	const char *now;
	size_t size = 0;
	int err = davy_versions_each(db, on_version, &n);

	if (err <= 0 || !n.count)
		return err < 0 ? err : -ENOENT;
	err = davy_version_get(db, n.at[0], &version, &text);
	if (err)
		return err;
	now = section(text, rule, &size);
	err = now ? version_of_go_back(db, &n, rule, now, size, &version) : -ENOENT;
	free(text);
	if (!err)
		*ret_version = version;
	return err;
}
