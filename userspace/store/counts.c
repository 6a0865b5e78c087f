/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/counts.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "lib/json_text.h"

#define FILE_MAX  ((size_t)128 * 1024) /* every class and hazard with its lead are some 12 KiB */
#define COUNT_MAX 1000000000	       /* so that what is added never overflows a slot */
#define SUM_MAX	  (INT64_MAX / 2)
#define FORMAT	  1

struct reader {
	char *error;
	int err;
};

static void counts_refuse(struct reader *r, const char *of, const char *expected)
{
	if (!r->err)
		snprintf(r->error, DAVY_COUNTS_ERROR_LEN, "'%.40s': expected %s", of, expected);
	r->err = -EBADMSG;
}

static uint64_t counts_number(struct reader *r, const json_t *object, const char *key, int64_t most)
{
	const json_t *value = json_object_get(object, key);
	json_int_t n = json_integer_value(value);

	if (!json_is_integer(value) || n < 0 || n > most) {
		counts_refuse(r, key, "a whole number in its range");
		return 0;
	}
	return (uint64_t)n;
}

/* Its numbers are of one history: as many in the slots as counted, the mean between the ends. */
static bool agrees(const struct davy_lead *lead)
{
	uint64_t count = 0;

	for (size_t i = 0; i < DAVY_LEAD_SLOTS; i++)
		count += lead->slot[i];
	if (!lead->count)
		return !count && !lead->sum_ns && !lead->min_ns && !lead->max_ns;
	return count == lead->count && lead->min_ns <= lead->sum_ns / lead->count &&
	       lead->sum_ns / lead->count <= lead->max_ns;
}

static void read_lead(struct reader *r, const json_t *object, struct davy_lead *lead)
{
	const json_t *all = json_object_get(object, "lead"), *slots = json_object_get(all, "slots");

	if (!all)
		return; /* nothing was foreseen */
	lead->count = counts_number(r, all, "count", COUNT_MAX);
	lead->sum_ns = counts_number(r, all, "sum_ns", SUM_MAX);
	lead->min_ns = counts_number(r, all, "min_ns", SUM_MAX);
	lead->max_ns = counts_number(r, all, "max_ns", SUM_MAX);
	if (json_array_size(slots) != DAVY_LEAD_SLOTS)
		counts_refuse(r, "slots", "a list of 32 counts");
	for (size_t i = 0; i < DAVY_LEAD_SLOTS && !r->err; i++) {
		json_int_t n = json_integer_value(json_array_get(slots, i));

		if (!json_is_integer(json_array_get(slots, i)) || n < 0 || n > COUNT_MAX)
			counts_refuse(r, "slots", "a list of 32 counts");
		else
			lead->slot[i] = (uint32_t)n;
	}
	if (!r->err && !agrees(lead))
		counts_refuse(r, "lead", "numbers that agree with each other");
}

static void read_class(struct reader *r, const json_t *object, struct davy_class_score *score)
{
	score->failures = counts_number(r, object, "failures", COUNT_MAX);
	score->missed = counts_number(r, object, "missed", COUNT_MAX);
	read_lead(r, object, &score->lead);
	if (score->failures != score->missed + score->lead.count)
		counts_refuse(r, "failures", "those that were missed and those with a lead");
}

static void read_hazard(struct reader *r, const json_t *object, struct davy_hazard_score *score)
{
	score->signs = counts_number(r, object, "signs", COUNT_MAX);
	score->confirmed = counts_number(r, object, "confirmed", COUNT_MAX);
	score->averted = counts_number(r, object, "averted", COUNT_MAX);
	score->late = counts_number(r, object, "late", COUNT_MAX);
	score->false_alarms = counts_number(r, object, "false_alarms", COUNT_MAX);
	read_lead(r, object, &score->lead);
	if (score->signs < score->confirmed + score->averted + score->late + score->false_alarms ||
	    (score->lead.count && !score->confirmed))
		counts_refuse(r, "signs", "at least as many as have a fate");
}

