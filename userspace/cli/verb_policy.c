/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "core/event/plan.h"
#include "lib/message.h"
#include "lib/options.h"
#include "lib/text.h"
#include "store/learned.h"
#include "cli/policy_check.h"
#include "cli/policy_explain.h"
#include "cli/policy_history.h"
#include "cli/policy_unit.h"
#include "cli/policy_workload.h"
#include "cli/policy_write.h"
#include "verb/policy_pin.h"
#include "cli/verbs.h"
#include "cli/when.h"

static const char usage[] =
	"usage: davylamp policy show [WORKLOAD] [--json] [--state DIR] [--socket PATH]\n"
	"       davylamp policy explain WORKLOAD [--json] [--socket PATH]\n"
	"       davylamp policy explain [--engine E] [--model M] [--device D] [OPTIONS]\n"
	"       davylamp policy write FORMAT [--out FILE] [--model M]... [OPTIONS]\n"
	"       davylamp policy check [--json] [--config DIR] [FILE...]\n"
	"       davylamp policy reload [--json] [--socket PATH]\n"
	"       davylamp policy pin [--model NAME] [--device ADDRESS] KEY=VALUE...\n"
	"       davylamp policy unpin RULE\n"
	"       davylamp policy ledger [--model NAME] [--device ADDRESS] [--json]\n"
	"                              [--state DIR]\n"
	"       davylamp policy history [--json] [--state DIR]\n"
	"       davylamp policy diff [N [M]] [--json] [--state DIR]\n"
	"       davylamp policy rollback N [--json] [--state DIR] [--socket PATH]\n"
	"       davylamp policy export FILE|- [--state DIR]\n"
	"       davylamp policy import FILE|- [--json] [--state DIR] [--socket PATH]\n"
	"       davylamp policy forget [--model NAME] [--device ADDRESS] [--all] [--json]\n"
	"                              [--state DIR] [--socket PATH]\n"
	"       davylamp policy adopt|release UNIT [--json] [--socket PATH]\n"
	"       davylamp policy adopted [--json] [--socket PATH]\n"
	"\n"
	"show: what the agent has learned: which model on which device and backend is\n"
	"open-circuit, since when, and why; and of every workload that runs, what the\n"
	"policy says of it: each value with layer, file, line and version. WORKLOAD, of\n"
	"that one alone: a number or a pid, a unit or an engine, as 'davylamp status' has\n"
	"it. explain: the same with reasons and evidence; or which backend and settings\n"
	"an engine and a model get on a GPU, and by which rule; 'explain --help' has its\n"
	"options. write: the same as configuration for a unit, llama-server's router,\n"
	"Ollama, llama-swap or lemonade; 'write --help' has its options.\n"
	"check: whether files of thresholds, and of rules (named backend.conf), are in\n"
	"order, and what they change; without FILE those that an agent here would read.\n"
	"Without WORKLOAD none of them needs an agent. reload: the running agent reads\n"
	"its files again; when they are not in order it keeps what it had, and the exit\n"
	"status is 1. Needs root. pin: a rule of people's, in --config's backend.conf,\n"
	"that beats what the agent finds out ('ubatch=256', 'backends=cpu',\n"
	"'backend=vulkan' as a condition); unpin: takes one out again.\n"
	"ledger: what came of every setting that a model ran with: how long it survived,\n"
	"how deep, how it failed.\n"
	"history: the versions of the rules that the agent has made (backend.conf in the\n"
	"state directory), the newest first, with reason and evidence. diff: what changed\n"
	"with the newest, since version N, or from N to M. rollback: makes the rules of\n"
	"version N the newest, byte for byte; 0 is to be without any. export, import:\n"
	"takes them to another host. forget: removes what ledger, tuner, breakers and\n"
	"the agent's own rules know of a model, a device, one on the other, or all. The\n"
	"running agent makes these changes; without one they are made on the state\n"
	"directory. Needs root.\n"
	"adopt: puts a systemd service into the agent's care, which may restart it and\n"
	"tell it other settings by its environment (a drop-in that only points at a file\n"
	"in the state directory). release: takes that back; a service that ran with\n"
	"other settings is restarted with its own. Both need root. adopted: lists them.\n"
	"\n"
	"  --json         one JSON object a line\n"
	"  --state DIR    where what was learned and tuned is kept (/var/lib/davylamp)\n"
	"  --config DIR   hazards.conf and backend.conf of this host (/etc/davylamp)\n"
	"  --model NAME   file name or alias, as 'policy show' has it\n"
	"  --device ADDR  such as 0000:03:00.0\n"
	"  --all          forget everything\n"
	"  --socket PATH  the agent's socket (/run/davylamp/agent.sock)\n"
	"  -h, --help     this text\n";

struct policy_options {
	const char *config_dir;
	struct davy_history_options history;
};

