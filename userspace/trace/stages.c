/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/stages.h"

#include <stdlib.h>
#include <string.h>

#include "engines/engine.h"
#include "trace/stages_state.h"

#define ARGS_MAX 128

_Static_assert(sizeof(((struct davy_stages *)0)->found) / DAVY_STAGES_PATH >= 14,
	       "every known library");

struct davy_stages *davy_stages_new(void)
{
	return calloc(1, sizeof(struct davy_stages));
}

void davy_stages_free(struct davy_stages *s)
{
	free(s);
}

void davy_keep(char *to, size_t size, const char *from)
{
	size_t length = strnlen(from, size - 1);

	memcpy(to, from, length);
	to[length] = 0;
}

const struct davy_start_process *davy_stages_process(const struct davy_stages *s, uint32_t pid)
{
	for (size_t i = 0; pid && i < DAVY_STAGES_PROCESSES; i++)
		if (s->process[i].pid == pid)
			return &s->process[i];
	return NULL;
}

/* A free entry, or that of the first ended process that is no engine. */
static struct davy_start_process *stages_room(struct davy_stages *s)
{
	struct davy_start_process *best = NULL;

	for (size_t i = 0; i < DAVY_STAGES_PROCESSES; i++) {
		struct davy_start_process *p = &s->process[i];

		if (!p->pid)
			return p;
		if (!p->ended_ns || p->engine || p->pid == s->root)
			continue;
		if (!best || p->ended_ns < best->ended_ns)
			best = p;
	}
	return best;
}

struct davy_start_process *davy_stages_get(struct davy_stages *s, uint32_t pid)
{
	struct davy_start_process *p = (struct davy_start_process *)davy_stages_process(s, pid);

	if (p && !p->ended_ns)
		return p;
	if (!pid)
		return NULL;
	if (!p) /* else the pid was reused */
		p = stages_room(s);
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

struct davy_cause *davy_stages_cause(struct davy_stages *s, enum davy_cause_kind kind,
				     enum davy_stage stage, enum davy_family family,
				     const struct davy_start_step *step)
{
	struct davy_cause *c = &s->cause[s->cause_count];

	if (s->cause_count == DAVY_STAGES_CAUSES) {
		s->causes_dropped++;
		c--; /* full: replace the last one, the first are more useful */
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

void davy_stages_raise(struct davy_start_process *p, enum davy_stage stage)
{
	if (stage > p->stage)
		p->stage = stage;
}

void davy_stages_headway(struct davy_start_process *p, enum davy_family family,
			 enum davy_headway headway)
{
	if (headway > p->headway[family])
		p->headway[family] = (uint8_t)headway;
}

static bool stages_is_engine(const struct davy_start_step *step)
{
	char *argv[ARGS_MAX + 1] = { NULL };
	struct davy_engine_look look = { .argv = argv, .exe = step->path, .parent = "" };
	struct davy_engine_facts facts;
	const char *at = NULL;

	for (size_t i = 0; i < ARGS_MAX; i++) {
		at = davy_step_next_text(step->argv, step->argv_size, at);
		if (!at)
			break;
		argv[i] = (char *)at;
	}
	davy_engine_identify(&look, &facts);
	return facts.engine != DAVY_ENGINE_NONE && facts.engine != DAVY_ENGINE_GENERIC;
}

static void stages_started(struct davy_start_process *p, const struct davy_start_step *step)
{
	const char *path = davy_step_variable(step, "LD_LIBRARY_PATH");
	const char *preload = davy_step_variable(step, "LD_PRELOAD");

	p->parent = step->other;
	p->execs++;
	p->began_ns = step->at_ns;
	p->libraries = 0;
	p->open_call = 0;
	p->loading_depth = 0;
	p->last_error = 0;
	p->stage = DAVY_STAGE_EXEC;
	memset(p->headway, 0, sizeof(p->headway));
	memset(p->devices, 0, sizeof(p->devices));
	davy_keep(p->name, sizeof(p->name), davy_step_base(step->path));
	davy_keep(p->library_path, sizeof(p->library_path), path ? path : "");
	davy_keep(p->preload, sizeof(p->preload), preload ? preload : "");
	p->engine = stages_is_engine(step);
}

static void stages_forked(struct davy_stages *s, const struct davy_start_process *p,
			  const struct davy_start_step *step)
{
	struct davy_start_process *child = davy_stages_get(s, step->other);

	if (!child || child == p)
		return;
	child->parent = step->pid;
	memcpy(child->name, p->name, sizeof(child->name));
	memcpy(child->library_path, p->library_path, sizeof(child->library_path));
	memcpy(child->preload, p->preload, sizeof(child->preload));
}

/* Ended on purpose if the sender is in the same tree: an engine ends its runner. */
static void stages_ended(struct davy_stages *s, struct davy_start_process *p,
			 const struct davy_start_step *step)
{
	int sig = step->code & 0x7f;

	p->ended_ns = step->at_ns ? step->at_ns : 1;
	p->status = step->code;
	if (!sig || sig != p->signal || !p->sender || p->sender == p->pid)
		return;
	p->ended_on_purpose = davy_stages_process(s, p->sender) != NULL;
}

static void stages_signalled(struct davy_start_process *p, const struct davy_start_step *step)
{
	p->signal = step->code;
	p->sender = step->other;
	davy_keep(p->sender_name, sizeof(p->sender_name), step->path);
}

void davy_stages_step(struct davy_stages *s, const struct davy_start_step *step)
{
	struct davy_start_process *p;

	s->last_ns = step->at_ns;
	if (!s->began_ns)
		s->began_ns = step->at_ns;
	p = davy_stages_get(s, step->pid);
	if (!p)
		return;
	switch (step->kind) {
	case DAVY_STEP_FORK:
		stages_forked(s, p, step);
		break;
	case DAVY_STEP_EXEC:
		stages_started(p, step);
		break;
	case DAVY_STEP_EXIT:
		stages_ended(s, p, step);
		break;
	case DAVY_STEP_OPEN:
		davy_stages_open(s, p, step);
		break;
	case DAVY_STEP_MAP:
		davy_stages_map(s, p, step);
		break;
	case DAVY_STEP_CALL:
		davy_stages_call(p, step);
		break;
	case DAVY_STEP_RETURN:
		davy_stages_return(s, p, step);
		break;
	case DAVY_STEP_LINK_ERROR:
		davy_stages_link_error(s, p, step);
		break;
	case DAVY_STEP_SIGNAL:
		stages_signalled(p, step);
		break;
	default:
		break;
	}
}

const char *davy_cause_name(enum davy_cause_kind kind)
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

	return kind < DAVY_CAUSE_COUNT ? names[kind] : "none";
}
