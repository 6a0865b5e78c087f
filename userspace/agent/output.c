/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live view: NDJSON with --json, plain lines on a pipe, a redrawn screen on a terminal. A
 * reader that goes away ends the printing, not the agent.
 */
#include "agent.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/log.h"
#include "../lib/text.h"
#include "../report/event_text.h"
#include "../report/plan_text.h"

#define DRAW_NS (250 * DL_NS_PER_MS)

/*
 * Never waits: a reader that stands still (a pager, Ctrl-S) costs lines, which are counted, not the
 * agent's time. A pipe that is writable takes PIPE_BUF bytes at once, and a line is shorter.
 */
static void emit(struct dl_agent *a, const char *text)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	if (poll(&out, 1, 0) != 1 || !(out.revents & POLLOUT)) {
		a->unprinted_count++;
		return;
	}
	if (a->unprinted_count)
		dl_log("%" PRIu64 " lines were not printed: the reader stood still",
		       a->unprinted_count);
	a->unprinted_count = 0;
	puts(text);
	fflush(stdout);
}

static void line(struct dl_agent *a, const char *text)
{
	if (a->terminal) {
		char *slot = a->recent[a->recent_count++ % DL_RECENT_MAX];

		snprintf(slot, sizeof(a->recent[0]), "%s", text);
		a->drawn_ns = 0;
		return;
	}
	emit(a, text);
}

void dl_output_plan(struct dl_agent *a, const struct dl_plan *plan)
{
	char text[DL_PLAN_TEXT_SIZE];
	char *json;

	if (!a->options.json) {
		dl_plan_text(plan, text, sizeof(text));
		line(a, text);
		return;
	}
	json = dl_plan_json(plan);
	if (json)
		line(a, json);
	free(json);
}

void dl_output_event(struct dl_agent *a, const struct dl_event *ev)
{
	char text[DL_EVENT_TEXT_SIZE];
	char *json;

	if (!a->options.json) {
		if (dl_event_text(ev, text, sizeof(text)))
			line(a, text);
		return;
	}
	json = dl_event_json(ev);
	if (json)
		line(a, json);
	free(json);
}

static void draw_process(const struct dl_tracked *t)
{
	char comm[4 * DL_COMM_LEN], model[256], device[128];

	printf("  %-8u %-16s %-8s %-16s %-24s %s\x1b[K\n", t->pid,
	       dl_text_safe(comm, sizeof(comm), t->told.comm), dl_backend_name(t->told.backend),
	       dl_text_safe(device, sizeof(device), t->told.device[0] ? t->told.device : "-"),
	       dl_text_safe(model, sizeof(model), t->told.model[0] ? t->told.model : "-"),
	       t->told.workload ? "adopted" : "observed");
}

static void draw(struct dl_agent *a, uint64_t now_ns)
{
	size_t first = a->recent_count > DL_RECENT_MAX ? a->recent_count - DL_RECENT_MAX : 0;
	struct dl_ev_sensor s;

	printf("\x1b[H\x1b[1mdavylamp\x1b[0m  mode %s  up %" PRIu64 " s  events %" PRIu64
	       "\x1b[K\n  sensors:",
	       dl_mode_name((enum dl_mode)a->core.config.value[DL_CFG_MODE]), now_ns / DL_NS_PER_S,
	       a->event_count);
	for (size_t i = 0; a->bpf && dl_bpf_sensor(a->bpf, i, &s); i++)
		printf(" %s%s", s.name, s.state == DL_SENSOR_LIVE ? "" : "(-)");
	printf("\x1b[K\n\n  %-8s %-16s %-8s %-16s %-24s\x1b[K\n", "PID", "ENGINE", "BACKEND",
	       "DEVICE", "MODEL");
	for (size_t i = 0; i < DL_TRACKED_MAX; i++)
		if (a->tracked[i].pid && a->tracked[i].told.engine != DL_ENGINE_NONE)
			draw_process(&a->tracked[i]);
	printf("\x1b[K\n");
	for (size_t i = first; i < a->recent_count; i++)
		printf("%s\x1b[K\n", a->recent[i % DL_RECENT_MAX]);
	printf("\x1b[J");
	fflush(stdout);
}

void dl_output_tick(struct dl_agent *a, uint64_t now_ns)
{
	if (!a->terminal || now_ns - a->drawn_ns < DRAW_NS)
		return;
	a->drawn_ns = now_ns;
	draw(a, now_ns);
}
