/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's report of a running engine's policy: every value with its origin, and the
 * engine's real values.
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
#include "store/versions.h"
#include "agent/policy/agent_policy.h"

#define SHIPPED                                                                                    \
	"[rule of-amd]\nif driver = amdgpu\nbackends = vulkan, cpu\nparallel = 2\n"                \
	"because = two is enough\nsource = a test\ndate = 2026-01-02\n"
#define PEOPLE "[rule mine]\nif model = m.gguf\npin = yes\ncontext = 4096\nenvironment A_B = c\n"
#define TUNED                                                                                      \
	"[rule tuned]\nif model = m.gguf\nif backend = vulkan\nubatch = 128\n"                     \
	"context = 1024\n"
#define OTHER "[rule other]\nif model = other.gguf\nubatch = 7\n"

#define VALUE_MAX 32

static const char *no_image(struct davy_agent *a, uint32_t workload)
{
	(void)a;
	(void)workload;
	return "";
}

static const struct davy_agent_hooks hooks = { .image_of_workload = no_image };
static struct davy_agent agent;
static struct davy_link *link_of_test;
static int client;
static char dirs[3][128]; /* data, state, config */

static int new_agent(void **state)
{
	static const char *const names[] = { "data", "state", "config" };
	int fd[2];

	if (make_root(state) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fd))
		return -1;
	davy_root_set("");
	memset(&agent, 0, sizeof(agent));
	agent.hooks = &hooks;
	agent.terminal = true; /* its messages are kept, not printed */
	for (size_t i = 0; i < 3; i++)
		snprintf(dirs[i], sizeof(dirs[i]), "%s/%s", root, names[i]);
	agent.options = (struct davy_agent_options){
		.mode = -1, .data_dir = dirs[0], .state_dir = dirs[1], .config_dir = dirs[2]
	};
	davy_core_init(&agent.core);
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

static void add_version(const char *body, const char *evidence)
{
	struct davy_db *db = NULL;

	assert_int_equal(davy_db_open(dirs[1], DAVY_DB_MAKE, &db), 0);
	assert_true(davy_version_add(db, "because of a test", evidence, body) > 0);
	davy_db_close(db);
}

static void run_engine(uint32_t pid)
{
	struct davy_tracked *t = &agent.tracked[3];
	struct davy_watched_gpu *w = &agent.gpus.gpu[0];

	agent.gpus.count = 1;
	davy_copy_name(w->gpu.device, sizeof(w->gpu.device), "0000:03:00.0");
	davy_copy_name(w->gpu.driver, sizeof(w->gpu.driver), "amdgpu");
	davy_copy_name(w->versions.driver, sizeof(w->versions.driver), "amdgpu 6.8.5");
	t->pid = pid;
	t->reported.engine = DAVY_ENGINE_LLAMA_SERVER;
	t->reported.backend = DAVY_BACKEND_VULKAN;
	t->reported.workload = 5;
	t->reported.ubatch = 64;
	t->reported.context_size = 2048;
	davy_copy_name(t->reported.device, sizeof(t->reported.device), "0000:03:00.0");
	davy_copy_name(t->reported.model, sizeof(t->reported.model), "m.gguf");
	davy_copy_name(t->reported.unit, sizeof(t->reported.unit), "lamp.service");
	davy_copy_name(t->engine, sizeof(t->engine), "llama-server, build 1");
}

static const char *refusal(json_int_t pid)
{
	json_t *question = json_pack("{s:s, s:I}", "op", "policy_of", "pid", pid);
	const char *why = davy_agent_policy_of(link_of_test, question);

	json_decref(question);
	return why;
}

static json_t *ask(json_int_t pid)
{
	json_t *answer = NULL;

	assert_null(refusal(pid));
	assert_int_equal(davy_message_receive(client, &answer), 0);
	assert_string_equal(davy_message_text(answer, "op"), "policy_of");
	return answer;
}

