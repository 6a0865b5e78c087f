/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/show.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/text.h"

#define SAFE	 2048
#define ARGS_MAX 1024 /* bytes of arguments in one line */
#define MS(ns)	 ((double)(ns) / 1e6)
#define INDENT	 "                                       "

bool davy_show_matters(const struct davy_start_step *step)
{
	if (step->kind != DAVY_STEP_OPEN)
		return true;
	return davy_step_is_library(step->path) || davy_step_is_node(step->path) ||
	       strstr(step->path, "/icd.d/") || strstr(step->path, "/OpenCL/vendors/");
}

static void show_begin(FILE *out, const struct davy_stages *s, const struct davy_start_step *step,
		       enum davy_stage stage)
{
	uint64_t at = step->at_ns > s->began_ns ? step->at_ns - s->began_ns : 0;

	fprintf(out, "%+12.3f ms %8" PRIu32 "  %-12s  ", MS(at), step->pid, davy_stage_name(stage));
}

static const char *show_safe(char buf[SAFE], const char *text)
{
	return davy_text_safe(buf, SAFE, text);
}

static void show_exec(FILE *out, const struct davy_stages *s, const struct davy_start_step *step)
{
	const char *at = davy_step_next_text(step->argv, step->argv_size, NULL);
	char buf[SAFE];
	size_t shown = 0;

	show_begin(out, s, step, DAVY_STAGE_EXEC);
	fprintf(out, "'%s'", show_safe(buf, step->path));
	while (at && (at = davy_step_next_text(step->argv, step->argv_size, at))) {
		shown += strlen(at) + 1;
		if (shown > ARGS_MAX) {
			fputs(" ...", out);
			break;
		}
		fprintf(out, " %s", show_safe(buf, at));
	}
	fprintf(out, " (child of %" PRIu32 ")\n", step->other);
	for (at = davy_step_next_text(step->envp, step->envp_size, NULL); at;
	     at = davy_step_next_text(step->envp, step->envp_size, at))
		if (davy_step_variable_matters(at))
			fprintf(out, INDENT "with %s\n", show_safe(buf, at));
	if (step->cut)
		fputs(INDENT "(arguments or environment are truncated)\n", out);
}

static void show_open(FILE *out, const struct davy_stages *s, const struct davy_start_step *step)
{
	const struct davy_library_search *search = davy_stages_search(s, step->pid, step->path);
	bool node = davy_step_is_node(step->path);
	char buf[SAFE];

	if (step->code < 0 && !node)
		return; /* printed at the end of the search */
	show_begin(out, s, step, node ? DAVY_STAGE_DEVICES : DAVY_STAGE_LIBRARY);
	if (step->code < 0)
		fprintf(out, "refused '%s': %s\n", show_safe(buf, step->path),
			davy_error_text(step->code));
	else if (search && search->places)
		fprintf(out, "opened '%s' (not in %" PRIu32 " other places)\n",
			show_safe(buf, step->path), search->places);
	else
		fprintf(out, "opened '%s'\n", show_safe(buf, step->path));
}

static void show_link_error(FILE *out, const struct davy_stages *s,
			    const struct davy_start_step *step)
{
	const struct davy_library_search *search = davy_stages_search(s, step->pid, step->path);
	char object[SAFE], text[SAFE];

	show_begin(out, s, step, DAVY_STAGE_LIBRARY);
	fprintf(out, "'%s': %s\n", show_safe(object, step->path), show_safe(text, step->text));
	if (!search || strstr(step->text, "cannot open") != step->text)
		return;
	for (uint32_t i = 0; i < search->kept; i++)
		fprintf(out, INDENT "not at '%s'\n", show_safe(object, search->path[i]));
	if (search->places > search->kept)
		fprintf(out, INDENT "not in %" PRIu32 " other places\n",
			search->places - search->kept);
}

static void show_return(FILE *out, const struct davy_stages *s, const struct davy_start_step *step)
{
	const struct davy_start_process *p = davy_stages_process(s, step->pid);
	const struct davy_function *f = davy_function_at(step->function);
	const char *loading = NULL;
	char buf[SAFE], result[128];

	if (!f)
		return;
	if (f->text == 0 && p && p->loading_depth && p->loading_tid == step->tid)
		loading = p->loading[p->loading_depth - 1];
	if (f->family == DAVY_FAMILY_NONE && davy_result_ok(f->result, step->result) &&
	    (!loading || davy_known_library(loading) < 0))
		return; /* success: its open was printed */
	show_begin(out, s, step, f->stage);
	fputs(f->symbol, out);
	if (loading)
		fprintf(out, "('%s')", show_safe(buf, loading));
	if (f->result != DAVY_RESULT_NONE)
		fprintf(out, " = %s",
			davy_result_text(f->result, step->result, result, sizeof(result)));
	if (f->count != DAVY_NO_ARGUMENT && davy_result_ok(f->result, step->result))
		fprintf(out, ", %" PRIu32 " devices", step->count);
	fprintf(out, " (%.3f ms)\n", MS(step->duration_ns));
}

