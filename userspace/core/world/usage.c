/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/world/usage.h"

#include <string.h>

#define WINDOW_NS   (5 * DAVY_NS_PER_S) /* engine time covers the last one to two windows */
#define CLIENTS_MAX 64	/* processes of one device; the last entry sums up the rest */
#define MOST	    500 /* permille of a culprit */

static struct davy_use *usage_find(struct davy_world *w, const char *device, uint32_t pid,
				   uint64_t client)
{
	for (size_t i = 0; i < DAVY_WORLD_USES; i++) {
		struct davy_use *u = &w->uses[i];

		if (u->pid == pid && u->client_id == client && davy_same_name(u->device, device))
			return u;
	}
	return NULL;
}

static struct davy_use *usage_get(struct davy_world *w, const char *device, uint32_t pid,
				  uint64_t client)
{
	struct davy_use *known = usage_find(w, device, pid, client), *victim = &w->uses[0];

	if (known)
		return known;
	for (size_t i = 0; i < DAVY_WORLD_USES && victim->pid; i++)
		if (!w->uses[i].pid || w->uses[i].used_ns < victim->used_ns)
			victim = &w->uses[i];
	w->evicted_count += victim->pid != 0;
	memset(victim, 0, sizeof(*victim));
	victim->pid = pid;
	victim->client_id = client;
	davy_copy_name(victim->device, sizeof(victim->device), device);
	return victim;
}

static void usage_forget(struct davy_world *w, const char *device, uint32_t pid, uint64_t client)
{
	struct davy_use *u = usage_find(w, device, pid, client);

	if (u)
		memset(u, 0, sizeof(*u));
}

/* A decreasing counter belongs to another client: restart. */
static void usage_busy(struct davy_use *u, uint64_t busy_ns, uint64_t now_ns)
{
	if (!u->used_ns || busy_ns < u->busy_ns) {
		u->window_ns[0] = u->window_ns[1] = now_ns;
		u->window_busy_ns[0] = u->window_busy_ns[1] = busy_ns;
	} else if (now_ns - u->window_ns[0] >= WINDOW_NS) {
		u->window_ns[1] = u->window_ns[0];
		u->window_busy_ns[1] = u->window_busy_ns[0];
		u->window_ns[0] = now_ns;
		u->window_busy_ns[0] = busy_ns;
	}
	u->busy_ns = busy_ns;
	u->used_ns = now_ns;
}

static void usage_client(struct davy_world *w, const struct davy_event *ev)
{
	const struct davy_ev_client *c = &ev->client;
	struct davy_use *u;

	if (c->gone) {
		usage_forget(w, c->device, ev->pid, c->client_id);
		return;
	}
	u = usage_get(w, c->device, ev->pid, c->client_id);
	usage_busy(u, c->busy_ns, ev->at_ns);
	u->memory_bytes = c->vram + c->gtt + c->system;
}

static void usage_kfd(struct davy_world *w, const struct davy_event *ev)
{
	const struct davy_ev_kfd_use *k = &ev->kfd_use;
	struct davy_use *u;

	if (k->gone) {
		usage_forget(w, k->device, ev->pid, 0);
		return;
	}
	u = usage_get(w, k->device, ev->pid, 0);
	u->used_ns = ev->at_ns;
	u->memory_bytes = k->vram;
}

void davy_uses_apply(struct davy_world *w, const struct davy_event *ev)
{
	if (ev->kind == DAVY_EV_CLIENT)
		usage_client(w, ev);
	else if (ev->kind == DAVY_EV_KFD_USE)
		usage_kfd(w, ev);
}

void davy_uses_forget(struct davy_world *w, uint32_t pid)
{
	for (size_t i = 0; i < DAVY_WORLD_USES; i++)
		if (w->uses[i].pid == pid)
			memset(&w->uses[i], 0, sizeof(w->uses[i]));
}

struct sum {
	uint32_t pid;
	uint64_t opened_bytes; /* of its open files */
	uint64_t kfd_bytes;    /* mostly the same memory, reported by KFD */
	uint64_t memory_bytes;
	uint64_t busy; /* permille of the time since the windows began */
};

/* An open hash table: number + 1 of the sum of a pid. */
struct sum_index {
	uint8_t slot[4 * CLIENTS_MAX];
};

static struct sum *usage_sum_of(struct sum *list, size_t *count, struct sum_index *index,
				uint32_t pid)
{
	size_t at = pid;

	for (;; at++) {
		uint8_t number = index->slot[at % sizeof(index->slot)];

		if (!number)
			break;
		if (list[number - 1].pid == pid)
			return &list[number - 1];
	}
	if (*count == CLIENTS_MAX)
		return NULL;
	memset(&list[*count], 0, sizeof(*list));
	list[*count].pid = pid;
	index->slot[at % sizeof(index->slot)] = (uint8_t)(*count + 1);
	return &list[(*count)++];
}

