/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/choice_tree.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct dl_choice_node *dl_choice_add(struct dl_choice *c, int depth, enum dl_choice_step step,
				     enum dl_choice_mark mark, const char *format, ...)
{
	struct dl_choice_node *n = &c->node[c->node_count];
	va_list args;

	assert(depth <= 1 && step < DL_STEP_COUNT && mark < DL_MARK_COUNT);
	if (c->node_count == DL_CHOICE_NODES) {
		c->left_out++;
		return NULL;
	}
	*n = (struct dl_choice_node){ .depth = (uint8_t)depth, .step = step, .mark = mark };
	va_start(args, format);
	vsnprintf(n->text, sizeof(n->text), format, args);
	va_end(args);
	c->node_count++;
	return n;
}

void dl_choice_about(struct dl_choice *c, enum dl_backend backend,
		     const struct dl_policy_value *value)
{
	struct dl_choice_node *n;

	if (!c->node_count || c->left_out)
		return;
	n = &c->node[c->node_count - 1];
	n->backend = backend;
	n->value = value && value->origin.rule ? value : NULL;
}

void dl_bytes_text(uint64_t bytes, char *text, size_t size)
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

static void tell_device(const struct dl_choice_question *q, struct dl_choice *c)
{
	const struct dl_policy_subject *s = &q->subject;
	char facts[256] = "";

	append(facts, sizeof(facts), ", ", s->driver);
	append(facts, sizeof(facts), ", ", s->vendor);
	append(facts, sizeof(facts), ", ", s->kind);
	append(facts, sizeof(facts), ", ", s->gfx);
	append(facts, sizeof(facts), ", ", s->generation);
	append(facts, sizeof(facts), ", ", s->firmware);
	if (s->device[0])
		dl_choice_add(c, 0, DL_STEP_DEVICE, DL_MARK_TOLD, "%s%s%s", s->device,
			      facts[0] ? ": " : "", facts);
	else
		dl_choice_add(c, 0, DL_STEP_DEVICE, DL_MARK_TOLD,
			      "no GPU is seen here; what the engine finds is its own choice");
}

static void tell_model(const struct dl_choice_question *q, struct dl_choice *c)
{
	const struct dl_policy_subject *s = &q->subject;

	if (!s->model[0]) {
		dl_choice_add(c, 0, DL_STEP_MODEL, DL_MARK_TOLD,
			      "none is named; rules of models do not count (--model NAME)");
		return;
	}
	if (c->known.origin.rule) {
		dl_choice_add(c, 0, DL_STEP_MODEL, DL_MARK_YES, "'%s' is known to the policy",
			      s->model);
		dl_choice_about(c, DL_BACKEND_UNKNOWN, &c->known);
	} else if (s->known == DL_KNOWN_YES) {
		dl_choice_add(c, 0, DL_STEP_MODEL, DL_MARK_YES,
			      "'%s' has lived here for %llu h, by the ledger", s->model,
			      (unsigned long long)(q->lived_s / 3600));
	} else {
		dl_choice_add(c, 0, DL_STEP_MODEL, DL_MARK_TOLD,
			      "'%s' is unknown to the policy: it starts with the safe set, and is "
			      "watched",
			      s->model);
	}
}

static void tell_asked(const struct dl_choice_question *q, struct dl_choice *c)
{
	static const char *const by[] = {
		[DL_WANT_AUTO] = "",
		[DL_WANT_COMMAND] = "the command",
		[DL_WANT_BACKEND] = "--backend",
		[DL_WANT_FORCE] = "force",
	};
	const char *only = q->gpu_only	   ? "a GPU or nothing (--gpu-only)"
			   : q->prefer_gpu ? "a GPU before the CPU (--prefer-gpu)"
					   : "";

	if (q->want == DL_WANT_AUTO)
		dl_choice_add(c, 0, DL_STEP_ASKED, DL_MARK_TOLD, "%s",
			      only[0] ? only : "nothing: the policy decides");
	else
		dl_choice_add(c, 0, DL_STEP_ASKED, DL_MARK_TOLD, "%s, by %s%s%s",
			      dl_backend_name(q->wanted), by[q->want], only[0] ? "; " : "", only);
	dl_choice_about(c, q->wanted, NULL);
}

