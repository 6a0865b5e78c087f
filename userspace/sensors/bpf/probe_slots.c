/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/bpf/probe_slots.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static bool bit_is_set(const uint64_t *bits, size_t at)
{
	return bits[at / 64] >> at % 64 & 1;
}

static bool claims_have(const struct davy_probe_claims *c, size_t slot)
{
	return bit_is_set(c->held, slot);
}

static void claims_set(struct davy_probe_claims *c, size_t slot, bool held)
{
	uint64_t bit = (uint64_t)1 << slot % 64;

	if (held)
		c->held[slot / 64] |= bit;
	else
		c->held[slot / 64] &= ~bit;
}

static struct davy_probe_claims *claims_of(const struct davy_probe_slots *s, uint32_t pid)
{
	for (size_t i = 0; i < DAVY_PROBE_CLAIMS; i++)
		if (s->claims[i].owner.pid == pid)
			return (struct davy_probe_claims *)&s->claims[i];
	return NULL;
}

static bool accounts_same(const struct davy_probe_owner *a, const struct davy_probe_owner *b)
{
	return a->workload == b->workload && (a->workload || a->uid == b->uid);
}

/* The slots that an account's processes hold together. */
static void account_slots(const struct davy_probe_slots *s, const struct davy_probe_owner *of,
			  uint64_t ret_held[DAVY_PROBE_SLOTS / 64])
{
	memset(ret_held, 0, DAVY_PROBE_SLOTS / 8);
	for (size_t i = 0; i < DAVY_PROBE_CLAIMS; i++)
		if (s->claims[i].owner.pid && accounts_same(&s->claims[i].owner, of))
			for (size_t w = 0; w < DAVY_PROBE_SLOTS / 64; w++)
				ret_held[w] |= s->claims[i].held[w];
}

static size_t account_count(const struct davy_probe_slots *s, const struct davy_probe_owner *of)
{
	uint64_t held[DAVY_PROBE_SLOTS / 64];
	size_t count = 0;

	account_slots(s, of, held);
	for (size_t w = 0; w < DAVY_PROBE_SLOTS / 64; w++)
		count += (size_t)__builtin_popcountll(held[w]);
	return count;
}

static bool account_full(const struct davy_probe_slots *s, const struct davy_probe_owner *of)
{
	return (of->workload || of->uid) && account_count(s, of) >= DAVY_PROBE_QUOTA;
}

static bool account_holds(const struct davy_probe_slots *s, const struct davy_probe_owner *of,
			  size_t slot)
{
	uint64_t held[DAVY_PROBE_SLOTS / 64];

	account_slots(s, of, held);
	return bit_is_set(held, slot);
}

/* Its slots count for another account now, and that account's quota may be used up. */
static void claims_give_up(struct davy_probe_slots *s, struct davy_probe_claims *c)
{
	for (size_t i = 0; i < DAVY_PROBE_SLOTS; i++)
		if (claims_have(c, i))
			c->lost |= 1u << s->slot[i].site.kind;
	memset(c->held, 0, sizeof(c->held));
	s->change_count++;
}

static struct davy_probe_claims *claims_get(struct davy_probe_slots *s,
					    const struct davy_probe_owner *owner)
{
	struct davy_probe_claims *c = claims_of(s, owner->pid);

	assert(owner->pid);
	if (!c)
		c = claims_of(s, 0);
	if (c && c->owner.pid && !owner->workload && !accounts_same(&c->owner, owner))
		claims_give_up(s, c);
	if (c)
		c->owner = *owner;
	return c;
}

void davy_probe_slots_owner(struct davy_probe_slots *s, const struct davy_probe_owner *owner)
{
	if (claims_of(s, owner->pid))
		claims_get(s, owner);
}

static struct davy_probe_slot *probe_slots_slot_of(struct davy_probe_slots *s,
						   const struct davy_probe_site *site)
{
	for (size_t i = 0; i < DAVY_PROBE_SLOTS; i++) {
		const struct davy_probe_site *have = &s->slot[i].site;

		if (s->slot[i].serial && have->dev == site->dev && have->ino == site->ino &&
		    have->kind == site->kind && have->offset == site->offset)
			return &s->slot[i];
	}
	return NULL;
}

static bool slot_is_free(const struct davy_probe_slots *s, size_t slot)
{
	return !s->slot[slot].serial;
}

static void slots_claimed(const struct davy_probe_slots *s,
			  uint64_t ret_claimed[DAVY_PROBE_SLOTS / 64])
{
	memset(ret_claimed, 0, DAVY_PROBE_SLOTS / 8);
	for (size_t i = 0; i < DAVY_PROBE_CLAIMS; i++)
		for (size_t w = 0; s->claims[i].owner.pid && w < DAVY_PROBE_SLOTS / 64; w++)
			ret_claimed[w] |= s->claims[i].held[w];
}

