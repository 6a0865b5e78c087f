/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "core/event/plan.h"
#include "lib/message.h"
#include "lib/options.h"
#include "lib/standard_fds.h"
#include "lib/text.h"
#include "store/learned.h"
#include "policy_cli/policy_check.h"
#include "policy_cli/policy_explain.h"
#include "policy_cli/policy_history.h"
#include "policy_cli/policy_unit.h"
#include "policy_cli/policy_workload.h"
#include "policy_cli/policy_write.h"
#include "verb/policy_pin.h"
#include "verb/verb.h"
#include "verb/when.h"

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
	"show         prints the breakers: which model failed on which device and\n"
	"             backend, since when, and why. Also prints the policy of each\n"
	"             running workload: every value with layer, file, line and version.\n"
	"             WORKLOAD: number, pid, unit or engine, see 'davylamp status'.\n"
	"explain      like show, with reasons and evidence. With options: the backend and\n"
	"             settings for an engine and a model. See 'policy explain --help'.\n"
	"write        writes rules as configuration of a systemd unit, llama-server's\n"
	"             router, Ollama, llama-swap, lemonade, Docker Compose, quadlet or\n"
	"             Kubernetes. See 'policy write --help'.\n"
	"check        checks files of thresholds and of rules (named backend.conf), and\n"
	"             prints what they change. Default: the files of this host.\n"
	"reload       makes the agent read its files again. If one is not valid, the\n"
	"             agent keeps the previous configuration, and the exit status is 1.\n"
	"pin          adds a rule to the administrator's backend.conf. It takes\n"
	"             precedence over the agent's rules. KEY=VALUE: a value\n"
	"             ('ubatch=256', 'backends=cpu') or a condition ('backend=vulkan').\n"
	"unpin        removes a rule that 'pin' added.\n"
	"ledger       prints for each setting: hours without failure, context depth,\n"
	"             failures.\n"
	"history      lists the versions of the agent's rules with reason and evidence.\n"
	"diff         prints what the newest version changed; or since N; or from N to M.\n"
	"rollback     makes the rules of version N the newest version; 0: no rules.\n"
	"export, import  copy the agent's rules to another host.\n"
	"forget       deletes what ledger, tuner, breakers and the agent's rules contain\n"
	"             about a model, a device, a model on a device, or everything.\n"
	"adopt        lets the agent act on a systemd service: restart it, and set its\n"
	"             environment through a drop-in.\n"
	"release      undoes adopt. If an action has changed the settings of the service,\n"
	"             it is restarted.\n"
	"adopted      lists the adopted services.\n"
	"\n"
	"'show' and 'explain' with WORKLOAD, reload, adopt, release and adopted need a\n"
	"running agent. rollback, import and forget are executed by the agent if it runs,\n"
	"else directly in the state directory. Commands that change something need root.\n"
	"\n"
	"  --json         one JSON object per line\n"
	"  --state DIR    learned rules and data (/var/lib/davylamp)\n"
	"  --config DIR   hazards.conf and backend.conf of this host (/etc/davylamp)\n"
	"  --model NAME   file name or alias, as printed by 'policy show'\n"
	"  --device ADDR  PCI address, such as 0000:03:00.0\n"
	"  --all          forget everything\n"
	"  --socket PATH  the agent's socket (/run/davylamp/agent.sock)\n"
	"  -h, --help     print this text\n";

struct policy_options {
	const char *config_dir;
	struct davy_history_options history;
};

static void policy_print(const struct davy_learned_entry *e)
{
	char device[128], model[256], reason[512], since[32], until[32];

	printf("%s on %s, model %s: breaker %s\n", davy_backend_name(e->backend),
	       davy_text_shown(device, sizeof(device), e->device[0] ? e->device : "any device"),
	       davy_text_shown(model, sizeof(model), e->model), davy_breaker_state_name(e->state));
	printf("    since %s", davy_when(e->since_s, since, sizeof(since)));
	if (e->state == DAVY_BREAKER_OPEN)
		printf(", one start (probation) is allowed from %s",
		       davy_when(e->until_s, until, sizeof(until)));
	printf("; opened %u time%s\n    reason: %s\n", e->open_count, e->open_count == 1 ? "" : "s",
	       davy_text_shown(reason, sizeof(reason), e->reason));
}

static void policy_print_json(const struct davy_learned_entry *e)
{
	char device[128], model[256], reason[512];
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:i, s:s}", "backend",
			      davy_backend_name(e->backend), "device",
			      davy_text_shown(device, sizeof(device), e->device), "model",
			      davy_text_shown(model, sizeof(model), e->model), "state",
			      davy_breaker_state_name(e->state), "since", (json_int_t)e->since_s,
			      "until", (json_int_t)e->until_s, "openings", (int)e->open_count,
			      "because", davy_text_shown(reason, sizeof(reason), e->reason));

	json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(o);
}

static int show_learned(const char *dir, bool json)
{
	struct davy_learned learned;
	int line, err = davy_learned_load(dir, &learned, &line);

	if (err == -EBADMSG)
		davy_log("'%s/%s', line %d: syntax error; correct or remove the file", dir,
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
		printf("no breaker is open\n");
	return DAVY_EXIT_DONE;
}

/* With --state, a running agent may belong to another directory: do not ask it. */
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
	davy_log("expected a command: 'davylamp policy show', 'explain', 'check', 'reload', "
		 "'write FORMAT', 'pin KEY=VALUE', 'unpin RULE', 'ledger', 'history', "
		 "'diff [N [M]]', 'rollback N', 'export FILE', 'import FILE', 'forget', 'adopted', "
		 "'adopt UNIT' or 'release UNIT'");
	return DAVY_EXIT_USAGE;
}

int main(int argc, char **argv)
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

	if (davy_standard_fds_open())
		return DAVY_EXIT_FAILED; /* no stderr for a message */
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
