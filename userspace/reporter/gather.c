/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reporter/dossier.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "core/core.h"
#include "lib/file.h"
#include "lib/message.h"
#include "report/event_text.h"
#include "report/plan_text.h"
#include "sensors/gpu/driver_version.h"
#include "store/trace.h"

#define PATIENCE_MS 5000
#define ASKS_MAX    64

/* Takes "dump". NULL: no memory. */
static json_t *gather_line(const char *text, char *dump)
{
	json_t *o = json_pack("{s:s, s:o*}", "text", text, "json",
			      dump ? json_loads(dump, 0, NULL) : NULL);

	free(dump);
	return o;
}

static void gather_plan(struct davy_dossier *d, const struct davy_plan *plan)
{
	char text[DAVY_PLAN_TEXT_SIZE];
	json_t *line;

	davy_plan_text(plan, text, sizeof(text));
	line = gather_line(text, davy_plan_json(plan));
	davy_incidents_add(&d->incidents, line);
	json_decref(line);
}

static void gather_event(struct davy_dossier *d, const struct davy_event *ev)
{
	char text[DAVY_EVENT_TEXT_SIZE];

	if (ev->kind == DAVY_EV_CLOCK) {
		d->clock_ns = (json_int_t)ev->at_ns;
		d->clock_s = (json_int_t)ev->clock.wall_s;
	}
	if (!davy_event_text(ev, text, sizeof(text)))
		return;
	if (json_array_size(d->events) == DAVY_DOSSIER_EVENTS)
		json_array_remove(d->events, 0);
	json_array_append_new(d->events, gather_line(text, davy_event_json(ev)));
}

static void gather_point(struct davy_dossier *d, const struct davy_event *ev, const char *device,
			 enum davy_curve curve, uint64_t part, uint64_t whole)
{
	struct davy_point *p;

	if (!whole || d->point_count == DAVY_DOSSIER_POINTS)
		return;
	p = &d->point[d->point_count++];
	p->at_ns = (json_int_t)ev->at_ns;
	p->curve = (unsigned char)curve;
	p->permille = part >= whole ? 1000 : (short)((double)part * 1000 / (double)whole);
	snprintf(p->device, sizeof(p->device), "%s", device);
}

static void gather_points(struct davy_dossier *d, const struct davy_event *ev)
{
	const struct davy_ev_memory *m = &ev->memory;
	const struct davy_ev_ring *r = &ev->ring;

	if (ev->kind == DAVY_EV_MEMORY) {
		gather_point(d, ev, m->device, DAVY_CURVE_VRAM, m->vram_used, m->vram_total);
		gather_point(d, ev, m->device, DAVY_CURVE_GTT, m->gtt_used, m->gtt_total);
		gather_point(d, ev, m->device, DAVY_CURVE_HOST, m->host_total - m->host_available,
			     m->host_total);
	} else if (ev->kind == DAVY_EV_RING) {
		gather_point(d, ev, r->device, DAVY_CURVE_JOB, r->age_ns, r->timeout_ns);
	} else if (ev->kind == DAVY_EV_BO_MOVED && ev->bo_moved.out_bytes) {
		gather_point(d, ev, ev->bo_moved.device, DAVY_CURVE_EVICTED, 1, 1);
	}
}

static int gather_replay(struct davy_dossier *d, struct davy_trace_reader *trace)
{
	struct davy_core *core = malloc(sizeof(*core));
	struct davy_plan plans[DAVY_PLANS_MAX];
	struct davy_event ev;
	int more;

	if (!core)
		return -ENOMEM;
	davy_core_init(core);
	while ((more = davy_trace_next(trace, &ev)) > 0) {
		size_t count;

		gather_event(d, &ev);
		gather_points(d, &ev);
		count = davy_core_step(core, &ev, plans, DAVY_PLANS_MAX);
		for (size_t i = 0; i < count; i++)
			gather_plan(d, &plans[i]);
	}
	free(core);
	return more;
}

static int gather_begin(struct davy_dossier *d)
{
	d->events = json_array();
	d->versions = json_pack("{s:s}", "davylamp", DAVY_VERSION);
	d->point = calloc(DAVY_DOSSIER_POINTS, sizeof(*d->point));
	return d->events && d->versions && d->point ? 0 : -ENOMEM;
}

int davy_dossier_of_trace(struct davy_dossier *d, const char *path)
{
	struct davy_trace_reader *trace = NULL;
	int err = gather_begin(d);

	snprintf(d->source, sizeof(d->source), "trace");
	if (!err)
		err = davy_trace_open(path, &trace);
	if (!err)
		err = gather_replay(d, trace);
	davy_trace_reader_free(trace);
	return err;
}

static int gather_recent(struct davy_dossier *d, int fd)
{
	json_int_t decision = 0, event = 0;
	bool more = true;

	for (int i = 0; more && i < ASKS_MAX; i++) {
		json_t *answer = NULL, *line;
		size_t j;
		int err = davy_message_ask(fd,
					   json_pack("{s:s, s:I, s:I}", "op", "recent", "decision",
						     decision, "event", event),
					   PATIENCE_MS, &answer);

		if (err)
			return err;
		json_array_foreach(json_object_get(answer, "decisions"), j, line)
			davy_incidents_add(&d->incidents, line);
		json_array_extend(d->events, json_object_get(answer, "events"));
		more = davy_message_number(answer, "decision", 0) != decision ||
		       davy_message_number(answer, "event", 0) != event;
		decision = davy_message_number(answer, "decision", decision);
		event = davy_message_number(answer, "event", event);
		json_decref(answer);
	}
	return 0;
}

/* Of this host: the agent's. */
static void gather_versions(struct davy_dossier *d, const json_t *status)
{
	char driver[DAVY_VERSION_TEXT_LEN];
	struct utsname host;
	const json_t *gpu;
	size_t i;

	if (!uname(&host))
		json_object_set_new(d->versions, "kernel", json_string(host.release));
	json_array_foreach(json_object_get(status, "gpus"), i, gpu)
	{
		davy_driver_version_read(davy_message_text(gpu, "driver"), driver);
		json_object_set_new(d->versions, davy_message_text(gpu, "device"),
				    json_string(driver));
	}
}

int davy_dossier_of_agent(struct davy_dossier *d, const char *socket_path)
{
	DAVY_FD fd = davy_message_connect(socket_path, DAVY_CONNECT_MS);
	json_t *status = NULL;
	int err = fd < 0 ? fd : gather_begin(d);

	snprintf(d->source, sizeof(d->source), "running agent");
	if (!err)
		err = davy_message_ask(fd, json_pack("{s:s}", "op", "status"), PATIENCE_MS,
				       &status);
	if (!err)
		err = gather_recent(d, fd);
	d->clock_ns = davy_message_number(status, "now_ns", 0);
	d->clock_s = davy_message_number(status, "wall_s", 0);
	if (!err)
		gather_versions(d, status);
	json_decref(status);
	return err;
}

void davy_dossier_done(struct davy_dossier *d)
{
	davy_incidents_done(&d->incidents);
	json_decref(d->events);
	json_decref(d->versions);
	free(d->point);
	memset(d, 0, sizeof(*d));
}
