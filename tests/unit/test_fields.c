/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of the events' fields: each names bytes of its own event, and its limits are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/event/fields.h"

#define PAYLOAD offsetof(struct davy_event, config)

static void set_number(struct davy_event *ev, const struct davy_field *f, size_t index,
		       uint64_t value)
{
	memcpy((char *)ev + f->offset + index * f->size, &value,
	       f->size < sizeof(value) ? f->size : sizeof(value));
}

static void fields_are_of_their_event(void **state)
{
	(void)state;
	for (uint32_t kind = 1; kind < DAVY_EV_COUNT; kind++) {
		const struct davy_event_shape *shape = davy_event_shape(kind);

		assert_non_null(shape->name);
		for (size_t i = 0; i < shape->field_count; i++) {
			const struct davy_field *f = &shape->fields[i];

			assert_in_range(f->offset, PAYLOAD, PAYLOAD + shape->size - 1);
			assert_true(f->offset + f->size * (f->more + 1u) <= PAYLOAD + shape->size);
			assert_true(f->type == DAVY_FIELD_TEXT || f->size == 1 || f->size == 2 ||
				    f->size == 4 || f->size == 8);
			for (size_t j = 0; j < i; j++)
				assert_string_not_equal(f->name, shape->fields[j].name);
			for (uint64_t v = f->min; f->type == DAVY_FIELD_NAME && v <= f->max; v++)
				assert_non_null(f->text((uint32_t)v));
		}
	}
	assert_null(davy_event_shape(0)->name);
	assert_null(davy_event_shape(DAVY_EV_COUNT)->name);
}

/* The smallest event that the limits admit. */
static struct davy_event least_event(uint32_t kind)
{
	const struct davy_event_shape *shape = davy_event_shape(kind);
	struct davy_event ev = { .kind = kind, .pid = shape->of_process };

	for (size_t i = 0; i < shape->field_count; i++)
		if (shape->fields[i].min)
			set_number(&ev, &shape->fields[i], 0, shape->fields[i].min);
	return ev;
}

static void limits_are_kept(const struct davy_event *least, const struct davy_field *f,
			    size_t index)
{
	struct davy_event ev = *least;

	if (f->min) {
		memset((char *)&ev + f->offset, 0, f->size);
		assert_false(davy_event_valid(&ev));
		ev = *least;
	}
	if (f->type == DAVY_FIELD_TEXT) {
		memset((char *)&ev + f->offset + index * f->size, 'x', f->size);
		assert_false(davy_event_valid(&ev));
	} else if (f->max) {
		set_number(&ev, f, index, f->max);
		assert_true(davy_event_valid(&ev));
		set_number(&ev, f, index, f->max + 1);
		assert_false(davy_event_valid(&ev));
	}
}

static void what_breaks_a_limit_is_refused(void **state)
{
	(void)state;
	for (uint32_t kind = 1; kind < DAVY_EV_COUNT; kind++) {
		const struct davy_event_shape *shape = davy_event_shape(kind);
		struct davy_event ev = least_event(kind);

		if (shape->valid)
			continue; /* what limits cannot say has tests of its own */
		assert_true(davy_event_valid(&ev));
		for (size_t i = 0; i < shape->field_count; i++)
			for (size_t j = 0; j <= shape->fields[i].more; j++)
				limits_are_kept(&ev, &shape->fields[i], j);
		ev.pid = 0;
		assert_int_equal(davy_event_valid(&ev), !shape->of_process);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_of_their_event),
		cmocka_unit_test(what_breaks_a_limit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
