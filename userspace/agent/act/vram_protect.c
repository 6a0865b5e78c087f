/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/act/vram_protect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act/caps.h"
#include "agent/agent.h"
#include "lib/log.h"
#include "lib/text.h"
#include "sensors/gpu/dmem.h"

#define PROTECTED_BYTES ((size_t)8 * 1024) /* of a status message */

/* NULL: the list is full. */
static struct davy_protected_region *protect_get(struct davy_vram_protect *p, const char *cgroup,
						 size_t length, const char *region)
{
	struct davy_protected_region *r = p->list;

	for (; r < p->list + p->count; r++)
		if (!strcmp(r->region, region) && strlen(r->cgroup) == length &&
		    !strncmp(r->cgroup, cgroup, length))
			return r;
	if (p->count == DAVY_VRAM_PROTECTS) {
		p->full = true;
		return NULL;
	}
	p->count++;
	memset(r, 0, sizeof(*r));
	snprintf(r->cgroup, sizeof(r->cgroup), "%.*s", (int)length, cgroup);
	davy_copy_name(r->region, sizeof(r->region), region);
	return r;
}

void davy_vram_protect_add(struct davy_vram_protect *p, const char *cgroup, const char *device,
			   uint64_t bytes)
{
	struct davy_ev_dmem regions[DAVY_DMEM_REGIONS];
	struct davy_protected_region *r;
	char region[DAVY_INTENT_KEY];
	size_t count;

	if (!bytes || cgroup[0] != '/' || !cgroup[1] || strlen(cgroup) >= sizeof(p->list[0].cgroup))
		return;
	count = davy_dmem_read(cgroup, regions, DAVY_DMEM_REGIONS);
	for (size_t i = 0; i < count; i++) {
		if (device[0] && strcmp(regions[i].device, device) != 0)
			continue;
		snprintf(region, sizeof(region), "drm/%.31s/%.15s", regions[i].device,
			 regions[i].region);
		r = protect_get(p, cgroup, strlen(cgroup), region);
		if (r)
			r->bytes = bytes < regions[i].capacity ? bytes : regions[i].capacity;
	}
}

/* The first "workloads" entries are workloads' own; one may lie below another. */
static void protect_add_above(struct davy_vram_protect *p, size_t workloads,
			      const struct davy_protected_region *of)
{
	for (const char *end = strchr(of->cgroup + 1, '/'); end; end = strchr(end + 1, '/')) {
		struct davy_protected_region *r =
			protect_get(p, of->cgroup, (size_t)(end - of->cgroup), of->region);

		if (!r)
			return;
		if (r < p->list + workloads)
			continue;
		r->above = true;
		r->bytes += of->bytes;
	}
}

static bool protect_is_of(const struct davy_intent *effect, const struct davy_protected_region *r)
{
	return davy_intent_is_rule(effect) && !strcmp(effect->cgroup, r->cgroup) &&
	       !strcmp(effect->key, r->region);
}

static struct davy_intent *protect_effect(struct davy_agent *a,
					  const struct davy_protected_region *r)
{
	for (size_t i = 0; i < DAVY_IN_FORCE_MAX; i++)
		if (protect_is_of(&a->in_force.open[i], r))
			return &a->in_force.open[i];
	return NULL;
}

/* Writes the new value of an intent whose old value is known. */
static int protect_write(struct davy_agent *a, const struct davy_protected_region *r,
			 struct davy_intent *intent)
{
	uint64_t before = r->above ? strtoull(intent->old_value, NULL, 10) : 0;
	struct davy_intent *effect;
	int err;

	snprintf(intent->new_value, sizeof(intent->new_value), "%" PRIu64, before + r->bytes);
	effect = davy_agent_intend_value(a, intent);
	if (!effect)
		return -ENOSPC;
	err = davy_value_set(effect);
	if (err)
		davy_agent_intent_undo(a, effect);
	return err;
}

