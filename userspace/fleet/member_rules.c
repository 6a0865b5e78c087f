/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which rules a member takes: one host in a hundred first, then all, unless the first do worse. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/member_state.h"
#include "fleet/fleet_rules.h"
#include "lib/hash.h"

static struct davy_member_rule *rules_find(struct davy_member *m, uint64_t id)
{
	for (size_t i = 0; i < m->rule_count; i++)
		if (m->rule[i].rule.id == id)
			return &m->rule[i];
	return NULL;
}

static void rules_say(struct davy_member *m, const struct davy_member_rule *r)
{
	char reason[DAVY_RULE_TEXT_LEN], value[96];

	davy_fleet_rule_reason(&r->rule, reason, sizeof(reason));
	davy_fleet_rule_value(&r->rule, value, sizeof(value));
	davy_member_log(m, "rule %016" PRIx64 ": %s for model %s on %s of %s: %s; %s", r->rule.id,
			value, r->rule.model, davy_backend_name(r->rule.backend), r->rule.device,
			r->taken ? "taken" : davy_fleet_verdict_name(r->rule.verdict), reason);
}

/* A sample varies: what was taken is given up only when it is clearly against the rule. */
static bool rules_is_refuted(const struct davy_member *m, const struct davy_fleet_rule *r)
{
	uint64_t all = (uint64_t)r->hosts_bad + r->hosts_good;

	return r->verdict == DAVY_FLEET_CONTRADICTED || r->verdict == DAVY_FLEET_WITHDRAWN ||
	       (r->verdict == DAVY_FLEET_NO_SHARE &&
		(uint64_t)r->hosts_bad * 200 < all * m->config.share);
}

static void rules_decide(struct davy_member *m, struct davy_member_rule *r)
{
	bool was = r->taken;

	if (r->taken)
		r->taken = !rules_is_refuted(m, &r->rule);
	else
		r->taken = r->rule.verdict == DAVY_FLEET_TAKE && m->sampled_ms >= r->first_ms &&
			   (davy_fleet_first(m->config.host, r->rule.id) ||
			    m->now_ms - r->first_ms >= m->config.trial_ms);
	if (r->taken == was)
		return;
	rules_say(m, r);
	if (r->taken) { /* and look again after a while, when more hosts have told */
		m->sample_wanted = true;
		m->sample_ms = m->now_ms + m->config.trial_ms;
	}
}

/* The first hosts read it at once; the others in their waiting time, not all at the same moment. */
static void rules_want_sample(struct davy_member *m, const struct davy_member_rule *r)
{
	uint64_t h = davy_fnv(davy_fnv_text(DAVY_FNV_START, m->config.host), &r->rule.id,
			      sizeof(r->rule.id));

	m->sample_ms = m->now_ms;
	if (!davy_fleet_first(m->config.host, r->rule.id) && m->config.trial_ms)
		m->sample_ms += (h >> 17) % m->config.trial_ms;
	m->sample_wanted = true;
}

/* Most hosts disagree by a small sample, but less than three times as many as must: look closer. */
static void rules_look_closer(struct davy_member *m, const struct davy_fleet_rule *r)
{
	uint64_t all = (uint64_t)r->hosts_bad + r->hosts_good;

	if (r->verdict != DAVY_FLEET_NO_SHARE || m->sample_wanted ||
	    m->sample_got >= DAVY_MEMBER_SAMPLE_CLOSE || m->sample_got >= m->sample_total ||
	    (uint64_t)r->hosts_bad * 300 < all * m->config.share)
		return;
	m->sample_size = DAVY_MEMBER_SAMPLE_CLOSE;
	m->sample_ms = m->now_ms;
	m->sample_wanted = true;
}

/* The narrower value of an earlier rule of the same group fails more often: back, everywhere. */
static void rules_take_back(struct davy_member *m, const struct davy_fleet_rule *worse)
{
	for (size_t i = 0; i < m->rule_count; i++) {
		struct davy_member_rule *r = &m->rule[i];

		if (!r->taken || r->rule.group != worse->group || r->rule.ubatch != worse->bad)
			continue;
		r->taken = false;
		r->rule.verdict = DAVY_FLEET_WITHDRAWN;
		rules_say(m, r);
	}
}

