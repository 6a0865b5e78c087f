/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Libraries looked for, found, loaded, and what the dynamic linker says of them; device nodes. */
#include <errno.h>
#include <string.h>

#include "trace/stages_state.h"

#define MISSING	  "cannot open shared object file"
#define UNDEFINED "undefined symbol: "

static enum dl_family family_of(const char *library)
{
	int known = dl_known_library(library);

	return known < 0 ? DL_FAMILY_NONE : dl_known_libraries[known].family;
}

const struct dl_library_search *dl_stages_search(const struct dl_stages *s, uint32_t pid,
						 const char *name)
{
	const char *base = dl_step_base(name);

	for (size_t i = 0; i < DL_STAGES_SEARCHES; i++)
		if (s->search[i].pid == pid &&
		    !strncmp(s->search[i].name, base, DL_STAGES_NAME - 1))
			return &s->search[i];
	return NULL;
}

/* Its entry, or the one that was not touched for longest. */
static struct dl_library_search *search(struct dl_stages *s, uint32_t pid, const char *name)
{
	struct dl_library_search *oldest = &s->search[0], *found;

	found = (struct dl_library_search *)dl_stages_search(s, pid, name);
	if (found)
		return found;
	for (size_t i = 1; i < DL_STAGES_SEARCHES && oldest->pid; i++)
		if (!s->search[i].pid || s->search[i].touched_ns < oldest->touched_ns)
			oldest = &s->search[i];
	memset(oldest, 0, sizeof(*oldest));
	oldest->pid = pid;
	dl_keep(oldest->name, sizeof(oldest->name), dl_step_base(name));
	return oldest;
}

static void missed(struct dl_stages *s, const struct dl_start_step *step)
{
	struct dl_library_search *f = search(s, step->pid, step->path);

	f->touched_ns = step->at_ns;
	f->places++;
	if (f->kept < DL_STAGES_PATHS)
		dl_keep(f->path[f->kept++], DL_STAGES_PATH, step->path);
}

static enum dl_family family_of_node(const char *node)
{
	if (!strncmp(node, "/dev/nvidia", 11))
		return DL_FAMILY_CUDA;
	return !strcmp(node, "/dev/kfd") ? DL_FAMILY_HSA : DL_FAMILY_VULKAN;
}

static void node(struct dl_stages *s, const struct dl_start_step *step)
{
	struct dl_cause *c;

	if (step->code >= 0)
		return;
	for (size_t i = 0; i < s->cause_count; i++)
		if (s->cause[i].kind == DL_CAUSE_NODE_REFUSED && s->cause[i].pid == step->pid &&
		    s->cause[i].code == step->code && !strcmp(s->cause[i].what, step->path))
			return;
	c = dl_stages_cause(s, DL_CAUSE_NODE_REFUSED, DL_STAGE_DEVICES, family_of_node(step->path),
			    step);
	c->code = step->code;
	dl_keep(c->what, sizeof(c->what), step->path);
}

void dl_stages_open(struct dl_stages *s, struct dl_start_process *p,
		    const struct dl_start_step *step)
{
	int known;

	if (dl_step_is_node(step->path)) {
		node(s, step);
		return;
	}
	if (!dl_step_is_library(step->path))
		return;
	dl_stages_raise(p, DL_STAGE_LIBRARY);
	known = dl_known_library(step->path);
	if (known >= 0)
		dl_stages_headway(p, dl_known_libraries[known].family, DL_HEADWAY_LOOKED);
	if (step->code < 0)
		missed(s, step);
	else if (known >= 0 && !s->found[known][0])
		dl_keep(s->found[known], DL_STAGES_PATH, step->path);
}

/*
 * "path" is the file's own name here, which a link may have hidden: open tells the name asked
 * for.
 */
void dl_stages_map(struct dl_stages *s, struct dl_start_process *p,
		   const struct dl_start_step *step)
{
	int known = dl_known_library(step->path);

	(void)s;
	if (known < 0 || step->code < 0)
		return;
	p->libraries |= 1U << known;
	p->engine |= dl_known_libraries[known].family == DL_FAMILY_GGML;
	dl_stages_headway(p, dl_known_libraries[known].family, DL_HEADWAY_LOADED);
}

