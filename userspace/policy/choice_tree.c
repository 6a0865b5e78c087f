/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/choice_tree.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct davy_choice_node *davy_choice_add(struct davy_choice *c, int depth,
					 enum davy_choice_step step, enum davy_choice_mark mark,
					 const char *format, ...)
{
	struct davy_choice_node *n = &c->node[c->node_count];
	va_list args;

	assert(depth <= 1 && step < DAVY_STEP_COUNT && mark < DAVY_MARK_COUNT);
	if (c->node_count == DAVY_CHOICE_NODES) {
		c->left_out++;
		return NULL;
	}
	*n = (struct davy_choice_node){ .depth = (uint8_t)depth, .step = step, .mark = mark };
	va_start(args, format);
	vsnprintf(n->text, sizeof(n->text), format, args);
	va_end(args);
	c->node_count++;
	return n;
}

void davy_choice_about(struct davy_choice *c, enum davy_backend backend,
		       const struct davy_policy_value *value)
{
	struct davy_choice_node *n;

	if (!c->node_count || c->left_out)
		return;
	n = &c->node[c->node_count - 1];
	n->backend = backend;
	n->value = value && value->origin.rule ? value : NULL;
}

void davy_bytes_text(uint64_t bytes, char *text, size_t size)
{
	static const struct {
		uint64_t unit;
		const char *name;
	} rows[] = { { 1ULL << 30, "GiB" }, { 1ULL << 20, "MiB" }, { 1ULL << 10, "KiB" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t unit = rows[i].unit;

		if (bytes < unit)
			continue;
		snprintf(text, size, "%llu.%llu %s", (unsigned long long)(bytes / unit),
			 (unsigned long long)(bytes % unit * 10 / unit), rows[i].name);
		return;
	}
	snprintf(text, size, "%llu bytes", (unsigned long long)bytes);
}

static void append(char *text, size_t size, const char *before, const char *word)
{
	size_t used = strlen(text);

	if (word[0] && used < size)
		snprintf(text + used, size - used, "%s%s", used ? before : "", word);
}

static void tell_device(const struct davy_choice_question *q, struct davy_choice *c)
{
	const struct davy_policy_subject *s = &q->subject;
	char facts[256] = "";

	append(facts, sizeof(facts), ", ", s->driver);
	append(facts, sizeof(facts), ", ", s->vendor);
	append(facts, sizeof(facts), ", ", s->kind);
	append(facts, sizeof(facts), ", ", s->gfx);
	append(facts, sizeof(facts), ", ", s->generation);
	append(facts, sizeof(facts), ", ", s->firmware);
	if (s->device[0])
		davy_choice_add(c, 0, DAVY_STEP_DEVICE, DAVY_MARK_FACT, "%s%s%s", s->device,
				facts[0] ? ": " : "", facts);
	else
		davy_choice_add(c, 0, DAVY_STEP_DEVICE, DAVY_MARK_FACT,
				"no GPU was found; the engine chooses a device itself");
}

static void tell_model(const struct davy_choice_question *q, struct davy_choice *c)
{
	const struct davy_policy_subject *s = &q->subject;

	if (!s->model[0]) {
		davy_choice_add(c, 0, DAVY_STEP_MODEL, DAVY_MARK_FACT,
				"none is named; rules for models do not apply (--model NAME)");
		return;
	}
	if (c->known.origin.rule) {
		davy_choice_add(c, 0, DAVY_STEP_MODEL, DAVY_MARK_YES, "the policy knows '%s'",
				s->model);
		davy_choice_about(c, DAVY_BACKEND_UNKNOWN, &c->known);
	} else if (s->known == DAVY_KNOWN_YES) {
		davy_choice_add(
			c, 0, DAVY_STEP_MODEL, DAVY_MARK_YES,
			"'%s' has run here for %llu h without failure, according to the ledger",
			s->model, (unsigned long long)(q->lived_s / 3600));
	} else {
		davy_choice_add(
			c, 0, DAVY_STEP_MODEL, DAVY_MARK_FACT,
			"'%s' is unknown to the policy: it starts with the safe settings, and is "
			"watched",
			s->model);
	}
}

static void tell_asked(const struct davy_choice_question *q, struct davy_choice *c)
{
	static const char *const by[] = {
		[DAVY_WANT_AUTO] = "",
		[DAVY_WANT_COMMAND] = "the command",
		[DAVY_WANT_BACKEND] = "--backend",
		[DAVY_WANT_FORCE] = "force",
	};
	const char *only = q->gpu_only	   ? "a GPU or nothing (--gpu-only)"
			   : q->prefer_gpu ? "a GPU before the CPU (--prefer-gpu)"
					   : "";

	if (q->want == DAVY_WANT_AUTO)
		davy_choice_add(c, 0, DAVY_STEP_ASKED, DAVY_MARK_FACT, "%s",
				only[0] ? only : "nothing: the policy decides");
	else
		davy_choice_add(c, 0, DAVY_STEP_ASKED, DAVY_MARK_FACT, "%s, by %s%s%s",
				davy_backend_name(q->wanted), by[q->want], only[0] ? "; " : "",
				only);
	davy_choice_about(c, q->wanted, NULL);
}

static void tell_rules(struct davy_choice *c)
{
	const struct davy_policy_value *v = &c->before.value[DAVY_POLICY_BACKENDS];

	if (v->origin.rule)
		davy_choice_add(c, 0, DAVY_STEP_RULES, DAVY_MARK_FACT, "backends in this order: %s",
				v->text);
	else
		davy_choice_add(c, 0, DAVY_STEP_RULES, DAVY_MARK_FACT, "none sets backends");
	davy_choice_about(c, DAVY_BACKEND_UNKNOWN, v);
}

void davy_choice_tell(const struct davy_choice_question *q, struct davy_choice *c)
{
	tell_device(q, c);
	tell_model(q, c);
	tell_asked(q, c);
	tell_rules(c);
}

void davy_choice_memory(const struct davy_choice_question *q, const struct davy_fit *f,
			enum davy_choice_mark mark, struct davy_choice *c)
{
	char device[32], host[32], free_text[32];
	const char *where = f->verdict == DAVY_FIT_LIMIT ? "within the memory limit"
			    : f->verdict == DAVY_FIT_HOST || !f->device_bytes
				    ? "in the host's memory"
				    : "on the device";

	if (f->verdict == DAVY_FIT_NOT_KNOWN) {
		davy_choice_add(c, 1, DAVY_STEP_MEMORY, DAVY_MARK_FACT, "not checked: %s",
				q->fit_unknown ? q->fit_unknown
					       : "the free memory there is unknown");
		return;
	}
	davy_bytes_text(f->device_bytes, device, sizeof(device));
	davy_bytes_text(f->host_bytes, host, sizeof(host));
	davy_bytes_text(f->free_bytes, free_text, sizeof(free_text));
	if (f->layers) {
		davy_choice_add(c, 1, DAVY_STEP_MEMORY, mark,
				"the quota of VRAM is %s: %u of %u layers on the device, %s of the "
				"host",
				free_text, f->layers, q->fit.layers + 1, host);
		return;
	}
	davy_choice_add(c, 1, DAVY_STEP_MEMORY, mark, "at least %s%s%s%s%s; %s free %s%s",
			f->device_bytes ? device : "", f->device_bytes ? " on the device" : "",
			f->device_bytes && f->host_bytes ? ", " : "",
			f->host_bytes || !f->device_bytes ? host : "",
			f->host_bytes || !f->device_bytes ? " of the host" : "", free_text, where,
			f->verdict == DAVY_FIT_PARTLY ? ": the CPU will compute some of the layers"
						      : "");
}

static void choice_tree_setting(struct davy_choice *c, const char *key,
				const struct davy_policy_value *v)
{
	if (!v->origin.rule)
		return;
	davy_choice_add(c, 1, DAVY_STEP_SETTING, DAVY_MARK_FACT, "%s%s%s = %s", key,
			v->name ? " " : "", v->name ? v->name : "", v->text);
	davy_choice_about(c, c->backend, v);
}

void davy_choice_settings(struct davy_choice *c)
{
	const struct davy_effective *e = &c->effective;

	for (uint32_t i = DAVY_POLICY_UBATCH; i < DAVY_POLICY_WARN; i++)
		choice_tree_setting(c, davy_policy_key_name(i), &e->value[i]);
	for (size_t i = 0; i < e->environment_count; i++)
		choice_tree_setting(c, "environment", &e->environment[i]);
	for (size_t i = 0; i < e->argument_count; i++)
		choice_tree_setting(c, "argument", &e->argument[i]);
}

const char *davy_choice_step_name(enum davy_choice_step step)
{
	static const char *const names[DAVY_STEP_COUNT] = {
		[DAVY_STEP_DEVICE] = "device",	 [DAVY_STEP_MODEL] = "model",
		[DAVY_STEP_ASKED] = "asked",	 [DAVY_STEP_RULES] = "rules",
		[DAVY_STEP_BACKEND] = "backend", [DAVY_STEP_ENGINE] = "engine",
		[DAVY_STEP_BREAKER] = "breaker", [DAVY_STEP_MEMORY] = "memory",
		[DAVY_STEP_CHOSEN] = "chosen",	 [DAVY_STEP_SETTING] = "setting",
	};

	assert(step < DAVY_STEP_COUNT);
	return names[step];
}

const char *davy_choice_mark_name(enum davy_choice_mark mark)
{
	static const char *const names[DAVY_MARK_COUNT] = {
		[DAVY_MARK_FACT] = "reported",
		[DAVY_MARK_YES] = "yes",
		[DAVY_MARK_NO] = "no",
		[DAVY_MARK_WARN] = "warning",
	};

	assert(mark < DAVY_MARK_COUNT);
	return names[mark];
}
