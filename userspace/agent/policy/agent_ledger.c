/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records for the ledger how each setting works: once a minute how long each adopted engine has
 * survived and at which depth, and immediately when it fails.
 */
#include "agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "store/ledger.h"
#include "agent/policy/agent_policy.h"
#include "agent/sense/tracker.h"

#define NOTE_NS (60 * DAVY_NS_PER_S)

static struct davy_ledger_key key_of(struct davy_agent *a, const struct davy_tracked *t)
{
	const struct davy_ev_process *p = &t->reported;
	struct davy_ledger_key key = { .backend = (enum davy_backend)p->backend,
				       .ubatch = p->ubatch,
				       .context = p->context_size };

	davy_copy_name(key.device, sizeof(key.device), p->device);
	davy_copy_name(key.model, sizeof(key.model), p->model);
	davy_agent_environment(a, t, &key.environment);
	return key;
}

/* Only adopted engines with known settings are recorded: others prove nothing. */
static bool ledger_counts(const struct davy_tracked *t)
{
	return t->pid && t->reported.workload && t->reported.model[0] &&
	       t->reported.backend != DAVY_BACKEND_UNKNOWN;
}

static void say_not_kept(struct davy_agent *a, int err)
{
	if (!a->ledger.reported)
		davy_log("ledger '%s/%s': %s; results of settings are not recorded until it can be "
			 "written",
			 a->options.state_dir, DAVY_DB_NAME, davy_db_why(err));
	a->ledger.reported = true;
}

static void survived(const struct davy_agent *a, struct davy_tracked *t, uint64_t now_ns,
		     struct davy_ledger_entry *entry)
{
	const struct davy_workload *w =
		davy_world_workload((struct davy_world *)&a->core.world, t->reported.workload);

	memset(entry, 0, sizeof(*entry));
	entry->survived_s = t->ledger_ns ? (now_ns - t->ledger_ns) / DAVY_NS_PER_S : 0;
	entry->deepest = w && w->pid == t->pid ? w->deepest : 0;
	entry->slowest_job_ns = t->slowest_job_ns;
	t->ledger_ns = now_ns;
}

void davy_agent_ledger_job(struct davy_agent *a, const struct davy_event *ev)
{
	struct davy_tracked *t = davy_tracked_of(a, ev->pid);

	if (t && ev->job_times.max_ns > t->slowest_job_ns)
		t->slowest_job_ns = ev->job_times.max_ns;
}

void davy_agent_ledger_tick(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_ledger_entry entry;
	struct davy_db *db = NULL;
	int err = 0;

	if (now_ns - a->ledger.noted_ns < NOTE_NS)
		return;
	a->ledger.noted_ns = now_ns;
	for (size_t i = 0; i < DAVY_TRACKED_MAX && !err; i++) {
		struct davy_tracked *t = &a->tracked[i];
		struct davy_ledger_key key;

		if (!ledger_counts(t))
			continue;
		survived(a, t, now_ns, &entry);
		key = key_of(a, t);
		if (!db)
			err = davy_db_open(a->options.state_dir, DAVY_DB_MAKE, &db);
		if (!err)
			err = davy_ledger_note(db, &key, &entry);
	}
	if (err)
		say_not_kept(a, err);
	else
		a->ledger.reported = false;
	davy_db_close(db);
}

/* The end of an engine is reported each time; a device's failure once for all its consequences. */
static enum davy_log_class ledger_class_of(const struct davy_plan *plan)
{
	enum davy_log_class class = DAVY_CLASS_NONE;

	if (plan->kind == DAVY_PLAN_NOTE &&
	    (plan->hazard == DAVY_HZ_RUNNER_CRASH || plan->hazard == DAVY_HZ_ENGINE_WEDGED))
		return plan->device_class ? DAVY_CLASS_DEVICE_LOST : DAVY_CLASS_OTHER;
	if (plan->kind == DAVY_PLAN_FAILURE)
		class = (enum davy_log_class)plan->failure_class;
	return class == DAVY_CLASS_DEVICE_LOST || class == DAVY_CLASS_OTHER ? DAVY_CLASS_NONE
									    : class;
}

void davy_agent_ledger_failed(struct davy_agent *a, const struct davy_plan *plan)
{
	enum davy_log_class class = ledger_class_of(plan);
	struct davy_ledger_entry entry;
	struct davy_ledger_key key;
	struct davy_tracked *t = davy_tracked_of(a, plan->pid);
	struct davy_db *db = NULL;
	int err;

	if (!t || !ledger_counts(t) || class == DAVY_CLASS_NONE)
		return;
	survived(a, t, plan->at_ns, &entry);
	entry.failed_depth = entry.deepest;
	entry.deepest = 0; /* it did not survive at this depth */
	entry.outcome = class;
	entry.faults[class] = 1;
	key = key_of(a, t);
	err = davy_db_open(a->options.state_dir, DAVY_DB_MAKE, &db);
	if (!err)
		err = davy_ledger_note(db, &key, &entry);
	if (err)
		say_not_kept(a, err);
	davy_db_close(db);
}

/* A failed start: before a model was loaded, the record applies to all models. */
void davy_agent_ledger_found(struct davy_agent *a, const struct davy_ev_finding *f)
{
	struct davy_ledger_entry entry = { .outcome = DAVY_CLASS_RUNNER_CRASH_INIT };
	struct davy_ledger_key key = { .backend = (enum davy_backend)f->backend };
	struct davy_tracked nobody = { 0 };
	struct davy_db *db = NULL;
	int err;

	entry.faults[DAVY_CLASS_RUNNER_CRASH_INIT] = 1;
	davy_copy_name(key.device, sizeof(key.device), f->device);
	davy_copy_name(key.model, sizeof(key.model), f->model[0] ? f->model : "-");
	davy_copy_name(nobody.reported.device, sizeof(nobody.reported.device), f->device);
	davy_agent_environment(a, &nobody, &key.environment);
	err = davy_db_open(a->options.state_dir, DAVY_DB_MAKE, &db);
	if (!err)
		err = davy_ledger_note(db, &key, &entry);
	if (err)
		say_not_kept(a, err);
	davy_db_close(db);
}

struct least {
	uint32_t ubatch; /* look for rows of larger ubatches */
	uint32_t weight; /* of the rows used so far; rows of other versions have less weight */
	uint32_t depth;	 /* UINT32_MAX: none found */
};

static void on_row(void *arg, const struct davy_ledger_row *row)
{
	struct least *least = arg;
	bool larger = !row->key.ubatch || row->key.ubatch > least->ubatch;

	if (!larger || !row->entry.failed_depth || row->weight < least->weight)
		return;
	if (row->weight > least->weight || row->entry.failed_depth < least->depth)
		least->depth = row->entry.failed_depth;
	least->weight = row->weight;
}

uint32_t davy_agent_ledger_depth(struct davy_agent *a, enum davy_backend backend, const char *model,
				 uint32_t ubatch)
{
	struct davy_ledger_environment now = { .driver = "" };
	const struct davy_ledger_filter filter = { .backend = backend,
						   .model = model,
						   .now = &now };
	struct least least = { ubatch, 0, UINT32_MAX };
	struct davy_db *db = NULL;

	if (!model[0] || davy_db_open(a->options.state_dir, DAVY_DB_THERE, &db))
		return 0;
	davy_agent_kernel(&now); /* the engine has not started yet, so only the kernel is known */
	davy_ledger_each(db, &filter, on_row, &least);
	davy_db_close(db);
	return least.depth == UINT32_MAX ? 0 : least.depth;
}
