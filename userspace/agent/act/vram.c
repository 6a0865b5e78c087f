/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "act/cgroup.h"
#include "agent/act/units.h"
#include "agent/act/vram_protect.h"
#include "agent/policy/agent_policy.h"
#include "agent/sense/tracker.h"
#include "host/host_subject.h"
#include "lib/text.h"

#define LOOK_NS	   DAVY_NS_PER_S
#define ROWS_BYTES ((size_t)8 * 1024) /* of a status message */

struct wanted {
	struct davy_vram_quota quota[DAVY_MAX_VRAM_LIMITS];
	struct davy_vram_reserve reserve[DAVY_GPUS_MAX];
	struct davy_vram_rules rules;
	struct davy_effective effective; /* of the subject that is looked at */
	struct davy_vram_protect protect;
};

static bool rules_have(const struct davy_policy_layers *rules)
{
	const struct davy_policy_set set = davy_policy_set_of(rules);

	for (int i = 0; i < DAVY_LAYER_COUNT; i++)
		for (uint32_t j = 0; set.layer[i] && j < set.layer[i]->rule_count; j++)
			for (size_t k = 0; k < set.layer[i]->rule[j].value_count; k++)
				if (set.layer[i]->rule[j].value[k].key >= DAVY_POLICY_VRAM_MAX &&
				    set.layer[i]->rule[j].value[k].key <= DAVY_POLICY_VRAM_PROTECT)
					return true;
	return false;
}

/* Bytes; 0: no rule has this key for the subject. */
static uint64_t vram_ruled(const struct davy_agent *a, const struct davy_policy_subject *subject,
			   enum davy_policy_key key, struct davy_effective *e)
{
	const struct davy_policy_set set = davy_policy_set_of(a->rules);

	if (!a->vram.ruled)
		return 0;
	davy_policy_effective(&set, subject, e);
	return (uint64_t)e->value[key].number << 10;
}

static void add_reserves(struct davy_agent *a, struct wanted *w)
{
	for (size_t i = 0; i < a->gpus.count; i++) {
		const struct davy_watched_gpu *g = &a->gpus.gpu[i];
		struct davy_vram_reserve *r = &w->reserve[w->rules.reserve_count];
		struct davy_policy_subject subject;

		if (strcmp(g->gpu.driver, "amdgpu") != 0)
			continue;
		memset(&subject, 0, sizeof(subject));
		davy_host_subject(&g->gpu, &g->lockups, &subject);
		davy_copy_name(r->device, sizeof(r->device), g->gpu.device);
		r->bytes = vram_ruled(a, &subject, DAVY_POLICY_VRAM_RESERVE, &w->effective);
		w->rules.reserve_count++;
	}
}

static bool reserves_any(const struct wanted *w)
{
	for (size_t i = 0; i < w->rules.reserve_count; i++)
		if (w->reserve[i].bytes)
			return true;
	return false;
}

/* As the readers know it, or as its supervisor or its unit do. */
static struct davy_ev_process vram_process(struct davy_agent *a, uint32_t pid,
					   enum davy_engine engine, enum davy_backend backend,
					   const char *model)
{
	const struct davy_tracked *t = pid ? davy_tracked_of(a, pid) : NULL;
	struct davy_ev_process p = { .engine = (uint8_t)engine, .backend = (uint8_t)backend };

	if (t && t->reported.engine != DAVY_ENGINE_NONE)
		return t->reported;
	davy_copy_name(p.model, sizeof(p.model), model);
	return p;
}

static struct davy_vram_cap *cap_of(struct davy_agent *a, uint32_t workload)
{
	for (size_t i = 0; i < DAVY_VRAM_CAPS; i++)
		if (a->vram.cap[i].workload == workload)
			return &a->vram.cap[i];
	return NULL;
}

