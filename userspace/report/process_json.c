/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/process_json.h"

#include "lib/text.h"

static json_t *process_json_text(const char *value)
{
	char safe[512];

	return json_string(davy_text_shown(safe, sizeof(safe), value));
}

static void process_json_put_text(json_t *o, const char *key, const char *value)
{
	if (value[0])
		json_object_set_new(o, key, process_json_text(value));
}

static void process_json_put_number(json_t *o, const char *key, uint64_t value)
{
	if (value)
		json_object_set_new(o, key, json_integer((json_int_t)value));
}

static json_t *devices(const struct davy_ev_process *p)
{
	json_t *list = json_array();

	if (p->device[0])
		json_array_append_new(list, process_json_text(p->device));
	for (size_t i = 0; i < DAVY_DEVICES_MAX - 1 && p->more_devices[i][0]; i++)
		json_array_append_new(list, process_json_text(p->more_devices[i]));
	return list;
}

static void put_layers(json_t *o, int32_t layers)
{
	if (layers == DAVY_LAYERS_ALL)
		json_object_set_new(o, "gpu_layers", json_string("all"));
	else if (layers >= 0)
		json_object_set_new(o, "gpu_layers", json_integer(layers));
}

static void process_json_put_model(json_t *o, const struct davy_ev_process *p)
{
	process_json_put_number(o, "context", p->context_size);
	if (p->flags & DAVY_PROCESS_CONTEXT_ASSUMED)
		json_object_set_new(o, "context_assumed", json_true());
	process_json_put_number(o, "batch", p->batch);
	process_json_put_number(o, "ubatch", p->ubatch);
	process_json_put_number(o, "parallel", p->parallel);
	put_layers(o, p->gpu_layers);
	process_json_put_text(o, "cache_k", p->cache_k);
	process_json_put_text(o, "cache_v", p->cache_v);
	process_json_put_text(o, "architecture", p->architecture);
	process_json_put_text(o, "quantisation", p->quantisation);
	process_json_put_number(o, "model_bytes", p->model_bytes);
	process_json_put_number(o, "layers", p->layer_count);
	process_json_put_number(o, "trained_context", p->trained_context);
}

static void put_place(json_t *o, const struct davy_ev_process *p)
{
	process_json_put_text(o, "unit", p->unit);
	if (p->flags & DAVY_PROCESS_USER_UNIT)
		json_object_set_new(o, "user_unit", json_true());
	if (p->runtime != DAVY_RUNTIME_NONE)
		json_object_set_new(o, "runtime", json_string(davy_runtime_name(p->runtime)));
	process_json_put_text(o, "container", p->container);
	process_json_put_text(o, "pod", p->pod);
	process_json_put_number(o, "inner_pid", p->inner_pid);
	if (p->flags & DAVY_PROCESS_LOGIN_USER)
		json_object_set_new(o, "login_user", json_true());
	if (p->flags & DAVY_PROCESS_PARTIAL)
		json_object_set_new(o, "partial", json_true());
}

json_t *davy_process_json(const struct davy_ev_process *p)
{
	json_t *o = json_pack("{s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:i, s:I}", "comm",
			      process_json_text(p->comm), "engine", davy_engine_name(p->engine),
			      "role", davy_role_name(p->role), "backend",
			      davy_backend_name(p->backend), "device", process_json_text(p->device),
			      "devices", devices(p), "model", process_json_text(p->model), "port",
			      p->port, "workload", (json_int_t)p->workload);

	if (!o || p->engine == DAVY_ENGINE_NONE)
		return o;
	if (p->flags & DAVY_PROCESS_PORT_ASSUMED)
		json_object_set_new(o, "port_assumed", json_true());
	process_json_put_model(o, p);
	put_place(o, p);
	return o;
}
