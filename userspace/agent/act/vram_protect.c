/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/act/vram_protect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act/caps.h"
#include "agent/agent.h"
#include "lib/log.h"
#include "lib/text.h"
#include "sensors/gpu/dmem.h"

static void protect_add_one(struct davy_vram_protect *p, const char *cgroup, size_t length,
			    const char *region, uint64_t bytes)
{
	struct davy_protected_region *r = p->list;

	for (; r < p->list + p->count; r++)
		if (!strcmp(r->region, region) && strlen(r->cgroup) == length &&
		    !strncmp(r->cgroup, cgroup, length))
			break;
	if (r == p->list + DAVY_VRAM_PROTECTS)
		return;
	if (r == p->list + p->count) {
		p->count++;
		r->bytes = 0;
		snprintf(r->cgroup, sizeof(r->cgroup), "%.*s", (int)length, cgroup);
		davy_copy_name(r->region, sizeof(r->region), region);
	}
	r->bytes += bytes;
}

void davy_vram_protect_add(struct davy_vram_protect *p, const char *cgroup, const char *device,
			   uint64_t bytes)
{
	struct davy_ev_dmem regions[DAVY_DMEM_REGIONS];
	char region[DAVY_INTENT_KEY];
	size_t count;

	if (!bytes || cgroup[0] != '/' || !cgroup[1] || strlen(cgroup) >= sizeof(p->list[0].cgroup))
		return;
	count = davy_dmem_read(cgroup, regions, DAVY_DMEM_REGIONS);
	for (size_t i = 0; i < count; i++) {
		const struct davy_ev_dmem *r = &regions[i];
		if (device[0] && strcmp(r->device, device) != 0)
			continue;
		snprintf(region, sizeof(region), "drm/%.31s/%.15s", r->device, r->region);
		for (const char *end = cgroup; *end;) {
			end += 1 + strcspn(end + 1, "/");
			protect_add_one(p, cgroup, (size_t)(end - cgroup), region,
					bytes < r->capacity ? bytes : r->capacity);
		}
	}
}

/* Values of plans are those of actions. */
static bool is_protection(const struct davy_intent *effect)
{
	return effect->file[0] && !effect->plan;
}

static bool protect_stands(const struct davy_intent *effect, const struct davy_protected_region *r)
{
	return !strcmp(effect->cgroup, r->cgroup) && !strcmp(effect->key, r->region) &&
	       strtoull(effect->new_value, NULL, 10) == r->bytes;
}

static int protect_set(struct davy_agent *a, const struct davy_protected_region *r,
		       char why[DAVY_REASON_LEN])
{
	struct davy_intent intent = { .action = DAVY_ACTION_CAP, .text = "vram_protect" };
	struct davy_intent *effect;
	int err = davy_cap_plan(r->cgroup, DAVY_CAP_DMEM_LOW, r->region, r->bytes, &intent, why);

	if (err)
		return err == -EALREADY ? 0 : err;
	davy_copy_name(intent.cgroup, sizeof(intent.cgroup), r->cgroup);
	effect = davy_agent_intend_value(a, &intent);
	if (!effect)
		return -EROFS;
	err = davy_value_set(effect);
	if (err)
		davy_agent_intent_undo(a, effect);
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

void davy_agent_vram_protect(struct davy_agent *a, const struct davy_vram_protect *p)
{
	bool stands[DAVY_VRAM_PROTECTS] = { false };
	const char *cgroup = "";
	char why[DAVY_REASON_LEN] = "";
	int err = 0;

	for (size_t i = 0; i < DAVY_IN_FORCE_MAX; i++) {
		struct davy_intent *effect = &a->in_force.open[i];
		bool wanted = false;

		if (!is_protection(effect))
			continue;
		for (size_t j = 0; j < p->count && !wanted; j++)
			if (protect_stands(effect, &p->list[j]))
				wanted = stands[j] = true;
		if (!wanted)
			davy_agent_intent_undo(a, effect);
	}
	for (size_t i = 0; i < p->count && !err; i++) {
		cgroup = p->list[i].cgroup;
		if (!stands[i])
			err = protect_set(a, &p->list[i], why);
	}
	protect_say(a, cgroup, err, why);
}

json_t *davy_agent_vram_protected(const struct davy_agent *a)
{
	json_t *list = json_array();
	char name[4 * DAVY_INTENT_PATH];

	for (size_t i = 0; i < DAVY_IN_FORCE_MAX; i++) {
		const struct davy_intent *effect = &a->in_force.open[i];

		if (is_protection(effect))
			json_array_append_new(
				list, json_pack("{s:s, s:s, s:I}", "cgroup",
						davy_text_shown(name, sizeof(name), effect->cgroup),
						"region", effect->key, "bytes",
						(json_int_t)strtoull(effect->new_value, NULL, 10)));
	}
	return list;
}