/* 0: none. */
static uint64_t smaller_quota(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

struct claim {
	uint32_t workload, pid;
	const char *cgroup;
	struct davy_ev_process process;
	uint64_t asked; /* by davylamp exec; of several quotas the smallest one counts */
};

static void add_workload(struct davy_agent *a, struct wanted *w, const struct claim *claim)
{
	struct davy_vram_quota *q = &w->quota[w->rules.quota_count];
	const struct davy_vram_cap *cap = cap_of(a, claim->workload);
	struct davy_policy_subject subject;
	uint64_t max, high;
	struct stat st;
	char dir[PATH_MAX];

	if (!claim->cgroup[0] || w->rules.quota_count == DAVY_MAX_VRAM_LIMITS)
		return;
	davy_agent_subject(a, &claim->process, &subject);
	davy_vram_protect_add(&w->protect, claim->cgroup, claim->process.device,
			      vram_ruled(a, &subject, DAVY_POLICY_VRAM_PROTECT, &w->effective));
	max = vram_ruled(a, &subject, DAVY_POLICY_VRAM_MAX, &w->effective);
	max = smaller_quota(smaller_quota(max, claim->asked), cap ? cap->max : 0);
	high = vram_ruled(a, &subject, DAVY_POLICY_VRAM_HIGH, &w->effective);
	if ((!max && !high && !reserves_any(w)) ||
	    davy_cgroup_dir(claim->cgroup, dir, sizeof(dir)) || stat(dir, &st))
		return;
	q->high = claim->pid ? high : 0;
	q->pid = claim->pid;
	q->cgroup = st.st_ino;
	q->limit.max = max ? max : DAVY_VRAM_NO_MAX;
	w->rules.quota_count++;
}

static bool quotas_asked(const struct davy_agent *a)
{
	for (size_t i = 0; i < DAVY_VRAM_CAPS; i++)
		if (a->vram.cap[i].workload)
			return true;
	for (size_t i = 0; i < DAVY_LINKS_MAX; i++)
		if (a->links[i].source && a->links[i].vram_max)
			return true;
	return false;
}

static void vram_collect(struct davy_agent *a, struct wanted *w)
{
	struct claim claim;

	w->rules.quota = w->quota;
	w->rules.reserve = w->reserve;
	w->rules.wanted = a->core.config.value[DAVY_CFG_VRAM_ACCOUNT] != 0;
	w->rules.pin = a->core.config.value[DAVY_CFG_VRAM_PIN] != 0;
	add_reserves(a, w);
	if (!a->vram.ruled && !quotas_asked(a))
		return;
	for (size_t i = 0; i < DAVY_LINKS_MAX; i++) {
		const struct davy_link *l = &a->links[i];

		if (!l->source || !l->workload)
			continue;
		claim = (struct claim){
			.workload = l->workload,
			.pid = l->pid,
			.cgroup = l->cgroup,
			.process = vram_process(a, l->pid, l->engine, l->backend, l->model),
			.asked = l->vram_max,
		};
		add_workload(a, w, &claim);
	}
	for (size_t i = 0; a->units && i < DAVY_ADOPTED_MAX; i++) {
		const struct davy_service *u = &a->units->unit[i];

		if (!u->name[0])
			continue;
		claim = (struct claim){
			.workload = u->workload,
			.pid = u->pid,
			.cgroup = u->cgroup,
			.process = vram_process(a, u->pid, u->engine, u->backend, u->model),
		};
		add_workload(a, w, &claim);
	}
	w->rules.wanted |= reserves_any(w);
}

/* "tell": not while the core decides. */
static void vram_look(struct davy_agent *a, uint64_t now_ns, bool tell)
{
	struct wanted *w;

	a->vram.next_ns = now_ns + LOOK_NS;
	if (a->rules && a->vram.rules_read != a->rules_read) {
		a->vram.rules_read = a->rules_read;
		a->vram.ruled = rules_have(a->rules);
	}
	w = calloc(1, sizeof(*w));
	if (!w)
		return; /* the limits stay as they are */
	vram_collect(a, w);
	if (a->bpf)
		davy_bpf_vram_set(a->bpf, &w->rules);
	if (a->bpf && tell)
		davy_bpf_vram_tell_high(a->bpf, &w->rules, now_ns);
	davy_agent_vram_protect(a, &w->protect);
	free(w);
}

void davy_agent_vram_tick(struct davy_agent *a, uint64_t now_ns)
{
	if (now_ns >= a->vram.next_ns)
		vram_look(a, now_ns, true);
}

bool davy_agent_vram_possible(const struct davy_agent *a)
{
	return a->bpf && davy_bpf_vram_refuses(a->bpf);
}

/* Sets the limits now. False: the workload has no cgroup to which its limit could apply. */
static bool vram_set_now(struct davy_agent *a, uint32_t workload)
{
	struct davy_place where;
	char dir[PATH_MAX];

	vram_look(a, davy_boot_ns(), false);
	return davy_workload_place(a, workload, &where) && where.cgroup[0] &&
	       !davy_cgroup_dir(where.cgroup, dir, sizeof(dir));
}

int davy_agent_vram_cap(struct davy_agent *a, uint32_t workload, uint64_t max)
{
	struct davy_vram_cap *cap = cap_of(a, workload), before;

	if (!davy_agent_vram_possible(a))
		return -ENOTSUP;
	if (!cap)
		cap = cap_of(a, 0);
	if (!cap)
		return -ENOSPC;
	before = *cap;
	*cap = (struct davy_vram_cap){ workload, max };
	if (vram_set_now(a, workload))
		return 0;
	*cap = before;
	a->vram.next_ns = 0;
	return -ENOTSUP;
}

bool davy_agent_vram_uncap(struct davy_agent *a, uint32_t workload)
{
	bool had = false;

	for (size_t i = 0; i < DAVY_VRAM_CAPS; i++) {
		struct davy_vram_cap *cap = &a->vram.cap[i];

		if (!cap->workload || (workload && cap->workload != workload))
			continue;
		memset(cap, 0, sizeof(*cap));
		had = true;
	}
	if (had)
		vram_look(a, davy_boot_ns(), false);
	return had;
}

static json_t *devices_json(const struct davy_agent *a)
{
	json_t *list = json_array();
	struct davy_vram_device d;
	uint64_t key = 0, reserve = 0;

	while (davy_bpf_vram_device(a->bpf, &key, &d, &reserve))
		json_array_append_new(
			list, json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "device", d.dev, "size",
					(json_int_t)d.size, "bytes", (json_int_t)d.bytes, "managed",
					(json_int_t)d.managed, "reserve", (json_int_t)reserve,
					"wiping", (json_int_t)d.wiping));
	return list;
}

