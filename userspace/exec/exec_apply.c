/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns the decision into variables, arguments and the first settings of the supervisor. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engines/command.h"
#include "engines/wrapper.h"
#include "policy/applied.h"
#include "exec/exec_case.h"
#include "verb/verb.h"

static bool exec_apply_says_nothing(const struct davy_exec_case *c)
{
	return c->options.explain;
}

static void exec_apply_report(const struct davy_exec_case *c, const char *key,
			      const struct davy_policy_value *v)
{
	if (!exec_apply_says_nothing(c))
		davy_exec_say_value(key, v);
}

/* Replaces a variable of the same name. If the value is the same, it keeps its rule. */
static void set_variable(struct davy_exec_case *c, const char *name, const char *value,
			 const struct davy_policy_value *of)
{
	struct davy_exec_variable *at = NULL;

	for (size_t i = 0; i < c->variable_count; i++)
		if (!strcmp(c->variables[i].name, name))
			at = &c->variables[i];
	if (at && value && at->value && !strcmp(at->value, value))
		return;
	if (!at && c->variable_count < DAVY_EXEC_VARIABLES)
		at = &c->variables[c->variable_count++];
	if (at)
		*at = (struct davy_exec_variable){ name, value, of };
}

static void set_by_rules(struct davy_exec_case *c)
{
	const struct davy_effective *e = &c->choice.effective;

	for (size_t i = 0; i < e->environment_count; i++) {
		const struct davy_policy_value *v = &e->environment[i];

		if (!v->text[0] || getenv(v->name))
			continue; /* the user has set it */
		set_variable(c, v->name, v->text, v);
		exec_apply_report(c, "environment", v);
	}
}

/* GPU backends of the device that the rules exclude. */
static uint32_t exec_apply_hidden(const struct davy_exec_case *c)
{
	const struct davy_choice *d = &c->choice;
	uint32_t could = davy_subject_backends(&c->question.subject), hide = 0;

	if (c->question.want != DAVY_WANT_AUTO || !c->question.subject.vendor[0] ||
	    !d->before.value[DAVY_POLICY_BACKENDS].origin.rule || d->backend == DAVY_BACKEND_CPU)
		return 0;
	for (int i = DAVY_BACKEND_VULKAN; i < DAVY_BACKEND_COUNT; i++)
		if (could & 1u << i && !davy_effective_allows(&d->before, (enum davy_backend)i))
			hide |= 1u << i;
	return hide;
}

static void exec_apply_aim(struct davy_exec_case *c)
{
	struct davy_engine_target *t = &c->target;
	enum davy_backend backend = c->choice.backend;

	for (int i = 0; i < DAVY_BACKEND_COUNT; i++)
		t->index[i] = c->device ? c->device->index[i] : -1;
	t->device = c->options.device && backend != DAVY_BACKEND_CPU;
	t->hidden = exec_apply_hidden(c);
	t->backend = DAVY_BACKEND_UNKNOWN;
	if (backend == DAVY_BACKEND_CPU || c->choice.pinned ||
	    (t->device && backend != DAVY_BACKEND_UNKNOWN))
		t->backend = backend;
}

static int set_by_target(struct davy_exec_case *c)
{
	int err;

	exec_apply_aim(c);
	err = davy_engine_tell(&c->launch.facts, &c->target, &c->applied);
	if (err) {
		davy_log("%s; nothing is started", c->applied.why);
		return DAVY_EXIT_NOTHING;
	}
	for (size_t i = 0; i < c->applied.count; i++)
		set_variable(c, c->applied.at[i].name, c->applied.at[i].value, NULL);
	return DAVY_EXIT_DONE;
}

static void exec_apply_add(struct davy_exec_case *c, const char *option, const char *value)
{
	if (!davy_args_add(&c->base, option) && value[0])
		davy_args_add(&c->base, value);
}

static void add_arguments(struct davy_exec_case *c)
{
	const struct davy_effective *e = &c->choice.effective;
	const struct davy_policy_value *cache = &e->value[DAVY_POLICY_CACHE_TYPE];
	char *const *argv;
	struct davy_wrapped own;

	davy_wrapped_of(c->launch.argv, &own);
	argv = own.argv + 1;
	for (size_t i = 0; i < e->argument_count; i++) {
		if (davy_has_option(argv, e->argument[i].name))
			continue;
		exec_apply_add(c, e->argument[i].name, e->argument[i].text);
		exec_apply_report(c, "argument", &e->argument[i]);
	}
	if (!cache->origin.rule || davy_policy_is_agents(e, DAVY_POLICY_CACHE_TYPE) ||
	    c->launch.facts.engine != DAVY_ENGINE_LLAMA_SERVER ||
	    davy_has_option(argv, "-ctk --cache-type-k -ctv --cache-type-v"))
		return;
	exec_apply_add(c, "-ctk", cache->text);
	exec_apply_add(c, "-ctv", cache->text);
	exec_apply_report(c, "cache_type", cache);
}

