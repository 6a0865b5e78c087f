/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole screen: divides the rows among the panels. */
#include "top/top.h"

#include <stdlib.h>
#include <string.h>

#include "lib/message.h"

#define DETAILS_ROWS 400

static const char *const help[] = {
	"Keys",
	"  q         quit (the agent continues)",
	"  Tab       next panel: workloads, incidents, feed, GPUs",
	"  arrows    select a row; j and k too; PgUp and PgDn by ten",
	"  Enter     all that is known about the selected row; again: back",
	"  s         sort the workloads by level, memory, speed, pid",
	"  /         show only rows that contain a text; Enter ends it, Esc clears it",
	"  l         lowest level of the feed: 0 all, 1 checks and ends, 2 alarms and",
	"            actions, 3 the worst and failures",
	"  Space     freeze the screen; again: continue",
	"  S         all sensors, also those whose driver is not loaded",
	"  ?         this text",
	"",
	"First lines: the worst alarm that stands, why, when a failure is expected, and",
	"what was done. VRAM, GTT, host: bytes in use; 'full in' is the forecast. job: the",
	"oldest running job against the driver's lockup timeout. L: level of the alarms",
	"about a process, 1 to 3. Time line: 1 to 3 alarms, A actions, F failures.",
	"With --allow-act, on a workload: p pause, t throttle, c migrate to the CPU, u undo",
	"the latest action; each asks first. Without it, this view changes nothing.",
};

static void draw_footer(const struct davy_top *top, struct davy_canvas *c)
{
	int row = c->rows - 1;

	if (top->typing) {
		davy_canvas_format(c, row, 0, DAVY_STYLE_TITLE,
				   "filter: %s_  (Enter: done, Esc: clear)", top->filter);
		return;
	}
	if (top->act.text[0]) {
		davy_canvas_put(c, row, 0, DAVY_STYLE_TITLE, top->act.text);
		return;
	}
	davy_canvas_format(c, row, 0, DAVY_STYLE_DIM,
			   "q quit  Tab panel  Enter details  s:%s  / filter  l:%d  Space freeze  "
			   "? help",
			   davy_top_sort_name(top->sort), top->level);
}

/* Puts the members of a JSON value on rows of their own; returns the next row. */
static int draw_json(struct davy_canvas *c, int row, const json_t *value)
{
	char *text = json_dumps(value, JSON_INDENT(2) | JSON_ENCODE_ANY), *save = NULL;

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save))
		davy_canvas_put(c, row++, 2, DAVY_STYLE_PLAIN, line);
	free(text);
	return row;
}

/* The texts of an incident's lines, then their evidence. */
static int draw_incident(const struct davy_top *top, struct davy_canvas *c, int row,
			 const json_t *lines)
{
	const json_t *line;
	char clock[16];
	size_t i;

	json_array_foreach(lines, i, line)
	{
		const json_t *d = json_object_get(line, "json");

		davy_top_clock(top, davy_message_number(d, "at_ns", 0), clock, sizeof(clock));
		davy_canvas_format(c, row++, 0, DAVY_STYLE_TITLE, "%s %s", clock,
				   davy_top_line_text(line));
		if (json_object_get(d, "evidence"))
			row = draw_json(c, row, json_object_get(d, "evidence"));
	}
	return row;
}

/* Drawn into a long canvas, of which a part is shown. */
static void draw_details(struct davy_top *top, struct davy_canvas *c)
{
	struct davy_canvas page = { .unicode = c->unicode };
	const json_t *chosen = davy_top_chosen(top);
	int end;

	if (davy_canvas_resize(&page, DETAILS_ROWS, c->cols))
		return;
	if (!chosen)
		end = 1;
	else if (top->panel == DAVY_TOP_INCIDENTS)
		end = draw_incident(top, &page, 0, chosen);
	else
		end = draw_json(&page, 0, chosen);
	if (end > DETAILS_ROWS)
		end = DETAILS_ROWS;
	if (top->scrolled >= (size_t)end)
		top->scrolled = (size_t)end - 1;
	for (size_t row = 1; row + 1 < (size_t)c->rows && row - 1 + top->scrolled < (size_t)end;
	     row++)
		memcpy(&c->cell[row * (size_t)c->cols],
		       &page.cell[(row - 1 + top->scrolled) * (size_t)c->cols],
		       (size_t)c->cols * sizeof(c->cell[0]));
	davy_canvas_format(c, 0, 0, DAVY_STYLE_TITLE, "details, row %zu of %d", top->scrolled + 1,
			   end);
	davy_canvas_put(c, c->rows - 1, 0, DAVY_STYLE_DIM, "arrows scroll  Enter back  q quit");
	davy_canvas_done(&page);
}

static void draw_help(struct davy_canvas *c)
{
	for (int i = 0; i < (int)(sizeof(help) / sizeof(help[0])); i++)
		davy_canvas_put(c, i, 0, i ? DAVY_STYLE_PLAIN : DAVY_STYLE_TITLE, help[i]);
}

static int draw_least(size_t wanted, int most)
{
	if (most < 0)
		most = 0;
	return wanted > (size_t)most ? most : (int)wanted;
}

void davy_draw(struct davy_top *top, struct davy_canvas *c)
{
	size_t gpus = davy_top_rows(top, DAVY_TOP_GPUS), work = top->work_count;
	int row, left;

	davy_canvas_clear(c);
	if (top->help) {
		draw_help(c);
		return;
	}
	if (top->details) {
		draw_details(top, c);
		return;
	}
	row = davy_draw_head(top, c, 0);
	left = c->rows - 1 - row;
	row = davy_draw_gpus(top, c, row,
			     draw_least(gpus * (size_t)davy_draw_gpus_rows(c), left / 2));
	left = c->rows - 1 - row;
	row = davy_draw_work(top, c, row, draw_least(1 + (work ? work * 2 : 1), left * 2 / 5));
	left = c->rows - 1 - row;
	row = davy_draw_incidents(top, c, row, draw_least(1 + top->incidents.count, left / 2));
	davy_draw_feed(top, c, row, c->rows - 1 - row);
	draw_footer(top, c);
}