static int protect_begin(struct davy_agent *a, const struct davy_protected_region *r,
			 char why[DAVY_REASON_LEN])
{
	struct davy_intent intent = { .action = DAVY_ACTION_CAP, .text = "vram_protect" };
	int err = davy_cap_plan(r->cgroup, DAVY_CAP_DMEM_LOW, r->region, r->bytes, &intent, why);

	if (err && err != -EALREADY)
		return err;
	if (err && (!r->above || !strcmp(intent.old_value, "max")))
		return 0; /* another program protects it */
	davy_copy_name(intent.cgroup, sizeof(intent.cgroup), r->cgroup);
	return protect_write(a, r, &intent);
}

/* 0: the value is in force, ours or a larger one of another program. */
static int protect_hold(struct davy_agent *a, const struct davy_protected_region *r,
			char why[DAVY_REASON_LEN])
{
	struct davy_intent *effect = protect_effect(a, r), next;
	char now[DAVY_INTENT_VALUE] = "";
	uint64_t before;
	int err;

	if (!effect)
		return protect_begin(a, r, why);
	before = r->above ? strtoull(effect->old_value, NULL, 10) : 0;
	if (strtoull(effect->new_value, NULL, 10) == before + r->bytes)
		return 0;
	if (davy_value_read(effect->file, effect->key, now) ||
	    strcmp(now, effect->new_value) != 0) {
		davy_agent_intent_undo(a, effect); /* it is no longer ours */
		return protect_begin(a, r, why);
	}
	next = *effect;
	err = protect_write(a, r, &next);
	if (!err)
		davy_agent_intent_end(a, effect, 0);
	return err;
}

static void protect_say(struct davy_agent *a, const char *cgroup, int err, const char *why)
{
	char name[2 * DAVY_INTENT_PATH];

	if (err && err != a->vram.protect_error)
		davy_log("vram_protect: '%s': %s", davy_text_safe(name, sizeof(name), cgroup),
			 why[0] ? why : strerror(-err));
	a->vram.protect_error = err;
}

/* Takes back what is not in the list. */
static void protect_drop_others(struct davy_agent *a, const struct davy_vram_protect *p)
{
	for (size_t i = DAVY_IN_FORCE_MAX; i-- > 0;) {
		struct davy_intent *effect = &a->in_force.open[i];
		bool wanted = !davy_intent_is_rule(effect);

		for (size_t j = 0; j < p->count && !wanted; j++)
			wanted = protect_is_of(effect, &p->list[j]);
		if (!wanted)
			davy_agent_intent_undo(a, effect);
	}
}

void davy_agent_vram_protect(struct davy_agent *a, struct davy_vram_protect *p)
{
	char why[DAVY_REASON_LEN] = "", first_why[DAVY_REASON_LEN] = "";
	const char *failed = "";
	size_t workloads = p->count;
	int err, first = 0;

	for (size_t i = 0; i < p->count; i++) { /* grows: the cgroups above the workloads' */
		why[0] = 0;
		err = protect_hold(a, &p->list[i], why);
		if (i < workloads && (!err || protect_effect(a, &p->list[i])))
			protect_add_above(p, workloads, &p->list[i]);
		if (err && !first) {
			first = err;
			failed = p->list[i].cgroup;
			davy_copy_name(first_why, sizeof(first_why), why);
		}
	}
	protect_drop_others(a, p);
	if (!first && p->full) {
		first = -ENOSPC;
		davy_copy_name(first_why, sizeof(first_why), "too many cgroups and regions");
	}
	protect_say(a, failed, first, first_why);
}

json_t *davy_agent_vram_protected(const struct davy_agent *a)
{
	json_t *list = json_array();
	char name[4 * DAVY_INTENT_PATH];

	for (size_t i = 0; i < DAVY_IN_FORCE_MAX; i++) {
		const struct davy_intent *effect = &a->in_force.open[i];

		if (davy_intent_is_rule(effect) &&
		    json_dumpb(list, NULL, 0, JSON_COMPACT) < PROTECTED_BYTES)
			json_array_append_new(
				list, json_pack("{s:s, s:s, s:I}", "cgroup",
						davy_text_shown(name, sizeof(name), effect->cgroup),
						"region", effect->key, "bytes",
						(json_int_t)strtoull(effect->new_value, NULL, 10)));
	}
	return list;
}
