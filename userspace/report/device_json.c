/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/device_json.h"

#include "lib/text.h"

#define NUMBER(value) ((json_int_t)(value))

static json_t *text(const char *value)
{
	char safe[512];

	return json_string(davy_text_shown(safe, sizeof(safe), value));
}

static void put(json_t *o, const char *key, uint64_t value)
{
	if (value)
		json_object_set_new(o, key, json_integer(NUMBER(value)));
}

static void put_text(json_t *o, const char *key, const char *value)
{
	if (value[0])
		json_object_set_new(o, key, text(value));
}

static json_t *memory(const struct davy_ev_memory *m)
{
	json_t *o = json_pack("{s:o, s:I, s:I, s:b}", "device", text(m->device), "vram_total",
			      NUMBER(m->vram_total), "vram_used", NUMBER(m->vram_used),
			      "shared_memory", m->flags & DAVY_MEMORY_SHARED);

	put(o, "visible_total", m->visible_total);
	put(o, "visible_used", m->visible_used);
	put(o, "gtt_total", m->gtt_total);
	put(o, "gtt_used", m->gtt_used);
	put(o, "evictions", m->eviction_count);
	put(o, "vram_lost", m->vram_lost_count);
	put(o, "host_total", m->host_total);
	put(o, "host_available", m->host_available);
	put(o, "pressure_permille", m->pressure_permille);
	if (m->flags & DAVY_MEMORY_MAY_SUSPEND)
		json_object_set_new(o, "may_suspend", json_true());
	return o;
}

static json_t *client(const struct davy_ev_client *c)
{
	return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "device", text(c->device),
			 "client_id", NUMBER(c->client_id), "vram", NUMBER(c->vram), "gtt",
			 NUMBER(c->gtt), "system", NUMBER(c->system), "evicted", NUMBER(c->evicted),
			 "busy_ns", NUMBER(c->busy_ns), "gone", c->gone);
}

static json_t *device(const struct davy_ev_device *d)
{
	return json_pack("{s:o, s:o, s:s, s:o, s:i}", "device", text(d->device), "driver",
			 text(d->driver), "change", davy_device_change_name(d->change), "detail",
			 text(d->detail), "value", d->value);
}

static json_t *log_line(const struct davy_ev_log *l)
{
	json_t *o =
		json_pack("{s:s, s:s, s:s}", "kind", davy_log_kind_name(l->kind), "role",
			  davy_log_role_name(l->role), "class", davy_log_class_name(l->log_class));

	put_text(o, "device", l->device);
	put_text(o, "ring", l->ring);
	put_text(o, "comm", l->comm);
	put(o, "named_pid", l->named_pid);
	put(o, "addr", l->addr);
	put(o, "code", l->code);
	put(o, "repeats", l->repeats);
	if (l->hazard)
		json_object_set_new(o, "hazard", json_string(davy_log_hazard_name(l->hazard)));
	if (l->error)
		json_object_set_new(o, "error", json_integer(l->error));
	return o;
}

static json_t *kfd(const struct davy_ev_kfd *k)
{
	json_t *o = json_pack("{s:o, s:s}", "device", text(k->device), "kind",
			      davy_kfd_event_name(k->event));

	put_text(o, "detail", k->detail);
	put(o, "driver_ns", k->driver_ns);
	put(o, "addr", k->addr);
	put(o, "bytes", k->bytes);
	put(o, "mask", k->mask);
	put(o, "trigger", k->trigger);
	put(o, "from", k->from);
	put(o, "to", k->to);
	put(o, "write", (k->flags & DAVY_KFD_WRITE) != 0);
	put(o, "migrated", (k->flags & DAVY_KFD_MIGRATED) != 0);
	put(o, "rescheduled", (k->flags & DAVY_KFD_RESCHEDULED) != 0);
	if (k->error)
		json_object_set_new(o, "error", json_integer(k->error));
	return o;
}

static json_t *kfd_use(const struct davy_ev_kfd_use *u)
{
	return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "device", text(u->device),
			 "vram", NUMBER(u->vram), "evicted_ms", NUMBER(u->evicted_ms), "faults",
			 NUMBER(u->fault_count), "pages_in", NUMBER(u->pages_in), "pages_out",
			 NUMBER(u->pages_out), "queues", NUMBER(u->queue_count), "gone", u->gone);
}

static json_t *lockup(const struct davy_ev_lockup *l)
{
	return json_pack("{s:o, s:o, s:I, s:s}", "device", text(l->device), "queue", text(l->queue),
			 "timeout_ns", NUMBER(l->timeout_ns), "origin",
			 davy_lockup_origin_name(l->origin));
}

/* A limit that is none is not told. */
static json_t *dmem(const struct davy_ev_dmem *d)
{
	json_t *o = json_pack("{s:o, s:o, s:o, s:I, s:I}", "device", text(d->device), "region",
			      text(d->region), "unit", text(d->unit), "capacity",
			      NUMBER(d->capacity), "current", NUMBER(d->current));

	put(o, "low", d->low);
	put(o, "max", d->max == UINT64_MAX ? 0 : d->max);
	return o;
}

json_t *davy_device_json(const struct davy_event *ev)
{
	switch (ev->kind) {
	case DAVY_EV_MEMORY:
		return memory(&ev->memory);
	case DAVY_EV_CLIENT:
		return client(&ev->client);
	case DAVY_EV_DEVICE:
		return device(&ev->device);
	case DAVY_EV_LOG:
		return log_line(&ev->log);
	case DAVY_EV_KFD:
		return kfd(&ev->kfd);
	case DAVY_EV_KFD_USE:
		return kfd_use(&ev->kfd_use);
	case DAVY_EV_LOCKUP:
		return lockup(&ev->lockup);
	case DAVY_EV_DMEM:
		return dmem(&ev->dmem);
	default:
		return NULL;
	}
}