static json_t *group_json(const struct davy_vram_row *row)
{
	char name[4 * DAVY_VRAM_NAME_LEN];
	json_t *o = json_pack("{s:s, s:s, s:I, s:I, s:I}", "device", row->device, "cgroup",
			      davy_text_shown(name, sizeof(name), row->vram.name), "id",
			      (json_int_t)row->key.cgroup, "bytes", (json_int_t)row->vram.bytes,
			      "peak", (json_int_t)row->vram.peak);

	if (row->limit.max != DAVY_VRAM_NO_MAX)
		json_object_set_new(o, "max", json_integer((json_int_t)row->limit.max));
	json_object_set_new(o, "refused", json_integer((json_int_t)row->vram.refused));
	json_object_set_new(o, "raced", json_integer((json_int_t)row->vram.raced));
	return o;
}

struct rows {
	json_t *list;
	size_t used;	       /* bytes of the list as text */
	json_int_t left_count; /* of those that have no room in it */
};

static void rows_add(struct rows *rows, const struct davy_vram_row *row)
{
	json_t *o = group_json(row);

	rows->used += json_dumpb(o, NULL, 0, JSON_COMPACT) + 1;
	if (rows->used < ROWS_BYTES)
		json_array_append(rows->list, o);
	else
		rows->left_count++;
	json_decref(o);
}

/* Those with a limit are listed first: other users make as many as they like. */
static void rows_collect(const struct davy_agent *a, struct rows *rows, bool limited)
{
	struct davy_vram_row row;

	memset(&row, 0, sizeof(row));
	/* If a row is deleted meanwhile, the next one is the first. */
	for (size_t i = 0; i < DAVY_MAX_VRAM && a->bpf && davy_bpf_vram_next(a->bpf, &row); i++) {
		bool has_limit = row.limit.max != DAVY_VRAM_NO_MAX;

		if (has_limit == limited && (limited || row.vram.bytes || row.vram.refused))
			rows_add(rows, &row);
	}
}

json_t *davy_agent_vram_status(const struct davy_agent *a)
{
	struct rows rows = { .list = json_array() };

	rows_collect(a, &rows, true);
	rows_collect(a, &rows, false);
	return json_pack("{s:o, s:o, s:I, s:o}", "devices", a->bpf ? devices_json(a) : json_array(),
			 "cgroups", rows.list, "unlisted", rows.left_count, "protected",
			 davy_agent_vram_protected(a));
}
