/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layers from texts, and subjects, for tests of the backend policy. */
#ifndef DAVY_TEST_POLICY_H
#define DAVY_TEST_POLICY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "store/policy_file.h"

static struct davy_policy_layers layers;
static char error[DAVY_CONFIG_ERROR_LEN];

static inline int policy_read(enum davy_layer kind, const char *text)
{
	static const char *const names[] = { "s.conf", "f.conf", "p.conf", "a.conf" };

	error[0] = 0;
	return davy_policy_text_read(text, strlen(text), names[kind], kind, &layers.at[kind],
				     error);
}

/* Texts of three layers, NULL: an empty one; the fleet's is empty. */
static inline void policy_texts(const char *shipped, const char *people, const char *agent)
{
	const char *const texts[DAVY_LAYER_COUNT] = { shipped, NULL, people, agent };

	davy_policy_layers_init(&layers);
	for (int i = 0; i < DAVY_LAYER_COUNT; i++)
		if (texts[i] && policy_read((enum davy_layer)i, texts[i]))
			fail_msg("%s", error);
}

static inline struct davy_effective policy_of(const struct davy_policy_subject *subject)
{
	struct davy_policy_set set = davy_policy_set_of(&layers);
	struct davy_effective e;

	davy_policy_effective(&set, subject, &e);
	return e;
}

static inline const struct davy_policy_value *policy_named(const struct davy_policy_value *list,
							   size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

/* "vulkan cpu" */
static inline const char *policy_order(const struct davy_effective *e)
{
	static char text[128];
	size_t used = 0;

	text[0] = 0;
	for (size_t i = 0; i < e->backend_count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? " " : "",
					 davy_backend_name(e->backends[i]));
	return text;
}

#endif
