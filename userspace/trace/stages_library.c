/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Library searches and loads, messages of the dynamic linker, and device nodes. */
#include <errno.h>
#include <string.h>

#include "trace/stages_state.h"

#define MISSING	  "cannot open shared object file"
#define UNDEFINED "undefined symbol: "

static enum davy_family family_of(const char *library)
{
	int known = davy_known_library(library);

	return known < 0 ? DAVY_FAMILY_NONE : davy_known_libraries[known].family;
}

const struct davy_library_search *davy_stages_search(const struct davy_stages *s, uint32_t pid,
						     const char *name)
{
	const char *base = davy_step_base(name);

	for (size_t i = 0; i < DAVY_STAGES_SEARCHES; i++)
		if (s->search[i].pid == pid &&
		    !strncmp(s->search[i].name, base, DAVY_STAGES_NAME - 1))
			return &s->search[i];
	return NULL;
}

/* Its entry, or the least recently used one. */
static struct davy_library_search *stages_library_search(struct davy_stages *s, uint32_t pid,
							 const char *name)
{
	struct davy_library_search *oldest = &s->search[0], *found;

	found = (struct davy_library_search *)davy_stages_search(s, pid, name);
	if (found)
		return found;
	for (size_t i = 1; i < DAVY_STAGES_SEARCHES && oldest->pid; i++)
		if (!s->search[i].pid || s->search[i].touched_ns < oldest->touched_ns)
			oldest = &s->search[i];
	memset(oldest, 0, sizeof(*oldest));
	oldest->pid = pid;
	davy_keep(oldest->name, sizeof(oldest->name), davy_step_base(name));
	return oldest;
}

static void stages_library_missed(struct davy_stages *s, const struct davy_start_step *step)
{
	struct davy_library_search *f = stages_library_search(s, step->pid, step->path);

	f->touched_ns = step->at_ns;
	f->places++;
	if (f->kept < DAVY_STAGES_PATHS)
		davy_keep(f->path[f->kept++], DAVY_STAGES_PATH, step->path);
}

static enum davy_family family_of_node(const char *node)
{
	if (!strncmp(node, "/dev/nvidia", 11))
		return DAVY_FAMILY_CUDA;
	return !strcmp(node, "/dev/kfd") ? DAVY_FAMILY_HSA : DAVY_FAMILY_VULKAN;
}

static void stages_library_node(struct davy_stages *s, const struct davy_start_step *step)
{
	struct davy_cause *c;

	if (step->code >= 0)
		return;
	for (size_t i = 0; i < s->cause_count; i++)
		if (s->cause[i].kind == DAVY_CAUSE_NODE_REFUSED && s->cause[i].pid == step->pid &&
		    s->cause[i].code == step->code && !strcmp(s->cause[i].what, step->path))
			return;
	c = davy_stages_cause(s, DAVY_CAUSE_NODE_REFUSED, DAVY_STAGE_DEVICES,
			      family_of_node(step->path), step);
	c->code = step->code;
	davy_keep(c->what, sizeof(c->what), step->path);
}

void davy_stages_open(struct davy_stages *s, struct davy_start_process *p,
		      const struct davy_start_step *step)
{
	int known;

	if (davy_step_is_node(step->path)) {
		stages_library_node(s, step);
		return;
	}
	if (!davy_step_is_library(step->path))
		return;
	davy_stages_raise(p, DAVY_STAGE_LIBRARY);
	known = davy_known_library(step->path);
	if (known >= 0)
		davy_stages_headway(p, davy_known_libraries[known].family, DAVY_HEADWAY_LOOKED);
	if (step->code < 0)
		stages_library_missed(s, step);
	else if (known >= 0 && !s->found[known][0])
		davy_keep(s->found[known], DAVY_STAGES_PATH, step->path);
}

/* "path" is the resolved name of the file; the name before links is in the OPEN step. */
void davy_stages_map(struct davy_stages *s, struct davy_start_process *p,
		     const struct davy_start_step *step)
{
	int known = davy_known_library(step->path);

	(void)s;
	if (known < 0 || step->code < 0)
		return;
	p->libraries |= 1U << known;
	p->engine |= davy_known_libraries[known].family == DAVY_FAMILY_GGML;
	davy_stages_headway(p, davy_known_libraries[known].family, DAVY_HEADWAY_LOADED);
}

