/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Incidents with the time line of the last hour, and the feed of decisions and events. */
#include "top/top.h"

#include <stdio.h>
#include <string.h>

#include "lib/message.h"

#define HOUR_NS	      3600000000000LL
#define TIME_LINE_COL 24
#define TIME_LINE_MAX 120
#define FEED_INDENT   19

/* Rank of a mark of the time line: '.' nothing, 'A' an action, 1 to 3 an alarm, 'F' a failure. */
static int lines_rank(char mark)
{
	return mark == 'F' ? 5 : mark == 'A' ? 1 : mark == '.' ? 0 : 1 + (mark - '0');
}

static char lines_mark_of(const json_t *decision)
{
	const char *rung = davy_message_text(decision, "rung");
	json_int_t level = davy_message_number(decision, "level", 0);

	if (!strcmp(rung, "failure"))
		return 'F';
	if (!strcmp(rung, "note"))
		return level >= 1 && level <= 3 ? (char)('0' + level) : '1';
	return davy_decision_acts(decision) ? 'A' : '.';
}

/* A column has the mark with the highest rank of its time. */
static void lines_mark(const struct davy_told_incident *in, json_int_t now_ns, char *column,
		       int width)
{
	const json_t *line;
	size_t i;

	json_array_foreach(in->lines, i, line)
	{
		const json_t *d = json_object_get(line, "json");
		json_int_t ago_ns = now_ns - davy_message_number(d, "at_ns", 0);
		char mark = lines_mark_of(d), *at;

		if (ago_ns < 0 || ago_ns >= HOUR_NS)
			continue;
		at = &column[width - 1 - (int)(ago_ns / (HOUR_NS / width + 1))];
		if (lines_rank(mark) > lines_rank(*at))
			*at = mark;
	}
}

static enum davy_style lines_mark_style(char mark)
{
	if (mark == 'F' || mark == '3')
		return DAVY_STYLE_BAD;
	if (mark == 'A')
		return DAVY_STYLE_FORECAST;
	return mark == '.' ? DAVY_STYLE_DIM : DAVY_STYLE_WARNING;
}

static void lines_time_line(const struct davy_top *top, struct davy_canvas *c, int row)
{
	json_int_t now_ns = davy_message_number(top->answer[0], "now_ns", 0);
	int width = c->cols - TIME_LINE_COL - 4, col;
	char column[TIME_LINE_MAX];

	if (width < 20)
		return;
	if (width > TIME_LINE_MAX)
		width = TIME_LINE_MAX;
	memset(column, '.', sizeof(column));
	for (size_t i = 0; i < top->incidents.count; i++)
		lines_mark(&top->incidents.at[i], now_ns, column, width);
	col = davy_canvas_put(c, row, TIME_LINE_COL - 8, DAVY_STYLE_DIM, "-60 min ");
	for (int i = 0; i < width; i++)
		col = davy_canvas_format(c, row, col, lines_mark_style(column[i]), "%c", column[i]);
	davy_canvas_put(c, row, col, DAVY_STYLE_DIM, " now");
}

/* "stands 35.0 s", "12.0 s" */
static void lines_length(const struct davy_top *top, const struct davy_told_incident *in, char *buf,
			 size_t size)
{
	json_int_t end_ns =
		in->ended_ns ? in->ended_ns : davy_message_number(top->answer[0], "now_ns", 0);
	char length[32];

	davy_top_duration(end_ns - in->begun_ns, length, sizeof(length));
	snprintf(buf, size, "%s%s", in->ended_ns ? "" : "stands ", length);
}

static void lines_deed(const struct davy_told_incident *in, char *buf, size_t size)
{
	const json_t *act = davy_incident_last(in, NULL);
	const json_t *outcome = davy_incident_last(in, "outcome");
	const char *refusal = davy_message_text(act, "refusal");
	char lead[32], foreseen[64] = "";

	if (in->failure && json_is_true(json_object_get(in->failure, "foreseen"))) {
		davy_top_duration(davy_message_number(in->failure, "lead_ns", 0), lead,
				  sizeof(lead));
		snprintf(foreseen, sizeof(foreseen), "; failure foreseen %s before", lead);
	} else if (in->failure) {
		snprintf(foreseen, sizeof(foreseen), "; failure not foreseen");
	}
	if (!act)
		snprintf(buf, size, "no action%s", foreseen);
	else if (outcome)
		snprintf(buf, size, "%s %s%s", davy_message_text(outcome, "ended"),
			 davy_message_number(outcome, "result", 0) ? "failed" : "done", foreseen);
	else
		snprintf(buf, size, "%s %s%s%s%s", davy_message_text(act, "rung"),
			 davy_message_text(act, "verdict"), *refusal ? ": " : "", refusal,
			 foreseen);
}

