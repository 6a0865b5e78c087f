/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the tuner's knowledge of a model on a device over restarts of the agent and the host. It is
 * loaded when the workload's engine is known to use the device, and saved when it changes. Also
 * feeds the wall clock, with which the tuner dates its knowledge.
 */
#include "agent/agent.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "lib/log.h"
#include "store/ledger.h"
#include "store/tuning.h"
#include "agent/policy/agent_policy.h"

#define SAVE_NS	     (60 * DAVY_NS_PER_S)
#define CLOCK_OFF_BY 2 /* s, before the clock is fed again */

/* As stored in the database. */
struct kept {
	struct davy_tuner tuner;
	uint32_t configured[DAVY_TUNER_SETTINGS];
	uint32_t layers_asked;
};

static void tell_clock(struct davy_agent *a)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_CLOCK, 0);
	int64_t offset_s;

	ev.clock.wall_s = (uint64_t)time(NULL);
	offset_s = (int64_t)ev.clock.wall_s - (int64_t)(ev.at_ns / DAVY_NS_PER_S);
	if (a->wall_offset_s && offset_s - a->wall_offset_s < CLOCK_OFF_BY &&
	    a->wall_offset_s - offset_s < CLOCK_OFF_BY)
		return;
	a->wall_offset_s = offset_s;
	davy_agent_feed(a, &ev);
}

/* An entry whose workload has ended is free; NULL: none is free. */
static struct davy_kept_tuning *tuning_place_of(struct davy_agent *a, uint32_t workload)
{
	struct davy_kept_tuning *free_one = NULL;

	for (size_t i = 0; i < DAVY_WORLD_WORKLOADS; i++) {
		struct davy_kept_tuning *k = &a->tuning[i];

		if (k->workload == workload)
			return k;
		if (!free_one &&
		    (!k->workload || !davy_world_workload(&a->core.world, k->workload)))
			free_one = k;
	}
	if (free_one) {
		memset(free_one, 0, sizeof(*free_one));
		free_one->workload = workload;
	}
	return free_one;
}

static bool knows(const struct davy_tuner_backend *of)
{
	static const struct davy_tuner_backend nothing;

	return memcmp(of, &nothing, sizeof(nothing)) != 0;
}

/* Feeds the head with each backend that has knowledge; the environment even alone. */
static void tuning_tell(struct davy_agent *a, uint32_t workload, const struct kept *kept,
			uint16_t flags, uint64_t stamp)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_TUNING, 0);

	ev.tuning.workload = workload;
	ev.tuning.stamp = stamp;
	ev.tuning.flags = flags & DAVY_TUNING_FIRST;
	memcpy(ev.tuning.head, &kept->tuner, sizeof(ev.tuning.head));
	memcpy(ev.tuning.configured, kept->configured, sizeof(ev.tuning.configured));
	ev.tuning.layers_asked = kept->layers_asked;
	for (uint32_t i = 0; i < DAVY_BACKEND_COUNT; i++) {
		ev.tuning.backend = (uint16_t)i;
		ev.tuning.of = kept->tuner.of[i];
		if (i + 1 < DAVY_BACKEND_COUNT && !knows(&kept->tuner.of[i]))
			continue;
		if (i + 1 == DAVY_BACKEND_COUNT)
			ev.tuning.flags |= flags & DAVY_TUNING_LAST;
		davy_agent_feed(a, &ev);
		ev.tuning.flags = 0;
	}
}

static void tuning_load(struct davy_agent *a, struct davy_kept_tuning *k)
{
	struct kept kept = { 0 };
	struct davy_db *db = NULL;
	int err = davy_db_open(a->options.state_dir, DAVY_DB_THERE, &db);

	if (!err)
		err = davy_tuning_load(db, k->device, k->model, &kept, sizeof(kept));
	davy_db_close(db);
	if (!err && !davy_tuner_valid(&kept.tuner))
		err = -EBADMSG;
	if (err && err != -ENOENT)
		davy_log("the tuning of '%s' on %s cannot be used: %s; tuning starts again",
			 k->model, k->device, err == -EBADMSG ? "it is damaged" : davy_db_why(err));
	if (err)
		memset(&kept, 0, sizeof(kept));
	tuning_tell(a, k->workload, &kept, DAVY_TUNING_FIRST | DAVY_TUNING_LAST, 0);
}

