/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first lines: is anything wrong, where, since when, what comes next, what was done. */
#include "top/top.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/message.h"

#define COL 2 /* indent of the lines below the first one */

static void head_wall(json_int_t wall_s, char *buf, size_t size)
{
	time_t wall = (time_t)wall_s;
	struct tm tm;

	if (!localtime_r(&wall, &tm) || !strftime(buf, size, "%H:%M:%S", &tm))
		snprintf(buf, size, "%s", "--:--:--");
}

static int head_title(const struct davy_top *top, struct davy_canvas *c, int row)
{
	const json_t *now = top->answer[0];
	char host[65] = "", up[32], clock[16];
	int col;

	gethostname(host, sizeof(host) - 1);
	col = davy_canvas_put(c, row, 0, DAVY_STYLE_TITLE, "davylamp");
	if (!now)
		return row + 1;
	davy_top_duration(davy_message_number(now, "now_ns", 0) -
				  davy_message_number(now, "started_ns", 0),
			  up, sizeof(up));
	head_wall(davy_message_number(now, "wall_s", 0), clock, sizeof(clock));
	col = davy_canvas_format(c, row, col, DAVY_STYLE_PLAIN,
				 "  %.20s  mode %s  up %s  events %lld  dropped %lld", host,
				 davy_message_text(now, "mode"), up,
				 (long long)davy_message_number(now, "events", 0),
				 (long long)davy_message_number(now, "dropped", 0));
	if (top->frozen)
		col = davy_canvas_put(c, row, col, DAVY_STYLE_FORECAST, "  FROZEN");
	davy_canvas_format(c, row, c->cols - 17 > col + 2 ? c->cols - 17 : col + 2, DAVY_STYLE_DIM,
			   "%s #%lu", clock, top->answer_count);
	return row + 1;
}

/* "0000:03:00.0 comp_1.0.0, llama-server[123], workload 1" */
static void head_subject(const json_t *alarm, char *buf, size_t size)
{
	const char *device = davy_message_text(alarm, "device");
	const char *ring = davy_message_text(alarm, "ring");
	const char *comm = davy_message_text(alarm, "comm");
	long long pid = (long long)davy_message_number(alarm, "pid", 0);
	long long workload = (long long)davy_message_number(alarm, "workload", 0);
	int n = snprintf(buf, size, "%s%s%s", *device || pid ? device : "the host",
			 *ring ? " " : "", ring);

	if (pid && n >= 0 && (size_t)n < size)
		n += snprintf(buf + n, size - (size_t)n, "%s%s[%lld]", n ? ", " : "",
			      *comm ? comm : "process", pid);
	if (workload && n >= 0 && (size_t)n < size)
		snprintf(buf + n, size - (size_t)n, ", workload %lld", workload);
}

/* The incident in which the alarm stands; NULL: its decision is no longer kept. */
static const struct davy_told_incident *head_incident(const struct davy_top *top,
						      const json_t *alarm)
{
	json_int_t id = davy_message_number(alarm, "id", -1);

	for (size_t i = top->incidents.count; i; i--) {
		const struct davy_told_incident *in = &top->incidents.at[i - 1];
		const json_t *line;
		size_t j;

		json_array_foreach(in->lines, j, line)
		{
			if (davy_message_number(json_object_get(line, "json"), "id", 0) == id)
				return in;
		}
	}
	return NULL;
}

static int head_next(const struct davy_top *top, struct davy_canvas *c, int row,
		     const json_t *alarm)
{
	json_int_t now_ns = davy_message_number(top->answer[0], "now_ns", 0);
	json_int_t until_ns = davy_message_number(alarm, "until_ns", 0);
	char left[32], clock[16];
	int col;

	if (!until_ns)
		return row;
	davy_top_clock(top, until_ns, clock, sizeof(clock));
	davy_top_duration(until_ns - now_ns, left, sizeof(left));
	col = davy_canvas_put(c, row, COL, DAVY_STYLE_DIM, "next: ");
	if (until_ns > now_ns)
		davy_canvas_format(c, row, col, DAVY_STYLE_FORECAST, "failure expected in %s (%s)",
				   left, clock);
	else
		davy_canvas_format(c, row, col, DAVY_STYLE_FORECAST, "failure was expected at %s",
				   clock);
	return row + 1;
}

