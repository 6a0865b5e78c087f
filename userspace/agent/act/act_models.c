/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Actions on the models of a daemon that keeps running: unload, and for Ollama a smaller batch or
 * context of one model, without a restart that would end all models. davylamp-probe sends the
 * requests.
 */
#include "agent/agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act/probe_run.h"
#include "lib/log.h"
#include "lib/text.h"
#include "agent/act/units.h"

#define LIMIT_MS 60000

struct deed {
	struct davy_agent *agent;
	uint32_t plan; /* 0: call "done" instead */
	uint32_t workload;
	uint8_t hazard;
	bool derives;
	bool restores;
	void (*done)(void *arg, bool good);
	void *arg;
};

/* Stores which model to restore, in case this agent ends first. */
static void act_models_remember(const struct deed *d, const json_t *answer)
{
	struct davy_service *u = davy_unit_of_workload(d->agent, d->workload);
	struct davy_adopted *list = &d->agent->units->adopted;
	struct davy_adopted_unit *of = u ? davy_adopted_find(list, u->name) : NULL;
	const char *model = json_string_value(json_object_get(answer, "model"));

	if (!of || (!d->derives && !d->restores))
		return;
	davy_copy_name(of->derived, sizeof(of->derived), d->derives && model ? model : "");
	if (d->derives)
		of->shrunk_for = (enum davy_hazard)d->hazard;
	davy_units_save(d->agent);
}

static void act_models_on_done(void *arg, const struct davy_probe_finding *finding)
{
	struct deed *d = arg;
	json_t *answer =
		finding->answer ? json_loadb(finding->answer, finding->answer_size, 0, NULL) : NULL;
	const char *why = json_string_value(json_object_get(answer, "why"));
	bool good = json_is_true(json_object_get(answer, "ok"));
	char safe[256];

	if (!good)
		davy_log("models of workload %u: %s", d->workload,
			 davy_text_shown(safe, sizeof(safe), why ? why : finding->text));
	else
		act_models_remember(d, answer);
	if (d->plan)
		davy_agent_acted(d->agent, d->plan, d->workload,
				 good ? DAVY_ACT_SERVING : DAVY_ACT_FAILED, 0, good ? 0 : -EIO);
	else
		d->done(d->arg, good);
	json_decref(answer);
	free(d);
}

static int act_models_start(const struct davy_service *u, const struct deed *deed, const char *act,
			    const struct davy_start_settings *settings, const char *model)
{
	char port[16], batch[16], context[16];
	const struct davy_engine_api *api = davy_engine_api(u->engine, u->role);
	const char *const arguments[] = {
		"models",
		"--host",
		davy_unit_host(u),
		"--port",
		port,
		"--api",
		api->name,
		"--models",
		api->models ? api->models : "",
		"--act",
		act,
		"--num-batch",
		batch,
		"--num-ctx",
		context,
		model[0] ? "--model" : NULL,
		model,
		NULL,
	};
	struct davy_probe_request request = { .program = u->agent->probe_path,
					      .arguments = arguments,
					      .limit_ms = LIMIT_MS,
					      .done = act_models_on_done };
	struct deed *d = malloc(sizeof(*d));
	int err;

	if (!d)
		return -ENOMEM;
	*d = *deed;
	request.arg = d;
	snprintf(port, sizeof(port), "%u", u->port);
	snprintf(batch, sizeof(batch), "%u", settings->ubatch);
	snprintf(context, sizeof(context), "%u",
		 settings->context / (u->parallel ? u->parallel : 1));
	err = u->port ? davy_probe_start(u->agent->loop, &request) : -EDESTADDRREQ;
	if (err)
		free(d);
	return err;
}

static const char *derived_of(const struct davy_service *u)
{
	const struct davy_adopted_unit *of = davy_unit_adopted(u);

	return of ? of->derived : "";
}

/* The probe's word for the plan; NULL: the plan is not an action on models. */
static const char *act_of(const struct davy_service *u, const struct davy_plan *plan)
{
	bool ollama = u->engine == DAVY_ENGINE_OLLAMA;

	if (plan->action == DAVY_ACTION_UNLOAD)
		return "unload";
	if (ollama && plan->action == DAVY_ACTION_SHRINK && plan->settings.ubatch)
		return "derive";
	if (ollama && plan->action == DAVY_ACTION_UNDO && plan->undone == DAVY_ACTION_SHRINK &&
	    derived_of(u)[0])
		return plan->settings.ubatch ? "derive" : "restore";
	return NULL;
}

bool davy_models_act(struct davy_service *u, const struct davy_plan *plan)
{
	const char *act = act_of(u, plan);
	struct deed deed = { .agent = u->agent,
			     .plan = plan->id,
			     .workload = plan->workload,
			     .hazard = plan->hazard };
	int err;

	if (!act)
		return false;
	deed.derives = !strcmp(act, "derive");
	deed.restores = !strcmp(act, "restore");
	err = act_models_start(u, &deed, act, &plan->settings,
			       plan->action == DAVY_ACTION_UNLOAD ? "" : derived_of(u));
	if (err)
		davy_agent_acted(u->agent, plan->id, u->workload, DAVY_ACT_FAILED, 0, err);
	return true;
}

bool davy_models_restore(struct davy_service *u, const char *model,
			 void (*done)(void *arg, bool good), void *arg)
{
	struct deed deed = { .agent = u->agent,
			     .workload = u->workload,
			     .restores = true,
			     .done = done,
			     .arg = arg };

	return !act_models_start(u, &deed, "restore", &(struct davy_start_settings){ 0 }, model);
}