/* The number of that name, or "count": there is none. */
static uint32_t counts_find(const char *name, uint32_t count,
			    const char *(*name_of)(uint32_t number))
{
	uint32_t i = 0;

	while (i < count && strcmp(name, name_of(i)) != 0)
		i++;
	return i;
}

static const char *hazard_name(uint32_t hazard)
{
	return davy_hazard_name((enum davy_hazard)hazard);
}

static void counts_read_all(struct reader *r, const json_t *root, struct davy_foresight *f)
{
	const char *name;
	json_t *object;

	json_object_foreach(json_object_get(root, "classes"), name, object)
	{
		uint32_t class = counts_find(name, DAVY_CLASS_COUNT, davy_log_class_name);

		if (class < DAVY_CLASS_COUNT)
			read_class(r, object, &f->class[class]);
		else
			counts_refuse(r, name, "the name of a failure class");
	}
	json_object_foreach(json_object_get(root, "hazards"), name, object)
	{
		uint32_t hazard = counts_find(name, DAVY_HZ_COUNT, hazard_name);

		if (hazard < DAVY_HZ_COUNT)
			read_hazard(r, object, &f->hazard[hazard]);
		else
			counts_refuse(r, name, "the name of a hazard");
	}
}

/*
 * For jansson a failed allocation may be a syntax error: it must occur twice, with memory at
 * hand.
 */
static json_t *counts_json(const char *text, size_t size, json_error_t *why)
{
	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, why), *works;

	if (!root)
		root = json_loadb(text, size, JSON_REJECT_DUPLICATES, why);
	if (root)
		return root;
	works = json_loads("{\"a\": [0]}", 0, NULL);
	if (!works)
		why->text[0] = 0;
	json_decref(works);
	return NULL;
}

int davy_counts_parse(const char *text, size_t size, struct davy_counts *ret_counts,
		      char error[DAVY_COUNTS_ERROR_LEN])
{
	struct reader r = { .error = error };
	struct davy_counts counts;
	json_error_t why;
	json_t *root = counts_json(text, size, &why);

	memset(&counts, 0, sizeof(counts));
	if (!root && !why.text[0])
		return -ENOMEM;
	if (!root) {
		snprintf(error, DAVY_COUNTS_ERROR_LEN, "line %d: no JSON: %.100s", why.line,
			 why.text);
		return -EBADMSG;
	}
	if (counts_number(&r, root, "format", INT64_MAX) != FORMAT)
		counts_refuse(&r, "format", "1, as this davylamp writes it");
	if (!json_is_object(json_object_get(root, "classes")) ||
	    !json_is_object(json_object_get(root, "hazards")))
		counts_refuse(&r, "classes", "an object, and 'hazards' another");
	counts.since_s = (int64_t)counts_number(&r, root, "since", SUM_MAX);
	if (!r.err)
		counts_read_all(&r, root, &counts.seen);
	json_decref(root);
	if (!r.err)
		*ret_counts = counts;
	return r.err;
}

static int counts_path_of(char *path, size_t size, const char *dir)
{
	return davy_root_path(path, size, "%s/%s", dir, DAVY_COUNTS_NAME);
}

int davy_counts_load(const char *dir, struct davy_counts *ret_counts,
		     char error[DAVY_COUNTS_ERROR_LEN])
{
	char path[512], *text;
	int err = counts_path_of(path, sizeof(path), dir);
	ssize_t n;

	error[0] = 0;
	if (err)
		return err;
	text = malloc(FILE_MAX);
	if (!text)
		return -ENOMEM;
	n = davy_read_whole(path, text, FILE_MAX);
	if (n == -ENOENT)
		memset(ret_counts, 0, sizeof(*ret_counts));
	else if (n >= 0)
		err = davy_counts_parse(text, (size_t)n, ret_counts, error);
	free(text);
	return n < 0 && n != -ENOENT ? (int)n : err;
}

int davy_counts_set_aside(const char *dir)
{
	char path[512], aside[520];
	int err = counts_path_of(path, sizeof(path), dir);

	if (err)
		return err;
	snprintf(aside, sizeof(aside), "%s.bad", path);
	return rename(path, aside) ? -errno : 0;
}

