/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp log': the failures in a saved kernel log. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "lib/options.h"
#include "lib/text.h"
#include "sensors/kmsg/kmsg_verdict.h"
#include "reporter/dossier.h"
#include "verb/verb.h"

#define LINE_SIZE 8192 /* longer lines are cut */

static const char usage[] =
	"usage: davylamp log [--json] [FILE]\n"
	"\n"
	"Finds the lines about GPU failures in a saved kernel log (dmesg, journalctl -k\n"
	"or syslog). Prints a line for each event, and the failure that explains them.\n"
	"Reads stdin without FILE.\n"
	"\n"
	"  --json      one JSON object per line; the last one is the conclusion\n"
	"  -h, --help  print this text\n";

struct state {
	bool json;
	int err;
	struct davy_log_blocks blocks;
	struct davy_log_verdict verdict;
	struct davy_log_event pending; /* not yet printed: it may be repeated */
	struct davy_log_event last;
	uint64_t pending_count;
	uint64_t line_count;
};

/* Prints and frees; keeps the first error. */
static void log_print_json(struct state *s, json_t *object)
{
	char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

	json_decref(object);
	if (!text)
		s->err = -ENOMEM;
	else if (puts(text) < 0)
		s->err = -EIO;
	free(text);
}

static void log_set_text(json_t *object, const char *key, const char *value)
{
	char safe[4 * DAVY_KMSG_STAMP_SIZE];

	if (*value)
		json_object_set_new(object, key,
				    json_string(davy_text_safe(safe, sizeof(safe), value)));
}

static void log_set_number(json_t *object, const char *key, json_int_t value)
{
	if (value)
		json_object_set_new(object, key, json_integer(value));
}

static json_t *classes_json(uint16_t leads)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < DAVY_CLASS_COUNT; i++)
		if (leads & 1u << i)
			json_array_append_new(list, json_string(davy_log_class_name(i)));
	return list;
}

static void set_judgement(json_t *object, const struct davy_log_event *ev)
{
	json_object_set_new(object, "role", json_string(davy_log_role_name(ev->role)));
	json_object_set_new(object, "class", json_string(davy_log_class_name(ev->class)));
	if (ev->role == DAVY_PART_PRECURSOR) {
		json_object_set_new(object, "hazard",
				    json_string(davy_log_hazard_name(ev->hazard)));
		json_object_set_new(object, "leads_to", classes_json(ev->leads));
	}
}

static json_t *log_event_json(const struct state *s)
{
	const struct davy_log_event *ev = &s->pending;
	char addr[32] = "";
	json_t *object = json_object();

	if (!object)
		return NULL;
	json_object_set_new(object, "event", json_string(davy_log_kind_name(ev->kind)));
	log_set_text(object, "time", ev->stamp);
	set_judgement(object, ev);
	log_set_text(object, "device", ev->device);
	log_set_number(object, "pid", ev->pid);
	log_set_text(object, "comm", ev->comm);
	log_set_text(object, "ring", ev->ring);
	if (ev->addr)
		snprintf(addr, sizeof(addr), "0x%" PRIx64, ev->addr);
	log_set_text(object, "address", addr);
	log_set_number(object, "code", ev->code);
	log_set_number(object, "error", ev->error);
	json_object_set_new(object, "count", json_integer((json_int_t)s->pending_count));
	if (s->pending_count > 1)
		log_set_text(object, "until", s->last.stamp);
	return object;
}

static void log_print_text(const struct state *s)
{
	const struct davy_log_event *ev = &s->pending;
	char safe[4 * DAVY_KMSG_STAMP_SIZE];

	if (*ev->stamp)
		printf("[%s] ", davy_text_safe(safe, sizeof(safe), ev->stamp));
	if (*ev->device)
		printf("%s ", davy_text_safe(safe, sizeof(safe), ev->device));
	if (ev->role == DAVY_PART_FAILURE)
		printf("%s: %s", davy_log_class_name(ev->class), davy_log_kind_name(ev->kind));
	else
		printf("%s of %s: %s", davy_log_role_name(ev->role), davy_log_class_name(ev->class),
		       davy_log_kind_name(ev->kind));
	if (ev->code)
		printf(" %" PRIu32, ev->code);
	if (*ev->ring)
		printf(", ring %s", davy_text_safe(safe, sizeof(safe), ev->ring));
	if (ev->pid)
		printf(", process %" PRIu32 " '%s'", ev->pid,
		       davy_text_safe(safe, sizeof(safe), ev->comm));
	if (ev->addr)
		printf(", address 0x%" PRIx64, ev->addr);
	if (ev->error)
		printf(", error %" PRId32, ev->error);
	if (s->pending_count > 1)
		printf(", %" PRIu64 " times", s->pending_count);
	if (s->pending_count > 1 && *s->last.stamp)
		printf(" until %s", davy_text_safe(safe, sizeof(safe), s->last.stamp));
	printf("\n");
}

static void print_pending(struct state *s)
{
	if (s->pending_count && s->json)
		log_print_json(s, log_event_json(s));
	else if (s->pending_count)
		log_print_text(s);
	s->pending_count = 0;
	if (ferror(stdout))
		s->err = -EIO;
}

