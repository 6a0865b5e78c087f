/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls into runtimes, and their results. */
#include <string.h>

#include "trace/stages_state.h"

#define DEPTH_MAX (sizeof(((struct davy_start_process *)0)->loading) / DAVY_STAGES_PATH)

/* dlopen and ggml_backend_load cause the errors that occur during their call. */
static bool stages_call_loads(const struct davy_function *f)
{
	return f->stage == DAVY_STAGE_LIBRARY && f->text == 0;
}

static void loading_begins(struct davy_start_process *p, const struct davy_start_step *step)
{
	if (!p->loading_depth)
		p->loading_tid = step->tid;
	if (p->loading_tid != step->tid || p->loading_depth == DEPTH_MAX)
		return; /* another thread is loading: its errors are separate */
	p->loader[p->loading_depth] = step->function;
	davy_keep(p->loading[p->loading_depth++], DAVY_STAGES_PATH, step->path);
}

static void loading_ends(struct davy_start_process *p, const struct davy_start_step *step)
{
	if (p->loading_depth && p->loading_tid == step->tid)
		p->loading_depth--;
}

void davy_stages_call(struct davy_start_process *p, const struct davy_start_step *step)
{
	const struct davy_function *f = davy_function_at(step->function);

	if (!f)
		return;
	davy_stages_raise(p, f->stage == DAVY_STAGE_GRAPH ? DAVY_STAGE_MEMORY : f->stage);
	if (stages_call_loads(f))
		loading_begins(p, step);
	if (f->stage < DAVY_STAGE_INIT)
		return;
	if (f->family != DAVY_FAMILY_GGML)
		davy_stages_headway(p, f->family, DAVY_HEADWAY_ENTERED);
	p->open_call = step->function + 1;
	p->open_call_ns = step->at_ns;
}

static enum davy_cause_kind failure_of(enum davy_stage stage)
{
	switch (stage) {
	case DAVY_STAGE_INIT:
		return DAVY_CAUSE_INIT_FAILED;
	case DAVY_STAGE_MEMORY:
		return DAVY_CAUSE_MEMORY_FAILED;
	case DAVY_STAGE_GRAPH:
		return DAVY_CAUSE_GRAPH_FAILED;
	case DAVY_STAGE_LIBRARY:
		return DAVY_CAUSE_BACKEND_REFUSED;
	default:
		return DAVY_CAUSE_QUERY_FAILED;
	}
}

static void stages_call_failed(struct davy_stages *s, const struct davy_start_process *p,
			       const struct davy_function *f, const struct davy_start_step *step)
{
	struct davy_cause *c;

	if (f->stage == DAVY_STAGE_LIBRARY && f->family != DAVY_FAMILY_GGML)
		return; /* dlopen: the linker reported the error */
	c = davy_stages_cause(s, failure_of(f->stage), f->stage, f->family, step);
	davy_keep(c->what, sizeof(c->what), f->symbol);
	davy_result_text(f->result, step->result, c->detail, sizeof(c->detail));
	c->code = (int32_t)(uint32_t)step->result;
	davy_keep(c->of, sizeof(c->of), f->library);
	if (stages_call_loads(f) && p->loading_depth)
		davy_keep(c->of, sizeof(c->of), p->loading[p->loading_depth - 1]);
}

static void stages_call_counted(struct davy_stages *s, struct davy_start_process *p,
				const struct davy_function *f, const struct davy_start_step *step)
{
	struct davy_cause *c;

	if (step->count) {
		p->devices[f->family] = step->count;
		davy_stages_headway(p, f->family, DAVY_HEADWAY_DEVICES);
		return;
	}
	c = davy_stages_cause(s, DAVY_CAUSE_NO_DEVICE, DAVY_STAGE_DEVICES, f->family, step);
	davy_keep(c->what, sizeof(c->what), f->symbol);
	davy_keep(c->of, sizeof(c->of), f->library);
}

static void stages_call_succeeded(struct davy_stages *s, struct davy_start_process *p,
				  const struct davy_function *f, const struct davy_start_step *step)
{
	if (f->stage == DAVY_STAGE_GRAPH)
		davy_stages_raise(p, DAVY_STAGE_GRAPH);
	if (f->family == DAVY_FAMILY_GGML || f->family == DAVY_FAMILY_NONE)
		return;
	if (f->stage == DAVY_STAGE_INIT)
		davy_stages_headway(p, f->family, DAVY_HEADWAY_STARTED);
	else if (f->stage == DAVY_STAGE_MEMORY)
		davy_stages_headway(p, f->family, DAVY_HEADWAY_MEMORY);
	else if (f->flags & DAVY_CALL_OPENS)
		davy_stages_headway(p, f->family, DAVY_HEADWAY_OPENED);
	else if (f->count != DAVY_NO_ARGUMENT)
		stages_call_counted(s, p, f, step);
}

void davy_stages_return(struct davy_stages *s, struct davy_start_process *p,
			const struct davy_start_step *step)
{
	const struct davy_function *f = davy_function_at(step->function);

	if (!f)
		return;
	if (p->open_call == step->function + 1)
		p->open_call = 0;
	if (davy_result_ok(f->result, step->result))
		stages_call_succeeded(s, p, f, step);
	else
		stages_call_failed(s, p, f, step);
	if (stages_call_loads(f))
		loading_ends(p, step);
}
