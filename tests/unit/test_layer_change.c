/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An operator's changes of the agent's own rules: a forgotten model's rules are removed,
 * and a running agent applies the change at once.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "root.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/agent.h"
#include "lib/message.h"
#include "store/generated.h"
#include "store/layer_change.h"
#include "store/ledger.h"
#include "store/versions.h"
#include "agent/policy/agent_policy.h"

#define A_RULE	"[rule tuned-a]\nif model = a.gguf\nif backend = vulkan\nubatch = 256\n"
#define A_HERE	"[rule a-here]\nif model = a.gguf\nif device = 0000:03:00.0\nubatch = 128\n"
#define B_HERE	"[rule b-here]\nif model = b.gguf\nif device = 0000:03:00.0\nubatch = 64\n"
#define SEVERAL "[rule several]\nif model = a.gguf, c.gguf\nubatch = 32\n"
#define PATTERN "[rule pattern]\nif model = a*\nubatch = 16\n"
#define OF_NONE "[rule of-none]\nif gfx = gfx906\nbackends = cpu\n"
#define COMMA	"[rule comma]\nif model = x*y.gguf\nubatch = 8\n"

#define ALL_OF_THEM A_RULE A_HERE B_HERE SEVERAL PATTERN OF_NONE COMMA

static struct davy_policy_layer layer;
static char state_dir[128];

static int new_dir(void **state)
{
	int err = make_root(state);

	davy_root_set("");
	snprintf(state_dir, sizeof(state_dir), "%s/state", root);
	return err ? err : davy_make_dirs(state_dir);
}

/* Names of the rules that are left, "a b ". */
static const char *names_of(const struct davy_policy_layer *l)
{
	static char names[512];
	size_t used = 0;

	names[0] = 0;
	for (uint32_t i = 0; i < l->rule_count; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s ",
					 l->rule[i].name);
	return names;
}

static const char *after_forgetting(const char *device, const char *model, size_t count)
{
	char error[DAVY_CONFIG_ERROR_LEN];

	assert_int_equal(davy_policy_text_read(ALL_OF_THEM, strlen(ALL_OF_THEM), "a.conf",
					       DAVY_LAYER_AGENT, &layer, error),
			 0);
	assert_int_equal(davy_policy_rules_forget(&layer, device, model), count);
	return names_of(&layer);
}

static void a_rule_for_one_model_belongs_to_it(void **state)
{
	(void)state;
	assert_string_equal(after_forgetting("", "a.gguf", 2),
			    "b-here several pattern of-none comma ");
	assert_string_equal(after_forgetting("", "x,y.gguf", 1),
			    "tuned-a a-here b-here several pattern of-none ");
	assert_string_equal(after_forgetting("0000:03:00.0", "", 2),
			    "tuned-a several pattern of-none comma ");
	assert_string_equal(after_forgetting("0000:03:00.0", "a.gguf", 1),
			    "tuned-a b-here several pattern of-none comma ");
	assert_string_equal(after_forgetting("0000:04:00.0", "a.gguf", 0),
			    "tuned-a a-here b-here several pattern of-none comma ");
	/* The agent's rules of a device without an address name none. */
	assert_string_equal(after_forgetting("llvmpipe", "a.gguf", 1),
			    "a-here b-here several pattern of-none comma ");
	assert_string_equal(after_forgetting("llvmpipe", "", 0),
			    "tuned-a a-here b-here several pattern of-none comma ");
	assert_string_equal(after_forgetting("", "", 6), "of-none ");
}

static void note_row(const char *model)
{
	const struct davy_ledger_entry entry = { .survived_s = 60, .last_s = 100 };
	struct davy_ledger_key key = { .backend = DAVY_BACKEND_VULKAN };
	struct davy_db *db = NULL;

	davy_copy_name(key.model, sizeof(key.model), model);
	assert_int_equal(davy_db_open(state_dir, DAVY_DB_MAKE, &db), 0);
	assert_int_equal(davy_ledger_note(db, &key, &entry), 0);
	davy_db_close(db);
}

