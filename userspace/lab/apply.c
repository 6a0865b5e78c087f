/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/apply.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "lib/text.h"
#include "store/config_file.h"
#include "store/config_section.h"
#include "store/config_value.h"

#define SOURCE_MAX 160 /* libinih reads lines of 200 bytes, including comments */

/* Whether the file does not exist, or was written by tune. */
static int may_replace(const char *path)
{
	char head[sizeof(DAVY_TUNED_MARK)];
	ssize_t n = davy_read_file(path, head, sizeof(head));

	if (n == -ENOENT)
		return 0;
	if (n < 0)
		return (int)n;
	return strcmp(head, DAVY_TUNED_MARK) ? -EEXIST : 0;
}

static void put_scores(FILE *out, const char *when, const struct davy_summary *sum)
{
	fprintf(out,
		"# %s: %u of %u failures foreseen, median lead time %u.%u %% of the possible one,\n"
		"#   false alarms %u in %" PRIu64 " h of benign traces, %u elsewhere.\n",
		when, sum->all.foreseen, sum->all.count, sum->all.ratio_permille / 10,
		sum->all.ratio_permille % 10, sum->false_benign,
		sum->benign_ns / DAVY_NS_PER_S / 3600, sum->false_failure);
}

static void put_traces(FILE *out, const struct davy_cases *cases, char *const *sources,
		       size_t count)
{
	uint64_t least = UINT64_MAX, most = 0;
	size_t made = 0;
	char safe[SOURCE_MAX];

	for (size_t i = 0; i < cases->count; i++) {
		const struct davy_label *l = &cases->at[i].label;

		if (!l->scenario[0])
			continue;
		made++;
		least = l->seed < least ? l->seed : least;
		most = l->seed > most ? l->seed : most;
	}
	fprintf(out, "# Traces: %zu", cases->count);
	if (made)
		fprintf(out, ", %zu of them synthetic, of seeds %" PRIu64 " to %" PRIu64, made,
			least, most);
	fprintf(out, ".\n");
	for (size_t i = 0; i < count; i++)
		fprintf(out, "#   %s\n", davy_text_safe(safe, sizeof(safe), sources[i]));
}

/* Length of the key's name up to the dot. */
static int section_length(int key)
{
	return (int)strcspn(davy_config_rows[key].name, ".");
}

static void put_value(FILE *out, int key, int64_t value)
{
	char text[DAVY_CONFIG_VALUE_LEN];

	davy_config_value_text(davy_config_rows[key].unit, value, text);
	fprintf(out, "%s = %s\n", davy_config_rows[key].name + section_length(key) + 1, text);
}

/* Values that differ from the shipped ones or from the base. */
static void put_values(FILE *out, const struct davy_search *search)
{
	const char *before = "";
	struct davy_config shipped;
	int before_length = 0;

	davy_config_defaults(&shipped);
	for (int key = 0; key < DAVY_CFG_COUNT; key++) {
		const char *name = davy_config_rows[key].name;
		int64_t value = search->proposal.value[key];
		int length = section_length(key);

		if (!davy_search_key(key) ||
		    (value == shipped.value[key] && value == search->base.value[key]))
			continue;
		if (length != before_length || strncmp(before, name, (size_t)length) != 0)
			fprintf(out, "\n[%.*s]\n", length, name);
		before = name;
		before_length = length;
		put_value(out, key, value);
	}
}

static void put_overrides(FILE *out, const struct davy_config *config)
{
	for (uint32_t i = 0; i < config->override_count; i++) {
		const struct davy_override *o = &config->override[i];
		int key = (int)o->key;

		if (!davy_search_key(key))
			continue;
		fprintf(out, "\n[%.*s %s=%s]\n", section_length(key), davy_config_rows[key].name,
			davy_scope_name(o->scope), o->name);
		put_value(out, key, o->value);
	}
}

int davy_tune_apply(const struct davy_search *search, const struct davy_cases *cases,
		    const char *path, char *const *sources, size_t source_count)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out;
	int err = may_replace(path);

	if (err)
		return err;
	out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	fprintf(out, DAVY_TUNED_MARK "Values of\n# /etc/davylamp/hazards.conf take precedence.\n");
	put_traces(out, cases, sources, source_count);
	put_scores(out, "Before", &search->before);
	put_scores(out, "With this", &search->after);
	put_values(out, search);
	put_overrides(out, &search->proposal);
	err = fclose(out) ? -ENOMEM : davy_replace_file(path, text, size, 0644);
	free(text);
	return err;
}

static void add_name(char *text, size_t size, int key, const char *whom)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s%s%s%s", used ? ", " : "", davy_config_rows[key].name,
		 whom[0] ? " for " : "", whom);
}

int davy_tune_shadowed(const struct davy_search *search, const char *path, char *text, size_t size)
{
	struct davy_config config = search->proposal;
	char error[DAVY_CONFIG_ERROR_LEN];
	int err = davy_config_file_read(path, &config, error);

	text[0] = 0;
	if (err)
		return err == -ENOENT ? 0 : err;
	for (int key = 0; key < DAVY_CFG_COUNT; key++)
		if (davy_search_key(key) && config.value[key] != search->proposal.value[key])
			add_name(text, size, key, "");
	for (uint32_t i = 0; i < config.override_count; i++) {
		const struct davy_override *o = &config.override[i], *ours;

		ours = davy_config_override(&search->proposal, o->scope, o->name,
					    (enum davy_config_key)o->key);
		if (davy_search_key((int)o->key) && (!ours || ours->value != o->value))
			add_name(text, size, (int)o->key, o->name);
	}
	return 0;
}
