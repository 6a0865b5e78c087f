/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the core's tuner knows of a model on a device, over restarts of agent and host: loaded when
 * the workload's engine is known to use the device, saved as it changes. And the time of day, by
 * which it dates.
 */
#include "agent/agent.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "lib/log.h"
#include "store/ledger.h"
#include "store/tuning.h"

#define SAVE_NS	     (60 * DL_NS_PER_S)
#define CLOCK_OFF_BY 2 /* s, before the core is told again */

/* As it is stored. */
struct kept {
	struct dl_tuner tuner;
	uint32_t told[DL_TUNER_KNOBS];
	uint32_t layers_asked;
};

static void tell_clock(struct dl_agent *a)
{
	struct dl_event ev = dl_agent_event(DL_EV_CLOCK, 0);
	int64_t offset_s;

	ev.clock.wall_s = (uint64_t)time(NULL);
	offset_s = (int64_t)ev.clock.wall_s - (int64_t)(ev.at_ns / DL_NS_PER_S);
	if (a->wall_offset_s && offset_s - a->wall_offset_s < CLOCK_OFF_BY &&
	    a->wall_offset_s - offset_s < CLOCK_OFF_BY)
		return;
	a->wall_offset_s = offset_s;
	dl_agent_feed(a, &ev);
}

/* A place whose workload is gone is free; NULL: there is none. */
static struct dl_kept_tuning *place_of(struct dl_agent *a, uint32_t workload)
{
	struct dl_kept_tuning *free_one = NULL;

	for (size_t i = 0; i < DL_WORLD_WORKLOADS; i++) {
		struct dl_kept_tuning *k = &a->tuning[i];

		if (k->workload == workload)
			return k;
		if (!free_one && (!k->workload || !dl_world_workload(&a->core.world, k->workload)))
			free_one = k;
	}
	if (free_one) {
		memset(free_one, 0, sizeof(*free_one));
		free_one->workload = workload;
	}
	return free_one;
}

static bool knows(const struct dl_tuner_backend *of)
{
	static const struct dl_tuner_backend nothing;

	return memcmp(of, &nothing, sizeof(nothing)) != 0;
}

/* The head with each backend that has something; the environment even alone. */
static void tell(struct dl_agent *a, uint32_t workload, const struct kept *kept, uint16_t flags,
		 uint64_t stamp)
{
	struct dl_event ev = dl_agent_event(DL_EV_TUNING, 0);

	ev.tuning.workload = workload;
	ev.tuning.stamp = stamp;
	ev.tuning.flags = flags & DL_TUNING_FIRST;
	memcpy(ev.tuning.head, &kept->tuner, sizeof(ev.tuning.head));
	memcpy(ev.tuning.told, kept->told, sizeof(ev.tuning.told));
	ev.tuning.layers_asked = kept->layers_asked;
	for (uint32_t i = 0; i < DL_BACKEND_COUNT; i++) {
		ev.tuning.backend = (uint16_t)i;
		ev.tuning.of = kept->tuner.of[i];
		if (i + 1 < DL_BACKEND_COUNT && !knows(&kept->tuner.of[i]))
			continue;
		if (i + 1 == DL_BACKEND_COUNT)
			ev.tuning.flags |= flags & DL_TUNING_LAST;
		dl_agent_feed(a, &ev);
		ev.tuning.flags = 0;
	}
}

static void load(struct dl_agent *a, struct dl_kept_tuning *k)
{
	struct kept kept = { 0 };
	struct dl_db *db = NULL;
	int err = dl_db_open(a->options.state_dir, DL_DB_THERE, &db);

	if (!err)
		err = dl_tuning_load(db, k->device, k->model, &kept, sizeof(kept));
	dl_db_close(db);
	if (!err && !dl_tuner_valid(&kept.tuner))
		err = -EBADMSG;
	if (err && err != -ENOENT)
		dl_log("what is known of '%s' on %s cannot be used: %s; it begins anew", k->model,
		       k->device, err == -EBADMSG ? "it is damaged" : dl_db_why(err));
	if (err)
		memset(&kept, 0, sizeof(kept));
	tell(a, k->workload, &kept, DL_TUNING_FIRST | DL_TUNING_LAST, 0);
}