/* A value of the agent goes to the override, not to the command: the agent may undo it. */
static void put_limit(struct davy_exec_case *c, uint32_t setting, uint32_t most,
		      struct davy_engine_override *command)
{
	enum davy_policy_key key = davy_policy_setting_key(setting);
	bool agents = davy_policy_is_agents(&c->choice.effective, key);

	if (!most || (setting == DAVY_TUNER_CACHE_TYPE && !agents))
		return; /* set by an argument */
	if (setting == DAVY_TUNER_LAYERS && !command->layers && c->launch.facts.gpu_layers < 0)
		return; /* the model's number of layers is unknown */
	if (davy_start_setting_set(agents ? &c->override.settings : &command->settings, setting,
				   most))
		exec_apply_report(c, davy_policy_key_name(key), &c->choice.effective.value[key]);
}

/* The engine does not see its quota: it gets the number of layers that fit. */
static void keep_quota(const struct davy_exec_case *c, struct davy_engine_override *command)
{
	uint32_t asked = c->launch.facts.gpu_layers < 0 ? command->layers + 1
							: (uint32_t)c->launch.facts.gpu_layers;

	if (!c->choice.layers || asked <= c->choice.layers)
		return;
	davy_start_setting_set(&command->settings, DAVY_TUNER_LAYERS, asked - c->choice.layers);
	davy_log("the model is larger than its quota of VRAM: %u of %u layers are placed on the "
		 "GPU",
		 c->choice.layers, command->layers + 1);
}

/* The backend to select by options, if the user chose it or a device. */
static enum davy_backend by_options(const struct davy_exec_case *c)
{
	const struct davy_engine_facts *f = &c->launch.facts;
	enum davy_backend backend = c->target.backend;

	if (backend == DAVY_BACKEND_UNKNOWN || backend == DAVY_BACKEND_CPU ||
	    !davy_engine_by_options(f->engine, backend) ||
	    (backend == f->backend && !c->target.device))
		return DAVY_BACKEND_UNKNOWN;
	return backend;
}

/* Applies the rules to the command. An engine without such options keeps its command. */
static void make_base(struct davy_exec_case *c)
{
	const struct davy_engine_facts *f = &c->launch.facts;
	struct davy_engine_override override = { .backend = by_options(c),
						 .layers = c->override.layers };
	struct davy_start_settings most;

	davy_policy_limits(&c->choice.effective, f, &most);
	keep_quota(c, &override);
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		put_limit(c, i, davy_start_setting_get(&most, i), &override);
	if (davy_engine_command(f, c->launch.argv, &override, &c->base)) {
		davy_log("policy: '%s' has no options for these settings; its command is used "
			 "unchanged",
			 davy_engine_name(f->engine));
		return;
	}
	add_arguments(c);
	c->launch.argv = c->base.at;
}

static enum davy_backend exec_apply_asked(const struct davy_exec_case *c)
{
	if (c->target.backend != DAVY_BACKEND_UNKNOWN)
		return c->target.backend;
	return c->launch.facts.backend;
}

/* Reads the new command, but keeps the name of --model. */
static void exec_apply_look_again(struct davy_exec_case *c)
{
	struct davy_engine_look look = {
		.argv = c->launch.argv, .envp = environ, .exe = "", .parent = "", .typed = true
	};
	char model[DAVY_MODEL_LEN];

	davy_copy_name(model, sizeof(model), c->launch.facts.model);
	davy_engine_identify(&look, &c->launch.facts);
	davy_copy_name(c->launch.facts.model, sizeof(c->launch.facts.model), model);
}

int davy_exec_apply(struct davy_exec_case *c)
{
	int status;

	c->override.layers = c->question.fit.layers;
	set_by_rules(c);
	status = set_by_target(c);
	if (status)
		return status;
	if (c->launch.facts.engine != DAVY_ENGINE_NONE)
		make_base(c);
	exec_apply_look_again(c);
	c->launch.asked = exec_apply_asked(c);
	if (c->launch.asked == DAVY_BACKEND_CPU &&
	    davy_engine_by_options(c->launch.facts.engine, DAVY_BACKEND_CPU))
		c->override.backend = DAVY_BACKEND_CPU;
	return DAVY_EXIT_DONE;
}