static const json_t *value_of(const json_t *answer, const char *key)
{
	const json_t *value;
	size_t i;

	json_array_foreach(json_object_get(answer, "values"), i,
			   value) if (!strcmp(davy_message_text(value, "key"), key)) return value;
	fail_msg("no value of '%s'", key);
	return NULL;
}

static void expect_told(const json_t *answer, const char *key, const char *text, const char *layer,
			const char *rule, int line)
{
	const json_t *value = value_of(answer, key);

	assert_string_equal(davy_message_text(value, "value"), text);
	assert_string_equal(davy_message_text(value, "layer"), layer);
	assert_string_equal(davy_message_text(value, "rule"), rule);
	assert_int_equal(davy_message_number(value, "line", 0), line);
	assert_non_null(strstr(davy_message_text(value, "file"), "/" DAVY_POLICY_NAME));
}

static void each_value_has_its_origin(void **state)
{
	json_t *answer;

	(void)state;
	PUT("/data/" DAVY_POLICY_NAME, SHIPPED);
	PUT("/config/" DAVY_POLICY_NAME, PEOPLE);
	add_version(OTHER, "of another");
	add_version(TUNED, "it died twice");
	add_version(TUNED OTHER, "of another again");
	davy_policy_rules_open(&agent);
	run_engine(700);
	answer = ask(700);
	assert_int_equal(json_array_size(json_object_get(answer, "values")), 5);
	expect_told(answer, "backends", "vulkan, cpu", "shipped", "of-amd", 3);
	expect_told(answer, "parallel", "2", "shipped", "of-amd", 4);
	expect_told(answer, "context", "4096", "administrator", "mine",
		    4); /* pinned: it beats the agent's */
	expect_told(answer, "environment", "c", "administrator", "mine", 5);
	expect_told(answer, "ubatch", "128", "agent", "tuned", 5);
	assert_true(json_is_true(json_object_get(value_of(answer, "context"), "pinned")));
	assert_false(json_is_true(json_object_get(value_of(answer, "ubatch"), "pinned")));
	assert_string_equal(davy_message_text(value_of(answer, "parallel"), "source"), "a test");
	assert_int_equal(davy_message_number(value_of(answer, "ubatch"), "version", 0), 2);
	assert_string_equal(davy_message_text(value_of(answer, "ubatch"), "evidence"),
			    "it died twice");
	assert_null(json_object_get(value_of(answer, "parallel"), "version"));
	json_decref(answer);
}

static void the_running_values_are_shown(void **state)
{
	const struct davy_learned_entry open = { .model = "m.gguf",
						 .backend = DAVY_BACKEND_ROCM,
						 .state = DAVY_BREAKER_OPEN,
						 .reason = "it died\033" };
	const json_t *runs, *versions, *breaker;
	json_t *answer;

	(void)state;
	davy_policy_rules_open(&agent);
	run_engine(700);
	agent.learned.entry[agent.learned.count++] = open;
	agent.learned.entry[agent.learned.count] = open;
	strcpy(agent.learned.entry[agent.learned.count++].model, "other.gguf");
	answer = ask(700);
	runs = json_object_get(answer, "runs");
	versions = json_object_get(answer, "environment");
	breaker = json_array_get(json_object_get(answer, "breakers"), 0);
	assert_int_equal(json_array_size(json_object_get(answer, "values")), 0);
	assert_int_equal(davy_message_number(answer, "workload", 0), 5);
	assert_string_equal(davy_message_text(answer, "unit"), "lamp.service");
	assert_string_equal(davy_message_text(runs, "backend"), "vulkan");
	assert_int_equal(davy_message_number(runs, "ubatch", 0), 64);
	assert_string_equal(davy_message_text(versions, "driver"), "amdgpu 6.8.5");
	assert_string_equal(davy_message_text(versions, "engine"), "llama-server, build 1");
	assert_int_equal(json_array_size(json_object_get(answer, "breakers")), 1);
	assert_string_equal(davy_message_text(breaker, "because"), "it died\\x1b");
	json_decref(answer);
}

