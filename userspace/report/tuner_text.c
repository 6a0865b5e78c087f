/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/tuner_text.h"

#include <inttypes.h>
#include <stdio.h>

#define SIZE_TEXT 16
#define HOUR_S	  3600

void dl_tuner_size_text(uint32_t knob, uint32_t size, char *text, size_t text_size)
{
	if (knob == DL_TUNER_CACHE_TYPE && dl_cache_name(size)[0])
		snprintf(text, text_size, "%s", dl_cache_name(size));
	else if (knob == DL_TUNER_KNOBS)
		snprintf(text, text_size, "%s", dl_backend_name((enum dl_backend)size));
	else
		snprintf(text, text_size, "%" PRIu32, size);
}

/* What moves, or "" when nothing does. */
static int put_move(const struct dl_tuner_reason *r, char *text)
{
	const char *what = r->knob < DL_TUNER_KNOBS ? dl_tuner_knob_name(r->knob) : "backend";
	char from[SIZE_TEXT], to[SIZE_TEXT];

	dl_tuner_size_text(r->knob, r->from, from, sizeof(from));
	dl_tuner_size_text(r->knob, r->to, to, sizeof(to));
	return snprintf(text, DL_TUNER_TEXT_SIZE, "%s %s -> %s: ", what, from, to);
}

static void put_trouble(const struct dl_tuner_reason *r, char *text, size_t size)
{
	const char *chance = r->chance ? ", though it had lasted" : "";
	const char *class = r->class ? dl_log_class_name(r->class) : "it failed";

	if (r->depth)
		snprintf(text, size, "%s at %" PRIu32 " tokens%s", class, r->depth, chance);
	else
		snprintf(text, size, "%s%s", class, chance);
}

static void put_soak(const struct dl_tuner_reason *r, const char *again, char *text, size_t size)
{
	snprintf(text, size, "%safter %" PRIu64 " h without trouble, to %" PRIu32 " tokens", again,
		 r->soak_s / HOUR_S, r->soak_depth);
}

void dl_tuner_text(const struct dl_tuner_reason *reason, char text[DL_TUNER_TEXT_SIZE])
{
	int at;

	switch (reason->why) {
	case DL_TUNER_LOWER:
	case DL_TUNER_BACK:
	case DL_TUNER_OTHER:
		at = put_move(reason, text);
		put_trouble(reason, text + at, (size_t)(DL_TUNER_TEXT_SIZE - at));
		break;
	case DL_TUNER_RAISE:
		at = put_move(reason, text);
		put_soak(reason, "", text + at, (size_t)(DL_TUNER_TEXT_SIZE - at));
		break;
	case DL_TUNER_AGAIN:
	case DL_TUNER_OTHER_AGAIN:
		at = put_move(reason, text);
		put_soak(reason, "again ", text + at, (size_t)(DL_TUNER_TEXT_SIZE - at));
		break;
	case DL_TUNER_NOWHERE:
		at = snprintf(text, DL_TUNER_TEXT_SIZE, "nothing is left to try: ");
		put_trouble(reason, text + at, (size_t)(DL_TUNER_TEXT_SIZE - at));
		break;
	case DL_TUNER_KEEPS:
		snprintf(text, DL_TUNER_TEXT_SIZE,
			 "kept: %" PRIu64 " h without trouble so far, to %" PRIu32 " of %" PRIu32
			 " tokens",
			 reason->soak_s / HOUR_S, reason->soak_depth, reason->needed_depth);
		break;
	default:
		snprintf(text, DL_TUNER_TEXT_SIZE, "as the command says");
		break;
	}
}
