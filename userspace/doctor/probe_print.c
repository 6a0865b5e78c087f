/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/probe_print.h"

#include <stdio.h>
#include <string.h>

#include "lib/message.h"
#include "lib/text.h"

#define MIB (1 << 20)

static const char *probe_print_text(const json_t *object, const char *key, char *buf, size_t size)
{
	return davy_text_shown(buf, size, davy_message_text(object, key));
}

static void print_heaps(const json_t *list)
{
	const json_t *h;
	size_t i;

	json_array_foreach(list, i, h)
	{
		printf("    heap %zu  %lld MiB%s", i,
		       (long long)davy_message_number(h, "size", 0) / MIB,
		       json_is_true(json_object_get(h, "device_local")) ? ", device-local" : "");
		if (json_object_get(h, "budget"))
			printf(", budget %lld MiB, %lld in use",
			       (long long)davy_message_number(h, "budget", 0) / MIB,
			       (long long)davy_message_number(h, "usage", 0) / MIB);
		putchar('\n');
	}
}

static void probe_print_devices(const json_t *list)
{
	char name[128], type[32], driver[64], info[128], pci[32], result[48], stage[32];
	const json_t *d;
	size_t i;

	json_array_foreach(list, i, d)
	{
		const json_t *submit = json_object_get(d, "submit");
		const json_t *by = json_object_get(d, "driver");

		printf("  %lld  %s, %s, %04llx:%04llx%s%s\n",
		       (long long)davy_message_number(d, "index", 0),
		       probe_print_text(d, "name", name, sizeof(name)),
		       probe_print_text(d, "type", type, sizeof(type)),
		       (unsigned long long)davy_message_number(d, "vendor", 0),
		       (unsigned long long)davy_message_number(d, "device", 0),
		       *davy_message_text(d, "pci") ? " at " : "",
		       probe_print_text(d, "pci", pci, sizeof(pci)));
		printf("    driver  %s %s\n", probe_print_text(by, "name", driver, sizeof(driver)),
		       probe_print_text(by, "info", info, sizeof(info)));
		print_heaps(json_object_get(d, "heaps"));
		printf("    submit  %s in %lld ms (%s)\n",
		       probe_print_text(submit, "result", result, sizeof(result)),
		       (long long)davy_message_number(submit, "ms", 0),
		       probe_print_text(submit, "stage", stage, sizeof(stage)));
	}
}

static void print_engine(const json_t *answer)
{
	const json_t *slots = json_object_get(answer, "slots"), *value;
	char model[256];
	size_t i, busy = 0;

	json_array_foreach(slots, i, value) busy +=
		json_is_true(json_object_get(value, "is_processing"));
	printf("  /health %lld, completion %lld, %lld token%s in %lld ms\n",
	       (long long)davy_message_number(answer, "health", 0),
	       (long long)davy_message_number(answer, "completion", 0),
	       (long long)davy_message_number(answer, "tokens", 0),
	       davy_message_number(answer, "tokens", 0) == 1 ? "" : "s",
	       (long long)davy_message_number(answer, "ms", 0));
	json_array_foreach(json_object_get(answer, "models"), i, value)
		printf("  model %s\n",
		       json_is_string(value)
			       ? davy_text_shown(model, sizeof(model), json_string_value(value))
			       : "?");
	if (json_is_array(slots))
		printf("  slots %zu of %lld tokens, %zu busy\n", json_array_size(slots),
		       (long long)davy_message_number(json_array_get(slots, 0), "n_ctx", 0), busy);
	else
		printf("  slots: no answer\n");
}

void davy_print_finding(const json_t *finding)
{
	const json_t *answer = json_object_get(finding, "answer");

	/* "kind" and "text" are safe, see the header */
	printf("%s%s%s\n", davy_message_text(finding, "kind"),
	       json_is_true(json_object_get(finding, "healthy")) ? "" : ": ",
	       json_is_true(json_object_get(finding, "healthy"))
		       ? ""
		       : davy_message_text(finding, "text"));
	if (!answer)
		return;
	if (json_object_get(answer, "devices"))
		probe_print_devices(json_object_get(answer, "devices"));
	else
		print_engine(answer);
	if (!json_is_true(json_object_get(answer, "landlock")))
		printf("  (without Landlock: this kernel has none)\n");
}
