/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "core/event/plan.h"
#include "lib/message.h"
#include "lib/number.h"
#include "lib/options.h"
#include "report/plan_text.h"
#include "store/config_value.h"
#include "verb/client.h"
#include "cli/verbs.h"

#define PATIENCE_MS 180000 /* a new engine may load for minutes */

static const char usage[] =
	"usage: davylamp act pause WORKLOAD [--lease T] [OPTIONS]\n"
	"       davylamp act throttle WORKLOAD [--duty P] [--lease T] [OPTIONS]\n"
	"       davylamp act shrink WORKLOAD [--ubatch N] [--context N] [--parallel N]\n"
	"       davylamp act restart|migrate_cpu|stop|quarantine WORKLOAD [OPTIONS]\n"
	"       davylamp act switch WORKLOAD [--backend NAME] [OPTIONS]\n"
	"       davylamp act cap WORKLOAD [--bytes N | --vram N | --cpu P] [OPTIONS]\n"
	"       davylamp act awake WORKLOAD [OPTIONS]\n"
	"       davylamp act undo WORKLOAD [--of ACTION] [OPTIONS]\n"
	"\n"
	"Makes the agent act on an adopted workload now, and waits until the action is\n"
	"complete. 'davylamp status' prints the number of the workload. pause stops the\n"
	"workload. throttle lets it run for a part of the time. Both end with their\n"
	"lease, on undo, and when the agent or the guard dies. cap limits its memory or\n"
	"CPU time. awake keeps its device out of runtime suspend. shrink, switch,\n"
	"migrate_cpu and restart replace the engine: with smaller settings, on another\n"
	"backend, on the CPU only, or unchanged. llama-server keeps its conversations and\n"
	"clients where possible. stop and quarantine end the engine. Needs root, and an\n"
	"agent in mode enforce.\n"
	"\n"
	"  --lease T      longest duration ('500 ms'; default 2 s); a pause at most 1 min\n"
	"  --duty P       part of the time in which it runs ('25 %'; default 50 %)\n"
	"  --ubatch N     tokens per ubatch; --context N: tokens of all slots;\n"
	"                 --parallel N: slots (default: the agent chooses)\n"
	"  --bytes N      limit of VRAM, else of memory ('4 GiB'; default: current use)\n"
	"  --vram N       limit of VRAM only: by dmem, else a quota (amdgpu)\n"
	"  --cpu P        limit of CPU time instead of bytes: part of one CPU ('50 %')\n"
	"  --backend NAME vulkan, rocm, cuda or sycl; default: another one of the device\n"
	"  --of ACTION    action to undo: pause, throttle ...; default: the latest\n"
	"  --dry-run      print what would be done, do nothing\n"
	"  --json         one JSON object\n"
	"  --socket PATH  the agent's socket (/run/davylamp/agent.sock)\n"
	"  -h, --help     print this text\n";

static const char *const words[] = {
	"pause", "throttle",   "shrink", "restart", "migrate_cpu", "switch",
	"stop",	 "quarantine", "cap",	 "awake",   "undo",
};

/* How an option is written into the message. */
static const struct setting {
	const char *option;
	const char *key;
	const char *of; /* actions that take it; and_of may be NULL */
	const char *and_of;
	const char *fallback; /* NULL: nothing */
	enum davy_unit unit;
	int64_t factor;
} settings[] = {
	{ "lease", "lease_ns", "pause", "throttle", "2 s", DAVY_UNIT_MS, 1000000 },
	{ "duty", "on_permille", "throttle", NULL, "50 %", DAVY_UNIT_PERMILLE, 1 },
	{ "ubatch", "ubatch", "shrink", NULL, NULL, DAVY_UNIT_COUNT, 1 },
	{ "context", "context", "shrink", NULL, NULL, DAVY_UNIT_COUNT, 1 },
	{ "parallel", "parallel", "shrink", NULL, NULL, DAVY_UNIT_COUNT, 1 },
	{ "bytes", "cap_bytes", "cap", NULL, NULL, DAVY_UNIT_BYTES, 1 },
	{ "vram", "vram_bytes", "cap", NULL, NULL, DAVY_UNIT_BYTES, 1 },
	{ "cpu", "on_permille", "cap", NULL, NULL, DAVY_UNIT_PERMILLE, 1 },
};

#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

