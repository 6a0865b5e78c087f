/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the core has found out about a model's settings, as a rule of the agent's policy layer: the
 * next start begins with it. Taken back there, it is taken out here. Each change is a version.
 */
#include "agent/agent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/log.h"
#include "policy/told.h"
#include "report/plan_text.h"
#include "report/tuner_text.h"
#include "store/policy_file.h"
#include "store/versions.h"

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

static uint32_t value_of(const struct dl_rule_value *value)
{
	const char *name;

	if (value->key != DL_POLICY_CACHE_TYPE)
		return value->number;
	name = dl_cache_type_name(value->number);
	return name ? dl_cache_named(name) : 0;
}

static struct dl_knobs knobs_of(struct dl_policy_layer *layer, const char *name)
{
	const struct dl_rule *rule = dl_policy_rule_find(layer, name);
	struct dl_knobs k = { 0 };

	for (size_t i = 0; rule && i < rule->value_count; i++)
		for (uint32_t j = 0; j < DL_TUNER_KNOBS; j++)
			if (rule->value[i].key == dl_policy_knob_key(j))
				dl_knob_set(&k, j, value_of(&rule->value[i]));
	return k;
}

static int put_knob(struct dl_policy_layer *layer, struct dl_rule *rule, uint32_t knob,
		    uint32_t value)
{
	const char *cache = dl_cache_name(value);

	if (knob != DL_TUNER_CACHE_TYPE)
		return dl_rule_set_count(layer, rule, dl_policy_knob_key(knob), value);
	for (uint32_t i = 0; i < DL_CACHE_TYPE_COUNT; i++)
		if (dl_same_name(dl_cache_type_name(i), cache))
			return dl_rule_set(layer, rule, DL_POLICY_CACHE_TYPE, NULL, cache, i);
	return -EINVAL;
}

static int add_rule(struct dl_policy_layer *layer, const char *name, const struct dl_workload *w,
		    uint8_t backend, const struct dl_knobs *is, const char *because)
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
	for (uint32_t i = 0; i < DL_TUNER_KNOBS && !err; i++)
		if (dl_knob_get(is, i))
			err = put_knob(layer, rule, i, dl_knob_get(is, i));
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

/* "ubatch 128, context 8192", or "its own settings". */
static void name_knobs(const struct dl_knobs *k, char *text, size_t size)
{
	char value[16];
	size_t used = 0;

	for (uint32_t i = 0; i < DL_TUNER_KNOBS && used < size; i++) {
		if (!dl_knob_get(k, i))
			continue;
		dl_tuner_size_text(i, dl_knob_get(k, i), value, sizeof(value));
		used += (size_t)snprintf(text + used, size - used, "%s%s %s", used ? ", " : "",
					 dl_knob_name(i), value);
	}
	if (!used)
		snprintf(text, size, "its own settings");
}

/* What an operator has set is no finding; what he takes back is none any more. */
static struct dl_knobs found_out(const struct dl_workload *w, const struct dl_plan *plan,
				 const struct dl_knobs *was)
{
	struct dl_knobs is = w->knobs;

	for (uint32_t i = 0; plan->hazard == DL_HZ_NONE && i < DL_TUNER_KNOBS; i++)
		if (dl_knob_get(&is, i))
			dl_knob_set(&is, i, dl_knob_get(was, i));
	return is;
}

/*
 * The end of an act does not tell any more what it was for, nor does one that is tried again after
 * a refusal.
 */
void dl_agent_layer_meant(struct dl_agent *a, const struct dl_plan *plan)
{
	struct dl_meant *at = &a->meant[plan->workload % DL_MEANT_MAX];
	char text[DL_PLAN_TEXT_SIZE];
	bool again = at->workload == plan->workload && at->rung == plan->rung &&
		     at->hazard == plan->hazard;

	if ((plan->rung != DL_RUNG_SHRINK && plan->rung != DL_RUNG_UNDO) ||
	    (again && plan->rung == DL_RUNG_SHRINK && plan->evidence[0].kind == DL_EV_TICK))
		return;
	dl_because_text(plan, text, sizeof(text));
	at->workload = plan->workload;
	at->rung = plan->rung;
	at->hazard = plan->hazard;
	dl_copy_name(at->because, sizeof(at->because), text);
}

static const char *meant(const struct dl_agent *a, uint32_t workload)
{
	const struct dl_meant *at = &a->meant[workload % DL_MEANT_MAX];

	return at->workload == workload ? at->because : "";
}

static void put(struct dl_agent *a, struct dl_policy_layer *layer, const struct dl_workload *w,
		const struct dl_plan *plan, const char *name, const struct dl_knobs *is)
{
	char knobs[96], reason[DL_VERSION_REASON];
	int err = 0;

	name_knobs(is, knobs, sizeof(knobs));
	snprintf(reason, sizeof(reason), "%s for '%s' on %s after %s", knobs, w->model,
		 dl_backend_name(plan->backend),
		 plan->hazard ? dl_hazard_name((enum dl_hazard)plan->hazard)
			      : "an operator's word");
	dl_policy_rule_remove(layer, dl_policy_rule_find(layer, name));
	if (!dl_knobs_none(is))
		err = add_rule(layer, name, w, plan->backend, is, reason);
	if (!err)
		err = write_version(a, layer, reason, meant(a, plan->workload));
	if (err < 0)
		dl_log("policy '%s/%s': %s; the next start does not know of %s",
		       a->options.state_dir, DL_POLICY_NAME, dl_db_why(err), knobs);
	else
		dl_log("policy version %d: %s", err, reason);
	if (err > 0)
		dl_policy_agent_layer_read(a);
}

static void update(struct dl_agent *a, struct dl_policy_layer *layer, const struct dl_workload *w,
		   const struct dl_plan *plan)
{
	char name[DL_RULE_NAME_LEN];
	struct dl_knobs was, is;

	if (read_layer(a, layer))
		return; /* it cannot be read now: the next change has this in it */
	name_rule(w, plan->backend, name);
	was = knobs_of(layer, name);
	is = found_out(w, plan, &was);
	if (memcmp(&was, &is, sizeof(was)) != 0)
		put(a, layer, w, plan, name, &is);
}

void dl_agent_layer_tuned(struct dl_agent *a, const struct dl_plan *plan)
{
	const struct dl_workload *w = dl_world_workload(&a->core.world, plan->workload);
	uint8_t backend = plan->backend;
	struct dl_policy_layer *layer;

	if (plan->result || !w || !w->model[0] ||
	    (plan->level != DL_RUNG_SHRINK && plan->level != DL_RUNG_UNDO) ||
	    backend == DL_BACKEND_UNKNOWN || backend == DL_BACKEND_CPU)
		return;
	layer = malloc(sizeof(*layer));
	if (layer)
		update(a, layer, w, plan);
	free(layer);
}
