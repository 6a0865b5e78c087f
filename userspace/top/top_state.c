/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/top.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/message.h"

#define NS_PER_S      1000000000LL
#define SPEED_ANSWERS 3 /* speeds are over so many answers */
#define SPARK_ANSWERS 5 /* answers of one column of a sparkline */

static const json_t *state_list(const json_t *status, const char *list)
{
	return json_object_get(status, list);
}

/* The object of "list" whose member "name" equals that of "like". */
static const json_t *state_find(const json_t *status, const char *list, const char *name,
				const json_t *like)
{
	const json_t *wanted = json_object_get(like, name), *o;
	size_t i;

	json_array_foreach(state_list(status, list), i, o)
	{
		if (json_equal(json_object_get(o, name), wanted))
			return o;
	}
	return NULL;
}

double davy_top_rate(const struct davy_top *top, const char *list, const char *name,
		     const json_t *object, const char *counter, unsigned int answers)
{
	const json_t *now = top->answer[0], *then = NULL, *old;
	json_int_t made, ns;

	while (answers && !(then = top->answer[answers]))
		answers--;
	if (!now || !then || !json_object_get(object, counter))
		return -1;
	old = state_find(then, list, name, object);
	ns = davy_message_number(now, "now_ns", 0) - davy_message_number(then, "now_ns", 0);
	if (!json_object_get(old, counter) || ns <= 0)
		return -1;
	made = davy_message_number(object, counter, 0) - davy_message_number(old, counter, 0);
	return made < 0 ? -1 : (double)made * 1e9 / (double)ns;
}

json_int_t davy_top_wall(const json_t *status, json_int_t at_ns)
{
	json_int_t ago_ns = davy_message_number(status, "now_ns", 0) - at_ns;

	return davy_message_number(status, "wall_s", 0) - ago_ns / NS_PER_S;
}

void davy_top_clock(const struct davy_top *top, json_int_t at_ns, char *buf, size_t size)
{
	time_t wall = (time_t)davy_top_wall(top->answer[0], at_ns);
	struct tm tm;

	if (!localtime_r(&wall, &tm) || !strftime(buf, size, "%H:%M:%S", &tm))
		snprintf(buf, size, "%s", "--:--:--");
}

void davy_top_duration(json_int_t ns, char *buf, size_t size)
{
	json_int_t ms = ns / 1000000, s = ms / 1000;

	if (ms < 1000)
		snprintf(buf, size, "%lld ms", (long long)(ms < 0 ? 0 : ms));
	else if (s < 120)
		snprintf(buf, size, "%lld.%lld s", (long long)s, (long long)(ms % 1000 / 100));
	else if (s < 7200)
		snprintf(buf, size, "%lld min", (long long)(s / 60));
	else if (s < 172800)
		snprintf(buf, size, "%lld h", (long long)(s / 3600));
	else
		snprintf(buf, size, "%lld days", (long long)(s / 86400));
}

static struct davy_top_spark *state_spark(struct davy_top *top, const char *device)
{
	struct davy_top_spark *s;

	for (size_t i = 0; i < top->spark_count; i++)
		if (!strcmp(top->spark[i].device, device))
			return &top->spark[i];
	if (top->spark_count == DAVY_TOP_DEVICES || strlen(device) >= sizeof(s->device))
		return NULL;
	s = &top->spark[top->spark_count++];
	memcpy(s->device, device, strlen(device) + 1);
	for (size_t i = 0; i < DAVY_TOP_SPARK; i++)
		s->vram[i] = -1;
	return s;
}

int davy_top_permille(json_int_t part, json_int_t whole)
{
	if (part <= 0 || whole <= 0)
		return 0;
	return part >= whole ? 1000 : (int)((double)part * 1000 / (double)whole);
}

/* A column has the maximum of its answers. */
static void state_add_sample(struct davy_top_spark *s, int permille, bool fresh)
{
	short *last = &s->vram[DAVY_TOP_SPARK - 1];

	if (fresh) {
		memmove(s->vram, s->vram + 1, sizeof(s->vram) - sizeof(s->vram[0]));
		*last = -1;
	}
	if (permille > *last)
		*last = (short)permille;
}