static void policy_print(const struct davy_learned_entry *e)
{
	char device[128], model[256], because[512], since[32], until[32];

	printf("%s on %s, model %s: breaker %s\n", davy_backend_name(e->backend),
	       davy_text_shown(device, sizeof(device), e->device[0] ? e->device : "any device"),
	       davy_text_shown(model, sizeof(model), e->model), davy_breaker_state_name(e->state));
	printf("    since %s", davy_when(e->since_s, since, sizeof(since)));
	if (e->state == DAVY_BREAKER_OPEN)
		printf(", one start may try it from %s on",
		       davy_when(e->until_s, until, sizeof(until)));
	printf("; opened %u time%s\n    because it %s\n", e->open_count,
	       e->open_count == 1 ? "" : "s",
	       davy_text_shown(because, sizeof(because), e->because));
}

static void policy_print_json(const struct davy_learned_entry *e)
{
	char device[128], model[256], because[512];
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:i, s:s}", "backend",
			      davy_backend_name(e->backend), "device",
			      davy_text_shown(device, sizeof(device), e->device), "model",
			      davy_text_shown(model, sizeof(model), e->model), "state",
			      davy_breaker_state_name(e->state), "since", (json_int_t)e->since_s,
			      "until", (json_int_t)e->until_s, "openings", (int)e->open_count,
			      "because", davy_text_shown(because, sizeof(because), e->because));

	json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(o);
}

static int show_learned(const char *dir, bool json)
{
	struct davy_learned learned;
	int line, err = davy_learned_load(dir, &learned, &line);

	if (err == -EBADMSG)
		davy_log("'%s/%s', line %d: not understood; mend or remove it", dir,
			 DAVY_LEARNED_NAME, line);
	else if (err)
		davy_log("'%s/%s': %s", dir, DAVY_LEARNED_NAME, strerror(-err));
	if (err)
		return DAVY_EXIT_FAILED;
	for (size_t i = 0; i < learned.count; i++) {
		if (json)
			policy_print_json(&learned.entry[i]);
		else
			policy_print(&learned.entry[i]);
	}
	if (!learned.count && !json)
		printf("nothing learned: every backend is closed-circuit\n");
	return DAVY_EXIT_DONE;
}

/* Of a state directory that was named it is not known whose it is. */
static int policy_show(const char *workload, const struct davy_history_options *h)
{
	const struct davy_policy_running asked = { h->socket_path, workload, false, h->json };
	int status;

	if (workload)
		return davy_policy_running(&asked);
	status = show_learned(h->state_dir, h->json);
	if (!status && !h->state_given)
		davy_policy_running_all(&asked);
	return status;
}

static int policy_do_it(const char *word, char *const *words, size_t count,
			const struct policy_options *o)
{
	const struct davy_history_options *h = &o->history;
	const struct davy_pin pin = { .config_dir = o->config_dir,
				      .model = h->model,
				      .device = h->device,
				      .words = words,
				      .count = count,
				      .json = h->json };
	int status = davy_policy_history_word(word, words, count, h);

	if (status >= 0)
		return status;
	if (!strcmp(word, "pin"))
		return davy_policy_pin(&pin);
	if (count == 1 && !strcmp(word, "unpin"))
		return davy_policy_unpin(&pin);
	if (!strcmp(word, "check"))
		return davy_policy_check(words, count, h->state_dir, o->config_dir, h->json);
	if (count <= 1 && !strcmp(word, "show"))
		return policy_show(count ? words[0] : NULL, h);
	if (!count && !strcmp(word, "reload"))
		return davy_policy_ask_reload(h->socket_path, h->json);
	if (count == 1 && !strcmp(word, "adopt"))
		return davy_policy_adopt(h->socket_path, words[0], h->json);
	if (count == 1 && !strcmp(word, "release"))
		return davy_policy_release(h->socket_path, words[0], h->json);
	if (!count && !strcmp(word, "adopted"))
		return davy_policy_adopted(h->socket_path, h->json);
	davy_log("what about the policy? 'davylamp policy show', 'explain', 'check', 'reload', "
		 "'write FORMAT', 'pin KEY=VALUE', 'unpin RULE', 'ledger', 'history', "
		 "'diff [N [M]]', 'rollback N', 'export FILE', 'import FILE', 'forget', 'adopted', "
		 "'adopt UNIT' or 'release UNIT'");
	return DAVY_EXIT_USAGE;
}

int davy_verb_policy(int argc, char **argv)
{
	struct policy_options o = {
		DAVY_CONFIG_DIR, { .state_dir = DAVY_STATE_DIR, .socket_path = DAVY_SOCKET_DEFAULT }
	};
	const struct davy_option options[] = {
		{ "json", .flag = &o.history.json },   { "state", .text = &o.history.state_dir },
		{ "config", .text = &o.config_dir },   { "socket", .text = &o.history.socket_path },
		{ "model", .text = &o.history.model }, { "device", .text = &o.history.device },
		{ "all", .flag = &o.history.all },     { 0 },
	};
	const char *state_dir = o.history.state_dir;
	int first;

	if (argc > 1 && !strcmp(argv[1], "explain"))
		return davy_policy_explain(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "write"))
		return davy_policy_write(argc - 1, argv + 1);
	first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);
	if (first <= 0)
		return -first;
	o.history.state_given = o.history.state_dir != state_dir;
	if (first == argc)
		return policy_do_it("", NULL, 0, &o);
	return policy_do_it(argv[first], argv + first + 1, (size_t)(argc - first - 1), &o);
}