static void lines_incident(const struct davy_top *top, struct davy_canvas *c, int row,
			   const struct davy_told_incident *in)
{
	const json_t *first = json_object_get(json_array_get(in->lines, 0), "json");
	const char *device = davy_message_text(first, "device");
	long long pid = (long long)davy_message_number(first, "pid", 0);
	enum davy_style style =
		in->ended_ns ? DAVY_STYLE_PLAIN : davy_top_level_style(in->level ? in->level : 3);
	char clock[16], length[48], deed[200], who[96];
	int col;

	davy_top_clock(top, in->begun_ns, clock, sizeof(clock));
	lines_length(top, in, length, sizeof(length));
	lines_deed(in, deed, sizeof(deed));
	if (pid)
		snprintf(who, sizeof(who), "%s[%lld]", davy_message_text(first, "comm"), pid);
	else
		snprintf(who, sizeof(who), "%s", *device ? device : "the host");
	davy_canvas_put(c, row, 1, DAVY_STYLE_PLAIN, clock);
	col = davy_canvas_format(c, row, 10, style, "%c ", in->level ? '0' + in->level % 10 : 'F');
	col = davy_canvas_field(c, row, col, 16, style, in->hazard) + 1;
	col = davy_canvas_field(c, row, col, 18, DAVY_STYLE_PLAIN, who) + 1;
	col = davy_canvas_field(c, row, col, 12, style, length) + 1;
	davy_canvas_put(c, row, col, DAVY_STYLE_PLAIN, deed);
}

int davy_draw_incidents(const struct davy_top *top, struct davy_canvas *c, int row, int rows)
{
	bool here = top->panel == DAVY_TOP_INCIDENTS;
	size_t count = top->incidents.count, chosen = top->chosen[DAVY_TOP_INCIDENTS], first = 0;
	int end = row + rows;

	if (rows < 1)
		return row;
	davy_canvas_format(c, row, 0, here ? DAVY_STYLE_TITLE : DAVY_STYLE_DIM, "%sINCIDENTS %zu",
			   here ? ">" : " ", count);
	lines_time_line(top, c, row++);
	if (rows > 1 && chosen >= (size_t)rows - 1)
		first = chosen - ((size_t)rows - 2);
	for (size_t i = first; i < count && row < end; i++) {
		lines_incident(top, c, row, &top->incidents.at[count - 1 - i]);
		if (here && i == chosen)
			davy_canvas_mark(c, row, DAVY_STYLE_CHOSEN);
		row++;
	}
	return row;
}

/* A line that is too long goes on in up to two rows more, before "end". Returns the last row. */
static int lines_feed_text(struct davy_canvas *c, int row, int end, enum davy_style style,
			   const char *text)
{
	char part[512];
	int col = 10;

	for (int more = 0; more < 2 && row + 1 < end; more++) {
		size_t room = c->cols > col ? (size_t)(c->cols - col) : 0, cut = room;

		if (strlen(text) <= room || room >= sizeof(part))
			break;
		while (cut > room / 2 && text[cut] != ' ')
			cut--;
		if (text[cut] != ' ')
			break;
		snprintf(part, sizeof(part), "%.*s", (int)cut, text);
		davy_canvas_put(c, row++, col, style, part);
		text += cut + 1;
		col = FEED_INDENT;
	}
	davy_canvas_put(c, row, col, style, text);
	return row;
}

static int lines_feed_row(const struct davy_top *top, struct davy_canvas *c, int row, int end,
			  const json_t *line)
{
	json_int_t at_ns = davy_message_number(json_object_get(line, "json"), "at_ns", 0);
	int level = davy_top_line_level(line);
	char clock[16];

	davy_top_clock(top, at_ns, clock, sizeof(clock));
	davy_canvas_put(c, row, 1, DAVY_STYLE_DIM, clock);
	return lines_feed_text(c, row, end, davy_top_level_style(level > 1 ? level : 0),
			       davy_top_line_text(line));
}

/* The newest line is the first one. */
int davy_draw_feed(const struct davy_top *top, struct davy_canvas *c, int row, int rows)
{
	bool here = top->panel == DAVY_TOP_FEED;
	size_t chosen = top->chosen[DAVY_TOP_FEED], skip = 0, shown = 0;
	int end = row + rows;

	if (rows < 1)
		return row;
	davy_canvas_format(c, row++, 0, here ? DAVY_STYLE_TITLE : DAVY_STYLE_DIM,
			   "%sFEED, newest first, from level %d%s%s", here ? ">" : " ", top->level,
			   top->filter[0] ? ", filter " : "", top->filter);
	if (rows > 1 && chosen >= (size_t)rows - 1)
		skip = chosen - ((size_t)rows - 2);
	for (size_t i = json_array_size(top->lines); i && row < end; i--) {
		const json_t *line = json_array_get(top->lines, i - 1);

		if (!davy_top_line_shown(top, line) || shown++ < skip)
			continue;
		/* With a chosen line, each has one row: Enter shows it whole. */
		row = lines_feed_row(top, c, row, here ? row : end, line);
		if (here && shown - 1 == chosen)
			davy_canvas_mark(c, row, DAVY_STYLE_CHOSEN);
		row++;
	}
	return row;
}