/* The oldest slot that no process claims; DAVY_PROBE_SLOTS: there is none. */
static size_t slots_idle(const struct davy_probe_slots *s)
{
	uint64_t claimed[DAVY_PROBE_SLOTS / 64];
	size_t best = DAVY_PROBE_SLOTS;

	slots_claimed(s, claimed);
	for (size_t i = 0; i < DAVY_PROBE_SLOTS; i++)
		if (!slot_is_free(s, i) && !bit_is_set(claimed, i) &&
		    (best == DAVY_PROBE_SLOTS || s->slot[i].serial < s->slot[best].serial))
			best = i;
	return best;
}

static size_t slots_room(const struct davy_probe_slots *s)
{
	for (size_t i = 0; i < DAVY_PROBE_SLOTS; i++)
		if (slot_is_free(s, i))
			return i;
	return slots_idle(s);
}

/* The oldest slot of a user's that no workload claims; no other user, unless "shared". */
static size_t user_oldest(const struct davy_probe_slots *s, const struct davy_probe_owner *user,
			  bool shared)
{
	uint64_t own[DAVY_PROBE_SLOTS / 64];
	size_t best = DAVY_PROBE_SLOTS;

	account_slots(s, user, own);
	for (size_t i = 0; i < DAVY_PROBE_CLAIMS; i++) {
		const struct davy_probe_claims *c = &s->claims[i];

		if (!c->owner.pid || accounts_same(&c->owner, user) ||
		    (shared && !c->owner.workload))
			continue;
		for (size_t w = 0; w < DAVY_PROBE_SLOTS / 64; w++)
			own[w] &= ~c->held[w];
	}
	for (size_t i = 0; i < DAVY_PROBE_SLOTS; i++)
		if (bit_is_set(own, i) &&
		    (best == DAVY_PROBE_SLOTS || s->slot[i].serial < s->slot[best].serial))
			best = i;
	return best;
}

/* No process before it is of the same account. */
static bool claims_are_first(const struct davy_probe_slots *s, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (s->claims[i].owner.pid &&
		    accounts_same(&s->claims[i].owner, &s->claims[at].owner))
			return false;
	return true;
}

/*
 * Among users with a slot to lose, the one with the most; "newcomer" counts with the slot it wants,
 * and loses against its equals.
 */
static size_t users_victim(const struct davy_probe_slots *s,
			   const struct davy_probe_owner *newcomer, bool shared)
{
	size_t victim = DAVY_PROBE_SLOTS, most = 0;

	for (size_t i = 0; i < DAVY_PROBE_CLAIMS; i++) {
		const struct davy_probe_owner *o = &s->claims[i].owner;
		bool own = !newcomer->workload && accounts_same(o, newcomer);
		size_t count, oldest;

		if (!o->pid || o->workload || !claims_are_first(s, i))
			continue;
		count = 2 * account_count(s, o) + (own ? 3 : 0);
		if (count <= most)
			continue;
		oldest = user_oldest(s, o, shared);
		if (oldest == DAVY_PROBE_SLOTS)
			continue;
		most = count;
		victim = oldest;
	}
	return victim;
}

/* Each process that held it knows that it holds it no more. */
static void slot_take_away(struct davy_probe_slots *s, size_t slot)
{
	bool taken = false;

	for (size_t i = 0; i < DAVY_PROBE_CLAIMS; i++) {
		struct davy_probe_claims *c = &s->claims[i];

		if (!c->owner.pid || !claims_have(c, slot))
			continue;
		assert(!c->owner.workload);
		claims_set(c, slot, false);
		c->lost |= 1u << s->slot[slot].site.kind;
		c->tried |= 1u << s->slot[slot].site.kind;
		s->last_uid = c->owner.uid;
		taken = true;
	}
	s->evicted_count += taken;
	s->change_count += taken;
}

/* A bucket that fills with time; an account that is not listed has a full one. */
static int rate_take(struct davy_probe_slots *s, const struct davy_probe_owner *owner,
		     uint64_t now_ns)
{
	struct davy_probe_account *a = &s->account[0];

	if (owner->workload || !owner->uid)
		return 0;
	for (size_t i = 0; i < DAVY_PROBE_ACCOUNTS && a->uid != owner->uid; i++)
		if (s->account[i].uid == owner->uid || s->account[i].full_ns < a->full_ns)
			a = &s->account[i];
	if (a->uid != owner->uid && a->full_ns > now_ns)
		return -EAGAIN; /* as many users as can be listed take all that they may */
	if (a->uid != owner->uid || a->full_ns < now_ns)
		*a = (struct davy_probe_account){ .uid = owner->uid, .full_ns = now_ns };
	if (a->full_ns - now_ns > (DAVY_PROBE_BURST - 1) * DAVY_PROBE_RATE_NS)
		return -EAGAIN;
	a->full_ns += DAVY_PROBE_RATE_NS;
	return 0;
}