static const char *loading(const struct dl_start_process *p, const struct dl_start_step *step)
{
	if (!p->loading_depth || p->loading_tid != step->tid)
		return NULL;
	return p->loading[p->loading_depth - 1];
}

static void missing(struct dl_stages *s, struct dl_start_process *p,
		    const struct dl_start_step *step)
{
	const char *outer = loading(p, step);
	enum dl_family family = family_of(outer ? outer : step->path);
	struct dl_cause *c;

	if (family == DL_FAMILY_NONE)
		family = family_of(step->path);
	dl_stages_headway(p, family, DL_HEADWAY_LOOKED);
	if (outer && strcmp(dl_step_base(outer), dl_step_base(step->path)) != 0) {
		c = dl_stages_cause(s, DL_CAUSE_DEPENDENCY_MISSING, DL_STAGE_LIBRARY, family, step);
		dl_keep(c->of, sizeof(c->of), outer);
	} else {
		c = dl_stages_cause(s, DL_CAUSE_LIBRARY_MISSING, DL_STAGE_LIBRARY, family, step);
		if (!outer)
			dl_keep(c->of, sizeof(c->of), p->name);
	}
	c->code = step->code ? -step->code : -ENOENT;
	dl_keep(c->what, sizeof(c->what), step->path);
}

/* Within dlopen, and not just within ggml_backend_load, which asks for symbols by name, too. */
static bool is_opening(const struct dl_start_process *p, const struct dl_start_step *step)
{
	const struct dl_function *f;

	if (!loading(p, step))
		return false;
	f = dl_function_at(p->loader[p->loading_depth - 1]);
	return f && f->family == DL_FAMILY_NONE;
}

/* Vulkan's loader and ggml ask for symbols that a library may do without. */
static bool may_lack(enum dl_family family, const char *symbol)
{
	return family == DL_FAMILY_NONE || family == DL_FAMILY_VULKAN ||
	       !strcmp(symbol, "ggml_backend_score");
}

/* "undefined symbol: NAME" or "undefined symbol: NAME, version V". */
static void undefined(struct dl_stages *s, const struct dl_start_process *p,
		      const struct dl_start_step *step)
{
	const char *name = step->text + strlen(UNDEFINED);
	bool opening = is_opening(p, step);
	enum dl_family family = family_of(opening ? loading(p, step) : step->path);
	struct dl_cause *c;

	if (family == DL_FAMILY_NONE)
		family = family_of(step->path);
	if (!opening && may_lack(family, name))
		family = DL_FAMILY_NONE; /* told if it ends the program */
	c = dl_stages_cause(s, DL_CAUSE_SYMBOL_UNDEFINED, DL_STAGE_LIBRARY, family, step);
	dl_keep(c->what, sizeof(c->what), name);
	c->what[strcspn(c->what, ",")] = 0;
	dl_keep(c->of, sizeof(c->of), step->path[0] ? step->path : p->name);
	dl_keep(c->detail, sizeof(c->detail),
		opening ? "while it was loaded" : "asked for by name");
}

void dl_stages_link_error(struct dl_stages *s, struct dl_start_process *p,
			  const struct dl_start_step *step)
{
	struct dl_cause *c;

	if (!strncmp(step->text, MISSING, strlen(MISSING))) {
		missing(s, p, step);
	} else if (!strncmp(step->text, UNDEFINED, strlen(UNDEFINED))) {
		undefined(s, p, step);
	} else {
		c = dl_stages_cause(s, DL_CAUSE_LIBRARY_UNUSABLE, DL_STAGE_LIBRARY,
				    family_of(step->path), step);
		dl_keep(c->what, sizeof(c->what), step->path);
		dl_keep(c->detail, sizeof(c->detail), step->text);
	}
	p->last_error = (int)s->cause_count;
}
