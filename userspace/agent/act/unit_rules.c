/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The settings of the backend policy's rules for the next start of an adopted unit, in its
 * environment file. Settings of acts take precedence.
 */
#include "agent/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "output/settings.h"
#include "engines/tell.h"
#include "host/host_subject.h"
#include "agent/act/units.h"
#include "agent/sense/tracker.h"

#define LOAD_NS (60 * DAVY_NS_PER_S) /* maximum time for an engine to load its backends */
#define WORDS	64		     /* variables that a unit's own Environment= may add */

struct rules_applied {
	struct davy_effective effective;
	struct davy_output_variables variables;
	struct davy_output_result result;
	struct davy_engine_facts facts;
	struct davy_engine_look look;
	char *argv[DAVY_ARGS_MAX + 1];
	char *envp[DAVY_START_ENV_MAX + WORDS + 1];
};

/* The device on which it computes; if unknown, the one that it would choose. */
static void find_device(const struct davy_service *u, const struct davy_workload *w,
			struct davy_policy_subject *s)
{
	const struct davy_gpus *g = &u->agent->gpus;
	const struct davy_policy_subject blank = *s;

	for (size_t i = g->count; i-- > 0;) {
		struct davy_policy_subject one = blank;
		bool its_own = w && davy_same_name(w->device, g->gpu[i].gpu.device);

		davy_host_subject(&g->gpu[i].gpu, &g->gpu[i].lockups, &one);
		if (its_own || davy_host_subject_before(&one, s))
			*s = one;
		if (its_own)
			return;
	}
	if (!g->count)
		davy_host_kernel(s);
}

/* A list of texts, each with a terminating 0, and another 0 at the end. */
static size_t list_words(const char *texts, char **list, size_t count, size_t max)
{
	for (const char *at = texts; *at && count < max; at += strlen(at) + 1)
		list[count++] = (char *)at;
	return count;
}

uint64_t davy_unit_command_sum(const struct davy_unit_state *state)
{
	uint64_t sum = DAVY_FNV_START;

	for (const char *at = state->command; *at; at += strlen(at) + 1)
		sum = davy_fnv(sum, at, strlen(at) + 1);
	return sum;
}

/*
 * Its next start: like that of the process, but with the command as systemd has it, if that has
 * changed or no process was seen. A command that only starts another program names no engine.
 * "start" no longer contains the variables of the environment file. False: no known engine.
 */
static bool unit_rules_look_at(const struct davy_service *u, struct rules_applied *t)
{
	struct davy_engine_look anew = {
		.argv = t->argv, .envp = t->envp, .exe = "", .parent = ""
	};
	size_t count = 0;

	while (u->start && u->start->envp[count] && count < DAVY_START_ENV_MAX) {
		t->envp[count] = u->start->envp[count];
		count++;
	}
	list_words(u->state.environment, t->envp, count, DAVY_START_ENV_MAX + WORDS);
	if (!u->start || davy_unit_command_sum(&u->state) != u->command_sum) {
		list_words(u->state.command, t->argv, 0, DAVY_ARGS_MAX);
		t->look = anew;
		davy_engine_identify(&t->look, &t->facts);
	}
	if (u->start && t->facts.engine == DAVY_ENGINE_NONE) {
		t->look = davy_process_start_look(u->start);
		t->look.envp = t->envp;
		davy_engine_identify(&t->look, &t->facts);
	}
	return t->facts.engine != DAVY_ENGINE_NONE;
}

/* The backends that it has loaded, from which it would choose. */
static void look_at_libraries(struct davy_service *u)
{
	const struct davy_tracked *t = davy_tracked_of(u->agent, u->pid);

	if (t && t->loaded_backends)
		u->backends = t->loaded_backends | 1u << DAVY_BACKEND_CPU;
}

/*
 * The ubatch shrink is being undone: ignore the rule it created, which is about to be deleted
 * (layer_tuned.c). A shrink that an operator ordered has created no rule.
 */
static bool gives_back(const struct davy_service *u, const struct davy_adopted_unit *of,
		       const struct davy_effective *e)
{
	const struct davy_rule *rule = e->value[DAVY_POLICY_UBATCH].origin.rule;

	return u->act.plan && u->act.action == DAVY_ACTION_UNDO &&
	       u->act.undone == DAVY_ACTION_SHRINK && of->shrunk_for != DAVY_HZ_NONE &&
	       davy_policy_is_agents(e, DAVY_POLICY_UBATCH) && !strncmp(rule->name, "tuned-", 6);
}

static void ask_rules(struct davy_service *u, const struct davy_adopted_unit *of,
		      struct rules_applied *t)
{
	const struct davy_workload *w = davy_world_workload(&u->agent->core.world, u->workload);
	const struct davy_policy_set set = davy_policy_set_of(u->agent->rules);
	struct davy_policy_subject s = { .engine = t->facts.engine,
					 .forced = of->backend != DAVY_BACKEND_UNKNOWN,
					 .context = t->facts.context_size };

	davy_copy_name(s.model, sizeof(s.model), t->facts.model[0] ? t->facts.model : u->model);
	find_device(u, w, &s);
	s.available = u->backends;
	s.backend = s.forced	      ? of->backend
		    : w && w->backend ? (enum davy_backend)w->backend
		    : t->facts.backend
			    ? t->facts.backend
			    : davy_subject_default_backend(&s, davy_engine_backends(s.engine));
	davy_policy_effective(&set, &s, &t->effective);
	if (gives_back(u, of, &t->effective))
		memset(&t->effective.value[DAVY_POLICY_UBATCH], 0, sizeof(t->effective.value[0]));
}

static struct rules_applied *set_by_rules(struct davy_service *u,
					  const struct davy_adopted_unit *of)
{
	struct rules_applied *t = NULL;

	if (u->agent->rules)
		t = calloc(1, sizeof(*t));
	if (!t || !unit_rules_look_at(u, t)) {
		free(t);
		return NULL;
	}
	ask_rules(u, of, t);
	if (t->effective.value[DAVY_POLICY_BACKENDS].number && !u->backends) {
		look_at_libraries(u);
		ask_rules(u, of, t);
	}
	davy_output_variables(&t->effective, &t->look, &t->facts, u->backends, &t->variables,
			      &t->result);
	return t;
}

static bool is_above(const struct davy_environment *above, const char *name)
{
	for (size_t i = 0; i < above->count; i++)
		if (!strcmp(above->at[i].name, name))
			return true;
	return false;
}

size_t davy_unit_rules_put(struct davy_service *u, const struct davy_adopted_unit *of,
			   const struct davy_environment *above, FILE *out)
{
	struct rules_applied *t = set_by_rules(u, of);
	size_t count = 0;

	if (!t)
		return 0;
	for (size_t i = 0; i < t->variables.count; i++)
		if (!is_above(above, t->variables.at[i].name))
			t->variables.at[count++] = t->variables.at[i];
	t->variables.count = count;
	davy_output_variables_write(&t->variables, out);
	for (size_t i = 0; i < t->result.note_count; i++)
		fprintf(out, "# not set: %s\n", t->result.note[i]);
	free(t);
	return count;
}

bool davy_unit_rules_early(struct davy_service *u, const struct davy_adopted_unit *of)
{
	struct rules_applied *t;
	bool early;

	if (u->backends || davy_boot_ns() - u->begun_ns >= LOAD_NS)
		return false;
	t = set_by_rules(u, of);
	early = t && t->effective.backend_count && !u->backends && u->pid &&
		t->facts.engine == DAVY_ENGINE_LLAMA_SERVER;
	free(t);
	return early;
}
