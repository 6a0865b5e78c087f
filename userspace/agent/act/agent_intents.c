/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/act/agent_intents.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "act/cgroup.h"
#include "act/freeze.h"
#include "act/undo.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/text.h"
#include "report/plan_text.h"
#include "store/db.h"
#include "agent/agent.h"
#include "agent/act/units.h"

struct undoing {
	struct davy_intents *log;
	struct davy_undone undone;
	char boot_id[DAVY_BOOT_ID_LEN];
};

static const char *intent_action_name(uint32_t action)
{
	return davy_action_known(action) ? davy_action_name((enum davy_action)action) : "act";
}

/* "cap of workload 3, pid 99", or of a value that a rule asks for: "vram_protect of '/a.slice'". */
static void intent_subject(const struct davy_intent *intent, char *buf, size_t size)
{
	char text[2 * DAVY_INTENT_TEXT], cgroup[2 * DAVY_INTENT_PATH];

	if (!davy_intent_is_rule(intent))
		snprintf(buf, size, "%s of workload %u, pid %u", intent_action_name(intent->action),
			 intent->workload, intent->pid);
	else
		snprintf(buf, size, "%s of '%s'", davy_text_safe(text, sizeof(text), intent->text),
			 davy_text_safe(cgroup, sizeof(cgroup), intent->cgroup));
}

static int undo_one(const struct davy_intent *intent, const char *boot_id)
{
	char why[DAVY_REASON_LEN], subject[2 * DAVY_INTENT_PATH];
	int err = davy_undo(intent, boot_id, why);

	intent_subject(intent, subject, sizeof(subject));
	if (err < 0)
		davy_log("intent %lld (%s): cannot be undone: %s; it stays open",
			 (long long)intent->id, subject, strerror(-err));
	else
		davy_log("intent %lld (%s): %s%s", (long long)intent->id, subject,
			 err ? "nothing to undo: " : "undone", err ? why : "");
	return err;
}

static void on_open(void *arg, const struct davy_intent *intent)
{
	struct undoing *u = arg;
	int err = undo_one(intent, u->boot_id);

	u->undone.undone += err == 0;
	u->undone.idle += err == 1;
	u->undone.failed += err < 0;
	if (err >= 0)
		davy_intent_close(u->log, intent->id, err ? 0 : -ECANCELED);
}

int davy_intents_undo_all(struct davy_intents *log, struct davy_undone *ret_undone)
{
	struct undoing u = { .log = log };
	int err;

	davy_boot_id(u.boot_id);
	err = davy_intents_each_open(log, on_open, &u);
	*ret_undone = u.undone;
	return err < 0 ? err : 0;
}

static int open_log(struct davy_agent *a)
{
	const char *dir = a->options.state_dir;
	int err = davy_intents_open(dir, &a->in_force.log);

	if (err != -EBADMSG)
		return err;
	err = davy_db_set_aside(dir);
	davy_log("log of intents '%s/%s': is no database, or corrupt; %s%s", dir, DAVY_DB_NAME,
		 err ? "cannot rename it: "
		     : "renamed to " DAVY_DB_NAME ".bad, the agent creates a new one",
		 err ? strerror(-err) : "");
	return err ? err : davy_intents_open(dir, &a->in_force.log);
}

static void say_no_log(struct davy_agent *a, int err)
{
	if (!a->in_force.reported)
		davy_log("log of intents '%s/%s': %s; until it can be written, caps and changes of "
			 "units are refused; a freeze, which has a lease, and a supervisor's "
			 "replacement are still executed",
			 a->options.state_dir, DAVY_DB_NAME, strerror(-err));
	a->in_force.reported = true;
}

void davy_agent_intents_open(struct davy_agent *a)
{
	struct davy_undone undone = { 0 };
	int err = open_log(a);

	if (!err)
		err = davy_intents_undo_all(a->in_force.log, &undone);
	if (err)
		say_no_log(a, err);
}

void davy_agent_intents_close(struct davy_agent *a)
{
	struct davy_undone undone;

	if (a->in_force.log)
		davy_intents_undo_all(a->in_force.log, &undone);
	davy_intents_close(a->in_force.log);
	a->in_force.log = NULL;
}

/* Replaces a corrupt log by a new one, with all effects in force. */
static int intents_begin(struct davy_agent *a, struct davy_intent *intent)
{
	struct davy_in_force *s = &a->in_force;
	int64_t id = s->log ? davy_intent_begin(s->log, intent) : -EBADMSG;
	int err;

	if (id == -EBADMSG) {
		davy_intents_close(s->log);
		s->log = NULL;
		err = open_log(a);
		if (err)
			return err;
		for (size_t i = 0; i < DAVY_IN_FORCE_MAX; i++)
			if (s->open[i].action && &s->open[i] != intent)
				davy_intent_begin(s->log, &s->open[i]);
		id = davy_intent_begin(s->log, intent);
	}
	if (id > 0)
		s->reported = false;
	return id > 0 ? 0 : (int)id;
}

static struct davy_intent *intents_place(struct davy_agent *a)
{
	for (size_t i = 0; i < DAVY_IN_FORCE_MAX; i++)
		if (!a->in_force.open[i].action)
			return &a->in_force.open[i];
	return NULL;
}

struct davy_intent *davy_agent_intend_value(struct davy_agent *a, const struct davy_intent *intent)
{
	struct davy_intent *effect = intents_place(a);
	int err = -EUSERS;

