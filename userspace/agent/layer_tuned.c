/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the core has found out about a model's ubatch, as a rule of the agent's policy layer: the
 * next start begins with it. Taken back there, it is taken out here. Each change is a version.
 */
#include "agent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lib/log.h"
#include "../report/plan_text.h"
#include "../store/policy_file.h"
#include "../store/versions.h"

#define SOURCE "davylamp"

/* One for each backend and model; FNV-1a, so that every name of a model makes a rule's. */
static void name_rule(const struct dl_workload *w, uint8_t backend, char name[DL_RULE_NAME_LEN])
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (const char *c = w->model; *c; c++)
		h = (h ^ (unsigned char)*c) * 0x100000001b3ULL;
	snprintf(name, DL_RULE_NAME_LEN, "tuned-%s-%08" PRIx32, dl_backend_name(backend),
		 (uint32_t)(h ^ h >> 32));
}

static void remove_rule(struct dl_policy_layer *layer, const char *name)
{
	struct dl_rule *rule = dl_policy_rule_find(layer, name);
	size_t after;

	if (!rule)
		return;
	after = layer->rule_count - (size_t)(rule - layer->rule) - 1;
	memmove(rule, rule + 1, after * sizeof(*rule));
	layer->rule_count--;
}

static uint32_t ubatch_of(struct dl_policy_layer *layer, const char *name)
{
	const struct dl_rule *rule = dl_policy_rule_find(layer, name);

	for (size_t i = 0; rule && i < rule->value_count; i++)
		if (rule->value[i].key == DL_POLICY_UBATCH)
			return rule->value[i].number;
	return 0;
}

static int add_rule(struct dl_policy_layer *layer, const char *name, const struct dl_workload *w,
		    uint8_t backend, const char *because)
{
	struct dl_rule *rule = dl_policy_rule_add(layer, name);
	char model[2 * DL_MODEL_LEN], date[16];
	const time_t now = time(NULL);
	struct tm day;
	int err = rule ? 0 : -ENOSPC;

	dl_rule_literal(model, sizeof(model), w->model);
	gmtime_r(&now, &day);
	strftime(date, sizeof(date), "%Y-%m-%d", &day);
	if (!err)
		err = dl_rule_if(layer, rule, DL_IF_MODEL, model, 0);
	if (!err)
		err = dl_rule_if(layer, rule, DL_IF_BACKEND, dl_backend_name(backend), 0);
	if (!err && strchr(w->device, ':')) /* a PCI device; others have no rules of their own */
		err = dl_rule_if(layer, rule, DL_IF_DEVICE, w->device, 0);
	if (!err)
		err = dl_rule_set_count(layer, rule, DL_POLICY_UBATCH, w->knobs.ubatch);
	return err ? err : dl_rule_say(layer, rule, because, SOURCE, date);
}

static int write_version(struct dl_agent *a, const struct dl_policy_layer *layer,
			 const char *reason, const char *evidence)
{
	char error[DL_CONFIG_ERROR_LEN], *text = NULL;
	struct dl_db *db = NULL;
	size_t size;
	int err = dl_policy_text_write(layer, &text, &size, error);

	if (err == -EINVAL)
		dl_log("policy: %s", error);
	if (!err)
		err = dl_db_open(a->options.state_dir, DL_DB_MAKE, &db);
	if (!err)
		err = dl_version_add(db, reason, evidence, text);
	dl_db_close(db);
	free(text);
	return err;
}

static int read_layer(struct dl_agent *a, struct dl_policy_layer *layer)
{
	char error[DL_CONFIG_ERROR_LEN], path[PATH_MAX];
	int err;

	dl_policy_layer_init(layer, DL_LAYER_AGENT);
	snprintf(path, sizeof(path), "%s/%s", a->options.state_dir, DL_POLICY_NAME);
	err = dl_policy_file_read(path, DL_LAYER_AGENT, layer, error);
	if (err == -EBADMSG)
		dl_log("%s; it is written anew, 'davylamp policy history' has it", error);
	if (err)
		dl_policy_layer_init(layer, DL_LAYER_AGENT);
	return err == -ENOENT || err == -EBADMSG ? 0 : err;
}

/* The latest shrink that stands, and whether a hazard brought it about. */
static bool is_an_operators(const struct dl_workload *w)
{
	for (size_t i = w->effect_count; i-- > 0;)
		if (w->effects[i].rung == DL_RUNG_SHRINK)
			return w->effects[i].hazard == DL_HZ_NONE;
	return false;
}

static void update(struct dl_agent *a, struct dl_policy_layer *layer, const struct dl_workload *w,
		   const struct dl_plan *plan)
{
	char name[DL_RULE_NAME_LEN], reason[DL_VERSION_REASON], because[DL_PLAN_TEXT_SIZE];
	uint32_t was, is = w->knobs.ubatch;
	int err = read_layer(a, layer);

	name_rule(w, w->backend, name);
	was = err ? is : ubatch_of(layer, name);
	if (was == is)
		return;
	dl_because_text(plan, because, sizeof(because));
	remove_rule(layer, name);
	if (is) {
		snprintf(reason, sizeof(reason), "ubatch %" PRIu32 " for '%s' on %s after %s", is,
			 w->model, dl_backend_name(w->backend),
			 dl_hazard_name((enum dl_hazard)plan->hazard));
		err = add_rule(layer, name, w, w->backend, reason);
	} else {
		snprintf(reason, sizeof(reason), "'%s' on %s is given its own ubatch again",
			 w->model, dl_backend_name(w->backend));
	}
	if (!err)
		err = write_version(a, layer, reason, because);
	if (err < 0)
		dl_log("policy '%s/%s': %s; the next start does not know of ubatch %" PRIu32,
		       a->options.state_dir, DL_POLICY_NAME, dl_db_why(err), is);
	else
		dl_log("policy version %d: %s", err, reason);
}

void dl_agent_layer_tuned(struct dl_agent *a, const struct dl_plan *plan)
{
	const struct dl_workload *w = dl_world_workload(&a->core.world, plan->workload);
	struct dl_policy_layer *layer;

	if (plan->result || plan->hazard == DL_HZ_NONE || !w || !w->model[0] ||
	    (plan->level != DL_RUNG_SHRINK && plan->level != DL_RUNG_UNDO) ||
	    w->backend == DL_BACKEND_UNKNOWN || w->backend == DL_BACKEND_CPU || is_an_operators(w))
		return;
	layer = malloc(sizeof(*layer));
	if (layer)
		update(a, layer, w, plan);
	free(layer);
}
