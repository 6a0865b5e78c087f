/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/label.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"

#define FILE_MAX 16384 /* a label has about 400 bytes */
#define TRACE	 ".trace"

const char *davy_label_class_name(uint32_t class)
{
	return class == DAVY_CLASS_NONE ? "benign" : davy_log_class_name(class);
}

static bool label_ended(const char *text, size_t size)
{
	return memchr(text, 0, size) != NULL;
}

bool davy_label_valid(const struct davy_label *l)
{
	uint64_t end_ns = l->begin_ns + l->duration_ns;

	if (!label_ended(l->scenario, sizeof(l->scenario)) ||
	    !label_ended(l->device, sizeof(l->device)))
		return false;
	if (end_ns < l->begin_ns || l->class >= DAVY_CLASS_COUNT)
		return false;
	if (l->class == DAVY_CLASS_NONE)
		return !l->cause_ns && !l->precursor_ns && !l->failure_ns;
	return l->begin_ns <= l->cause_ns && l->cause_ns <= l->precursor_ns &&
	       l->precursor_ns <= l->failure_ns && l->failure_ns <= end_ns;
}

int davy_label_path(char *path, size_t size, const char *trace_path)
{
	size_t length = strlen(trace_path), ending = strlen(TRACE);
	int n;

	if (length > ending && !strcmp(trace_path + length - ending, TRACE))
		length -= ending;
	n = snprintf(path, size, "%.*s.label.json", (int)length, trace_path);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int label_wrong(char *error, size_t size, const char *key, const char *expected)
{
	snprintf(error, size, "'%s': expected %s", key, expected);
	return -EBADMSG;
}

struct reader {
	const json_t *object;
	char *error;
	size_t error_size;
	int err;
};

static uint64_t label_number(struct reader *r, const char *key, uint64_t most)
{
	const json_t *value = json_object_get(r->object, key);
	json_int_t n = json_integer_value(value);

	if (r->err)
		return 0;
	if (!json_is_integer(value) || n < 0 || (uint64_t)n > most) {
		r->err = label_wrong(r->error, r->error_size, key, "a whole number in its range");
		return 0;
	}
	return (uint64_t)n;
}

/* A name that may be absent. */
static void label_name(struct reader *r, const char *key, char *dst, size_t size)
{
	const json_t *value = json_object_get(r->object, key);

	dst[0] = 0;
	if (r->err || !value)
		return;
	if (!json_is_string(value) || json_string_length(value) >= size ||
	    strlen(json_string_value(value)) != json_string_length(value)) {
		r->err = label_wrong(r->error, r->error_size, key, "a short text");
		return;
	}
	davy_copy_name(dst, size, json_string_value(value));
}

static uint32_t label_class_of(struct reader *r)
{
	const char *text = json_string_value(json_object_get(r->object, "class"));

	for (uint32_t class = 0; text && class < DAVY_CLASS_COUNT; class ++)
		if (!strcmp(text, davy_label_class_name(class)))
			return class;
	if (!r->err)
		r->err = label_wrong(r->error, r->error_size, "class",
				     "benign or a failure class such as ring_timeout");
	return DAVY_CLASS_NONE;
}

static void label_take(struct reader *r, struct davy_label *l)
{
	memset(l, 0, sizeof(*l));
	label_name(r, "scenario", l->scenario, sizeof(l->scenario));
	l->seed = json_object_get(r->object, "seed") ? label_number(r, "seed", INT64_MAX) : 0;
	l->class = label_class_of(r);
	l->begin_ns = label_number(r, "begin_ns", INT64_MAX);
	l->duration_ns = label_number(r, "duration_ns", INT64_MAX);
	if (l->class == DAVY_CLASS_NONE)
		return;
	label_name(r, "device", l->device, sizeof(l->device));
	l->pid = json_object_get(r->object, "pid") ? (uint32_t)label_number(r, "pid", UINT32_MAX)
						   : 0;
	l->precursor_ns = label_number(r, "sign_ns", INT64_MAX);
	l->failure_ns = label_number(r, "failure_ns", INT64_MAX);
	l->cause_ns = json_object_get(r->object, "cause_ns")
			      ? label_number(r, "cause_ns", INT64_MAX)
			      : l->precursor_ns;
}

int davy_label_read(const char *path, struct davy_label *ret_label, char *error, size_t error_size)
{
	struct reader r = { .error = error, .error_size = error_size };
	struct davy_label label;
	char text[FILE_MAX];
	json_error_t where = { .line = 1 };
	json_t *object = NULL;
	ssize_t n = davy_read_file(path, text, sizeof(text));

	if (n < 0)
		return (int)n;
	if ((size_t)n < sizeof(text) - 1) /* otherwise the file may be longer */
		object = json_loadb(text, (size_t)n, JSON_REJECT_DUPLICATES, &where);
	if (!json_is_object(object)) {
		json_decref(object);
		snprintf(error, error_size, "line %d: expected one JSON object of at most %d bytes",
			 where.line < 1 ? 1 : where.line, FILE_MAX - 2);
		return -EBADMSG;
	}
	r.object = object;
	label_take(&r, &label);
	json_decref(object);
	if (!r.err && !davy_label_valid(&label))
		r.err = label_wrong(
			error, error_size, "failure_ns",
			"begin_ns <= cause_ns <= sign_ns <= failure_ns, within duration_ns");
	if (!r.err)
		*ret_label = label;
	return r.err;
}

static int label_set_number(json_t *object, const char *key, uint64_t value)
{
	return json_object_set_new(object, key, json_integer((json_int_t)value));
}

static int label_fill(json_t *object, const struct davy_label *l)
{
	int err = json_object_set_new(object, "scenario", json_string(l->scenario));

	err |= label_set_number(object, "seed", l->seed);
	err |= json_object_set_new(object, "class", json_string(davy_label_class_name(l->class)));
	err |= label_set_number(object, "begin_ns", l->begin_ns);
	err |= label_set_number(object, "duration_ns", l->duration_ns);
	if (l->class == DAVY_CLASS_NONE)
		return err;
	if (l->device[0])
		err |= json_object_set_new(object, "device", json_string(l->device));
	if (l->pid)
		err |= label_set_number(object, "pid", l->pid);
	err |= label_set_number(object, "cause_ns", l->cause_ns);
	err |= label_set_number(object, "sign_ns", l->precursor_ns);
	return err | label_set_number(object, "failure_ns", l->failure_ns);
}

int davy_label_write(const char *path, const struct davy_label *label)
{
	json_t *object = json_object();
	char *text = NULL;
	int err = -ENOMEM;

	if (object && !label_fill(object, label))
		text = json_dumps(object, JSON_INDENT(1));
	json_decref(object);
	if (text) {
		size_t length = strlen(text);

		text[length] = '\n'; /* replaces the NUL */
		err = davy_replace_file(path, text, length + 1, 0644);
	}
	free(text);
	return err;
}