struct act_options {
	const char *value[SETTINGS]; /* NULL: not given */
	const char *of;
	const char *backend;
	const char *socket_path;
	bool json;
	bool dry_run;
};

static bool is_for(const struct setting *s, const char *word)
{
	return !strcmp(s->of, word) || (s->and_of && !strcmp(s->and_of, word));
}

static int put_setting(json_t *order, const struct setting *s, const char *given, const char *word)
{
	int64_t value;

	if (!is_for(s, word)) {
		if (given)
			davy_log("'%s' does not take --%s", word, s->option);
		return given ? DAVY_EXIT_USAGE : 0;
	}
	if (!given)
		given = s->fallback;
	if (!given)
		return 0;
	if (davy_config_value(s->unit, given, &value) || value <= 0 ||
	    value > INT64_MAX / s->factor) {
		davy_log("--%s '%s': expected %s", s->option, given,
			 davy_config_value_form(s->unit));
		return DAVY_EXIT_USAGE;
	}
	json_object_set_new(order, s->key, json_integer(value * s->factor));
	return 0;
}

static int make_order(char *const *argv, int count, const struct act_options *o, json_t *order)
{
	uint64_t workload = 0;
	bool known = false;
	int err = 0;

	for (size_t i = 0; count && i < sizeof(words) / sizeof(words[0]); i++)
		known |= !strcmp(argv[0], words[i]);
	if (!known) {
		davy_log("expected an action: pause, throttle, shrink ...; see 'davylamp act "
			 "--help'");
		return DAVY_EXIT_USAGE;
	}
	if (count != 2 || !davy_number(argv[1], UINT32_MAX, &workload) || !workload) {
		davy_log("expected the number of a workload ('davylamp status' lists them): "
			 "'davylamp act %s 1'",
			 argv[0]);
		return DAVY_EXIT_USAGE;
	}
	json_object_set_new(order, "op", json_string("order"));
	json_object_set_new(order, "rung", json_string(argv[0]));
	json_object_set_new(order, "workload", json_integer((json_int_t)workload));
	json_object_set_new(order, "dry_run", json_boolean(o->dry_run));
	if (o->backend)
		json_object_set_new(order, "backend", json_string(o->backend));
	if (o->of)
		json_object_set_new(order, "undo", json_string(o->of));
	for (size_t i = 0; !err && i < SETTINGS; i++)
		err = put_setting(order, &settings[i], o->value[i], argv[0]);
	return err;
}

static int act_print(json_t *answer, const struct act_options *o)
{
	bool go = !strcmp(davy_message_text(answer, "verdict"), davy_verdict_name(DAVY_VERDICT_GO));
	bool failed = json_is_true(json_object_get(answer, "failed"));
	bool refused = !strcmp(davy_message_text(answer, "verdict"),
			       davy_verdict_name(DAVY_VERDICT_REFUSED));
	int result = (int)davy_message_number(answer, "result", 0);

	if (o->json) {
		json_object_del(answer, "op");
		json_dumpf(answer, stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		printf("%s\n", davy_message_text(answer, "text"));
		if (go && !o->dry_run)
			printf("%s%s%s\n", failed ? "it failed" : "it is done", result ? ": " : "",
			       result ? davy_act_error_text(result) : "");
	}
	if (refused || (!go && !o->dry_run))
		return DAVY_EXIT_NOT_PERMITTED;
	return failed ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}

static int act(char *const *argv, int count, const struct act_options *o)
{
	json_t *order = json_object(), *answer = NULL;
	int err = make_order(argv, count, o, order);

	if (err) {
		json_decref(order);
		return err;
	}
	err = davy_client_ask_for(o->socket_path, order, PATIENCE_MS, &answer);
	if (err)
		return err;
	err = act_print(answer, o);
	json_decref(answer);
	return err;
}

int davy_verb_act(int argc, char **argv)
{
	struct act_options o = { .socket_path = DAVY_SOCKET_DEFAULT };
	struct davy_option options[SETTINGS + 6] = {
		{ "backend", .text = &o.backend },    { "of", .text = &o.of },
		{ "dry-run", .flag = &o.dry_run },    { "json", .flag = &o.json },
		{ "socket", .text = &o.socket_path },
	};
	int first;

	for (size_t i = 0; i < SETTINGS; i++)
		options[i + 5] = (struct davy_option){ settings[i].option, .text = &o.value[i] };
	first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);
	return first > 0 ? act(argv + first, argc - first, &o) : -first;
}
