/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/stages.h"

#include <stdlib.h>
#include <string.h>

#include "engines/engine.h"
#include "trace/stages_state.h"

#define ARGS_MAX 128

_Static_assert(sizeof(((struct dl_stages *)0)->found) / DL_STAGES_PATH >= 14,
	       "every known library");

struct dl_stages *dl_stages_new(void)
{
	return calloc(1, sizeof(struct dl_stages));
}

void dl_stages_free(struct dl_stages *s)
{
	free(s);
}

void dl_keep(char *to, size_t size, const char *from)
{
	size_t length = strnlen(from, size - 1);

	memcpy(to, from, length);
	to[length] = 0;
}

const struct dl_start_process *dl_stages_process(const struct dl_stages *s, uint32_t pid)
{
	for (size_t i = 0; pid && i < DL_STAGES_PROCESSES; i++)
		if (s->process[i].pid == pid)
			return &s->process[i];
	return NULL;
}

/* A free entry, or that of whoever ended first and was no engine. */
static struct dl_start_process *room(struct dl_stages *s)
{
	struct dl_start_process *best = NULL;

	for (size_t i = 0; i < DL_STAGES_PROCESSES; i++) {
		struct dl_start_process *p = &s->process[i];

		if (!p->pid)
			return p;
		if (!p->ended_ns || p->engine || p->pid == s->root)
			continue;
		if (!best || p->ended_ns < best->ended_ns)
			best = p;
	}
	return best;
}

struct dl_start_process *dl_stages_get(struct dl_stages *s, uint32_t pid)
{
	struct dl_start_process *p = (struct dl_start_process *)dl_stages_process(s, pid);

	if (p && !p->ended_ns)
		return p;
	if (!pid)
		return NULL;
	if (!p) /* else its number is used again */
		p = room(s);
	if (!p) {
		s->processes_dropped++;
		return NULL;
	}
	memset(p, 0, sizeof(*p));
	p->pid = pid;
	p->began_ns = s->last_ns;
	if (!s->root)
		s->root = pid;
	return p;
}

struct dl_cause *dl_stages_cause(struct dl_stages *s, enum dl_cause_kind kind, enum dl_stage stage,
				 enum dl_family family, const struct dl_start_step *step)
{
	struct dl_cause *c = &s->cause[s->cause_count];

	if (s->cause_count == DL_STAGES_CAUSES) {
		s->causes_dropped++;
		c--; /* the last one gives way: the first tell more */
	} else {
		s->cause_count++;
	}
	memset(c, 0, sizeof(*c));
	c->kind = kind;
	c->stage = stage;
	c->family = family;
	c->pid = step->pid;
	c->at_ns = step->at_ns;
	return c;
}

void dl_stages_raise(struct dl_start_process *p, enum dl_stage stage)
{
	if (stage > p->stage)
		p->stage = stage;
}

void dl_stages_headway(struct dl_start_process *p, enum dl_family family, enum dl_headway headway)
{
	if (headway > p->headway[family])
		p->headway[family] = (uint8_t)headway;
}

static bool is_engine(const struct dl_start_step *step)
{
	char *argv[ARGS_MAX + 1] = { NULL };
	struct dl_engine_look look = { .argv = argv, .exe = step->path, .parent = "" };
	struct dl_engine_facts facts;
	const char *at = NULL;

	for (size_t i = 0; i < ARGS_MAX; i++) {
		at = dl_step_next_text(step->argv, step->argv_size, at);
		if (!at)
			break;
		argv[i] = (char *)at;
	}
	dl_engine_identify(&look, &facts);
	return facts.engine != DL_ENGINE_NONE && facts.engine != DL_ENGINE_GENERIC;
}

static void started(struct dl_start_process *p, const struct dl_start_step *step)
{
	const char *path = dl_step_variable(step, "LD_LIBRARY_PATH");
	const char *preload = dl_step_variable(step, "LD_PRELOAD");

	p->parent = step->other;
	p->execs++;
	p->began_ns = step->at_ns;
	p->libraries = 0;
	p->open_call = 0;
	p->loading_depth = 0;
	p->last_error = 0;
	p->stage = DL_STAGE_EXEC;
	memset(p->headway, 0, sizeof(p->headway));
	memset(p->devices, 0, sizeof(p->devices));
	dl_keep(p->name, sizeof(p->name), dl_step_base(step->path));
	dl_keep(p->library_path, sizeof(p->library_path), path ? path : "");
	dl_keep(p->preload, sizeof(p->preload), preload ? preload : "");
	p->engine = is_engine(step);
}

static void forked(struct dl_stages *s, const struct dl_start_process *p,
		   const struct dl_start_step *step)
{
	struct dl_start_process *child = dl_stages_get(s, step->other);

	if (!child || child == p)
		return;
	child->parent = step->pid;
	memcpy(child->name, p->name, sizeof(child->name));
	memcpy(child->library_path, p->library_path, sizeof(child->library_path));
	memcpy(child->preload, p->preload, sizeof(child->preload));
}

/* By somebody of its own tree: an engine that ends its runner. */
static void ended(struct dl_stages *s, struct dl_start_process *p, const struct dl_start_step *step)
{
	int sig = step->code & 0x7f;

	p->ended_ns = step->at_ns ? step->at_ns : 1;
	p->status = step->code;
	if (!sig || sig != p->signal || !p->sender || p->sender == p->pid)
		return;
	p->ended_on_purpose = dl_stages_process(s, p->sender) != NULL;
}

static void signalled(struct dl_start_process *p, const struct dl_start_step *step)
{
	p->signal = step->code;
	p->sender = step->other;
	dl_keep(p->sender_name, sizeof(p->sender_name), step->path);
}

void dl_stages_step(struct dl_stages *s, const struct dl_start_step *step)
{
	struct dl_start_process *p;

	s->last_ns = step->at_ns;
	if (!s->began_ns)
		s->began_ns = step->at_ns;
	p = dl_stages_get(s, step->pid);
	if (!p)
		return;
	switch (step->kind) {
	case DL_STEP_FORK:
		forked(s, p, step);
		break;
	case DL_STEP_EXEC:
		started(p, step);
		break;
	case DL_STEP_EXIT:
		ended(s, p, step);
		break;
	case DL_STEP_OPEN:
		dl_stages_open(s, p, step);
		break;
	case DL_STEP_MAP:
		dl_stages_map(s, p, step);
		break;
	case DL_STEP_CALL:
		dl_stages_call(p, step);
		break;
	case DL_STEP_RETURN:
		dl_stages_return(s, p, step);
		break;
	case DL_STEP_LINK_ERROR:
		dl_stages_link_error(s, p, step);
		break;
	case DL_STEP_SIGNAL:
		signalled(p, step);
		break;
	default:
		break;
	}
}

const char *dl_cause_name(enum dl_cause_kind kind)
{
	static const char *const names[] = {
		"none",
		"library_missing",
		"dependency_missing",
		"symbol_undefined",
		"library_unusable",
		"init_failed",
		"no_device",
		"query_failed",
		"node_refused",
		"not_in_child",
		"backend_not_loaded",
		"backend_refused",
		"memory_failed",
		"graph_failed",
		"crashed",
		"killed",
		"exited",
		"hangs",
		"nothing_looked_for",
	};

	return kind < DL_CAUSE_COUNT ? names[kind] : "none";
}
