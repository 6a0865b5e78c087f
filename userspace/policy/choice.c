/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/choice.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "policy/choice_tree.h"

/* The candidates, in the order of the attempts. */
struct candidates {
	enum davy_backend at[DAVY_BACKEND_COUNT + 1];
	size_t count;
};

/* "*" matches every model: it names none. */
static bool names_models(const char *patterns)
{
	return strspn(patterns, "*, \t") != strlen(patterns);
}

/* The first rule that names the model for such a device and engine, with any backend. */
static void find_known(const struct davy_choice_question *q, struct davy_choice *c)
{
	for (int i = 0; i < DAVY_LAYER_COUNT; i++) {
		const struct davy_policy_layer *l = q->set->layer[i];

		for (uint32_t j = 0; l && j < l->rule_count && !c->known.origin.rule; j++) {
			const struct davy_rule *r = &l->rule[j];
			uint32_t text = r->condition[DAVY_IF_MODEL].text;

			if (!text || r->condition[DAVY_IF_KNOWN].text ||
			    r->value[0].key == DAVY_POLICY_THRESHOLD || /* no start survived it */
			    !names_models(davy_policy_text(l, text)) ||
			    !davy_rule_fits(l, r, &q->subject, q->subject.backend))
				continue;
			c->known.text = davy_policy_text(l, text);
			c->known.origin =
				(struct davy_policy_origin){ l, r, r->condition[DAVY_IF_MODEL].line,
							     r->pin };
		}
	}
}

/* Backends of a GPU that the engine can use: bit 1 << backend. */
static uint32_t gpu_backends(const struct davy_choice_question *q)
{
	return q->can & davy_subject_there(&q->subject) & ~(1u << DAVY_BACKEND_CPU);
}

static void choice_add(struct candidates *list, enum davy_backend backend)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->at[i] == backend)
			return;
	assert(list->count < DAVY_BACKEND_COUNT);
	list->at[list->count++] = backend;
}

/* Moves the CPU to the end if a GPU is preferred, removes it if a GPU is required. */
static void order(const struct davy_choice_question *q, struct candidates *list)
{
	size_t kept = 0;
	bool had_cpu = false;

	if (!q->gpu_only && !q->prefer_gpu)
		return;
	for (size_t i = 0; i < list->count; i++)
		if (list->at[i] == DAVY_BACKEND_CPU)
			had_cpu = true;
		else
			list->at[kept++] = list->at[i];
	list->count = kept;
	if (had_cpu && !q->gpu_only)
		list->at[list->count++] = DAVY_BACKEND_CPU;
}

static void candidates_of(const struct davy_choice_question *q, const struct davy_choice *c,
			  struct candidates *list)
{
	const struct davy_effective *e = &c->before;

	list->count = 0;
	if (q->want != DAVY_WANT_AUTO) {
		choice_add(list, q->wanted);
		if (q->want == DAVY_WANT_COMMAND)
			choice_add(list, DAVY_BACKEND_CPU);
	} else if (e->backend_count || e->none_left) {
		for (size_t i = 0; i < e->backend_count; i++)
			choice_add(list, e->backends[i]);
	} else {
		choice_add(list, davy_subject_default_backend(&q->subject, q->can));
		choice_add(list, DAVY_BACKEND_CPU);
	}
	order(q, list);
}

static bool forced(const struct davy_choice_question *q, enum davy_backend backend)
{
	return q->want >= DAVY_WANT_BACKEND && backend == q->wanted;
}

static bool engine_can(const struct davy_choice_question *q, enum davy_backend backend,
		       struct davy_choice *c)
{
	if (q->can & 1u << backend)
		return true;
	davy_choice_add(c, 1, DAVY_STEP_ENGINE, DAVY_MARK_NO, "%s has no option for %s",
			q->subject.engine ? davy_engine_name(q->subject.engine) : "this program",
			davy_backend_name(backend));
	davy_choice_about(c, backend, NULL);
	return false;
}