static void state_take_sparks(struct davy_top *top)
{
	const json_t *gpu;
	size_t i;

	json_array_foreach(state_list(top->answer[0], "gpus"), i, gpu)
	{
		struct davy_top_spark *s = state_spark(top, davy_message_text(gpu, "device"));
		bool host = !davy_message_number(gpu, "vram_total", 0);
		json_int_t total = davy_message_number(gpu, host ? "host_total" : "vram_total", 0);
		json_int_t used = davy_message_number(gpu, "vram_used", 0);

		if (!s || total <= 0)
			continue;
		if (host)
			used = total - davy_message_number(gpu, "host_available", 0);
		state_add_sample(s, davy_top_permille(used, total),
				 top->answer_count % SPARK_ANSWERS == 1);
	}
}

/* A new agent counts from 0: what the old one said is dropped. */
static void state_forget(struct davy_top *top)
{
	for (size_t i = 0; i < DAVY_TOP_ANSWERS; i++) {
		json_decref(top->answer[i]);
		top->answer[i] = NULL;
	}
	davy_incidents_done(&top->incidents);
	json_array_clear(top->lines);
}

static void state_trouble(struct davy_top *top, int err)
{
	if (!top->trouble[0])
		top->trouble_s = (json_int_t)time(NULL);
	if (davy_message_no_agent(err))
		snprintf(top->trouble, sizeof(top->trouble), "no agent answers");
	else
		snprintf(top->trouble, sizeof(top->trouble), "the agent does not answer: %s",
			 strerror(-err));
}

int davy_top_take(struct davy_top *top)
{
	json_t *fresh = json_array(), *status = NULL, *line;
	int err = davy_feed_in_take(&top->in, &status, fresh);
	size_t i;

	if (err) {
		json_decref(fresh);
		if (err != -ENODATA)
			state_trouble(top, err);
		return err;
	}
	top->trouble[0] = 0;
	if (top->answer[0] && davy_message_number(top->answer[0], "started_ns", 0) !=
				      davy_message_number(status, "started_ns", 0))
		state_forget(top);
	json_decref(top->answer[DAVY_TOP_ANSWERS - 1]);
	for (size_t last = DAVY_TOP_ANSWERS - 1; last; last--)
		top->answer[last] = top->answer[last - 1];
	top->answer[0] = status;
	top->answer_count++;
	json_array_foreach(fresh, i, line)
	{
		davy_incidents_add(&top->incidents, line);
		json_array_append(top->lines, line);
	}
	json_decref(fresh);
	while (json_array_size(top->lines) > DAVY_TOP_LINES)
		json_array_remove(top->lines, 0);
	state_take_sparks(top);
	davy_top_sort_work(top);
	return 0;
}

void davy_top_done(struct davy_top *top)
{
	state_forget(top);
	json_decref(top->lines);
}

static json_int_t state_memory_of(const json_t *status, json_int_t pid)
{
	const json_t *gpu, *client;
	json_int_t bytes = 0;
	size_t i, j;

	json_array_foreach(state_list(status, "gpus"), i, gpu)
	{
		json_array_foreach(json_object_get(gpu, "clients"), j, client)
		{
			if (davy_message_number(client, "pid", 0) == pid)
				bytes += davy_message_number(client, "vram", 0) +
					 davy_message_number(client, "gtt", 0);
		}
	}
	return bytes;
}

static int state_level_of(const json_t *status, json_int_t pid, json_int_t workload)
{
	const json_t *alarm;
	int level = 0;
	size_t i;

	json_array_foreach(state_list(status, "alarms"), i, alarm)
	{
		int own = (int)davy_message_number(alarm, "level", 0);

		if ((davy_message_number(alarm, "pid", 0) == pid ||
		     (workload && davy_message_number(alarm, "workload", 0) == workload)) &&
		    own > level)
			level = own;
	}
	return level;
}

static void state_speed(const struct davy_top *top, struct davy_top_work *w)
{
	bool tokens = json_object_get(w->process, "generated_tokens") != NULL;
	const char *counter = tokens ? "generated_tokens" : "graphs";

	w->speed = davy_top_rate(top, "processes", "pid", w->process, counter, SPEED_ANSWERS);
	w->unit = w->speed < 0 ? "" : tokens ? "t/s" : "g/s";
}

static double state_key(const struct davy_top_work *w, enum davy_top_sort sort)
{
	switch (sort) {
	case DAVY_TOP_BY_MEMORY:
		return (double)w->memory;
	case DAVY_TOP_BY_SPEED:
		return w->speed;
	case DAVY_TOP_BY_PID:
		return -(double)w->pid;
	default:
		return (double)w->level * 2 + (w->workload != 0);
	}
}

