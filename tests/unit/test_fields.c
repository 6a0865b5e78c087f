/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of the events' fields: each names bytes of its own event, and its limits hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/event/config.h"
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

/*
 * The layout of a trace, a line each: "KIND NUMBER SIZE", "KIND.FIELD OFFSET SIZE ELEMENTS" and
 * "KIND.FIELD=NAME NUMBER". Offsets begin at the payload. Lines are appended to
 * tests/unit/trace_layout.txt ("out/unit/test_fields layout" prints all), and never changed.
 */
static size_t say_values(char *text, size_t size, const struct davy_event_shape *shape,
			 const struct davy_field *f)
{
	size_t used = 0;

	/* A number that is not in use has the name of 0. */
	for (uint64_t v = f->min; f->type == DAVY_FIELD_NAME && v <= f->max; v++)
		if (!v || strcmp(f->text((uint32_t)v), f->text(0)) != 0)
			used += (size_t)snprintf(text + used, size - used, "%s.%s=%s %u\n",
						 shape->name, f->name, f->text((uint32_t)v),
						 (uint32_t)v);
	return used;
}

static size_t say_layout(char *text, size_t size)
{
	size_t used = 0;

	for (uint32_t kind = 1; kind < DAVY_EV_COUNT; kind++) {
		const struct davy_event_shape *shape = davy_event_shape(kind);

		used += (size_t)snprintf(text + used, size - used, "%s %u %zu\n", shape->name, kind,
					 shape->size);
		for (size_t i = 0; i < shape->field_count; i++) {
			const struct davy_field *f = &shape->fields[i];

			used += (size_t)snprintf(text + used, size - used, "%s.%s %zu %u %u\n",
						 shape->name, f->name, f->offset - PAYLOAD, f->size,
						 f->more + 1u);
			used += say_values(text + used, size - used, shape, f);
		}
	}
	for (uint32_t key = 0; key < DAVY_CFG_COUNT; key++)
		used += (size_t)snprintf(text + used, size - used, "key=%s %u\n",
					 davy_config_rows[key].name, key);
	assert_true(used < size);
	return used;
}

static bool has_line(const char *text, const char *line)
{
	size_t len = strlen(line);

	for (const char *at = text; (at = strstr(at, line)); at++)
		if ((at == text || at[-1] == '\n') && at[len] == '\n')
			return true;
	return false;
}

/* A size may only grow. */
static bool has_grown(const char *line)
{
	char name[64];
	unsigned int kind, size;

	if (strchr(line, '.') || strchr(line, '=') ||
	    sscanf(line, "%63s %u %u", name, &kind, &size) != 3)
		return false;
	return kind < DAVY_EV_COUNT && !strcmp(davy_event_shape(kind)->name, name) &&
	       davy_event_shape(kind)->size >= size;
}

static void a_trace_of_an_older_program_keeps_its_meaning(void **state)
{
	FILE *file = fopen("tests/unit/trace_layout.txt", "r");
	static char now[1 << 18];
	char line[256];
	size_t count = 0;

	(void)state;
	assert_non_null(file);
	say_layout(now, sizeof(now));
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (!has_line(now, line) && !has_grown(line))
			fail_msg("'%s': this line of trace_layout.txt has changed", line);
		count++;
	}
	fclose(file);
	for (char *at = now; *at; count--, at += strcspn(at, "\n") + 1)
		;
	if (count)
		fail_msg("the layout has grown: write 'out/unit/test_fields layout' to "
			 "tests/unit/trace_layout.txt");
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

static void a_field_beyond_its_limit_is_refused(void **state)
{
	(void)state;
	for (uint32_t kind = 1; kind < DAVY_EV_COUNT; kind++) {
		const struct davy_event_shape *shape = davy_event_shape(kind);
		struct davy_event ev = least_event(kind);

		if (shape->valid)
			continue; /* rules beyond limits have separate tests */
		assert_true(davy_event_valid(&ev));
		for (size_t i = 0; i < shape->field_count; i++)
			for (size_t j = 0; j <= shape->fields[i].more; j++)
				limits_are_kept(&ev, &shape->fields[i], j);
		ev.pid = 0;
		assert_int_equal(davy_event_valid(&ev), !shape->of_process);
	}
}

int main(int argc, char **argv)
{
	static char layout[1 << 18];
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_of_their_event),
		cmocka_unit_test(a_trace_of_an_older_program_keeps_its_meaning),
		cmocka_unit_test(a_field_beyond_its_limit_is_refused),
	};

	if (argc > 1 && !strcmp(argv[1], "layout")) {
		fwrite(layout, 1, say_layout(layout, sizeof(layout)), stdout);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