/*
 * The rules name several backends of a GPU, and the engine's backends are unknown: it takes the
 * first by default. Another one would have to be forced, and may be missing.
 */
static bool choice_is_there(const struct davy_choice_question *q, const struct candidates *list,
			    enum davy_backend backend, struct davy_choice *c)
{
	size_t at = 0;

	if (q->want != DAVY_WANT_AUTO || backend == DAVY_BACKEND_CPU || q->subject.available)
		return true;
	while (list->at[at] == DAVY_BACKEND_CPU)
		at++;
	if (list->at[at] == backend)
		return true;
	davy_choice_add(c, 1, DAVY_STEP_ENGINE, DAVY_MARK_NO,
			"it is unknown whether the engine has %s; --backend %s would force it",
			davy_backend_name(backend), davy_backend_name(backend));
	davy_choice_about(c, backend, NULL);
	return false;
}

static const struct davy_policy_value *against_why(const struct davy_choice *c)
{
	const struct davy_policy_value *warn = &c->before.value[DAVY_POLICY_WARN];

	return warn->origin.rule ? warn : &c->before.value[DAVY_POLICY_BACKENDS];
}

/* Rules never exclude their own candidates: this applies only to a forced backend. */
static void heed_rules(const struct davy_choice_question *q, enum davy_backend backend,
		       struct davy_choice *c)
{
	const struct davy_policy_value *why = against_why(c);
	bool warns = why->origin.rule && why == &c->before.value[DAVY_POLICY_WARN];

	if (q->want == DAVY_WANT_AUTO || backend != q->wanted ||
	    davy_effective_allows(&c->before, backend))
		return;
	if (backend == DAVY_BACKEND_CPU)
		return; /* slower, but it works */
	davy_choice_add(c, 1, DAVY_STEP_RULES, DAVY_MARK_WARN, "%s is known to fail here%s%s",
			davy_backend_name(backend), warns ? ": " : "", warns ? why->text : "");
	davy_choice_about(c, backend, &c->before.value[DAVY_POLICY_BACKENDS]);
}

static bool breaker_is_open(const struct davy_choice_question *q, enum davy_backend backend)
{
	return q->breaker[backend].until_s > q->now_s;
}

static bool breaker_allows(const struct davy_choice_question *q, enum davy_backend backend,
			   struct davy_choice *c)
{
	const struct davy_choice_breaker *b = &q->breaker[backend];
	bool open = breaker_is_open(q, backend);

	if (backend == DAVY_BACKEND_CPU)
		return true;
	if (open)
		davy_choice_add(
			c, 1, DAVY_STEP_BREAKER, forced(q, backend) ? DAVY_MARK_WARN : DAVY_MARK_NO,
			"the breaker of %s on %s for model '%s' is open for another %lld s; "
			"reason: %s",
			davy_backend_name(backend),
			b->device && b->device[0] ? b->device : "any device", q->subject.model,
			(long long)(b->until_s - q->now_s), b->reason ? b->reason : "");
	else
		davy_choice_add(c, 1, DAVY_STEP_BREAKER, DAVY_MARK_YES, "none is open");
	davy_choice_about(c, backend, NULL);
	return !open || forced(q, backend);
}

/* Another backend that the engine may take without an option, and whose breaker is open. */
static enum davy_backend open_beside(const struct davy_choice_question *q,
				     const struct davy_choice *c, enum davy_backend backend)
{
	uint32_t may_take = gpu_backends(q) & davy_subject_backends(&q->subject);

	if (q->want != DAVY_WANT_AUTO || c->before.backend_count || backend == DAVY_BACKEND_CPU)
		return DAVY_BACKEND_UNKNOWN;
	for (int i = DAVY_BACKEND_VULKAN; i < DAVY_BACKEND_COUNT; i++)
		if (may_take & 1u << i && i != (int)backend &&
		    breaker_is_open(q, (enum davy_backend)i))
			return (enum davy_backend)i;
	return DAVY_BACKEND_UNKNOWN;
}

