/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exec_policy.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../agent/host_subject.h"
#include "../engines/command.h"
#include "../lib/log.h"
#include "../lib/message.h"
#include "../policy/told.h"
#include "../store/policy_file.h"

#define ANSWER_MS 2000

struct applying {
	struct dl_engine_wish *wish;
	struct dl_launch *launch;
	struct dl_args *base;
	struct dl_policy_subject subject;
	struct dl_effective effective;
};

static void say(const char *key, const struct dl_policy_value *v)
{
	const struct dl_policy_origin *o = &v->origin;

	dl_log("policy: %s%s%s = %s (%s:%u, rule %s)%s%s", key, v->name ? " " : "",
	       v->name ? v->name : "", v->text, o->layer->path, o->line, o->rule->name,
	       o->rule->because ? ": " : "", dl_policy_text(o->layer, o->rule->because));
}

static void set_environment(const struct applying *a)
{
	for (size_t i = 0; i < a->effective.environment_count; i++) {
		const struct dl_policy_value *v = &a->effective.environment[i];

		if (!v->text[0] || getenv(v->name))
			continue; /* people have said it themselves */
		setenv(v->name, v->text, 1);
		say("environment", v);
	}
}

static bool has(const struct applying *a, const char *option)
{
	return dl_has_option(a->launch->argv + 1, option);
}

static void add(struct applying *a, const char *option, const char *value)
{
	if (!dl_args_add(a->base, option) && value[0])
		dl_args_add(a->base, value);
}

static void add_arguments(struct applying *a)
{
	const struct dl_effective *e = &a->effective;
	const struct dl_policy_value *cache = &e->value[DL_POLICY_CACHE_TYPE];

	for (size_t i = 0; i < e->argument_count; i++) {
		if (has(a, e->argument[i].name))
			continue;
		add(a, e->argument[i].name, e->argument[i].text);
		say("argument", &e->argument[i]);
	}
	if (!cache->origin.rule || dl_policy_is_agents(&a->effective, DL_POLICY_CACHE_TYPE) ||
	    a->launch->facts.engine != DL_ENGINE_LLAMA_SERVER ||
	    has(a, "-ctk --cache-type-k -ctv --cache-type-v"))
		return;
	add(a, "-ctk", cache->text);
	add(a, "-ctv", cache->text);
	say("cache_type", cache);
}

/* What the agent has made smaller it may give back: it is no part of the command. */
static void put_limit(const struct applying *a, uint32_t knob, uint32_t most,
		      struct dl_engine_wish *command)
{
	enum dl_policy_key key = dl_policy_knob_key(knob);
	bool agents = dl_policy_is_agents(&a->effective, key);

	if (!most || (knob == DL_TUNER_CACHE_TYPE && !agents))
		return; /* theirs is an argument */
	if (knob == DL_TUNER_LAYERS && !command->layers && a->launch->facts.gpu_layers < 0)
		return; /* of how many is not known here */
	if (dl_knob_set(agents ? &a->wish->knobs : &command->knobs, knob, most))
		say(dl_policy_key_name(key), &a->effective.value[key]);
}

/* The command as the rules would have it; it stays as it is where the engine has no options. */
static void make_base(struct applying *a)
{
	const struct dl_engine_facts *f = &a->launch->facts;
	struct dl_engine_wish wish = { .layers = a->wish->layers };
	struct dl_knobs most;

	dl_policy_limits(&a->effective, f, &most);
	for (uint32_t i = 0; i < DL_TUNER_KNOBS; i++)
		put_limit(a, i, dl_knob_get(&most, i), &wish);
	if (dl_engine_command(f, a->launch->argv, &wish, a->base)) {
		dl_log("policy: '%s' has no options for that; it is started as its command says",
		       a->launch->argv[0]);
		return;
	}
	add_arguments(a);
	a->launch->argv = a->base->at;
}

static enum dl_backend chosen(const struct applying *a, enum dl_backend asked, bool forced)
{
	const struct dl_policy_value *warn = &a->effective.value[DL_POLICY_WARN];

	if (forced && a->effective.against)
		dl_log("policy: %s is known to fail here%s%s; starting on it all the same",
		       dl_backend_name(asked), warn->origin.rule ? ": " : "",
		       warn->origin.rule ? warn->text : "");
	if (forced || asked == DL_BACKEND_CPU || a->effective.backend != DL_BACKEND_CPU)
		return asked;
	say("backends", &a->effective.value[DL_POLICY_BACKENDS]);
	return DL_BACKEND_CPU;
}

/* As they were when an agent read them, before somebody made a mistake. */
static bool ask_agent(const char *socket_path, struct dl_policy_layers *layers)
{
	char error[DL_CONFIG_ERROR_LEN];
	json_t *answer = NULL;
	const char *text;
	bool good = false;
	int fd = dl_message_connect(socket_path);
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	if (fd < 0)
		return false;
	if (!dl_message_send(fd, json_pack("{s:s}", "op", "people_rules")) &&
	    poll(&wait, 1, ANSWER_MS) == 1 && !dl_message_receive(fd, &answer)) {
		text = dl_message_text(answer, "text");
		good = text[0] &&
		       !dl_policy_text_read(text, strlen(text), "the agent", DL_LAYER_PEOPLE,
					    &layers->at[DL_LAYER_PEOPLE], error);
	}
	close(fd);
	json_decref(answer);
	return good;
}

/* Without people's, which are wrong. */
static bool read_others(const struct dl_exec_policy_dirs *dirs, struct dl_policy_layers *layers)
{
	char error[DL_CONFIG_ERROR_LEN];

	return !dl_policy_dirs_read(dirs->data, dirs->state, NULL, layers, error) &&
	       ask_agent(dirs->socket, layers);
}

static bool read_layers(const struct dl_exec_policy_dirs *dirs, struct dl_policy_layers *layers)
{
	char error[DL_CONFIG_ERROR_LEN];
	int err;

	dl_policy_layers_init(layers);
	err = dl_policy_dirs_read(dirs->data, dirs->state, dirs->config, layers, error);
	if (err && read_others(dirs, layers)) {
		dl_log("policy: %s; starting by the rules that were in force before",
		       error[0] ? error : strerror(-err));
		return true;
	}
	if (err)
		dl_log("policy: %s; starting as if there were no rules",
		       error[0] ? error : strerror(-err));
	else if (error[0])
		dl_log("policy: %s; the agent's own rules are left out", error);
	return !err;
}

enum dl_backend dl_exec_policy(const struct dl_exec_policy_dirs *dirs, enum dl_backend asked,
			       bool forced, struct dl_launch *l, struct dl_args *base,
			       struct dl_engine_wish *wish)
{
	struct dl_policy_layers *layers = malloc(sizeof(*layers));
	struct applying *a = calloc(1, sizeof(*a));
	enum dl_backend backend = asked;
	struct dl_policy_set set;

	if (layers && a && l->facts.engine != DL_ENGINE_NONE && read_layers(dirs, layers)) {
		a->launch = l;
		a->base = base;
		a->wish = wish;
		a->subject.engine = l->facts.engine;
		a->subject.context = l->facts.context_size;
		a->subject.forced = forced;
		dl_copy_name(a->subject.model, sizeof(a->subject.model), l->facts.model);
		dl_host_subject_choose(&a->subject);
		a->subject.backend = asked ? asked : dl_subject_default_backend(&a->subject);
		set = dl_policy_set_of(layers);
		dl_policy_effective(&set, &a->subject, &a->effective);
		backend = chosen(a, asked, forced);
		set_environment(a);
		make_base(a);
	}
	free(layers);
	free(a);
	return backend;
}
