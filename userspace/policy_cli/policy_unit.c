/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp policy adopt', 'release' and 'adopted': systemd services that the agent controls. */
#include <stdio.h>
#include <string.h>

#include "lib/message.h"
#include "core/event/types.h"
#include "lib/text.h"
#include "verb/client.h"
#include "policy_cli/policy_unit.h"
#include "verb/verb.h"

#define PATIENCE_MS 100000 /* a release may restart the service */

static void policy_unit_print_json(json_t *answer)
{
	json_object_del(answer, "op");
	json_dumpf(answer, stdout, JSON_COMPACT);
	putchar('\n');
}

static void print_kept(const json_t *answer)
{
	const json_t *kept = json_object_get(answer, "kept");
	char safe[1024];

	for (size_t i = 0; i < json_array_size(kept); i++) {
		const char *path = json_string_value(json_array_get(kept, i));

		printf("  manual changes are kept as %s\n",
		       davy_text_shown(safe, sizeof(safe), path ? path : ""));
	}
}

static int policy_unit_ask(const char *socket_path, const char *op, const char *unit,
			   json_t **ret_answer)
{
	return davy_client_ask_for(socket_path,
				   json_pack("{s:s, s:s}", "op", op, "unit", unit ? unit : ""),
				   PATIENCE_MS, ret_answer);
}

int davy_policy_adopt(const char *socket_path, const char *unit, bool json)
{
	json_t *answer = NULL;
	int status = policy_unit_ask(socket_path, "adopt", unit, &answer);

	if (status)
		return status;
	if (json)
		policy_unit_print_json(answer);
	else
		printf("%s is adopted as workload %lld and keeps running. "
		       "'davylamp policy release %s' undoes this\n",
		       unit, (long long)davy_message_number(answer, "workload", 0), unit);
	json_decref(answer);
	return DAVY_EXIT_DONE;
}

int davy_policy_release(const char *socket_path, const char *unit, bool json)
{
	json_t *answer = NULL;
	int status = policy_unit_ask(socket_path, "release_unit", unit, &answer);

	if (status)
		return status;
	if (json) {
		policy_unit_print_json(answer);
	} else {
		printf("%s is released%s\n", unit,
		       json_is_true(json_object_get(answer, "restarted"))
			       ? " and was restarted with its own settings"
			       : "");
		print_kept(answer);
	}
	json_decref(answer);
	return DAVY_EXIT_DONE;
}

static void print_number(const json_t *unit, const char *key, const char *name)
{
	json_int_t value = davy_message_number(unit, key, 0);

	if (value)
		printf(", %s %lld", name, (long long)value);
}

static void print_unit(const json_t *unit)
{
	const char *backend = davy_message_text(unit, "told_backend");
	char name[4 * DAVY_UNIT_LEN], state[128];

	printf("%s: workload %lld, %s, %s",
	       davy_text_shown(name, sizeof(name), davy_message_text(unit, "unit")),
	       (long long)davy_message_number(unit, "workload", 0),
	       davy_message_text(unit, "engine"),
	       davy_text_shown(state, sizeof(state), davy_message_text(unit, "state")));
	if (strcmp(backend, "unknown") != 0)
		printf(", backend %s set", backend);
	print_number(unit, "told_ubatch", "ubatch");
	print_number(unit, "told_context", "context");
	print_number(unit, "told_parallel", "slots");
	print_number(unit, "told_by_rules", "variables set by rules:");
	if (json_is_true(json_object_get(unit, "stopped_by_us")))
		printf(", stopped by davylamp");
	putchar('\n');
}

int davy_policy_adopted(const char *socket_path, bool json)
{
	json_t *answer = NULL;
	const json_t *units;
	int status = policy_unit_ask(socket_path, "adopted", NULL, &answer);

	if (status)
		return status;
	units = json_object_get(answer, "units");
	for (size_t i = 0; i < json_array_size(units); i++) {
		const json_t *unit = json_array_get(units, i);

		if (!json) {
			print_unit(unit);
			continue;
		}
		json_dumpf(unit, stdout, JSON_COMPACT);
		putchar('\n');
	}
	if (!json && !json_array_size(units))
		printf("no service is adopted; adopt one with 'davylamp policy adopt UNIT'\n");
	json_decref(answer);
	return DAVY_EXIT_DONE;
}
