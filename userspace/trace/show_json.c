/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <sys/wait.h>

#include "lib/text.h"
#include "trace/show.h"

#define SAFE 8192

static void show_json_set_text(json_t *o, const char *key, const char *text)
{
	char buf[SAFE];

	json_object_set_new(o, key, json_string(davy_text_safe(buf, sizeof(buf), text)));
}

static void show_json_set_number(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_integer((json_int_t)(value & INT64_MAX)));
}

static void set_error(json_t *o, int32_t code)
{
	const char *name = code < 0 && code > -4096 ? strerrorname_np(-code) : NULL;

	if (code < 0)
		show_json_set_text(o, "error", name ? name : "unknown");
}

static json_t *show_json_texts(const char *list, size_t size, bool all)
{
	json_t *array = json_array();
	char buf[SAFE];

	for (const char *at = davy_step_next_text(list, size, NULL); at;
	     at = davy_step_next_text(list, size, at))
		if (all || davy_step_variable_matters(at))
			json_array_append_new(array,
					      json_string(davy_text_safe(buf, sizeof(buf), at)));
	return array;
}

static void add_call(json_t *o, const struct davy_start_step *step)
{
	const struct davy_function *f = davy_function_at(step->function);
	char result[128];

	if (!f)
		return;
	show_json_set_text(o, "function", f->symbol);
	show_json_set_text(o, "library", f->library);
	show_json_set_text(o, "family", davy_family_name(f->family));
	show_json_set_text(o, "stage", davy_stage_name(f->stage));
	if (step->kind == DAVY_STEP_CALL) {
		if (f->text != DAVY_NO_ARGUMENT)
			show_json_set_text(o, "argument", step->path);
		if (f->flags & DAVY_CALL_SIZED)
			show_json_set_number(o, "bytes", step->size);
		return;
	}
	show_json_set_number(o, "duration_ns", step->duration_ns);
	if (f->result == DAVY_RESULT_NONE)
		return;
	json_object_set_new(o, "ok", json_boolean(davy_result_ok(f->result, step->result)));
	show_json_set_text(o, "result",
			   davy_result_text(f->result, step->result, result, sizeof(result)));
	if (f->count != DAVY_NO_ARGUMENT && davy_result_ok(f->result, step->result))
		show_json_set_number(o, "devices", step->count);
}

static void add_exit(json_t *o, const struct davy_stages *s, const struct davy_start_step *step)
{
	const struct davy_start_process *p = davy_stages_process(s, step->pid);

	if (WIFSIGNALED(step->code))
		show_json_set_number(o, "signal", (uint64_t)WTERMSIG(step->code));
	else
		show_json_set_number(o, "status", (uint64_t)WEXITSTATUS(step->code));
	if (!p)
		return;
	show_json_set_text(o, "name", p->name);
	show_json_set_text(o, "stage", davy_stage_name(p->stage));
	if (step->at_ns > p->began_ns)
		show_json_set_number(o, "after_ns", step->at_ns - p->began_ns);
	json_object_set_new(o, "on_purpose", json_boolean(p->ended_on_purpose));
}

static void show_json_add(json_t *o, const struct davy_stages *s,
			  const struct davy_start_step *step)
{
	switch (step->kind) {
	case DAVY_STEP_FORK:
		show_json_set_number(o, "child", step->other);
		break;
	case DAVY_STEP_EXEC:
		show_json_set_text(o, "path", step->path);
		show_json_set_number(o, "parent", step->other);
		json_object_set_new(o, "argv", show_json_texts(step->argv, step->argv_size, true));
		json_object_set_new(o, "environment",
				    show_json_texts(step->envp, step->envp_size, false));
		if (step->cut)
			json_object_set_new(o, "cut", json_true());
		break;
	case DAVY_STEP_OPEN:
	case DAVY_STEP_MAP:
		show_json_set_text(o, step->kind == DAVY_STEP_OPEN ? "path" : "file", step->path);
		set_error(o, step->code);
		break;
	case DAVY_STEP_CALL:
	case DAVY_STEP_RETURN:
		add_call(o, step);
		break;
	case DAVY_STEP_LINK_ERROR:
		show_json_set_text(o, "object", step->path);
		show_json_set_text(o, "message", step->text);
		break;
	case DAVY_STEP_SIGNAL:
		show_json_set_number(o, "signal", (uint64_t)step->code);
		show_json_set_number(o, "sender", step->other);
		show_json_set_text(o, "sender_name", step->path);
		break;
	case DAVY_STEP_EXIT:
		add_exit(o, s, step);
		break;
	default:
		break;
	}
}

json_t *davy_show_step_json(const struct davy_stages *s, const struct davy_start_step *step)
{
	json_t *o = json_object();

	show_json_set_text(o, "type", "step");
	show_json_set_text(o, "step", davy_step_kind_name(step->kind));
	show_json_set_number(o, "at_ns", step->at_ns > s->began_ns ? step->at_ns - s->began_ns : 0);
	show_json_set_number(o, "pid", step->pid);
	show_json_set_number(o, "tid", step->tid);
	show_json_add(o, s, step);
	return o;
}

static json_t *cause_json(const struct davy_stages *s, const struct davy_cause *c)
{
	const struct davy_library_search *search = davy_stages_search(s, c->pid, c->what);
	char text[DAVY_CAUSE_TEXT], buf[SAFE];
	json_t *o = json_object(), *paths;

	show_json_set_text(o, "cause", davy_cause_name(c->kind));
	show_json_set_text(o, "stage", davy_stage_name(c->stage));
	show_json_set_text(o, "family", davy_family_name(c->family));
	show_json_set_number(o, "pid", c->pid);
	show_json_set_text(o, "what", c->what);
	show_json_set_text(o, "of", c->of);
	show_json_set_text(o, "detail", c->detail);
	json_object_set_new(o, "code", json_integer(c->code));
	json_object_set_new(o, "text", json_string(davy_show_cause(s, c, text)));
	if (!search ||
	    (c->kind != DAVY_CAUSE_LIBRARY_MISSING && c->kind != DAVY_CAUSE_DEPENDENCY_MISSING))
		return o;
	paths = json_array();
	for (uint32_t i = 0; i < search->kept; i++)
		json_array_append_new(
			paths, json_string(davy_text_safe(buf, sizeof(buf), search->path[i])));
	json_object_set_new(o, "places", paths);
	return o;
}

json_t *davy_show_outcome_json(const struct davy_stages *s, const struct davy_start_outcome *o)
{
	json_t *json = json_object(), *also = json_array();

	show_json_set_text(json, "type", "outcome");
	show_json_set_text(json, "reached", davy_stage_name(o->reached));
	json_object_set_new(json, "complete", json_boolean(o->complete));
	show_json_set_text(json, "family", davy_family_name(o->family));
	show_json_set_number(json, "devices", o->devices);
	json_object_set_new(json, "unused", json_boolean(o->unused));
	json_object_set_new(json, "incomplete", json_boolean(o->incomplete));
	if (o->cause.kind != DAVY_CAUSE_NONE)
		json_object_set_new(json, "stopped", cause_json(s, &o->cause));
	for (size_t i = 0; i < o->also_count; i++)
		json_array_append_new(also, cause_json(s, &s->cause[o->also[i]]));
	json_object_set_new(json, "also", also);
	return json;
}
