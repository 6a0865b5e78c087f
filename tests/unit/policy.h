/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layers from texts, and subjects, for tests of the backend policy. */
#ifndef DL_TEST_POLICY_H
#define DL_TEST_POLICY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "store/policy_file.h"

static struct dl_policy_layers layers;
static char error[DL_CONFIG_ERROR_LEN];

static inline int policy_read(enum dl_layer kind, const char *text)
{
	static const char *const names[] = { "s.conf", "p.conf", "a.conf" };

	error[0] = 0;
	return dl_policy_text_read(text, strlen(text), names[kind], kind, &layers.at[kind], error);
}

/* Texts of the three layers; NULL: an empty one. */
static inline void policy_texts(const char *shipped, const char *people, const char *agent)
{
	const char *const texts[DL_LAYER_COUNT] = { shipped, people, agent };

	dl_policy_layers_init(&layers);
	for (int i = 0; i < DL_LAYER_COUNT; i++)
		if (texts[i] && policy_read((enum dl_layer)i, texts[i]))
			fail_msg("%s", error);
}

static inline struct dl_effective policy_of(const struct dl_policy_subject *subject)
{
	struct dl_policy_set set = dl_policy_set_of(&layers);
	struct dl_effective e;

	dl_policy_effective(&set, subject, &e);
	return e;
}

static inline const struct dl_policy_value *policy_named(const struct dl_policy_value *list,
							 size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

/* "vulkan cpu" */
static inline const char *policy_order(const struct dl_effective *e)
{
	static char text[128];
	size_t used = 0;

	text[0] = 0;
	for (size_t i = 0; i < e->backend_count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? " " : "",
					 dl_backend_name(e->backends[i]));
	return text;
}

#endif
