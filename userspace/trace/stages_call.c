/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls into runtimes, and what they returned. */
#include <string.h>

#include "trace/stages_state.h"

#define DEPTH_MAX (sizeof(((struct dl_start_process *)0)->loading) / DL_STAGES_PATH)

/* dlopen and ggml_backend_load: what fails meanwhile fails because of them. */
static bool loads(const struct dl_function *f)
{
	return f->stage == DL_STAGE_LIBRARY && f->text == 0;
}

static void loading_begins(struct dl_start_process *p, const struct dl_start_step *step)
{
	if (!p->loading_depth)
		p->loading_tid = step->tid;
	if (p->loading_tid != step->tid || p->loading_depth == DEPTH_MAX)
		return; /* another thread loads, too: its errors stand alone */
	p->loader[p->loading_depth] = step->function;
	dl_keep(p->loading[p->loading_depth++], DL_STAGES_PATH, step->path);
}

static void loading_ends(struct dl_start_process *p, const struct dl_start_step *step)
{
	if (p->loading_depth && p->loading_tid == step->tid)
		p->loading_depth--;
}

void dl_stages_call(struct dl_start_process *p, const struct dl_start_step *step)
{
	const struct dl_function *f = dl_function_at(step->function);

	if (!f)
		return;
	dl_stages_raise(p, f->stage == DL_STAGE_GRAPH ? DL_STAGE_MEMORY : f->stage);
	if (loads(f))
		loading_begins(p, step);
	if (f->stage < DL_STAGE_INIT)
		return;
	if (f->family != DL_FAMILY_GGML)
		dl_stages_headway(p, f->family, DL_HEADWAY_ENTERED);
	p->open_call = step->function + 1;
	p->open_call_ns = step->at_ns;
}

static enum dl_cause_kind failure_of(enum dl_stage stage)
{
	switch (stage) {
	case DL_STAGE_INIT:
		return DL_CAUSE_INIT_FAILED;
	case DL_STAGE_MEMORY:
		return DL_CAUSE_MEMORY_FAILED;
	case DL_STAGE_GRAPH:
		return DL_CAUSE_GRAPH_FAILED;
	case DL_STAGE_LIBRARY:
		return DL_CAUSE_BACKEND_REFUSED;
	default:
		return DL_CAUSE_QUERY_FAILED;
	}
}

static void failed(struct dl_stages *s, const struct dl_start_process *p,
		   const struct dl_function *f, const struct dl_start_step *step)
{
	struct dl_cause *c;

	if (f->stage == DL_STAGE_LIBRARY && f->family != DL_FAMILY_GGML)
		return; /* dlopen: the linker has told why */
	c = dl_stages_cause(s, failure_of(f->stage), f->stage, f->family, step);
	dl_keep(c->what, sizeof(c->what), f->symbol);
	dl_result_text(f->result, step->result, c->detail, sizeof(c->detail));
	c->code = (int32_t)(uint32_t)step->result;
	dl_keep(c->of, sizeof(c->of), f->library);
	if (loads(f) && p->loading_depth)
		dl_keep(c->of, sizeof(c->of), p->loading[p->loading_depth - 1]);
}

static void counted(struct dl_stages *s, struct dl_start_process *p, const struct dl_function *f,
		    const struct dl_start_step *step)
{
	struct dl_cause *c;

	if (step->count) {
		p->devices[f->family] = step->count;
		dl_stages_headway(p, f->family, DL_HEADWAY_DEVICES);
		return;
	}
	c = dl_stages_cause(s, DL_CAUSE_NO_DEVICE, DL_STAGE_DEVICES, f->family, step);
	dl_keep(c->what, sizeof(c->what), f->symbol);
	dl_keep(c->of, sizeof(c->of), f->library);
}

static void succeeded(struct dl_stages *s, struct dl_start_process *p, const struct dl_function *f,
		      const struct dl_start_step *step)
{
	if (f->stage == DL_STAGE_GRAPH)
		dl_stages_raise(p, DL_STAGE_GRAPH);
	if (f->family == DL_FAMILY_GGML || f->family == DL_FAMILY_NONE)
		return;
	if (f->stage == DL_STAGE_INIT)
		dl_stages_headway(p, f->family, DL_HEADWAY_STARTED);
	else if (f->stage == DL_STAGE_MEMORY)
		dl_stages_headway(p, f->family, DL_HEADWAY_MEMORY);
	else if (f->flags & DL_CALL_OPENS)
		dl_stages_headway(p, f->family, DL_HEADWAY_OPENED);
	else if (f->count != DL_NO_ARGUMENT)
		counted(s, p, f, step);
}

void dl_stages_return(struct dl_stages *s, struct dl_start_process *p,
		      const struct dl_start_step *step)
{
	const struct dl_function *f = dl_function_at(step->function);

	if (!f)
		return;
	if (p->open_call == step->function + 1)
		p->open_call = 0;
	if (dl_result_ok(f->result, step->result))
		succeeded(s, p, f, step);
	else
		failed(s, p, f, step);
	if (loads(f))
		loading_ends(p, step);
}
