/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets memory.high (cap_bytes) and cpu.max (on_permille of all CPUs) of a unit through systemd,
 * which owns the cgroup and enables the controller for it. systemd would overwrite a direct write.
 * Reading the file verifies the limit.
 */
#include "agent/agent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/log.h"
#include "agent/act/units.h"

static void act_unit_cap_end(struct davy_service *u, enum davy_act_stage stage, int result)
{
	uint32_t plan = u->act.plan;

	memset(&u->act, 0, sizeof(u->act));
	davy_agent_acted(u->agent, plan, u->workload, stage, 0, result);
	davy_unit_look(u);
}

enum cap {
	CAP_MEMORY,
	CAP_CPU,
	CAPS
};

static const struct {
	const char *property;
	const char *file;
} caps[CAPS] = {
	[CAP_MEMORY] = { "MemoryHigh", "memory.high" },
	[CAP_CPU] = { "CPUQuotaPerSecUSec", "cpu.max" },
};

/* The kernel's value, in the unit of the property; 0: it cannot be read. */
static uint64_t act_unit_cap_limit_of(const struct davy_service *u, enum cap cap)
{
	uint64_t value = 0, period = 1000000;
	char path[PATH_MAX], text[64] = "";

	if (davy_root_path(path, sizeof(path), "/sys/fs/cgroup%s/%s", u->cgroup, caps[cap].file) ||
	    davy_read_file(path, text, sizeof(text)) <= 0)
		return 0;
	if (!strncmp(text, "max", 3))
		return UINT64_MAX;
	if (sscanf(text, "%" SCNu64 " %" SCNu64, &value, &period) < 1 || !period)
		return 0;
	return cap == CAP_CPU ? value * 1000000 / period : value;
}

/* The kernel rounds to pages, systemd to periods. */
static bool is_set(const struct davy_service *u, enum cap cap)
{
	uint64_t have = act_unit_cap_limit_of(u, cap), want = u->act.cap[cap];

	return have == want || (have && have < want && want - have <= want / 100 + 65536);
}

static void act_unit_cap_finish(struct davy_service *u, int err)
{
	struct davy_adopted_unit *of = davy_unit_adopted(u);
	bool undo = u->act.action == DAVY_ACTION_UNDO;

	if (of && undo && !err) {
		of->capped = false;
		err = davy_units_save(u->agent);
	}
	act_unit_cap_end(u,
			 err	? DAVY_ACT_FAILED
			 : undo ? DAVY_ACT_RELEASED
				: DAVY_ACT_IN_FORCE,
			 err);
}

static void set_next(struct davy_service *u);

static void on_applied(void *arg, const struct davy_unit_answer *said)
{
	struct davy_service *u = arg;
	enum cap cap = (enum cap)u->act.cap_at;

	if (said->error) {
		davy_log("%s: %s", u->name, said->why);
		act_unit_cap_finish(u, said->error);
		return;
	}
	if (u->pid && u->act.cap[cap] != UINT64_MAX && !is_set(u, cap)) {
		davy_log("%s: systemd has set %s, but %s of '%s' differs; check its controller",
			 u->name, caps[cap].property, caps[cap].file, u->cgroup);
		act_unit_cap_finish(u, -ENOTSUP);
		return;
	}
	u->act.cap_at++;
	set_next(u);
}

/* systemd replies before it writes the file, and writes it before it handles the next request. */
static void on_set(void *arg, const struct davy_unit_answer *said)
{
	struct davy_service *u = arg;
	int err = said->error;

	if (err)
		davy_log("%s: %s", u->name, said->why);
	else
		err = davy_unit_ask(u->agent->units->systemd, u->name, on_applied, u);
	if (err)
		act_unit_cap_finish(u, err);
}

