/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Imports of a policy layer: an accepted text consists of complete lines with a correct sum; with
 * a correct sum nothing else is refused.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/layer_text.h"

static void judge(const char *text, size_t size)
{
	char error[DAVY_LAYER_ERROR_LEN] = "", *again = NULL;
	const char *body = NULL;
	int lines = davy_layer_lines_check("f", text, size, error);

	if (!davy_layer_text_take("f", text, size, NULL, &body, error)) {
		if (lines || body <= text || body > text + size || strlen(text) != size)
			abort();
		return;
	}
	if (strncmp(error, "f:", 2) != 0)
		abort();
	if (strlen(text) != size || davy_generated_text(7, text, &again))
		return;
	if (!davy_layer_text_take("f", again, strlen(again), NULL, &body, error) != !lines ||
	    (!lines && strcmp(body, text) != 0))
		abort();
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 2);

	memcpy(text, data, size);
	memset(text + size, 0, 2);
	judge(text, size);
	free(text);
	return 0;
}