static void tuning_save(struct davy_agent *a, struct davy_kept_tuning *k,
			const struct davy_tuned *tuned)
{
	struct kept kept = { .tuner = tuned->tuner, .layers_asked = tuned->layers_asked };
	struct davy_db *db = NULL;
	int err = davy_db_open(a->options.state_dir, DAVY_DB_MAKE, &db);

	memcpy(kept.configured, tuned->configured, sizeof(kept.configured));
	if (!err)
		err = davy_tuning_save(db, k->device, k->model, &kept, sizeof(kept));
	davy_db_close(db);
	if (err)
		davy_log("cannot save the tuning of '%s' on %s: %s; next attempt in a minute",
			 k->model, k->device, davy_db_why(err));
	else
		k->changes = tuned->changes;
}

/* Its model and device are known. */
static bool tuning_on_gpu(const struct davy_tracked *t)
{
	return t->reported.model[0] && t->reported.device[0] &&
	       t->reported.backend != DAVY_BACKEND_UNKNOWN &&
	       t->reported.backend != DAVY_BACKEND_CPU;
}

static void tuning_restore(struct davy_agent *a, const struct davy_tracked *t,
			   struct davy_kept_tuning *k)
{
	if (davy_same_name(k->model, t->reported.model) &&
	    davy_same_name(k->device, t->reported.device))
		return;
	davy_copy_name(k->model, sizeof(k->model), t->reported.model);
	davy_copy_name(k->device, sizeof(k->device), t->reported.device);
	tuning_load(a, k);
}

/* Another kernel, driver, firmware or engine makes the knowledge doubtful. */
static void stamp(struct davy_agent *a, const struct davy_tracked *t, struct davy_kept_tuning *k)
{
	static const struct kept nothing;
	struct davy_ledger_environment e;

	if (k->stamped && k->pid == t->pid)
		return;
	k->pid = t->pid;
	k->stamped = davy_agent_environment(a, t, &e);
	if (k->stamped)
		tuning_tell(a, k->workload, &nothing, DAVY_TUNING_LAST,
			    davy_ledger_environment_stamp(&e));
}

static void tuning_meet(struct davy_agent *a, const struct davy_tracked *t)
{
	const struct davy_workload *w = davy_world_workload(&a->core.world, t->reported.workload);
	struct davy_kept_tuning *k = w && w->pid == t->pid ? tuning_place_of(a, w->id) : NULL;

	if (!k)
		return;
	davy_agent_rules_tell(a, t, k);
	if (!tuning_on_gpu(t))
		return;
	tuning_restore(a, t, k);
	stamp(a, t, k);
}

/* A lost soak costs a minute, a lost reply costs the question. */
static bool tuning_is_due(const struct davy_kept_tuning *k, const struct davy_tuned *tuned,
			  uint64_t now_ns)
{
	if (!k->device[0] || tuned->changes == k->changes)
		return false;
	return tuned->answers != k->answers || now_ns - k->saved_ns >= SAVE_NS;
}

static void save_all(struct davy_agent *a, uint64_t now_ns)
{
	for (size_t i = 0; i < DAVY_WORLD_WORKLOADS; i++) {
		struct davy_kept_tuning *k = &a->tuning[i];
		const struct davy_tuned *tuned = davy_core_tuned(&a->core, k->workload);

		if (!tuned || !tuning_is_due(k, tuned, now_ns))
			continue;
		k->saved_ns = now_ns;
		k->answers = tuned->answers;
		tuning_save(a, k, tuned);
	}
}

void davy_agent_tuning_tick(struct davy_agent *a, uint64_t now_ns)
{
	tell_clock(a);
	for (size_t i = 0; now_ns && i < DAVY_TRACKED_MAX; i++)
		if (a->tracked[i].pid && a->tracked[i].reported.workload)
			tuning_meet(a, &a->tracked[i]);
	save_all(a, now_ns);
}

void davy_agent_tuning_close(struct davy_agent *a)
{
	save_all(a, UINT64_MAX);
}

void davy_agent_tuning_forget(struct davy_agent *a, const char *device, const char *model)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_TUNING, 0);

	ev.tuning.flags = DAVY_TUNING_FORGET;
	for (size_t i = 0; i < DAVY_WORLD_WORKLOADS; i++) {
		const struct davy_kept_tuning *k = &a->tuning[i];

		if (!k->workload || (device[0] && !davy_same_name(k->device, device)) ||
		    (model[0] && !davy_same_name(k->model, model)))
			continue;
		ev.tuning.workload = k->workload;
		davy_agent_feed(a, &ev);
	}
}