static size_t usage_sum_up(const struct davy_world *w, const char *device, uint64_t now_ns,
			   struct sum list[CLIENTS_MAX])
{
	struct sum_index index = { { 0 } };
	size_t count = 0;

	for (size_t i = 0; i < DAVY_WORLD_USES; i++) {
		const struct davy_use *u = &w->uses[i];
		uint64_t span_ms, busy_ms;
		struct sum *s;

		if (!u->pid || !davy_same_name(u->device, device))
			continue;
		s = usage_sum_of(list, &count, &index, u->pid);
		if (!s)
			continue;
		if (!u->client_id)
			s->kfd_bytes += u->memory_bytes;
		else
			s->opened_bytes += u->memory_bytes;
		span_ms = (now_ns - u->window_ns[1]) / DAVY_NS_PER_MS;
		busy_ms = (u->busy_ns - u->window_busy_ns[1]) / DAVY_NS_PER_MS;
		if (u->client_id && span_ms && busy_ms < UINT64_MAX / 1000)
			s->busy += busy_ms * 1000 / span_ms;
	}
	for (size_t i = 0; i < count; i++)
		list[i].memory_bytes = list[i].kfd_bytes > list[i].opened_bytes
					       ? list[i].kfd_bytes
					       : list[i].opened_bytes;
	return count;
}

static uint16_t usage_permille(uint64_t part, uint64_t whole)
{
	while (whole > UINT64_MAX / 1000) {
		part >>= 10;
		whole >>= 10;
	}
	return (uint16_t)(whole ? part * 1000 / whole : 0);
}

static uint16_t usage_larger(const struct davy_usage *s)
{
	return s->memory_permille > s->engine_permille ? s->memory_permille : s->engine_permille;
}

/* Inserts in descending order; the list is short. */
static void usage_insert(struct davy_usage *list, size_t count, const struct davy_usage *usage)
{
	size_t at = count;

	while (at && usage_larger(&list[at - 1]) < usage_larger(usage))
		at--;
	memmove(&list[at + 1], &list[at], (count - at) * sizeof(*list));
	list[at] = *usage;
}

static void usage_add(struct davy_usage *sum, const struct davy_usage *usage)
{
	sum->memory_bytes += usage->memory_bytes;
	sum->memory_permille = (uint16_t)(sum->memory_permille + usage->memory_permille);
	sum->engine_permille = (uint16_t)(sum->engine_permille + usage->engine_permille);
}

/* The last entry is the sum of those without their own entry. */
static void usage_tell(struct davy_plan *plan, const struct davy_usage *list, size_t count)
{
	size_t named = count > DAVY_PLAN_USAGES ? DAVY_PLAN_USAGES - 1 : count;

	plan->usage_count = (uint32_t)named;
	memcpy(plan->usages, list, named * sizeof(*list));
	if (named == count)
		return;
	plan->usage_count++;
	for (size_t i = named; i < count; i++)
		usage_add(&plan->usages[named], &list[i]);
}

static uint16_t usage_of(enum davy_shortage shortage, const struct davy_usage *usage)
{
	if (shortage == DAVY_SHORT_OF_TIME)
		return usage->engine_permille;
	return shortage == DAVY_SHORT_OF_MEMORY ? usage->memory_permille : 0;
}

static void usage_name_culprit(struct davy_plan *plan, enum davy_shortage shortage)
{
	const struct davy_usage *most = NULL;
	uint16_t most_permille = 0, own_permille = 0;

	for (size_t i = 0; i < plan->usage_count; i++) {
		const struct davy_usage *s = &plan->usages[i];
		uint16_t value = usage_of(shortage, s);

		if (s->pid == plan->pid)
			own_permille = value;
		if (s->pid && value > most_permille) {
			most_permille = value;
			most = s;
		}
	}
	if (most && most->pid != plan->pid && most->pid != plan->victim_pid &&
	    most_permille >= MOST && most_permille > own_permille)
		plan->culprit_pid = most->pid;
}

void davy_plan_usage(const struct davy_world *w, struct davy_plan *plan,
		     enum davy_shortage shortage, uint64_t now_ns)
{
	struct davy_usage usages[CLIENTS_MAX];
	struct sum list[CLIENTS_MAX];
	size_t count = plan->device[0] ? usage_sum_up(w, plan->device, now_ns, list) : 0;
	uint64_t memory = 0, time = 0;

	for (size_t i = 0; i < count; i++) {
		memory += list[i].memory_bytes;
		time += list[i].busy;
	}
	for (size_t i = 0; i < count; i++) {
		struct davy_usage usage = {
			.pid = list[i].pid,
			.memory_permille = usage_permille(list[i].memory_bytes, memory),
			.engine_permille = usage_permille(list[i].busy, time),
			.memory_bytes = list[i].memory_bytes,
		};

		usage_insert(usages, i, &usage);
	}
	memset(plan->usages, 0, sizeof(plan->usages));
	usage_tell(plan, usages, count);
	usage_name_culprit(plan, shortage);
}
