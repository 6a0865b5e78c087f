/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What came of every setting, for the ledger: once a minute how long each adopted engine has
 * survived and how deep it came, at once when it failed.
 */
#include "agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "store/ledger.h"

#define NOTE_NS (60 * DL_NS_PER_S)

static struct dl_ledger_key key_of(struct dl_agent *a, const struct dl_tracked *t)
{
	const struct dl_ev_process *p = &t->told;
	struct dl_ledger_key key = { .backend = (enum dl_backend)p->backend,
				     .ubatch = p->ubatch,
				     .context = p->context_size };

	dl_copy_name(key.device, sizeof(key.device), p->device);
	dl_copy_name(key.model, sizeof(key.model), p->model);
	dl_agent_environment(a, t, &key.environment);
	return key;
}

/* Whose setting is known, and who is in the agent's care: others prove nothing. */
static bool counts(const struct dl_tracked *t)
{
	return t->pid && t->told.workload && t->told.model[0] &&
	       t->told.backend != DL_BACKEND_UNKNOWN;
}

static void say_not_kept(struct dl_agent *a, int err)
{
	if (!a->ledger.told)
		dl_log("ledger '%s/%s': %s; what comes of settings is not kept until it can be "
		       "written",
		       a->options.state_dir, DL_DB_NAME, dl_db_why(err));
	a->ledger.told = true;
}

static void survived(const struct dl_agent *a, struct dl_tracked *t, uint64_t now_ns,
		     struct dl_ledger_entry *entry)
{
	const struct dl_workload *w =
		dl_world_workload((struct dl_world *)&a->core.world, t->told.workload);

	memset(entry, 0, sizeof(*entry));
	entry->survived_s = t->ledger_ns ? (now_ns - t->ledger_ns) / DL_NS_PER_S : 0;
	entry->deepest = w && w->pid == t->pid ? w->deepest : 0;
	entry->slowest_job_ns = t->slowest_job_ns;
	t->ledger_ns = now_ns;
}

static struct dl_tracked *tracked(struct dl_agent *a, uint32_t pid)
{
	for (size_t i = 0; i < DL_TRACKED_MAX; i++)
		if (pid && a->tracked[i].pid == pid)
			return &a->tracked[i];
	return NULL;
}

void dl_agent_ledger_job(struct dl_agent *a, const struct dl_event *ev)
{
	struct dl_tracked *t = tracked(a, ev->pid);

	if (t && ev->job_times.max_ns > t->slowest_job_ns)
		t->slowest_job_ns = ev->job_times.max_ns;
}

void dl_agent_ledger_tick(struct dl_agent *a, uint64_t now_ns)
{
	struct dl_ledger_entry entry;
	struct dl_db *db = NULL;
	int err = 0;

	if (now_ns - a->ledger.noted_ns < NOTE_NS)
		return;
	a->ledger.noted_ns = now_ns;
	for (size_t i = 0; i < DL_TRACKED_MAX && !err; i++) {
		struct dl_tracked *t = &a->tracked[i];
		struct dl_ledger_key key;

		if (!counts(t))
			continue;
		survived(a, t, now_ns, &entry);
		key = key_of(a, t);
		if (!db)
			err = dl_db_open(a->options.state_dir, DL_DB_MAKE, &db);
		if (!err)
			err = dl_ledger_note(db, &key, &entry);
	}
	if (err)
		say_not_kept(a, err);
	else
		a->ledger.told = false;
	dl_db_close(db);
}

/* An engine's own end is told each time, a device's failure once for all that follows of it. */
static enum dl_log_class class_of(const struct dl_plan *plan)
{
	enum dl_log_class class = DL_CLASS_NONE;

	if (plan->rung == DL_RUNG_NOTE &&
	    (plan->hazard == DL_HZ_RUNNER_CRASH || plan->hazard == DL_HZ_ENGINE_WEDGED))
		return plan->device_class ? DL_CLASS_DEVICE_LOST : DL_CLASS_OTHER;
	if (plan->rung == DL_RUNG_FAILURE)
		class = dl_log_class_from_name(plan->detail);
	return class == DL_CLASS_DEVICE_LOST || class == DL_CLASS_OTHER ? DL_CLASS_NONE : class;
}

void dl_agent_ledger_failed(struct dl_agent *a, const struct dl_plan *plan)
{
	enum dl_log_class class = class_of(plan);
	struct dl_ledger_entry entry;
	struct dl_ledger_key key;
	struct dl_tracked *t = tracked(a, plan->pid);
	struct dl_db *db = NULL;
	int err;

	if (!t || !counts(t) || class == DL_CLASS_NONE)
		return;
	survived(a, t, plan->at_ns, &entry);
	entry.failed_depth = entry.deepest;
	entry.deepest = 0; /* it did not survive there */
	entry.outcome = class;
	entry.faults[class] = 1;
	key = key_of(a, t);
	err = dl_db_open(a->options.state_dir, DL_DB_MAKE, &db);
	if (!err)
		err = dl_ledger_note(db, &key, &entry);
	if (err)
		say_not_kept(a, err);
	dl_db_close(db);
}

/* Of a start that somebody tried: before it had a model it is of all. */
void dl_agent_ledger_found(struct dl_agent *a, const struct dl_ev_finding *f)
{
	struct dl_ledger_entry entry = { .outcome = DL_CLASS_RUNNER_CRASH_INIT };
	struct dl_ledger_key key = { .backend = (enum dl_backend)f->backend };
	struct dl_tracked nobody = { 0 };
	struct dl_db *db = NULL;
	int err;

	entry.faults[DL_CLASS_RUNNER_CRASH_INIT] = 1;
	dl_copy_name(key.device, sizeof(key.device), f->device);
	dl_copy_name(key.model, sizeof(key.model), f->model[0] ? f->model : "-");
	dl_copy_name(nobody.told.device, sizeof(nobody.told.device), f->device);
	dl_agent_environment(a, &nobody, &key.environment);
	err = dl_db_open(a->options.state_dir, DL_DB_MAKE, &db);
	if (!err)
		err = dl_ledger_note(db, &key, &entry);
	if (err)
		say_not_kept(a, err);
	dl_db_close(db);
}

struct least {
	uint32_t ubatch; /* rows of larger ones */
	uint32_t
		weight; /* of the rows that count; those of other versions give way to later ones */
	uint32_t depth; /* UINT32_MAX: none found */
};

static void on_row(void *arg, const struct dl_ledger_row *row)
{
	struct least *least = arg;
	bool larger = !row->key.ubatch || row->key.ubatch > least->ubatch;

	if (!larger || !row->entry.failed_depth || row->weight < least->weight)
		return;
	if (row->weight > least->weight || row->entry.failed_depth < least->depth)
		least->depth = row->entry.failed_depth;
	least->weight = row->weight;
}

uint32_t dl_agent_ledger_depth(struct dl_agent *a, enum dl_backend backend, const char *model,
			       uint32_t ubatch)
{
	struct dl_ledger_environment now = { .driver = "" };
	const struct dl_ledger_filter filter = { .backend = backend, .model = model, .now = &now };
	struct least least = { ubatch, 0, UINT32_MAX };
	struct dl_db *db = NULL;

	if (!model[0] || dl_db_open(a->options.state_dir, DL_DB_THERE, &db))
		return 0;
	dl_agent_kernel(&now); /* the engine is not there yet, and with it the others */
	dl_ledger_each(db, &filter, on_row, &least);
	dl_db_close(db);
	return least.depth == UINT32_MAX ? 0 : least.depth;
}