static void rules_merge(struct davy_member *m, const struct davy_fleet_rule *found, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct davy_member_rule *r = rules_find(m, found[i].id);

		if (!r && m->rule_count == DAVY_FLEET_RULES_MAX)
			continue;
		if (!r) {
			r = &m->rule[m->rule_count++];
			memset(r, 0, sizeof(*r));
			r->rule.id = found[i].id;
			r->first_ms = m->now_ms;
			m->count_ms = m->now_ms;
			rules_want_sample(m, r);
		}
		r->rule = found[i];
		r->seen_ms = m->now_ms;
		rules_decide(m, r);
		rules_look_closer(m, &found[i]);
		if (found[i].verdict == DAVY_FLEET_WITHDRAWN)
			rules_take_back(m, &found[i]);
	}
	for (size_t i = 0; i < m->rule_count;) {
		struct davy_member_rule *r = &m->rule[i];

		if (r->seen_ms == m->now_ms ||
		    (r->taken && m->now_ms - r->seen_ms < m->config.hold_ms)) {
			i++;
			continue;
		}
		if (r->taken)
			davy_member_log(m, "rule %016" PRIx64 ": its evidence has expired",
					r->rule.id);
		*r = m->rule[--m->rule_count];
	}
}

static uint64_t rules_hash(const struct davy_member *m)
{
	uint64_t sum = DAVY_FNV_START;

	for (size_t i = 0; i < m->rule_count; i++)
		if (m->rule[i].taken) /* in any order */
			sum += davy_fnv(DAVY_FNV_START, &m->rule[i].rule.id, sizeof(uint64_t));
	return sum;
}

/*
 * After a start the old layer stays until the rules could be judged again: it is the knowledge of
 * the time before.
 */
static void rules_write(struct davy_member *m)
{
	struct davy_fleet_rule rule[DAVY_FLEET_RULES_MAX];
	bool taken[DAVY_FLEET_RULES_MAX];
	uint64_t hash = rules_hash(m);
	char *text;

	if (hash == m->layer_hash || !m->synced ||
	    (!m->layer_hash && hash == DAVY_FNV_START &&
	     m->now_ms - m->started_ms < 2 * (uint64_t)m->config.trial_ms))
		return;
	for (size_t i = 0; i < m->rule_count; i++) {
		rule[i] = m->rule[i].rule;
		rule[i].verdict = m->rule[i].taken ? DAVY_FLEET_TAKE : rule[i].verdict;
		taken[i] = m->rule[i].taken;
	}
	text = davy_fleet_rules_text(rule, taken, m->rule_count, (uint64_t)m->hosts, m->revision);
	if (!text)
		return;
	m->ops.layer(m->ops.arg, text);
	free(text);
	m->layer_hash = hash;
	m->stamp++;
}

void davy_member_judge(struct davy_member *m)
{
	struct davy_fleet_rule *found = malloc(DAVY_FLEET_RULES_MAX * sizeof(*found));
	const struct davy_judge_question q = { .host = m->config.host,
					       .quorum = m->config.quorum,
					       .share = m->config.share,
					       .device = m->device,
					       .device_count = m->device_count,
					       .own = m->own_rows,
					       .own_count = m->own_rows_count,
					       .failed = &m->failed,
					       .lived = &m->lived,
					       .lived_scale = m->lived_scale };
	size_t before = m->rule_count;

	m->changed = false;
	if (!found)
		return;
	rules_merge(m, found, davy_fleet_judge(&q, found));
	free(found);
	if (before != m->rule_count)
		m->stamp++;
	rules_write(m);
}

size_t davy_member_taken(const struct davy_member *m, struct davy_fleet_rule *ret_rules, size_t max)
{
	size_t count = 0;

	for (size_t i = 0; i < m->rule_count && count < max; i++)
		if (m->rule[i].taken)
			ret_rules[count++] = m->rule[i].rule;
	return count;
}