static void show_exit(FILE *out, const struct davy_stages *s, const struct davy_start_step *step)
{
	const struct davy_start_process *p = davy_stages_process(s, step->pid);
	const struct davy_function *f =
		p && p->open_call ? davy_function_at(p->open_call - 1) : NULL;
	const char *name = WIFSIGNALED(step->code) ? sigabbrev_np(WTERMSIG(step->code)) : NULL;
	uint64_t age = p && step->at_ns > p->began_ns ? step->at_ns - p->began_ns : 0;
	char buf[SAFE];

	show_begin(out, s, step, p ? p->stage : DAVY_STAGE_EXEC);
	fprintf(out, "'%s' ended", show_safe(buf, p ? p->name : ""));
	if (WIFSIGNALED(step->code))
		fprintf(out, " by SIG%s", name ? name : "?");
	else
		fprintf(out, " with status %d", WEXITSTATUS(step->code));
	fprintf(out, ", %.3f ms after its start", MS(age));
	if (WIFSIGNALED(step->code) && p && p->signal == WTERMSIG(step->code) &&
	    p->sender != p->pid)
		fprintf(out, ", sent by '%s'%s",
			p->sender ? show_safe(buf, p->sender_name) : "the kernel",
			p->ended_on_purpose
				? " (a process of the same start, so this is not a crash)"
				: "");
	if (f)
		fprintf(out, ", in %s", f->symbol);
	fputc('\n', out);
}

static void show_map(FILE *out, const struct davy_stages *s, const struct davy_start_step *step)
{
	char buf[SAFE];

	if (step->code >= 0)
		return;
	show_begin(out, s, step, DAVY_STAGE_LIBRARY);
	fprintf(out, "'%s' cannot be mapped as code: %s\n", show_safe(buf, step->path),
		davy_error_text(step->code));
}

void davy_show_step(FILE *out, const struct davy_stages *s, const struct davy_start_step *step)
{
	switch (step->kind) {
	case DAVY_STEP_EXEC:
		show_exec(out, s, step);
		break;
	case DAVY_STEP_OPEN:
		show_open(out, s, step);
		break;
	case DAVY_STEP_MAP:
		show_map(out, s, step);
		break;
	case DAVY_STEP_LINK_ERROR:
		show_link_error(out, s, step);
		break;
	case DAVY_STEP_RETURN:
		show_return(out, s, step);
		break;
	case DAVY_STEP_EXIT:
		show_exit(out, s, step);
		break;
	default:
		break;
	}
}

void davy_show_outcome(FILE *out, const struct davy_stages *s, const struct davy_start_outcome *o)
{
	char buf[DAVY_CAUSE_TEXT];

	fprintf(out, "\nreached: %s\n", davy_stage_name(o->reached));
	if (o->cause.kind == DAVY_CAUSE_NONE && o->unused)
		fprintf(out,
			"stopped: no, but the engine computes on the CPU: %s reported %" PRIu32
			" devices, but none was opened\n",
			davy_family_name(o->family), o->devices);
	else if (o->cause.kind == DAVY_CAUSE_NONE && o->family)
		fprintf(out, "stopped: no; GPU by %s, %" PRIu32 " devices\n",
			davy_family_name(o->family), o->devices);
	else if (o->cause.kind == DAVY_CAUSE_NONE)
		fputs("stopped: no\n", out);
	else
		fprintf(out, "%s: %s\nbecause: %s\n",
			o->complete ? "without a GPU, stopped at" : "stopped at",
			davy_stage_name(o->cause.stage), davy_show_cause(s, &o->cause, buf));
	for (size_t i = 0; i < o->also_count && o->cause.kind != DAVY_CAUSE_NONE; i++)
		fprintf(out, "also: %s\n", davy_show_cause(s, &s->cause[o->also[i]], buf));
	if (o->incomplete)
		fputs("some steps were lost: the list is incomplete\n", out);
}