#define NUMBER(value) ((json_int_t)(value))

static void counts_put_lead(json_t *object, const struct davy_lead *lead)
{
	json_t *slots;

	if (!lead->count)
		return;
	slots = json_array();
	for (size_t i = 0; i < DAVY_LEAD_SLOTS; i++)
		json_array_append_new(slots, json_integer(lead->slot[i]));
	json_object_set_new(object, "lead",
			    json_pack("{s:I, s:I, s:I, s:I, s:o}", "count", NUMBER(lead->count),
				      "sum_ns", NUMBER(lead->sum_ns), "min_ns",
				      NUMBER(lead->min_ns), "max_ns", NUMBER(lead->max_ns), "slots",
				      slots));
}

static json_t *counts_classes(const struct davy_foresight *f)
{
	json_t *all = json_object(), *object;

	for (uint32_t i = 0; i < DAVY_CLASS_COUNT; i++) {
		const struct davy_class_score *score = &f->class[i];

		if (!score->failures)
			continue;
		object = json_pack("{s:I, s:I}", "failures", NUMBER(score->failures), "missed",
				   NUMBER(score->missed));
		counts_put_lead(object, &score->lead);
		json_object_set_new(all, davy_log_class_name(i), object);
	}
	return all;
}

static json_t *counts_hazards(const struct davy_foresight *f)
{
	json_t *all = json_object(), *object;

	for (uint32_t i = 0; i < DAVY_HZ_COUNT; i++) {
		const struct davy_hazard_score *score = &f->hazard[i];

		if (!score->signs)
			continue;
		object = json_pack("{s:I, s:I, s:I, s:I, s:I}", "signs", NUMBER(score->signs),
				   "confirmed", NUMBER(score->confirmed), "averted",
				   NUMBER(score->averted), "late", NUMBER(score->late),
				   "false_alarms", NUMBER(score->false_alarms));
		counts_put_lead(object, &score->lead);
		json_object_set_new(all, davy_hazard_name((enum davy_hazard)i), object);
	}
	return all;
}

/* Without memory jansson leaves out what it cannot add. "text" must hold all of it. */
static bool text_is_complete(const char *text, const struct davy_counts *counts)
{
	struct davy_counts *back = calloc(1, sizeof(*back));
	char error[DAVY_COUNTS_ERROR_LEN];
	bool same = back && !davy_counts_parse(text, strlen(text), back, error);

	for (size_t i = 0; same && i < DAVY_HZ_COUNT; i++)
		same = !memcmp(&back->seen.hazard[i], &counts->seen.hazard[i],
			       sizeof(counts->seen.hazard[i]));
	for (size_t i = 0; same && i < DAVY_CLASS_COUNT; i++)
		same = !memcmp(&back->seen.class[i], &counts -> seen.class[i],
			       sizeof(counts->seen.class[i]));
	free(back);
	return same;
}

char *davy_counts_text(const struct davy_counts *counts)
{
	json_t *root = json_pack("{s:i, s:I, s:o, s:o}", "format", FORMAT, "since",
				 NUMBER(counts->since_s), "classes", counts_classes(&counts->seen),
				 "hazards", counts_hazards(&counts->seen));
	char *text = davy_json_text(root, JSON_COMPACT);

	json_decref(root);
	if (text && text_is_complete(text, counts))
		return text;
	free(text);
	return NULL;
}

int davy_counts_save(const char *dir, const struct davy_counts *counts)
{
	char path[512], parent[512], *text;
	int err = counts_path_of(path, sizeof(path), dir);

	if (!err)
		err = davy_root_path(parent, sizeof(parent), "%s", dir);
	if (!err)
		err = davy_make_dirs(parent);
	if (err)
		return err;
	text = davy_counts_text(counts);
	if (!text)
		return -ENOMEM;
	err = davy_replace_file(path, text, strlen(text), 0644);
	free(text);
	return err;
}