static void save(struct dl_agent *a, struct dl_kept_tuning *k, const struct dl_tuned *tuned)
{
	struct kept kept = { .tuner = tuned->tuner, .layers_asked = tuned->layers_asked };
	struct dl_db *db = NULL;
	int err = dl_db_open(a->options.state_dir, DL_DB_MAKE, &db);

	memcpy(kept.told, tuned->told, sizeof(kept.told));
	if (!err)
		err = dl_tuning_save(db, k->device, k->model, &kept, sizeof(kept));
	dl_db_close(db);
	if (err)
		dl_log("what is known of '%s' on %s is not kept: %s; tried again in a minute",
		       k->model, k->device, dl_db_why(err));
	else
		k->changes = tuned->changes;
}

/* Its model and device are known. */
static bool on_gpu(const struct dl_tracked *t)
{
	return t->told.model[0] && t->told.device[0] && t->told.backend != DL_BACKEND_UNKNOWN &&
	       t->told.backend != DL_BACKEND_CPU;
}

static void restore(struct dl_agent *a, const struct dl_tracked *t, struct dl_kept_tuning *k)
{
	if (dl_same_name(k->model, t->told.model) && dl_same_name(k->device, t->told.device))
		return;
	dl_copy_name(k->model, sizeof(k->model), t->told.model);
	dl_copy_name(k->device, sizeof(k->device), t->told.device);
	load(a, k);
}

/* Another kernel, driver, firmware or engine makes what is known doubtful. */
static void stamp(struct dl_agent *a, const struct dl_tracked *t, struct dl_kept_tuning *k)
{
	static const struct kept nothing;
	struct dl_ledger_environment e;

	if (k->stamped && k->pid == t->pid)
		return;
	k->pid = t->pid;
	k->stamped = dl_agent_environment(a, t, &e);
	if (k->stamped)
		tell(a, k->workload, &nothing, DL_TUNING_LAST, dl_ledger_environment_stamp(&e));
}

static void meet(struct dl_agent *a, const struct dl_tracked *t)
{
	const struct dl_workload *w = dl_world_workload(&a->core.world, t->told.workload);
	struct dl_kept_tuning *k = w && w->pid == t->pid ? place_of(a, w->id) : NULL;

	if (!k)
		return;
	dl_agent_rules_tell(a, t, k);
	if (!on_gpu(t))
		return;
	restore(a, t, k);
	stamp(a, t, k);
}

/* A soak that is lost costs a minute, an answer what it was the answer to. */
static bool is_due(const struct dl_kept_tuning *k, const struct dl_tuned *tuned, uint64_t now_ns)
{
	if (!k->device[0] || tuned->changes == k->changes)
		return false;
	return tuned->answers != k->answers || now_ns - k->saved_ns >= SAVE_NS;
}

static void save_all(struct dl_agent *a, uint64_t now_ns)
{
	for (size_t i = 0; i < DL_WORLD_WORKLOADS; i++) {
		struct dl_kept_tuning *k = &a->tuning[i];
		const struct dl_tuned *tuned = dl_core_tuned(&a->core, k->workload);

		if (!tuned || !is_due(k, tuned, now_ns))
			continue;
		k->saved_ns = now_ns;
		k->answers = tuned->answers;
		save(a, k, tuned);
	}
}

void dl_agent_tuning_tick(struct dl_agent *a, uint64_t now_ns)
{
	tell_clock(a);
	for (size_t i = 0; now_ns && i < DL_TRACKED_MAX; i++)
		if (a->tracked[i].pid && a->tracked[i].told.workload)
			meet(a, &a->tracked[i]);
	save_all(a, now_ns);
}

void dl_agent_tuning_close(struct dl_agent *a)
{
	save_all(a, UINT64_MAX);
}

void dl_agent_tuning_forget(struct dl_agent *a, const char *device, const char *model)
{
	struct dl_event ev = dl_agent_event(DL_EV_TUNING, 0);

	ev.tuning.flags = DL_TUNING_FORGET;
	for (size_t i = 0; i < DL_WORLD_WORKLOADS; i++) {
		const struct dl_kept_tuning *k = &a->tuning[i];

		if (!k->workload || (device[0] && !dl_same_name(k->device, device)) ||
		    (model[0] && !dl_same_name(k->model, model)))
			continue;
		ev.tuning.workload = k->workload;
		dl_agent_feed(a, &ev);
	}
}