const char *davy_top_sort_name(enum davy_top_sort sort)
{
	static const char *const names[DAVY_TOP_SORTS] = { "level", "memory", "speed", "pid" };

	return names[sort];
}

static int state_compare(const void *a, const void *b, void *arg)
{
	const struct davy_top_work *x = a, *y = b;
	const struct davy_top *top = arg;
	double by = state_key(y, top->sort) - state_key(x, top->sort);

	if (by < 0 || by > 0)
		return by < 0 ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

void davy_top_sort_work(struct davy_top *top)
{
	const json_t *p;
	size_t i;

	top->work_count = 0;
	json_array_foreach(state_list(top->answer[0], "processes"), i, p)
	{
		struct davy_top_work *w = &top->work[top->work_count];

		if (top->work_count == DAVY_TOP_WORK || !davy_top_passes(top, p))
			continue;
		w->process = p;
		w->pid = davy_message_number(p, "pid", 0);
		w->workload = davy_message_number(p, "workload", 0);
		w->memory = state_memory_of(top->answer[0], w->pid);
		w->level = state_level_of(top->answer[0], w->pid, w->workload);
		state_speed(top, w);
		top->work_count++;
	}
	qsort_r(top->work, top->work_count, sizeof(top->work[0]), state_compare, top);
}

bool davy_top_passes(const struct davy_top *top, const json_t *object)
{
	char *text;
	bool passes;

	if (!top->filter[0])
		return true;
	text = json_dumps(object, JSON_COMPACT);
	passes = text && strcasestr(text, top->filter);
	free(text);
	return passes;
}

int davy_top_line_level(const json_t *line)
{
	const json_t *json = json_object_get(line, "json");
	const char *rung = davy_message_text(json, "rung");

	if (!*rung) {
		bool lost = !strcmp(davy_message_text(json, "event"), "sensor") &&
			    !strcmp(davy_message_text(json, "state"), "lost");

		return lost ? 2 : 0;
	}
	if (!strcmp(rung, "failure"))
		return 3;
	if (!strcmp(rung, "note"))
		return (int)davy_message_number(json, "level", 1);
	return !strcmp(rung, "check") || !strcmp(rung, "clear") ? 1 : 2;
}

/* A sensor that is off because its driver is not loaded is no news. */
bool davy_top_line_shown(const struct davy_top *top, const json_t *line)
{
	const json_t *json = json_object_get(line, "json");
	int level = davy_top_line_level(line);

	if (!top->sensors && !level && !strcmp(davy_message_text(json, "event"), "sensor"))
		return false;
	return level >= top->level && davy_top_passes(top, line);
}

const char *davy_top_line_text(const json_t *line)
{
	const char *text = davy_message_text(line, "text"), *at = text;

	while (*at == ' ')
		at++;
	while (isdigit((unsigned char)*at) || *at == '.')
		at++;
	return strncmp(at, "  ", 2) ? text : at + 2;
}

enum davy_style davy_top_level_style(int level)
{
	return level >= 3 ? DAVY_STYLE_BAD : level >= 1 ? DAVY_STYLE_WARNING : DAVY_STYLE_PLAIN;
}

size_t davy_top_rows(const struct davy_top *top, enum davy_top_panel panel)
{
	const json_t *line;
	size_t i, count = 0;

	switch (panel) {
	case DAVY_TOP_WORKLOADS:
		return top->work_count;
	case DAVY_TOP_INCIDENTS:
		return top->incidents.count;
	case DAVY_TOP_GPUS:
		return json_array_size(state_list(top->answer[0], "gpus"));
	default:
		json_array_foreach(top->lines, i, line) count += davy_top_line_shown(top, line);
		return count;
	}
}

/* The newest incident and line is row 0. */
json_t *davy_top_chosen(const struct davy_top *top)
{
	size_t row = top->chosen[top->panel], left = row;

	if (row >= davy_top_rows(top, top->panel))
		return NULL;
	if (top->panel == DAVY_TOP_WORKLOADS)
		return (json_t *)top->work[row].process;
	if (top->panel == DAVY_TOP_INCIDENTS)
		return top->incidents.at[top->incidents.count - 1 - row].lines;
	if (top->panel == DAVY_TOP_GPUS)
		return json_array_get(state_list(top->answer[0], "gpus"), row);
	for (size_t i = json_array_size(top->lines); i; i--) {
		json_t *line = json_array_get(top->lines, i - 1);

		if (davy_top_line_shown(top, line) && !left--)
			return line;
	}
	return NULL;
}
