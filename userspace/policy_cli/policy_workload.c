/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy_cli/policy_workload.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/message.h"
#include "verb/client.h"
#include "verb/verb.h"

static void print_runs(const json_t *o)
{
	static const char *const keys[] = { "ubatch", "context", "parallel" };
	const json_t *runs = json_object_get(o, "runs"), *act;
	const char *key = davy_message_text(runs, "cache_k");
	size_t i;

	printf("  runs on %s", davy_message_text(runs, "backend"));
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (davy_message_number(runs, keys[i], 0))
			printf(", %s %lld", keys[i],
			       (long long)davy_message_number(runs, keys[i], 0));
	if (key[0])
		printf(", cache type %s", key);
	printf("%s\n", json_is_true(json_object_get(o, "against")) ? ", against the rules" : "");
	json_array_foreach(json_object_get(o, "acts"), i, act)
		printf("  in force: %s, because of %s\n", davy_message_text(act, "act"),
		       davy_message_text(act, "because"));
}

static void print_mode(const json_t *mode)
{
	const char *file = davy_message_text(mode, "file"),
		   *layer = davy_message_text(mode, "layer");

	printf("  mode = %s\n", davy_message_text(mode, "value"));
	if (layer[0])
		printf("      %s%s%s\n", layer, file[0] ? ", " : "", file);
}

/* Prints "      because TEXT", or nothing without a text. */
static void print_said(const char *before, const json_t *value, const char *key)
{
	const char *text = davy_message_text(value, key);

	if (text[0])
		printf("      %s%s\n", before, text);
}

static void print_why(const json_t *value)
{
	const char *source = davy_message_text(value, "source"),
		   *date = davy_message_text(value, "date");

	print_said("because ", value, "because");
	if (source[0] || date[0])
		printf("      %s%s%s\n", source, source[0] && date[0] ? ", " : "", date);
	print_said("reason: ", value, "reason");
	print_said("evidence: ", value, "evidence");
}

static void policy_workload_print_value(const json_t *value, bool why)
{
	const char *name = davy_message_text(value, "name");
	long long version = (long long)davy_message_number(value, "version", 0);

	printf("  %s%s%s = %s\n", davy_message_text(value, "key"), name[0] ? " " : "", name,
	       davy_message_text(value, "value"));
	printf("      %s, %s:%lld, rule %s", davy_message_text(value, "layer"),
	       davy_message_text(value, "file"), (long long)davy_message_number(value, "line", 0),
	       davy_message_text(value, "rule"));
	if (version)
		printf(", version %lld", version);
	printf("%s\n", json_is_true(json_object_get(value, "pinned")) ? ", pinned" : "");
	if (why)
		print_why(value);
}

static void print_environment(const json_t *e)
{
	static const char *const keys[] = { "kernel", "driver", "firmware", "engine" };
	size_t reported = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *text = davy_message_text(e, keys[i]);

		if (text[0])
			printf("%s%s %s", reported++ ? "; " : "  under ", keys[i], text);
	}
	if (reported)
		putchar('\n');
}

static void policy_workload_print_breakers(const json_t *list)
{
	const json_t *b;
	size_t i;

	json_array_foreach(list, i, b)
	{
		const char *device = davy_message_text(b, "device");

		printf("  breaker of %s on %s: %s\n", davy_message_text(b, "backend"),
		       device[0] ? device : "any device", davy_message_text(b, "state"));
		print_said("reason: ", b, "because");
	}
}

/* "workload 1, pid 4711: llama-server with a.gguf on 0000:03:00.0, unit x.service" */
static void policy_workload_print_head(const json_t *o)
{
	const char *model = davy_message_text(o, "model"), *device = davy_message_text(o, "device");
	const char *unit = davy_message_text(o, "unit");
	long long workload = (long long)davy_message_number(o, "workload", 0);

	if (workload)
		printf("workload %lld, ", workload);
	printf("pid %lld: %s", (long long)davy_message_number(o, "pid", 0),
	       davy_message_text(o, "engine"));
	printf("%s%s", model[0] ? " with " : "", model);
	printf("%s%s", device[0] ? " on " : "", device);
	printf("%s%s%s\n", unit[0] ? ", unit " : "", unit, workload ? "" : ", observed only");
}