static int add_version(const char *body)
{
	struct davy_db *db = NULL;
	int number;

	assert_int_equal(davy_db_open(state_dir, DAVY_DB_MAKE, &db), 0);
	number = davy_version_add(db, "test", "", body);
	davy_db_close(db);
	return number;
}

static const char *rules_in_file(void)
{
	char error[DAVY_CONFIG_ERROR_LEN], path[256];

	snprintf(path, sizeof(path), "%s/" DAVY_POLICY_NAME, state_dir);
	assert_int_equal(davy_policy_file_read(path, DAVY_LAYER_AGENT, &layer, error), 0);
	return names_of(&layer);
}

static void newest_reason(char reason[DAVY_VERSION_REASON])
{
	struct davy_version version;
	struct davy_db *db = NULL;
	int newest;

	assert_int_equal(davy_db_open(state_dir, DAVY_DB_THERE, &db), 0);
	newest = davy_version_newest(db);
	assert_int_equal(davy_version_get(db, (uint32_t)newest, &version, NULL), 0);
	memcpy(reason, version.reason, DAVY_VERSION_REASON);
	davy_db_close(db);
}

static void forgetting_a_model_makes_a_new_version(void **state)
{
	struct davy_layer_forgotten f = { 7, 7, 7 };
	char why[DAVY_LAYER_WHY], reason[DAVY_VERSION_REASON];

	(void)state;
	assert_int_equal(davy_layer_forget(state_dir, "", "a.gguf", &f, why), 0);
	assert_true(!f.row_count && !f.rule_count && !f.version); /* nothing was ever kept */
	assert_int_equal(add_version(ALL_OF_THEM), 1);
	note_row("a.gguf");
	note_row("b.gguf");
	assert_int_equal(davy_layer_forget(state_dir, "", "a.gguf", &f, why), 0);
	assert_int_equal(f.row_count, 1);
	assert_int_equal(f.rule_count, 2);
	assert_int_equal(f.version, 2);
	assert_string_equal(rules_in_file(), "b-here several pattern of-none comma ");
	newest_reason(reason);
	assert_string_equal(reason, "'a.gguf' forgotten");
	assert_int_equal(davy_layer_forget(state_dir, "", "a.gguf", &f, why), 0);
	assert_true(!f.row_count && !f.rule_count && !f.version);
	assert_int_equal(davy_layer_rollback(state_dir, 1, why), 3);
	assert_int_equal(davy_layer_forget(state_dir, "0000:03:00.0", "b.gguf", &f, why), 0);
	assert_int_equal(f.rule_count, 1);
	assert_int_equal(f.row_count, 0); /* it has a row of no device */
	newest_reason(reason);
	assert_string_equal(reason, "'b.gguf' on 0000:03:00.0 forgotten");
	assert_int_equal(davy_layer_forget(state_dir, "", "", &f, why), 0);
	assert_int_equal(f.row_count, 1);
	assert_int_equal(f.rule_count, 5);
	assert_string_equal(rules_in_file(), "of-none ");
}

static void rules_that_are_not_understood_stay(void **state)
{
	struct davy_layer_forgotten f;
	char why[DAVY_LAYER_WHY] = "";

	(void)state;
	assert_int_equal(add_version("[rule a]\nbackends = vulcan\n"), 1);
	note_row("a.gguf");
	assert_int_equal(davy_layer_forget(state_dir, "", "a.gguf", &f, why), -EBADMSG);
	assert_non_null(strstr(why, "unknown backend 'vulcan'"));
	assert_non_null(strstr(why, "policy rollback"));
	assert_true(!f.row_count && !f.rule_count && !f.version);
}

static struct davy_agent agent;
static struct davy_link *link_of_test;
static int client;