/* The backends of the engine are unknown, so that no option can select one. */
static bool order_is_possible(const struct davy_choice_question *q, enum davy_backend backend,
			      struct davy_choice *c)
{
	enum davy_backend other = open_beside(q, c, backend);

	if (other == DAVY_BACKEND_UNKNOWN || q->subject.available)
		return true;
	davy_choice_add(c, 1, DAVY_STEP_ENGINE, DAVY_MARK_NO,
			"the engine may select %s instead; its breaker for model '%s' is open; "
			"--backend %s would force it",
			davy_backend_name(other), q->subject.model, davy_backend_name(backend));
	davy_choice_about(c, backend, NULL);
	return false;
}

static bool memory_allows(const struct davy_choice_question *q, enum davy_backend backend,
			  struct davy_choice *c)
{
	bool all_the_same = q->want == DAVY_WANT_FORCE && backend == q->wanted;
	enum davy_choice_mark mark = DAVY_MARK_YES;
	struct davy_fit_question asked = q->fit;
	uint64_t ruled = (uint64_t)c->before.value[DAVY_POLICY_VRAM_MAX].number << 10;
	struct davy_fit fit;

	if (ruled && (!asked.vram_max || ruled < asked.vram_max))
		asked.vram_max = ruled;
	davy_fit_judge(&asked, backend, &fit);
	c->layers = fit.layers;
	if (davy_fit_refuses(&fit))
		mark = all_the_same ? DAVY_MARK_WARN : DAVY_MARK_NO;
	else if (fit.verdict == DAVY_FIT_PARTLY)
		mark = DAVY_MARK_WARN;
	davy_choice_memory(q, &fit, mark, c);
	davy_choice_about(c, backend, NULL);
	return mark != DAVY_MARK_NO;
}

/* Reports all objections, not only the first. */
static bool try_one(const struct davy_choice_question *q, const struct candidates *list,
		    enum davy_backend backend, struct davy_choice *c)
{
	size_t at = c->node_count;
	bool good;

	davy_choice_add(c, 0, DAVY_STEP_BACKEND, DAVY_MARK_YES, "%s", davy_backend_name(backend));
	davy_choice_about(c, backend, NULL);
	good = engine_can(q, backend, c) && choice_is_there(q, list, backend, c) &&
	       order_is_possible(q, backend, c);
	if (good) {
		heed_rules(q, backend, c);
		good = breaker_allows(q, backend, c);
		good = memory_allows(q, backend, c) && good;
	}
	if (!good && at < c->node_count)
		c->node[at].mark = DAVY_MARK_NO;
	return good;
}

/* Reports the backends of a GPU that the rules exclude. */
static void tell_left_out(const struct davy_choice_question *q, const struct candidates *list,
			  struct davy_choice *c)
{
	for (int i = DAVY_BACKEND_VULKAN; q->want == DAVY_WANT_AUTO && i < DAVY_BACKEND_COUNT;
	     i++) {
		enum davy_backend backend = (enum davy_backend)i;
		bool listed = davy_effective_allows(&c->before, backend);

		if (listed || !(q->can & davy_subject_backends(&q->subject) & 1u << backend) ||
		    (q->subject.available && !(q->subject.available & 1u << backend)))
			continue;
		for (size_t j = 0; j < list->count; j++)
			listed |= list->at[j] == backend;
		if (listed)
			continue;
		davy_choice_add(c, 0, DAVY_STEP_BACKEND, DAVY_MARK_NO, "%s: the rules exclude it",
				davy_backend_name(backend));
		davy_choice_about(c, backend, &c->before.value[DAVY_POLICY_BACKENDS]);
	}
}

