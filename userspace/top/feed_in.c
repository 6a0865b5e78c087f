/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/feed_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "lib/message.h"

#define PATIENCE_MS 5000
#define ASKS_MAX    64 /* answers with lines in one turn; the rest comes with the next one */

static json_int_t feed_in_at(const json_t *line)
{
	return davy_message_number(json_object_get(line, "json"), "at_ns", 0);
}

/* Merges the decisions and events of an answer by time; an event precedes its decisions. */
static void feed_in_merge(const json_t *recent, json_t *lines)
{
	json_t *plans = json_object_get(recent, "decisions");
	json_t *events = json_object_get(recent, "events");
	size_t plan = 0, event = 0;

	while (plan < json_array_size(plans) || event < json_array_size(events)) {
		json_t *p = json_array_get(plans, plan), *e = json_array_get(events, event);

		if (e && (!p || feed_in_at(e) <= feed_in_at(p))) {
			json_array_append(lines, e);
			event++;
		} else {
			json_array_append(lines, p);
			plan++;
		}
	}
}

/* Asks until no line is left: a message has a maximum size. */
static int feed_in_recent(struct davy_feed_in *f, int fd, json_t **ret_recent)
{
	json_t *all = json_pack("{s:[], s:[]}", "decisions", "events");
	int err = all ? 0 : -ENOMEM;
	bool more = true;

	for (int i = 0; !err && more && i < ASKS_MAX; i++) {
		json_t *answer = NULL;

		err = davy_message_ask(fd,
				       json_pack("{s:s, s:I, s:I}", "op", "recent", "decision",
						 f->decision, "event", f->event),
				       PATIENCE_MS, &answer);
		if (err)
			break;
		json_array_extend(json_object_get(all, "decisions"),
				  json_object_get(answer, "decisions"));
		json_array_extend(json_object_get(all, "events"),
				  json_object_get(answer, "events"));
		more = davy_message_number(answer, "decision", 0) != f->decision ||
		       davy_message_number(answer, "event", 0) != f->event;
		f->decision = davy_message_number(answer, "decision", f->decision);
		f->event = davy_message_number(answer, "event", f->event);
		json_decref(answer);
	}
	if (err)
		json_decref(all);
	else
		*ret_recent = all;
	return err;
}

static int feed_in_of_agent(struct davy_feed_in *f, json_t **ret_pair)
{
	DAVY_FD fd = davy_message_connect(f->socket_path, DAVY_CONNECT_MS);
	json_t *status = NULL, *recent = NULL;
	json_int_t started_ns;
	int err = fd < 0 ? fd
			 : davy_message_ask(fd, json_pack("{s:s}", "op", "status"), PATIENCE_MS,
					    &status);

	if (err)
		return err;
	started_ns = davy_message_number(status, "started_ns", 0);
	if (started_ns != f->started_ns)
		f->decision = f->event = 0;
	f->started_ns = started_ns;
	json_object_del(status, "op");
	err = feed_in_recent(f, fd, &recent);
	*ret_pair = err ? NULL : json_pack("{s:O, s:O}", "status", status, "recent", recent);
	json_decref(status);
	json_decref(recent);
	return !err && !*ret_pair ? -ENOMEM : err;
}

/* The recording is a file that a stranger may have made: a bad line ends it. */
static int feed_in_of_file(struct davy_feed_in *f, json_t **ret_pair)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n = getline(&line, &size, f->replayed);

	*ret_pair = n > 0 ? json_loadb(line, (size_t)n, JSON_REJECT_DUPLICATES, NULL) : NULL;
	free(line);
	if (n <= 0)
		return -ENODATA;
	if (json_is_object(json_object_get(*ret_pair, "status")))
		return 0;
	json_decref(*ret_pair);
	return -EBADMSG;
}

int davy_feed_in_take(struct davy_feed_in *f, json_t **ret_status, json_t *lines)
{
	json_t *pair = NULL;
	int err = f->replayed ? feed_in_of_file(f, &pair) : feed_in_of_agent(f, &pair);

	if (err)
		return err;
	if (f->record) {
		json_dumpf(pair, f->record, JSON_COMPACT);
		fputc('\n', f->record);
		fflush(f->record);
	}
	*ret_status = json_incref(json_object_get(pair, "status"));
	feed_in_merge(json_object_get(pair, "recent"), lines);
	json_decref(pair);
	return 0;
}