static int slot_choose(struct davy_probe_slots *s, const struct davy_probe_claims *c, uint32_t kind,
		       uint64_t now_ns, size_t *ret_slot)
{
	bool may_evict = !(c->tried >> kind & 1);
	size_t slot;
	int err;

	if (account_full(s, &c->owner))
		return -EDQUOT;
	err = rate_take(s, &c->owner, now_ns); /* before the search, which takes time, too */
	if (err)
		return err;
	slot = slots_room(s);
	if (slot == DAVY_PROBE_SLOTS && may_evict)
		slot = users_victim(s, &c->owner, false);
	if (slot == DAVY_PROBE_SLOTS && may_evict)
		slot = users_victim(s, &c->owner, true);
	if (slot == DAVY_PROBE_SLOTS)
		return -ENOSPC;
	*ret_slot = slot;
	return 0;
}

static int slot_refuse(struct davy_probe_slots *s, struct davy_probe_claims *c, uint32_t kind,
		       int err)
{
	uint32_t bit = 1u << kind;

	if (!(c->lost & bit)) {
		s->refused_count++;
		s->change_count++;
		s->last_uid = c->owner.uid;
	}
	c->lost |= bit;
	c->tried |= err == -EAGAIN ? 0 : bit;
	return err;
}

static void slot_hold(struct davy_probe_claims *c, size_t slot, uint32_t kind)
{
	claims_set(c, slot, true);
	c->lost &= ~(1u << kind);
	c->tried &= ~(1u << kind);
}

int davy_probe_slots_claim(struct davy_probe_slots *s, const struct davy_probe_owner *owner,
			   const struct davy_probe_site *site, uint64_t now_ns, size_t *ret_slot)
{
	struct davy_probe_claims *c = claims_get(s, owner);
	struct davy_probe_slot *known = probe_slots_slot_of(s, site);
	size_t slot;
	int err;

	assert(site->kind < DAVY_PROBE_KINDS);
	if (!c)
		return -ENOSPC;
	if (known) {
		*ret_slot = (size_t)(known - s->slot);
		if (account_full(s, owner) && !account_holds(s, owner, *ret_slot))
			return slot_refuse(s, c, site->kind, -EDQUOT);
		slot_hold(c, *ret_slot, site->kind);
		return 0;
	}
	err = slot_choose(s, c, site->kind, now_ns, &slot);
	if (err)
		return slot_refuse(s, c, site->kind, err);
	slot_take_away(s, slot);
	s->slot[slot] = (struct davy_probe_slot){ *site, ++s->serial };
	slot_hold(c, slot, site->kind);
	*ret_slot = slot;
	return 1;
}

void davy_probe_slots_drop(struct davy_probe_slots *s, size_t slot)
{
	for (size_t i = 0; i < DAVY_PROBE_CLAIMS; i++)
		claims_set(&s->claims[i], slot, false);
	memset(&s->slot[slot], 0, sizeof(s->slot[slot]));
	s->change_count++;
}

void davy_probe_slots_gone(struct davy_probe_slots *s, uint32_t pid)
{
	struct davy_probe_claims *c = pid ? claims_of(s, pid) : NULL;

	if (!c)
		return;
	memset(c, 0, sizeof(*c));
	s->change_count++;
}

bool davy_probe_slots_free_idle(struct davy_probe_slots *s, size_t *ret_slot)
{
	size_t slot = slots_idle(s);

	if (slot == DAVY_PROBE_SLOTS)
		return false;
	davy_probe_slots_drop(s, slot);
	*ret_slot = slot;
	return true;
}

bool davy_probe_slots_holds(const struct davy_probe_slots *s, uint32_t pid, uint32_t kind)
{
	const struct davy_probe_claims *c = pid ? claims_of(s, pid) : NULL;

	for (size_t i = 0; c && i < DAVY_PROBE_SLOTS; i++)
		if (claims_have(c, i) && s->slot[i].site.kind == kind)
			return true;
	return false;
}

bool davy_probe_slots_lost(const struct davy_probe_slots *s, uint32_t pid)
{
	const struct davy_probe_claims *c = pid ? claims_of(s, pid) : NULL;

	return c && c->lost;
}

size_t davy_probe_slots_used(const struct davy_probe_slots *s)
{
	size_t count = 0;

	for (size_t i = 0; i < DAVY_PROBE_SLOTS; i++)
		count += !slot_is_free(s, i);
	return count;
}