static void choice_refuse(const struct davy_choice_question *q, const struct candidates *list,
			  struct davy_choice *c)
{
	c->refused = true;
	if (q->gpu_only && (!list->count || (q->want && q->wanted == DAVY_BACKEND_CPU)))
		davy_choice_add(
			c, 0, DAVY_STEP_CHOSEN, DAVY_MARK_NO,
			"nothing is started: the policy leaves only the CPU, and --gpu-only "
			"refuses it");
	else if (!list->count)
		davy_choice_add(c, 0, DAVY_STEP_CHOSEN, DAVY_MARK_NO,
				"nothing is started: none of the permitted backends is available");
	else
		davy_choice_add(c, 0, DAVY_STEP_CHOSEN, DAVY_MARK_NO,
				"nothing is started: no backend is left%s",
				q->gpu_only ? " of a GPU, and --gpu-only refuses the CPU" : "");
}

/* The settings are those for the chosen backend, even if the rules prefer another. */
static void choice_settle(const struct davy_choice_question *q, enum davy_backend backend,
			  struct davy_choice *c)
{
	struct davy_policy_subject s = q->subject;
	bool ordered =
		c->before.backend_count > 0 || open_beside(q, c, backend) != DAVY_BACKEND_UNKNOWN;
	bool by_rules = c->before.backend_count > 0;

	s.backend = backend;
	s.forced = true;
	davy_policy_effective(q->set, &s, &c->effective);
	c->pinned = q->want >= DAVY_WANT_BACKEND ||
		    (q->want == DAVY_WANT_AUTO && ordered && q->subject.available);
	c->backend = backend;
	if (q->want == DAVY_WANT_AUTO && !ordered && backend != DAVY_BACKEND_CPU)
		c->backend = DAVY_BACKEND_UNKNOWN; /* no option: the engine decides */
	davy_choice_add(c, 0, DAVY_STEP_CHOSEN, DAVY_MARK_YES, "%s%s", davy_backend_name(backend),
			c->backend == DAVY_BACKEND_UNKNOWN
				? ", the engine's own choice: no option is passed"
				: "");
	davy_choice_about(c, backend, by_rules ? &c->before.value[DAVY_POLICY_BACKENDS] : NULL);
	davy_choice_settings(c);
}

static bool no_gpu_for(const struct davy_choice_question *q, struct davy_choice *c)
{
	if (!q->gpu_only || q->subject.device[0])
		return false;
	c->refused = true;
	davy_choice_add(c, 0, DAVY_STEP_CHOSEN, DAVY_MARK_NO,
			"nothing is started: no GPU was found, and --gpu-only refuses the CPU");
	return true;
}

static void choice_prepare(struct davy_choice_question *q, struct davy_choice *c)
{
	struct davy_policy_subject *s = &q->subject;

	s->backend =
		q->want == DAVY_WANT_AUTO ? davy_subject_default_backend(s, q->can) : q->wanted;
	s->forced = q->want != DAVY_WANT_AUTO;
	s->known = DAVY_KNOWN_UNREPORTED;
	find_known(q, c);
	if (s->model[0])
		s->known = c->known.origin.rule || q->lived_s >= DAVY_CHOICE_KNOWN_S
				   ? DAVY_KNOWN_YES
				   : DAVY_KNOWN_NO;
	c->unknown = s->known == DAVY_KNOWN_NO;
	davy_policy_effective(q->set, s, &c->before);
}

void davy_choose(const struct davy_choice_question *question, struct davy_choice *ret_choice)
{
	struct davy_choice_question q = *question;
	struct davy_choice *c = ret_choice;
	struct candidates list;

	assert(q.set && (q.want == DAVY_WANT_AUTO || q.wanted != DAVY_BACKEND_UNKNOWN));
	memset(c, 0, sizeof(*c));
	choice_prepare(&q, c);
	davy_choice_tell(&q, c);
	if (no_gpu_for(&q, c))
		return;
	candidates_of(&q, c, &list);
	for (size_t i = 0; i < list.count; i++) {
		if (!try_one(&q, &list, list.at[i], c))
			continue;
		tell_left_out(&q, &list, c);
		choice_settle(&q, list.at[i], c);
		return;
	}
	tell_left_out(&q, &list, c);
	choice_refuse(&q, &list, c);
}