static int new_agent(void **state)
{
	static char data[128], config[128];
	int fd[2], err = new_dir(state);

	memset(&agent, 0, sizeof(agent));
	agent.terminal = true; /* its messages are kept, not printed */
	snprintf(data, sizeof(data), "%s/data", root);
	snprintf(config, sizeof(config), "%s/config", root);
	agent.options.state_dir = state_dir;
	agent.options.data_dir = data;
	agent.options.config_dir = config;
	davy_core_init(&agent.core);
	if (err || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd))
		return -1;
	link_of_test = &agent.links[0];
	link_of_test->agent = &agent;
	link_of_test->fd = fd[0];
	client = fd[1];
	return 0;
}

static int end_agent(void **state)
{
	free(agent.rules);
	agent.rules = NULL;
	close(link_of_test->fd);
	close(client);
	return remove_root(state);
}

/* The agent's answer's "result". */
static json_int_t ask(json_t *question, json_int_t *ret_rules)
{
	json_t *answer = NULL;
	json_int_t result;

	assert_null(davy_agent_layer_change(link_of_test, question));
	json_decref(question);
	assert_int_equal(davy_message_receive(client, &answer), 0);
	assert_string_equal(davy_message_text(answer, "op"), "policy_changed");
	result = davy_message_number(answer, "result", -1);
	if (ret_rules)
		*ret_rules = davy_message_number(answer, "rules", -1);
	json_decref(answer);
	return result;
}

static const char *rules_in_force(void)
{
	return names_of(&agent.rules->at[DAVY_LAYER_AGENT]);
}

static void the_agent_goes_by_the_changed_layer_at_once(void **state)
{
	char *text = NULL;
	json_int_t rules = 0;

	(void)state;
	PUT("/config/" DAVY_POLICY_NAME, "[rule mine]\nubatch = 512\n");
	add_version(A_RULE OF_NONE);
	davy_policy_rules_open(&agent);
	assert_string_equal(rules_in_force(), "tuned-a of-none ");
	assert_int_equal(davy_generated_text(5, B_HERE, &text), 0);
	/* The operator's file is being written: the rules that were read stay in force. */
	PUT("/config/" DAVY_POLICY_NAME, "[rule mine]\nubatch = many\n");
	assert_int_equal(ask(json_pack("{s:s, s:s}", "op", "policy_import", "text", text), NULL),
			 2);
	free(text);
	assert_string_equal(rules_in_force(), "b-here ");
	assert_string_equal(names_of(&agent.rules->at[DAVY_LAYER_ADMIN]), "mine ");
	assert_int_equal(ask(json_pack("{s:s, s:i}", "op", "policy_rollback", "version", 1), NULL),
			 3);
	assert_string_equal(rules_in_force(), "tuned-a of-none ");
	assert_int_equal(
		ask(json_pack("{s:s, s:s}", "op", "policy_forget", "model", "a.gguf"), &rules), 0);
	assert_int_equal(rules, 1);
	assert_string_equal(rules_in_force(), "of-none ");
	assert_int_equal(ask(json_pack("{s:s, s:i}", "op", "policy_rollback", "version", 0), NULL),
			 5);
	assert_string_equal(rules_in_force(), "");
}

static void a_change_does_not_enable_invalid_rules(void **state)
{
	(void)state;
	PUT("/config/" DAVY_POLICY_NAME, "[rule mine]\nubatch = many\n");
	add_version(A_RULE);
	davy_policy_rules_open(&agent);
	assert_null(agent.rules);
	assert_int_equal(ask(json_pack("{s:s, s:i}", "op", "policy_rollback", "version", 0), NULL),
			 2);
	assert_null(agent.rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_for_one_model_belongs_to_it),
		cmocka_unit_test_setup_teardown(forgetting_a_model_makes_a_new_version, new_dir,
						remove_root),
		cmocka_unit_test_setup_teardown(rules_that_are_not_understood_stay, new_dir,
						remove_root),
		cmocka_unit_test_setup_teardown(the_agent_goes_by_the_changed_layer_at_once,
						new_agent, end_agent),
		cmocka_unit_test_setup_teardown(a_change_does_not_enable_invalid_rules,
						new_agent, end_agent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
