/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a container's runtime says: [description, description of the new one], as JSON. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "container/container.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct davy_definition_change change = {
		.env = { "LLAMA_ARG_DEVICE=none", "A=2" }, .env_count = 2, .cpu_only = true
	};
	json_t *both = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
	json_t *original = json_array_get(both, 0), *made = json_array_get(both, 1), *body,
	       *networks;
	struct davy_container c = { .name = "box", .now = original, .before = made };
	char why[128];

	if (!json_is_object(original)) {
		json_decref(both);
		return 0;
	}
	json_decref(davy_container_state(&c));
	davy_container_runs(original);
	if (!davy_definition_refusal(original, false, why, sizeof(why))) {
		body = davy_definition_make(original, &change, "image:1");
		networks = davy_definition_networks(original);
		if (!body || !networks)
			abort();
		davy_definition_check(original, body, made, why, sizeof(why));
		if (strlen(why) >= sizeof(why))
			abort();
		json_decref(networks);
		json_decref(body);
	}
	json_decref(both);
	return 0;
}