/* A value of 0 means: leave this limit as it is. */
static void set_next(struct davy_service *u)
{
	int err;

	while (u->act.cap_at < CAPS && !u->act.cap[u->act.cap_at])
		u->act.cap_at++;
	if (u->act.cap_at == CAPS) {
		act_unit_cap_finish(u, 0);
		return;
	}
	err = davy_unit_limit(u->agent->units->systemd, u->name, caps[u->act.cap_at].property,
			      u->act.cap[u->act.cap_at], on_set, u);
	if (err)
		act_unit_cap_finish(u, err);
}

/* The values before the first cap are the administrator's. They are saved before the change. */
static int act_unit_cap_note(struct davy_service *u, struct davy_adopted_unit *of,
			     const struct davy_unit_state *had)
{
	int err = 0;

	if (u->act.action == DAVY_ACTION_UNDO) {
		u->act.cap[CAP_MEMORY] = of->memory_high;
		u->act.cap[CAP_CPU] = of->cpu_quota;
		return of->capped ? 0 : -ENOENT;
	}
	if (!of->capped) {
		of->capped = true;
		of->memory_high = had->memory_high;
		of->cpu_quota = had->cpu_quota;
		err = davy_units_save(u->agent);
	}
	if (err)
		davy_log("%s: %s; no cap is set without a record of the previous limits", u->name,
			 strerror(-err));
	of->capped = of->capped && !err;
	return err;
}

static void act_unit_cap_on_looked(void *arg, const struct davy_unit_answer *said)
{
	struct davy_service *u = arg;
	struct davy_adopted_unit *of = davy_unit_adopted(u);
	int err = said->error;

	if (err)
		davy_log("%s: %s", u->name, said->why);
	if (!err)
		err = of ? act_unit_cap_note(u, of, said->state) : -ENOENT;
	if (err)
		act_unit_cap_end(u, DAVY_ACT_FAILED, err);
	else
		set_next(u);
}

static void on_uncapped(void *arg, const struct davy_unit_answer *said)
{
	(void)arg;
	if (said->error)
		davy_log("cannot take back a limit of a previous agent: %s", said->why);
}

bool davy_unit_uncap(struct davy_agent *a, struct davy_adopted_unit *of)
{
	struct davy_systemd *systemd = a->units->systemd;

	if (!of->capped)
		return false;
	if (davy_unit_limits(systemd, of->unit, of->memory_high, of->cpu_quota, on_uncapped, NULL))
		davy_log("%s: cannot take back its limits; see 'systemctl show'", of->unit);
	of->capped = false;
	return true;
}

unsigned int davy_units_uncap(struct davy_agent *a)
{
	unsigned int count = 0;

	for (size_t i = 0; a->units && i < a->units->adopted.count; i++)
		count += davy_unit_uncap(a, &a->units->adopted.unit[i]);
	if (count)
		davy_units_save(a);
	return count;
}

/* systemd does not manage VRAM. An undo here covers only the limits that it has set. */
static bool act_unit_cap_is_ours(const struct davy_service *u, const struct davy_plan *plan)
{
	const struct davy_adopted_unit *of = davy_unit_adopted(u);

	if (plan->action == DAVY_ACTION_CAP)
		return plan->heap != DAVY_OF_VRAM && (plan->cap_bytes || plan->on_permille);
	return plan->action == DAVY_ACTION_UNDO && plan->undone == DAVY_ACTION_CAP && of &&
	       of->capped;
}

bool davy_unit_cap(struct davy_service *u, const struct davy_plan *plan)
{
	uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	int err = u->act.plan ? -EBUSY : 0;

	if (!act_unit_cap_is_ours(u, plan))
		return false;
	if (!err) {
		u->act = (struct davy_unit_act){ .plan = plan->id,
						 .action = plan->action,
						 .cap = { plan->cap_bytes,
							  plan->on_permille * cpus * 1000 } };
		err = davy_unit_ask(u->agent->units->systemd, u->name, act_unit_cap_on_looked, u);
		if (err)
			memset(&u->act, 0, sizeof(u->act));
	}
	if (err)
		davy_agent_acted(u->agent, plan->id, u->workload, DAVY_ACT_FAILED, 0, err);
	return true;
}
