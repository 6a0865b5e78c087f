/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON text is complete or missing, for a failure of any allocation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/json_text.h"

static int allocations, failing;

static void *failing_malloc(size_t size)
{
	return allocations++ == failing ? NULL : malloc(size);
}

static void text_is_complete_or_missing(void **state)
{
	json_t *all = json_object();
	char *whole, *text;

	(void)state;
	for (int i = 0; i < 40; i++)
		json_object_set_new(all, (char[]){ (char)('a' + i % 26), (char)('a' + i / 26), 0 },
				    json_pack("{s:i, s:s}", "failures", i, "a longer key", "text"));
	whole = json_dumps(all, JSON_COMPACT);
	for (failing = 0; failing < 300; failing++) {
		allocations = 0;
		json_set_alloc_funcs(failing_malloc, free);
		text = davy_json_text(all, JSON_COMPACT);
		json_set_alloc_funcs(malloc, free);
		if (text)
			assert_string_equal(text, whole);
		free(text);
	}
	free(whole);
	json_decref(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_complete_or_missing),
	};

	return cmocka_run_group_tests_name("json text", tests, NULL, NULL);
}
