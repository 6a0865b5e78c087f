/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a model's name and its file's path, in every format that contains them: an accepted
 * name stays in one section, one line, one string. The first byte is the length of the name.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "output/output.h"
#include "store/policy_file.h"

static struct davy_policy_layer layer;
static struct davy_output_result made;

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void read_rules(void)
{
	static const char rules[] =
		"[rule r]\nubatch = 64\nenvironment X = 1\nargument -ot = a#b\n";
	char error[DAVY_CONFIG_ERROR_LEN];

	require(!davy_policy_text_read(rules, sizeof(rules) - 1, "r", DAVY_LAYER_ADMIN, &layer,
				       error));
}

static size_t count_lines(const char *text, const char *beginning)
{
	size_t count = 0, len = strlen(beginning);

	for (; text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL)
		count += !strncmp(text, beginning, len);
	return count;
}

static bool made_of(const char *format, const struct davy_output_model *m)
{
	const struct davy_output_request r = { .set.layer[DAVY_LAYER_ADMIN] = &layer,
					       .server = "llama-server",
					       .models = m,
					       .model_count = 1 };

	free(made.body);
	if (!davy_output_make(davy_output_format_named(format), &r, &made))
		return true;
	require(made.why[0] && !strpbrk(made.why, "\n\r\x1b"));
	return false;
}

/* In a YAML string: every quote has a backslash before it that has none itself. */
static void check_strings(const char *body)
{
	for (const char *at = strchr(body, '"'); at; at = strchr(at + 1, '"')) {
		for (at++; *at && *at != '"'; at++) {
			require(*at != '\n');
			at += *at == '\\' && at[1];
		}
		require(*at == '"');
	}
}

static void check(const struct davy_output_model *m)
{
	if (made_of("router-preset", m)) {
		require(count_lines(made.body, "[") == 1 && strlen(m->name));
		require(count_lines(made.body, "model = ") == (m->path != NULL));
		require(count_lines(made.body, "ubatch-size = 64\n") == 1);
		require(!count_lines(made.body, "ot = "));
	}
	if (made_of("ollama", m)) {
		require(count_lines(made.body, "FROM ") == 1);
		require(count_lines(made.body, "PARAMETER ") == 1);
	}
	if (made_of("llama-swap", m)) {
		const char *macro = strstr(made.body, "${");

		require(count_lines(made.body, "") == 8 && count_lines(made.body, "  \"") == 1);
		require(macro && !strncmp(macro, "${PORT} ", 8) && !strstr(macro + 1, "${"));
		check_strings(made.body);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len = size ? data[0] : 0;
	struct davy_output_model m;

	if (!size || len >= size)
		return 0;
	if (!layer.rule_count)
		read_rules();
	m.name = strndup((const char *)data + 1, len);
	m.path = size - 1 > len ? strndup((const char *)data + 1 + len, size - 1 - len) : NULL;
	check(&m);
	free((char *)m.name);
	free((char *)m.path);
	return 0;
}
