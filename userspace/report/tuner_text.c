/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/tuner_text.h"

#include <inttypes.h>
#include <stdio.h>

#define SIZE_TEXT 16
#define HOUR_S	  3600

void davy_tuner_size_text(uint32_t setting, uint32_t size, char *text, size_t text_size)
{
	if (setting == DAVY_TUNER_CACHE_TYPE && davy_cache_name(size)[0])
		snprintf(text, text_size, "%s", davy_cache_name(size));
	else if (setting == DAVY_TUNER_SETTINGS)
		snprintf(text, text_size, "%s", davy_backend_name((enum davy_backend)size));
	else
		snprintf(text, text_size, "%" PRIu32, size);
}

/* What changes; "" if nothing does. */
static int put_move(const struct davy_tuner_reason *r, char *text)
{
	const char *what =
		r->setting < DAVY_TUNER_SETTINGS ? davy_tuner_setting_name(r->setting) : "backend";
	char from[SIZE_TEXT], to[SIZE_TEXT];

	davy_tuner_size_text(r->setting, r->from, from, sizeof(from));
	davy_tuner_size_text(r->setting, r->to, to, sizeof(to));
	return snprintf(text, DAVY_TUNER_TEXT_SIZE, "%s %s -> %s: ", what, from, to);
}

static void put_trouble(const struct davy_tuner_reason *r, char *text, size_t size)
{
	const char *chance = r->chance ? ", although this setting had worked before" : "";
	const char *class = r->class ? davy_log_class_name(r->class) : "it failed";

	if (r->depth)
		snprintf(text, size, "%s at %" PRIu32 " tokens%s", class, r->depth, chance);
	else
		snprintf(text, size, "%s%s", class, chance);
}

static void put_soak(const struct davy_tuner_reason *r, const char *again, char *text, size_t size)
{
	snprintf(text, size, "%safter %" PRIu64 " h without trouble, to %" PRIu32 " tokens", again,
		 r->soak_s / HOUR_S, r->soak_depth);
}

void davy_tuner_text(const struct davy_tuner_reason *reason, char text[DAVY_TUNER_TEXT_SIZE])
{
	int at;

	switch (reason->why) {
	case DAVY_TUNER_LOWER:
	case DAVY_TUNER_BACK:
	case DAVY_TUNER_OTHER:
		at = put_move(reason, text);
		put_trouble(reason, text + at, (size_t)(DAVY_TUNER_TEXT_SIZE - at));
		break;
	case DAVY_TUNER_RAISE:
		at = put_move(reason, text);
		put_soak(reason, "", text + at, (size_t)(DAVY_TUNER_TEXT_SIZE - at));
		break;
	case DAVY_TUNER_AGAIN:
	case DAVY_TUNER_OTHER_AGAIN:
		at = put_move(reason, text);
		put_soak(reason, "again ", text + at, (size_t)(DAVY_TUNER_TEXT_SIZE - at));
		break;
	case DAVY_TUNER_NOWHERE:
		at = snprintf(text, DAVY_TUNER_TEXT_SIZE, "nothing is left to try: ");
		put_trouble(reason, text + at, (size_t)(DAVY_TUNER_TEXT_SIZE - at));
		break;
	case DAVY_TUNER_KEEPS:
		snprintf(text, DAVY_TUNER_TEXT_SIZE,
			 "kept: %" PRIu64 " h without trouble so far, to %" PRIu32 " of %" PRIu32
			 " tokens",
			 reason->soak_s / HOUR_S, reason->soak_depth, reason->needed_depth);
		break;
	default:
		snprintf(text, DAVY_TUNER_TEXT_SIZE, "as configured");
		break;
	}
}