static int head_done(const struct davy_top *top, struct davy_canvas *c, int row,
		     const json_t *alarm)
{
	const struct davy_told_incident *in = head_incident(top, alarm);
	const json_t *act = in ? davy_incident_last(in, NULL) : NULL;
	const json_t *outcome = in ? davy_incident_last(in, "outcome") : NULL;
	const char *refusal = davy_message_text(act, "refusal");
	char clock[16] = "";
	int col = davy_canvas_put(c, row, COL, DAVY_STYLE_DIM, "done: ");

	if (!act) {
		davy_canvas_put(c, row, col, DAVY_STYLE_PLAIN, "nothing yet");
		return row + 1;
	}
	davy_top_clock(top, davy_message_number(act, "at_ns", 0), clock, sizeof(clock));
	col = davy_canvas_format(c, row, col, DAVY_STYLE_PLAIN, "%s %s of workload %lld: %s%s%s",
				 clock, davy_message_text(act, "rung"),
				 (long long)davy_message_number(act, "workload", 0),
				 davy_message_text(act, "verdict"), *refusal ? ", " : "", refusal);
	if (outcome)
		davy_canvas_format(c, row, col, DAVY_STYLE_PLAIN, "; %s %s",
				   davy_message_text(outcome, "ended"),
				   davy_message_number(outcome, "result", 0) ? "failed" : "done");
	return row + 1;
}

static int head_wrong(const struct davy_top *top, struct davy_canvas *c, int row,
		      const json_t *alarms)
{
	const json_t *alarm = json_array_get(alarms, 0);
	json_int_t since_ns = davy_message_number(alarm, "since_ns", 0);
	int level = (int)davy_message_number(alarm, "level", 0);
	enum davy_style style = davy_top_level_style(level);
	char subject[256], clock[16], since[32];
	size_t more = json_array_size(alarms) - 1;
	int col;

	more += (size_t)davy_message_number(top->answer[0], "alarms_unlisted", 0);
	head_subject(alarm, subject, sizeof(subject));
	davy_top_clock(top, since_ns, clock, sizeof(clock));
	davy_top_duration(davy_message_number(top->answer[0], "now_ns", 0) - since_ns, since,
			  sizeof(since));
	col = davy_canvas_format(c, row, 0, style, "level %d %s since %s (%s): ", level,
				 davy_message_text(alarm, "hazard"), clock, since);
	davy_canvas_put(c, row++, col, style, subject);
	col = davy_canvas_put(c, row, COL, DAVY_STYLE_DIM, "why:  ");
	davy_canvas_put(c, row++, col, DAVY_STYLE_PLAIN, davy_message_text(alarm, "because"));
	row = head_next(top, c, row, alarm);
	row = head_done(top, c, row, alarm);
	if (more)
		davy_canvas_format(c, row++, COL, DAVY_STYLE_WARNING, "%zu more alarm%s stand%s",
				   more, more > 1 ? "s" : "", more > 1 ? "" : "s");
	return row;
}

/* A device with a heap that fills; NULL: none does. */
static const json_t *head_filling(const struct davy_top *top, const char **ret_heap,
				  json_int_t *ret_ms)
{
	const json_t *g;
	size_t i;

	json_array_foreach(json_object_get(top->answer[0], "gpus"), i, g)
	{
		*ret_heap = "VRAM";
		*ret_ms = davy_message_number(g, "vram_full_in_ms", 0);
		if (*ret_ms)
			return g;
		*ret_heap = "GTT";
		*ret_ms = davy_message_number(g, "gtt_full_in_ms", 0);
		if (*ret_ms)
			return g;
	}
	return NULL;
}

static size_t head_changed(const struct davy_top *top)
{
	const json_t *w;
	size_t i, count = 0;

	json_array_foreach(json_object_get(top->answer[0], "workloads"), i, w) count +=
		json_array_size(json_object_get(w, "in_force")) != 0;
	return count;
}