static void the_mode_has_its_file(void **state)
{
	const json_t *mode;
	json_t *answer;

	(void)state;
	PUT("/data/hazards.conf", "[agent]\nmode = advise\n");
	davy_policy_rules_open(&agent);
	run_engine(700);
	agent.core.config.value[DAVY_CFG_MODE] = DAVY_MODE_ADVISE;
	answer = ask(700);
	mode = json_object_get(answer, "mode");
	assert_string_equal(davy_message_text(mode, "value"), "advise");
	assert_string_equal(davy_message_text(mode, "layer"), "shipped");
	json_decref(answer);
	PUT("/config/hazards.conf", "[agent]\nmode = enforce\n");
	answer = ask(700); /* written, and not read yet */
	assert_string_equal(davy_message_text(json_object_get(answer, "mode"), "layer"), "shipped");
	json_decref(answer);
	agent.core.config.value[DAVY_CFG_MODE] = DAVY_MODE_ENFORCE;
	answer = ask(700);
	mode = json_object_get(answer, "mode");
	assert_string_equal(davy_message_text(mode, "layer"), "administrator");
	assert_non_null(strstr(davy_message_text(mode, "file"), "/config/hazards.conf"));
	json_decref(answer);
	agent.options.mode = DAVY_MODE_ENFORCE;
	answer = ask(700);
	mode = json_object_get(answer, "mode");
	assert_string_equal(davy_message_text(mode, "layer"), "command line");
	json_decref(answer);
}

static void other_processes_than_engines_are_not_shown(void **state)
{
	(void)state;
	run_engine(700);
	assert_non_null(strstr(refusal(700), "policy check")); /* no rules are in force */
	davy_policy_rules_open(&agent);
	assert_non_null(strstr(refusal(701), "no engine"));
	assert_non_null(strstr(refusal(0), "no engine"));
	assert_non_null(strstr(refusal(-1), "no engine"));
	assert_non_null(strstr(refusal((json_int_t)700 + (1LL << 32)), "no engine"));
	agent.tracked[3].reported.engine = DAVY_ENGINE_NONE;
	assert_non_null(strstr(refusal(700), "no engine"));
}

/* More texts than a message has room for. */
static void values_beyond_the_bounds_are_counted(void **state)
{
	static char text[64 * 1024], evidence[DAVY_VERSION_EVIDENCE];
	size_t used = 0, listed;
	json_t *answer;

	(void)state;
	for (int i = 0; i < VALUE_MAX; i++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used,
			"[rule r%d]\nenvironment V%d = 1\nargument -a%d = 1\nbecause = "
			"%0*d\nsource = %0*d\n",
			i, i, i, 170, 0, 170, 0);
	memset(evidence, 'e', sizeof(evidence) - 1); /* printed with each value */
	add_version(text, evidence);
	davy_policy_rules_open(&agent);
	run_engine(700);
	answer = ask(700);
	listed = json_array_size(json_object_get(answer, "values"));
	assert_true(listed > 0 && listed < 2 * VALUE_MAX);
	assert_true(json_dumpb(answer, NULL, 0, JSON_COMPACT) <= DAVY_MESSAGE_MAX);
	assert_int_equal(listed + (size_t)davy_message_number(answer, "values_unlisted", 0),
			 2 * VALUE_MAX);
	json_decref(answer);
}

int main(void)
{
#define WITH_AGENT(test) cmocka_unit_test_setup_teardown(test, new_agent, end_agent)
	const struct CMUnitTest tests[] = {
		WITH_AGENT(each_value_has_its_origin),
		WITH_AGENT(the_running_values_are_shown),
		WITH_AGENT(the_mode_has_its_file),
		WITH_AGENT(other_processes_than_engines_are_not_shown),
		WITH_AGENT(values_beyond_the_bounds_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
