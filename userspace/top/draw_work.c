/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workloads: engine, model, backend, context, speed, memory, alarms, breaker, what is in force. */
#include "top/top.h"

#include <string.h>

#include "lib/message.h"

#define MODEL_COL 67

static void work_header(const struct davy_top *top, struct davy_canvas *c, int row)
{
	bool here = top->panel == DAVY_TOP_WORKLOADS;

	davy_canvas_format(c, row, 0, here ? DAVY_STYLE_TITLE : DAVY_STYLE_DIM,
			   "%sPID     WORK  ENGINE        BACKEND      CONTEXT     SPEED     MiB  "
			   "L MODEL",
			   here ? ">" : " ");
}

static void work_context(const json_t *p, char *buf, size_t size)
{
	long long context = (long long)davy_message_number(p, "context", 0);

	if (json_object_get(p, "depth"))
		snprintf(buf, size, "%lld/%lld", (long long)davy_message_number(p, "depth", 0),
			 context);
	else if (context)
		snprintf(buf, size, "%lld", context);
	else
		snprintf(buf, size, "-");
}

static void work_speed(const struct davy_top_work *w, char *buf, size_t size)
{
	if (w->unit[0])
		snprintf(buf, size, "%.1f %s", w->speed, w->unit);
	else
		snprintf(buf, size, "-");
}

static void work_row(const struct davy_top_work *w, struct davy_canvas *c, int row)
{
	enum davy_style style = davy_top_level_style(w->level);
	char workload[24] = "-", context[48], speed[32];

	if (w->workload)
		snprintf(workload, sizeof(workload), "%lld", (long long)w->workload);
	work_context(w->process, context, sizeof(context));
	work_speed(w, speed, sizeof(speed));
	davy_canvas_format(c, row, 1, DAVY_STYLE_PLAIN, "%-7lld %-5s", (long long)w->pid, workload);
	davy_canvas_field(c, row, 15, 13, DAVY_STYLE_PLAIN,
			  davy_message_text(w->process, "engine"));
	davy_canvas_field(c, row, 29, 8, DAVY_STYLE_PLAIN,
			  davy_message_text(w->process, "backend"));
	davy_canvas_format(c, row, 37, DAVY_STYLE_PLAIN, "%12s %9s %7lld", context, speed,
			   (long long)w->memory >> 20);
	if (w->level)
		davy_canvas_format(c, row, MODEL_COL + 1, style, "%d", w->level);
	davy_canvas_field(c, row, MODEL_COL + 3, c->cols - MODEL_COL - 3, DAVY_STYLE_PLAIN,
			  davy_message_text(w->process, "model"));
}

/* "throttle until 11:45:31 (job_stall)" */
static int work_effect(const struct davy_top *top, struct davy_canvas *c, int row, int col,
		       const json_t *effect, const json_t *process)
{
	json_int_t until_ns = davy_message_number(effect, "until_ns", 0);
	json_int_t runs = davy_message_number(process, "runs_permille", -1);
	const char *act = davy_message_text(effect, "act");
	const char *hazard = davy_message_text(effect, "hazard");
	char clock[16];

	col = davy_canvas_format(c, row, col, DAVY_STYLE_FORECAST, "%s%s", col > 6 ? ", " : "",
				 act);
	if (!strcmp(act, "throttle") && runs > 0)
		col = davy_canvas_format(c, row, col, DAVY_STYLE_FORECAST, " to %lld %%",
					 (long long)runs / 10);
	if (until_ns) {
		davy_top_clock(top, until_ns, clock, sizeof(clock));
		col = davy_canvas_format(c, row, col, DAVY_STYLE_PLAIN, " until %s", clock);
	}
	return davy_canvas_format(c, row, col, DAVY_STYLE_PLAIN, " (%s)",
				  strcmp(hazard, "none") ? hazard : "ordered");
}

static const json_t *work_workload(const struct davy_top *top, json_int_t number)
{
	const json_t *w;
	size_t i;

	json_array_foreach(json_object_get(top->answer[0], "workloads"), i, w)
	{
		if (number && davy_message_number(w, "workload", 0) == number)
			return w;
	}
	return NULL;
}

/* The breaker that is not closed for the model on its device; an empty device means any. */
static const json_t *work_breaker(const struct davy_top *top, const json_t *process)
{
	const char *model = davy_message_text(process, "model");
	const json_t *b;
	size_t i;

	json_array_foreach(json_object_get(top->answer[0], "breakers"), i, b)
	{
		if (*model && !strcmp(davy_message_text(b, "model"), model) &&
		    strcmp(davy_message_text(b, "state"), "closed") != 0)
			return b;
	}
	return NULL;
}

static int work_put_breaker(const struct davy_top *top, struct davy_canvas *c, int row, int col,
			    const json_t *b)
{
	json_int_t until_s = davy_message_number(b, "until", 0);
	json_int_t ago_s = davy_message_number(top->answer[0], "wall_s", 0) - until_s;
	char clock[16];

	col = davy_canvas_format(c, row, col, DAVY_STYLE_WARNING, "%sbreaker of %s %s",
				 col > 6 ? ", " : "", davy_message_text(b, "backend"),
				 davy_message_text(b, "state"));
	if (until_s && !strcmp(davy_message_text(b, "state"), "open")) {
		davy_top_clock(top,
			       davy_message_number(top->answer[0], "now_ns", 0) -
				       ago_s * 1000000000LL,
			       clock, sizeof(clock));
		col = davy_canvas_format(c, row, col, DAVY_STYLE_PLAIN, " until %s", clock);
	}
	return col;
}

/* The second row of a workload; returns the next row, or "row" if it has none. */
static int work_second_row(const struct davy_top *top, struct davy_canvas *c, int row,
			   const struct davy_top_work *w)
{
	const json_t *known = work_workload(top, w->workload);
	const json_t *breaker = work_breaker(top, w->process), *effect;
	const char *acting = davy_message_text(known, "acting");
	int col = 6;
	size_t i;

	json_array_foreach(json_object_get(known, "in_force"), i, effect) col =
		work_effect(top, c, row, col, effect, w->process);
	if (*acting)
		col = davy_canvas_format(c, row, col, DAVY_STYLE_FORECAST, "%s%s in progress",
					 col > 6 ? ", " : "", acting);
	if (breaker)
		col = work_put_breaker(top, c, row, col, breaker);
	return col > 6 ? row + 1 : row;
}

int davy_draw_work(const struct davy_top *top, struct davy_canvas *c, int row, int rows)
{
	size_t chosen = top->chosen[DAVY_TOP_WORKLOADS], first = 0;
	int end = row + rows;

	if (rows < 1)
		return row;
	work_header(top, c, row++);
	if (chosen >= (size_t)rows / 2 && chosen < top->work_count)
		first = chosen - (size_t)rows / 2;
	for (size_t i = first; i < top->work_count && row < end; i++) {
		work_row(&top->work[i], c, row);
		if (top->panel == DAVY_TOP_WORKLOADS && i == chosen)
			davy_canvas_mark(c, row, DAVY_STYLE_CHOSEN);
		if (++row < end)
			row = work_second_row(top, c, row, &top->work[i]);
	}
	if (!top->work_count && row < end)
		davy_canvas_put(c, row++, 1, DAVY_STYLE_DIM,
				top->filter[0] ? "no engine passes the filter" : "no engine runs");
	return row;
}