static void policy_workload_print(const json_t *o, bool why)
{
	const json_t *value;
	size_t i;

	policy_workload_print_head(o);
	print_runs(o);
	print_mode(json_object_get(o, "mode"));
	json_array_foreach(json_object_get(o, "values"), i, value)
		policy_workload_print_value(value, why);
	if (!json_array_size(json_object_get(o, "values")))
		printf("  no rule applies to it\n");
	if (davy_message_number(o, "values_unlisted", 0))
		printf("  %lld more are not shown: the table is full\n",
		       (long long)davy_message_number(o, "values_unlisted", 0));
	policy_workload_print_breakers(json_object_get(o, "breakers"));
	if (why)
		print_environment(json_object_get(o, "environment"));
	if (davy_message_text(o, "policy_error")[0])
		printf("  policy: %s; the previous rules stay in force\n",
		       davy_message_text(o, "policy_error"));
}

static int policy_workload_tell(const struct davy_policy_running *asked, json_int_t pid)
{
	json_t *answer = NULL;
	int status =
		davy_client_ask(asked->socket_path,
				json_pack("{s:s, s:I}", "op", "policy_of", "pid", pid), &answer);

	if (status)
		return status;
	json_object_del(answer, "op");
	if (asked->json) {
		json_dumpf(answer, stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		policy_workload_print(answer, asked->why);
	}
	json_decref(answer);
	return DAVY_EXIT_DONE;
}

/* 0: not a whole number. */
static json_int_t policy_workload_number_of(const char *name)
{
	char *end;
	long long number = strtoll(name, &end, 10);

	return *name && !*end && number > 0 && number <= UINT32_MAX ? number : 0;
}

static bool is_unit(const char *unit, const char *name)
{
	size_t len = strlen(name);

	return unit[0] && !strncmp(unit, name, len) &&
	       (!unit[len] || !strcmp(unit + len, ".service"));
}

enum by {
	BY_WORKLOAD,
	BY_PID,
	BY_NAME,
	BY_COUNT
};

static bool is_meant(const json_t *p, const char *name, enum by by)
{
	json_int_t number = policy_workload_number_of(name);

	if (by == BY_NAME)
		return !strcmp(davy_message_text(p, "engine"), name) ||
		       is_unit(davy_message_text(p, "unit"), name);
	return number && number == davy_message_number(p, by == BY_PID ? "pid" : "workload", 0);
}

/* Tries workload number, pid, unit and engine, in this order; prints all of the first match. */
static int tell_named(const struct davy_policy_running *asked, const json_t *processes)
{
	int status = DAVY_EXIT_NOTHING;
	const json_t *p;
	size_t i;

	for (int by = 0; by < BY_COUNT && status == DAVY_EXIT_NOTHING; by++)
		json_array_foreach(processes, i, p)
		{
			if (!is_meant(p, asked->name, (enum by)by))
				continue;
			status = policy_workload_tell(asked, davy_message_number(p, "pid", 0));
			if (status)
				return status;
		}
	if (status == DAVY_EXIT_NOTHING)
		davy_log("no running engine '%s'; 'davylamp status' lists the running ones by "
			 "workload, pid, unit and engine",
			 asked->name);
	return status;
}

static int policy_workload_list(const char *socket_path, json_t **ret_answer)
{
	return davy_client_ask(socket_path, json_pack("{s:s}", "op", "status"), ret_answer);
}

int davy_policy_running(const struct davy_policy_running *asked)
{
	json_t *answer = NULL;
	int status = policy_workload_list(asked->socket_path, &answer);

	if (!status)
		status = tell_named(asked, json_object_get(answer, "processes"));
	json_decref(answer);
	return status;
}

bool davy_policy_running_all(const struct davy_policy_running *asked)
{
	json_t *answer = NULL, *p;
	bool reported = false;
	size_t i;

	if (geteuid() || davy_client_find(asked->socket_path) ||
	    policy_workload_list(asked->socket_path, &answer))
		return false;
	json_array_foreach(json_object_get(answer, "processes"), i,
			   p) if (davy_message_number(p, "workload", 0)) reported |=
		!policy_workload_tell(asked, davy_message_number(p, "pid", 0));
	json_decref(answer);
	return reported;
}