	if (effect) {
		*effect = *intent;
		err = intents_begin(a, effect);
	}
	if (!err)
		return effect;
	if (effect)
		memset(effect, 0, sizeof(*effect));
	say_no_log(a, err);
	return NULL;
}

/* A cgroup that another program has frozen is not thawed by the agent. */
static void look_at_freezer(struct davy_intent *intent)
{
	int fd = intent->cgroup[0] ? davy_cgroup_open(intent->cgroup) : -ENOENT;

	if (fd < 0)
		return;
	intent->old_value[0] = davy_cgroup_wants_frozen(fd) == 1 ? '1' : '0';
	close(fd);
}

/* When a freeze is renewed, the state before it is that of the first freeze. */
static const struct davy_intent *freeze_in_force(const struct davy_agent *a, uint32_t workload)
{
	for (size_t i = 0; i < DAVY_IN_FORCE_MAX; i++)
		if (davy_action_freezes(a->in_force.open[i].action) &&
		    a->in_force.open[i].workload == workload)
			return &a->in_force.open[i];
	return NULL;
}

static void describe(struct davy_agent *a, const struct davy_plan *plan, struct davy_intent *intent)
{
	const struct davy_intent *before = freeze_in_force(a, plan->workload);
	struct davy_place where;
	char reason[DAVY_PLAN_TEXT_SIZE];

	memset(intent, 0, sizeof(*intent));
	intent->plan = plan->id;
	intent->workload = plan->workload;
	intent->action = plan->action;
	if (plan->lease_ns)
		intent->lease_until_ns = plan->at_ns + plan->lease_ns;
	davy_reason_text(plan, reason, sizeof(reason));
	davy_copy_name(intent->text, sizeof(intent->text), reason);
	if (!davy_workload_place(a, plan->workload, &where))
		return;
	intent->pid = where.pid;
	intent->start_ticks = where.start_ticks;
	davy_copy_name(intent->unit, sizeof(intent->unit), where.unit);
	if (strlen(where.cgroup) < sizeof(intent->cgroup))
		davy_copy_name(intent->cgroup, sizeof(intent->cgroup), where.cgroup);
	if (davy_action_freezes(plan->action) && before)
		memcpy(intent->old_value, before->old_value, sizeof(intent->old_value));
	else if (davy_action_freezes(plan->action))
		look_at_freezer(intent);
}

bool davy_agent_intend(struct davy_agent *a, const struct davy_plan *plan)
{
	struct davy_intent *effect = intents_place(a);
	int err = -EUSERS;

	if (effect) {
		describe(a, plan, effect);
		err = intents_begin(a, effect);
	}
	if (!err)
		return true;
	say_no_log(a, err);
	/* Without a log entry, the agent still tracks it until the action ends. */
	if (davy_action_freezes(plan->action) || (effect && !effect->unit[0]))
		return true;
	if (effect)
		memset(effect, 0, sizeof(*effect));
	davy_agent_acted(a, plan->id, plan->workload, DAVY_ACT_FAILED, 0, err);
	return false;
}

void davy_agent_intent_end(struct davy_agent *a, struct davy_intent *effect, int result)
{
	int err = 0;

	if (effect->id && a->in_force.log)
		err = davy_intent_close(a->in_force.log, effect->id, result);
	if (err && err != -ENOENT)
		davy_log("intent %lld: cannot be closed: %s; the next start undoes its effect "
			 "if it is still in force",
			 (long long)effect->id, strerror(-err));
	memset(effect, 0, sizeof(*effect));
}

int davy_agent_intent_undo(struct davy_agent *a, struct davy_intent *effect)
{
	int err = undo_one(effect, "");

	if (err >= 0)
		davy_agent_intent_end(a, effect, 0);
	return err;
}

/* Whether the freeze in the event has replaced the one of this intent. */
static bool renewed(const struct davy_agent *a, const struct davy_intent *intent,
		    const struct davy_ev_act *act)
{
	for (size_t i = 0; i < DAVY_IN_FORCE_MAX; i++)
		if (a->in_force.open[i].plan == act->plan &&
		    davy_action_freezes(a->in_force.open[i].action))
			return davy_action_freezes(intent->action) && intent->plan != act->plan;
	return false;
}

/* A stopped engine (quarantine) stays stopped: its supervisor ensures that. */
static bool ends(const struct davy_agent *a, const struct davy_intent *intent,
		 const struct davy_ev_act *act)
{
	bool freeze = davy_action_freezes(intent->action), same_plan = intent->plan == act->plan;

	if (intent->file[0] || intent->workload != act->workload)
		return false;
	if (act->stage == DAVY_ACT_SERVING || act->stage == DAVY_ACT_FAILED)
		return same_plan;
	if (act->stage == DAVY_ACT_RELEASED)
		return same_plan || (freeze && act->plan != a->in_force.value_undo);
	return act->stage == DAVY_ACT_IN_FORCE &&
	       ((!freeze && same_plan) || renewed(a, intent, act));
}

void davy_agent_intents_acted(struct davy_agent *a, const struct davy_ev_act *act)
{
	for (size_t i = 0; i < DAVY_IN_FORCE_MAX; i++) {
		struct davy_intent *intent = &a->in_force.open[i];

		if (intent->action && ends(a, intent, act))
			davy_agent_intent_end(a, intent, act->result);
	}
}