static bool same_event(const struct davy_log_event *a, const struct davy_log_event *b)
{
	return a->kind == b->kind && a->role == b->role && a->pid == b->pid && a->code == b->code &&
	       davy_same_name(a->device, b->device) && davy_same_name(a->ring, b->ring) &&
	       davy_same_name(a->comm, b->comm);
}

static void log_take(void *arg, const struct davy_log_event *ev)
{
	struct state *s = arg;

	davy_log_verdict_add(&s->verdict, ev);
	if (s->pending_count && !same_event(&s->pending, ev))
		print_pending(s);
	if (!s->pending_count++)
		s->pending = *ev;
	s->last = *ev;
}

static void log_feed(struct state *s, const char *line, size_t size)
{
	struct davy_kmsg_line parsed;
	int err = davy_kmsg_record_parse(line, size, &parsed);

	s->line_count++;
	if (err == -EPERM)
		return; /* a user process wrote it to /dev/kmsg */
	if (!err || davy_kmsg_line_parse(line, size, &parsed))
		davy_log_blocks_feed(&s->blocks, &parsed);
}

static int log_read_lines(struct state *s, FILE *file)
{
	static char line[LINE_SIZE];
	static char chunk[16384];
	size_t used = 0, got;

	while (!s->err && (got = fread(chunk, 1, sizeof(chunk), file)) > 0) {
		for (size_t i = 0; i < got; i++) {
			if (chunk[i] == '\n') {
				log_feed(s, line, used);
				used = 0;
			} else if (used < sizeof(line)) {
				line[used++] = chunk[i];
			}
		}
	}
	if (used)
		log_feed(s, line, used);
	return ferror(file) ? -errno : s->err;
}

static void conclude_json(struct state *s, const struct davy_log_event *ev)
{
	json_t *object = json_object();

	if (object && ev)
		set_judgement(object, ev);
	if (object) {
		json_object_set_new(object, "concluded",
				    json_string(davy_log_class_name(ev ? ev->class : 0)));
		if (ev)
			json_object_set_new(object, "by",
					    json_string(davy_log_kind_name(ev->kind)));
		json_object_set_new(object, "lines", json_integer((json_int_t)s->line_count));
		for (uint32_t i = DAVY_PART_FAILURE; i <= DAVY_PART_AFTERMATH; i++)
			json_object_set_new(object,
					    i == DAVY_PART_FAILURE     ? "failures"
					    : i == DAVY_PART_PRECURSOR ? "precursors"
								       : "aftermaths",
					    json_integer((json_int_t)s->verdict.count[i]));
	}
	log_print_json(s, object);
}

static void conclude_text(const struct state *s, const struct davy_log_event *ev)
{
	printf("%" PRIu64 " lines: ", s->line_count);
	if (!ev) {
		printf("no GPU failure found\n");
		return;
	}
	printf("%" PRIu64 " failures, %" PRIu64 " precursors; ",
	       s->verdict.count[DAVY_PART_FAILURE], s->verdict.count[DAVY_PART_PRECURSOR]);
	if (ev->role == DAVY_PART_PRECURSOR)
		printf("no failure yet, but %s can lead to %s\n", davy_log_hazard_name(ev->hazard),
		       davy_log_class_name(ev->class));
	else
		printf("%s%s\n", davy_log_class_name(ev->class),
		       ev->role == DAVY_PART_AFTERMATH ? ", inferred from its aftermath" : "");
}

static int log_read_log(const char *path, bool json)
{
	struct state *s = calloc(1, sizeof(*s));
	DAVY_FILE file = path ? fopen(path, "re") : NULL;
	int err = path && !file ? -errno : 0;

	if (!s)
		return -ENOMEM;
	if (!err) {
		s->json = json;
		davy_log_blocks_init(&s->blocks, log_take, s);
		err = log_read_lines(s, path ? file : stdin);
		davy_log_blocks_finish(&s->blocks);
		print_pending(s);
		if (json)
			conclude_json(s, davy_log_verdict_conclude(&s->verdict));
		else
			conclude_text(s, davy_log_verdict_conclude(&s->verdict));
		err = err ? err : s->err;
	}
	free(s);
	return !err && fflush(stdout) ? -errno : err;
}

int davy_report_log(int argc, char **argv)
{
	bool json = false;
	const struct davy_option options[] = { { "json", .flag = &json }, { 0 } };
	int first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options), err;

	if (first <= 0)
		return -first;
	if (argc - first > 1) {
		davy_log("expected one file, got also '%s'", argv[first + 1]);
		return DAVY_EXIT_USAGE;
	}
	err = log_read_log(argv[first], json);
	if (err == -EACCES || err == -EPERM)
		davy_log("'%s': permission denied", argv[first] ? argv[first] : "stdin");
	else if (err)
		davy_log("'%s': %s", argv[first] ? argv[first] : "stdin", strerror(-err));
	if (err == -EACCES || err == -EPERM)
		return DAVY_EXIT_NOT_PERMITTED;
	return err ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}