static const char *stages_library_loading(const struct davy_start_process *p,
					  const struct davy_start_step *step)
{
	if (!p->loading_depth || p->loading_tid != step->tid)
		return NULL;
	return p->loading[p->loading_depth - 1];
}

static void stages_library_missing(struct davy_stages *s, struct davy_start_process *p,
				   const struct davy_start_step *step)
{
	const char *outer = stages_library_loading(p, step);
	enum davy_family family = family_of(outer ? outer : step->path);
	struct davy_cause *c;

	if (family == DAVY_FAMILY_NONE)
		family = family_of(step->path);
	davy_stages_headway(p, family, DAVY_HEADWAY_LOOKED);
	if (outer && strcmp(davy_step_base(outer), davy_step_base(step->path)) != 0) {
		c = davy_stages_cause(s, DAVY_CAUSE_DEPENDENCY_MISSING, DAVY_STAGE_LIBRARY, family,
				      step);
		davy_keep(c->of, sizeof(c->of), outer);
	} else {
		c = davy_stages_cause(s, DAVY_CAUSE_LIBRARY_MISSING, DAVY_STAGE_LIBRARY, family,
				      step);
		if (!outer)
			davy_keep(c->of, sizeof(c->of), p->name);
	}
	c->code = step->code ? -step->code : -ENOENT;
	davy_keep(c->what, sizeof(c->what), step->path);
}

/* Within dlopen; ggml_backend_load alone also looks up symbols by name. */
static bool is_opening(const struct davy_start_process *p, const struct davy_start_step *step)
{
	const struct davy_function *f;

	if (!stages_library_loading(p, step))
		return false;
	f = davy_function_at(p->loader[p->loading_depth - 1]);
	return f && f->family == DAVY_FAMILY_NONE;
}

/* Vulkan's loader and ggml look up optional symbols. */
static bool may_lack(enum davy_family family, const char *symbol)
{
	return family == DAVY_FAMILY_NONE || family == DAVY_FAMILY_VULKAN ||
	       !strcmp(symbol, "ggml_backend_score");
}

/* "undefined symbol: NAME" or "undefined symbol: NAME, version V". */
static void stages_library_undefined(struct davy_stages *s, const struct davy_start_process *p,
				     const struct davy_start_step *step)
{
	const char *name = step->text + strlen(UNDEFINED);
	bool opening = is_opening(p, step);
	enum davy_family family = family_of(opening ? stages_library_loading(p, step) : step->path);
	struct davy_cause *c;

	if (family == DAVY_FAMILY_NONE)
		family = family_of(step->path);
	if (!opening && may_lack(family, name))
		family = DAVY_FAMILY_NONE; /* reported if it ends the program */
	c = davy_stages_cause(s, DAVY_CAUSE_SYMBOL_UNDEFINED, DAVY_STAGE_LIBRARY, family, step);
	davy_keep(c->what, sizeof(c->what), name);
	c->what[strcspn(c->what, ",")] = 0;
	davy_keep(c->of, sizeof(c->of), step->path[0] ? step->path : p->name);
	davy_keep(c->detail, sizeof(c->detail),
		  opening ? "while it was loaded" : "looked up by name");
}

void davy_stages_link_error(struct davy_stages *s, struct davy_start_process *p,
			    const struct davy_start_step *step)
{
	struct davy_cause *c;

	if (!strncmp(step->text, MISSING, strlen(MISSING))) {
		stages_library_missing(s, p, step);
	} else if (!strncmp(step->text, UNDEFINED, strlen(UNDEFINED))) {
		stages_library_undefined(s, p, step);
	} else {
		c = davy_stages_cause(s, DAVY_CAUSE_LIBRARY_UNUSABLE, DAVY_STAGE_LIBRARY,
				      family_of(step->path), step);
		davy_keep(c->what, sizeof(c->what), step->path);
		davy_keep(c->detail, sizeof(c->detail), step->text);
	}
	p->last_error = (int)s->cause_count;
}
