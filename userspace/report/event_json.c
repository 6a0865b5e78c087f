/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <jansson.h>

#include "core/event/config.h"
#include "core/event/fact.h"
#include "core/event/fields.h"
#include "lib/json_text.h"
#include "lib/text.h"
#include "report/event_text.h"
#include "report/process_json.h"

static json_t *element_json(const struct davy_event *ev, const struct davy_field *f, size_t index)
{
	char safe[512];
	uint64_t value;

	if (f->type == DAVY_FIELD_TEXT)
		return json_string(
			davy_text_shown(safe, sizeof(safe), davy_field_text(ev, f, index)));
	value = davy_field_number(ev, f, index);
	if (f->type == DAVY_FIELD_NAME)
		return json_string(f->text((uint32_t)value));
	return f->type == DAVY_FIELD_FLAG ? json_boolean(value) : json_integer((json_int_t)value);
}

static json_t *field_json(const struct davy_event *ev, const struct davy_field *f)
{
	json_t *list;

	if (!f->more)
		return element_json(ev, f, 0);
	list = json_array();
	for (size_t i = 0; i <= f->more; i++)
		json_array_append_new(list, element_json(ev, f, i));
	return list;
}

static bool field_shown(const struct davy_event *ev, const struct davy_field *f)
{
	if (f->shown != DAVY_FIELD_IF_SET)
		return f->shown == DAVY_FIELD_ALWAYS;
	return f->type == DAVY_FIELD_TEXT ? davy_field_text(ev, f, 0)[0] != 0
					  : davy_field_number(ev, f, 0) != 0;
}

/* Values that mean: none. */
static void amend_fields(json_t *o, const struct davy_event *ev)
{
	if (ev->kind == DAVY_EV_CONFIG_FOR && ev->config_for.config.value == DAVY_OVERRIDE_REMOVED)
		json_object_set_new(o, "value", json_null());
	if (ev->kind == DAVY_EV_DMEM && ev->dmem.max == UINT64_MAX)
		json_object_del(o, "max");
}

static json_t *event_json_event_json(const struct davy_event *ev,
				     const struct davy_event_shape *shape)
{
	json_t *o = json_pack("{s:s, s:I, s:s}", "type", "event", "at_ns", (json_int_t)ev->at_ns,
			      "event",
			      ev->kind == DAVY_EV_FACT ? davy_fact_name(ev->fact.fact)
						       : davy_event_kind_name(ev->kind));

	if (ev->pid)
		json_object_set_new(o, "pid", json_integer(ev->pid));
	if (ev->kind == DAVY_EV_PROCESS)
		json_object_update_missing_new(o, davy_process_json(&ev->process));
	for (size_t i = 0; i < shape->field_count; i++)
		if (field_shown(ev, &shape->fields[i]))
			json_object_set_new(o, shape->fields[i].name,
					    field_json(ev, &shape->fields[i]));
	amend_fields(o, ev);
	return o;
}

char *davy_event_json(const struct davy_event *ev)
{
	const struct davy_event_shape *shape = davy_event_shape(ev->kind);
	json_t *o;
	char *dump;

	if (shape->hidden)
		return NULL;
	o = event_json_event_json(ev, shape);
	dump = o ? davy_json_text(o, JSON_COMPACT) : NULL;
	json_decref(o);
	return dump;
}