static void tell_rules(struct dl_choice *c)
{
	const struct dl_policy_value *v = &c->before.value[DL_POLICY_BACKENDS];

	if (v->origin.rule)
		dl_choice_add(c, 0, DL_STEP_RULES, DL_MARK_TOLD, "backends in this order: %s",
			      v->text);
	else
		dl_choice_add(c, 0, DL_STEP_RULES, DL_MARK_TOLD, "none speaks of backends");
	dl_choice_about(c, DL_BACKEND_UNKNOWN, v);
}

void dl_choice_tell(const struct dl_choice_question *q, struct dl_choice *c)
{
	tell_device(q, c);
	tell_model(q, c);
	tell_asked(q, c);
	tell_rules(c);
}

void dl_choice_memory(const struct dl_choice_question *q, const struct dl_fit *f,
		      enum dl_choice_mark mark, struct dl_choice *c)
{
	char device[32], host[32], free_text[32];
	const char *where = f->verdict == DL_FIT_LIMIT ? "within the memory limit"
			    : f->verdict == DL_FIT_HOST || !f->device_bytes ? "in the host's memory"
									    : "on the device";

	if (f->verdict == DL_FIT_NOT_KNOWN) {
		dl_choice_add(c, 1, DL_STEP_MEMORY, DL_MARK_TOLD, "not judged: %s",
			      q->fit_unknown ? q->fit_unknown
					     : "how much is free there is not told");
		return;
	}
	dl_bytes_text(f->device_bytes, device, sizeof(device));
	dl_bytes_text(f->host_bytes, host, sizeof(host));
	dl_bytes_text(f->free_bytes, free_text, sizeof(free_text));
	dl_choice_add(c, 1, DL_STEP_MEMORY, mark, "at least %s%s%s%s%s; %s free %s%s",
		      f->device_bytes ? device : "", f->device_bytes ? " on the device" : "",
		      f->device_bytes && f->host_bytes ? ", " : "",
		      f->host_bytes || !f->device_bytes ? host : "",
		      f->host_bytes || !f->device_bytes ? " of the host" : "", free_text, where,
		      f->verdict == DL_FIT_PARTLY ? ": the CPU will compute some of the layers"
						  : "");
}

static void setting(struct dl_choice *c, const char *key, const struct dl_policy_value *v)
{
	if (!v->origin.rule)
		return;
	dl_choice_add(c, 1, DL_STEP_SETTING, DL_MARK_TOLD, "%s%s%s = %s", key, v->name ? " " : "",
		      v->name ? v->name : "", v->text);
	dl_choice_about(c, c->backend, v);
}

void dl_choice_settings(struct dl_choice *c)
{
	const struct dl_effective *e = &c->effective;

	for (uint32_t i = DL_POLICY_UBATCH; i < DL_POLICY_WARN; i++)
		setting(c, dl_policy_key_name(i), &e->value[i]);
	for (size_t i = 0; i < e->environment_count; i++)
		setting(c, "environment", &e->environment[i]);
	for (size_t i = 0; i < e->argument_count; i++)
		setting(c, "argument", &e->argument[i]);
}

const char *dl_choice_step_name(enum dl_choice_step step)
{
	static const char *const names[DL_STEP_COUNT] = {
		[DL_STEP_DEVICE] = "device",   [DL_STEP_MODEL] = "model",
		[DL_STEP_ASKED] = "asked",     [DL_STEP_RULES] = "rules",
		[DL_STEP_BACKEND] = "backend", [DL_STEP_ENGINE] = "engine",
		[DL_STEP_BREAKER] = "breaker", [DL_STEP_MEMORY] = "memory",
		[DL_STEP_CHOSEN] = "chosen",   [DL_STEP_SETTING] = "setting",
	};

	assert(step < DL_STEP_COUNT);
	return names[step];
}

const char *dl_choice_mark_name(enum dl_choice_mark mark)
{
	static const char *const names[DL_MARK_COUNT] = {
		[DL_MARK_TOLD] = "told",
		[DL_MARK_YES] = "yes",
		[DL_MARK_NO] = "no",
		[DL_MARK_WARN] = "warning",
	};

	assert(mark < DL_MARK_COUNT);
	return names[mark];
}