/* No alarm stands. */
static int head_verdict(const struct davy_top *top, struct davy_canvas *c, int row)
{
	size_t changed = head_changed(top);
	const char *heap = "";
	json_int_t ms = 0;
	const json_t *filling = head_filling(top, &heap, &ms);
	char left[32];

	if (filling) {
		davy_top_duration(ms * 1000000, left, sizeof(left));
		return davy_canvas_format(c, row, 0, DAVY_STYLE_FORECAST,
					  "no alarm yet: %s of %s fills, full in %s", heap,
					  davy_message_text(filling, "device"), left);
	}
	if (changed)
		return davy_canvas_format(c, row, 0, DAVY_STYLE_WARNING,
					  "no alarm; an action is in force on %zu workload%s",
					  changed, changed == 1 ? "" : "s");
	return davy_canvas_put(c, row, 0, DAVY_STYLE_GOOD, "nothing is wrong");
}

static int head_fine(const struct davy_top *top, struct davy_canvas *c, int row)
{
	const struct davy_told_incident *last =
		top->incidents.count ? &top->incidents.at[top->incidents.count - 1] : NULL;
	const json_t *now = top->answer[0];
	char clock[16];
	int col = davy_canvas_format(
		c, row, head_verdict(top, c, row), DAVY_STYLE_PLAIN, "; %zu GPU%s, %zu engine%s",
		json_array_size(json_object_get(now, "gpus")),
		json_array_size(json_object_get(now, "gpus")) == 1 ? "" : "s",
		json_array_size(json_object_get(now, "processes")),
		json_array_size(json_object_get(now, "processes")) == 1 ? "" : "s");

	if (last) {
		davy_top_clock(top, last->begun_ns, clock, sizeof(clock));
		davy_canvas_format(c, row, col, DAVY_STYLE_PLAIN, "; last incident %s %s", clock,
				   last->hazard);
	}
	return row + 1;
}

/* Sensors that failed, or all of them on request. A driver that is not loaded is no failure. */
static int head_sensors(const struct davy_top *top, struct davy_canvas *c, int row)
{
	const json_t *s;
	size_t i;

	json_array_foreach(json_object_get(top->answer[0], "sensors"), i, s)
	{
		const char *state = davy_message_text(s, "state");
		bool wrong = !strcmp(state, "lost") || !strcmp(state, "refused");

		if (!wrong && !top->sensors)
			continue;
		if (row >= c->rows / 2)
			break;
		davy_canvas_format(c, row++, COL, wrong ? DAVY_STYLE_WARNING : DAVY_STYLE_DIM,
				   "sensor %-12s %-9s %s", davy_message_text(s, "name"), state,
				   davy_message_text(s, "reason"));
	}
	return row;
}

int davy_draw_head(const struct davy_top *top, struct davy_canvas *c, int row)
{
	const json_t *alarms = json_object_get(top->answer[0], "alarms");
	const char *policy = davy_message_text(top->answer[0], "policy_error");
	char clock[16], since[32];

	row = head_title(top, c, row);
	if (top->trouble[0]) {
		head_wall(top->trouble_s, clock, sizeof(clock));
		davy_top_duration((time(NULL) - top->trouble_s) * 1000000000LL, since,
				  sizeof(since));
		davy_canvas_format(c, row++, 0, DAVY_STYLE_BAD, "%s since %s (%s)%s", top->trouble,
				   clock, since,
				   top->answer[0] ? "; all below is its last answer" : "");
	}
	if (!top->answer[0])
		return row;
	row = json_array_size(alarms) ? head_wrong(top, c, row, alarms) : head_fine(top, c, row);
	if (json_is_true(json_object_get(top->answer[0], "shortened")))
		davy_canvas_put(c, row++, COL, DAVY_STYLE_WARNING,
				"too many engines and alarms for one answer: some are not shown");
	if (*policy)
		davy_canvas_format(c, row++, COL, DAVY_STYLE_WARNING,
				   "policy: %s; the previous rules stay in force", policy);
	return head_sensors(top, c, row);
}
