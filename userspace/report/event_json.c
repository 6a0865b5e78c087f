/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <jansson.h>

#include "core/event/config.h"
#include "core/event/fact.h"
#include "core/event/plan.h"
#include "lib/text.h"
#include "report/device_json.h"
#include "report/event_text.h"
#include "report/process_json.h"

#define NUMBER(value) ((json_int_t)(value))

static json_t *text(const char *value)
{
	char safe[512];

	return json_string(davy_text_shown(safe, sizeof(safe), value));
}

static json_t *fault(const struct davy_ev_fault *f)
{
	static const char *const classes[DAVY_FAULT_CLASS_COUNT] = {
		[DAVY_FAULT_NONE] = "none",	    [DAVY_FAULT_VM] = "vm",
		[DAVY_FAULT_VM_RETRY] = "vm_retry", [DAVY_FAULT_ILLEGAL] = "illegal",
		[DAVY_FAULT_ECC] = "ecc",	    [DAVY_FAULT_SDMA] = "sdma",
		[DAVY_FAULT_WAVE] = "wave",
	};

	return json_pack(
		"{s:o, s:I, s:I, s:I, s:i, s:i, s:s, s:b, s:b, s:I, s:I}", "device",
		text(f->device), "addr", NUMBER(f->addr), "pasid", NUMBER(f->pasid), "vmid",
		NUMBER(f->vmid), "client_id", f->client_id, "src_id", f->src_id, "class",
		f->fault_class < DAVY_FAULT_CLASS_COUNT ? classes[f->fault_class] : "unknown",
		"write", f->flags & DAVY_FAULT_WRITE, "addr_known",
		f->flags & DAVY_FAULT_ADDR_KNOWN, "count", NUMBER(f->count), "fresh",
		NUMBER(f->fresh));
}

static json_t *moved(const struct davy_ev_bo_moved *m)
{
	return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "device", text(m->device),
			 "owner_pid", NUMBER(m->owner_pid), "owner_pasid", NUMBER(m->owner_pasid),
			 "out_bytes", NUMBER(m->out_bytes), "in_bytes", NUMBER(m->in_bytes),
			 "out_count", NUMBER(m->out_count), "in_count", NUMBER(m->in_count));
}

static json_t *ring(const struct davy_ev_ring *r)
{
	return json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:I}", "device", text(r->device), "ring",
			 text(r->ring), "timeout_ns", NUMBER(r->timeout_ns), "age_ns",
			 NUMBER(r->age_ns), "fence_context", NUMBER(r->fence_context),
			 "fence_seqno", NUMBER(r->fence_seqno), "running",
			 NUMBER(r->running_count));
}

static json_t *timed_out(const struct davy_ev_job_timeout *t)
{
	return json_pack("{s:o, s:o, s:I, s:I, s:I, s:I}", "device", text(t->device), "ring",
			 text(t->ring), "fence_context", NUMBER(t->fence_context), "fence_seqno",
			 NUMBER(t->fence_seqno), "age_ns", NUMBER(t->age_ns), "pasid",
			 NUMBER(t->pasid));
}

static json_t *process(const struct davy_ev_process *p)
{
	json_t *o = davy_process_json(p);

	json_object_set_new(o, "start_ticks", json_integer(NUMBER(p->start_ticks)));
	return o;
}

static json_t *sensor(const struct davy_ev_sensor *s)
{
	static const char *const states[DAVY_SENSOR_STATE_COUNT] = { "live", "absent", "refused",
								     "released", "lost" };

	return json_pack("{s:o, s:s, s:I, s:I, s:o}", "name", text(s->name), "state",
			 states[s->state], "count", NUMBER(s->count), "gap_ns", NUMBER(s->gap_ns),
			 "reason", text(s->reason));
}

static json_t *workload(const struct davy_ev_workload *w)
{
	static const char *const ops[] = { "registered", "started", "gone" };

	return json_pack("{s:I, s:s, s:s, s:s, s:o, s:i}", "workload", NUMBER(w->workload), "op",
			 ops[w->op], "engine", davy_engine_name(w->engine), "backend",
			 davy_backend_name(w->backend), "model", text(w->model), "port", w->port);
}

static json_t *probe(const struct davy_ev_probe *p)
{
	return json_pack("{s:I, s:i, s:i, s:I, s:I}", "workload", NUMBER(p->workload), "health",
			 p->health_status, "completion", p->completion_status, "tokens",
			 NUMBER(p->token_count), "ms", NUMBER(p->completion_ms));
}

static json_t *progress(const struct davy_ev_progress *p)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "prompt_tokens", NUMBER(p->prompt_count),
			 "generated_tokens", NUMBER(p->generated_count), "depth", NUMBER(p->depth),
			 "context_size", NUMBER(p->context_size), "busy_slots",
			 NUMBER(p->busy_slots), "slots", NUMBER(p->slots));
}

/* Without a value: the one for that name is taken back. */
static json_t *config_for(const struct davy_ev_config_for *c)
{
	static const char *const scopes[DAVY_SCOPE_COUNT] = { "none", "driver", "device", "model" };
	json_t *value = c->config.value == DAVY_OVERRIDE_REMOVED ? json_null()
								 : json_integer(c->config.value);

	return json_pack("{s:o, s:o, s:o, s:s}", "key", text(c->config.key), "value", value, "for",
			 text(c->name), "scope",
			 scopes[c->scope < DAVY_SCOPE_COUNT ? c->scope : 0]);
}

static void put(json_t *o, const char *key, uint64_t value)
{
	if (value)
		json_object_set_new(o, key, json_integer(NUMBER(value)));
}

/* Only what this fact has: the rest would say nothing. */
static json_t *fact(const struct davy_ev_fact *f)
{
	json_t *o = json_pack("{s:I, s:i}", "count", NUMBER(f->count), "error", f->error);

	if (f->device[0])
		json_object_set_new(o, "device", text(f->device));
	if (f->name[0])
		json_object_set_new(o, "name", text(f->name));
	put(o, "by", f->by_pid);
	put(o, "pasid", f->pasid);
	put(o, "bytes", f->bytes);
	put(o, "addr", f->addr);
	put(o, "duration_ns", f->duration_ns);
	put(o, "fence_context", f->fence_context);
	put(o, "fence_seqno", f->fence_seqno);
	put(o, "detail", f->detail);
	put(o, "what", f->what);
	put(o, "fresh", f->fresh);
	return o;
}

static json_t *job_times(const struct davy_ev_job_times *t)
{
	json_t *slots = json_array();

	for (size_t i = 0; i < DAVY_TIME_SLOTS; i++)
		json_array_append_new(slots, json_integer(t->slot[i]));
	return json_pack("{s:o, s:o, s:I, s:I, s:I, s:o}", "device", text(t->device), "ring",
			 text(t->ring), "count", NUMBER(t->count), "sum_ns", NUMBER(t->sum_ns),
			 "max_ns", NUMBER(t->max_ns), "slots", slots);
}

static void put_knobs(json_t *o, const struct davy_knobs *k)
{
	for (uint32_t i = 0; i < DAVY_TUNER_KNOBS; i++)
		if (i == DAVY_TUNER_CACHE_TYPE && k->cache_type)
			json_object_set_new(o, davy_knob_name(i),
					    text(davy_cache_name(k->cache_type)));
		else
			put(o, davy_knob_name(i), davy_knob_get(k, i));
}

static json_t *order(const struct davy_ev_order *in)
{
	json_t *o = json_pack("{s:I, s:s}", "workload", NUMBER(in->workload), "rung",
			      davy_rung_name(in->rung));

	if (in->undo)
		json_object_set_new(o, "undoes", text(davy_rung_name(in->undo)));
	if (in->to_backend)
		json_object_set_new(o, "to_backend", text(davy_backend_name(in->to_backend)));
	put(o, "on_permille", in->on_permille);
	put(o, "lease_ns", in->lease_ns);
	put(o, "cap_bytes", in->cap_bytes);
	put_knobs(o, &in->knobs);
	return o;
}

static json_t *left(const struct davy_ev_left *in)
{
	json_t *o = json_pack("{s:I, s:s, s:s, s:s}", "workload", NUMBER(in->workload), "rung",
			      davy_rung_name(in->rung), "hazard", davy_hazard_name(in->hazard),
			      "from_backend", davy_backend_name(in->backend));

	if (in->device[0])
		json_object_set_new(o, "device", text(in->device));
	put_knobs(o, &in->knobs);
	put(o, "depth", in->depth);
	return o;
}

static json_t *tuning(const struct davy_ev_tuning *in)
{
	json_t *o = json_pack("{s:I, s:s, s:b, s:b}", "workload", NUMBER(in->workload), "backend",
			      davy_backend_name(in->backend), "first",
			      in->flags & DAVY_TUNING_FIRST, "last", in->flags & DAVY_TUNING_LAST);

	put(o, "failures", in->of.failures);
	put(o, "failed_depth", in->of.failed_depth);
	put(o, "ubatch", in->of.knob[DAVY_TUNER_UBATCH].size);
	put(o, "context", in->of.knob[DAVY_TUNER_CONTEXT].size);
	put(o, "parallel", in->of.knob[DAVY_TUNER_PARALLEL].size);
	put(o, "layers", in->of.knob[DAVY_TUNER_LAYERS].size);
	return o;
}

static json_t *rules(const struct davy_ev_rules *in)
{
	const char *mode = in->mode ? davy_mode_name((enum davy_mode)(in->mode - 1)) : "";

	return json_pack("{s:I, s:s, s:i, s:I}", "workload", NUMBER(in->workload), "mode", mode,
			 "fixed", in->fixed, "ubatch_floor", NUMBER(in->ubatch_floor));
}

static json_t *finding(const struct davy_ev_finding *in)
{
	json_t *o = json_pack("{s:s, s:s, s:o, s:i, s:b}", "engine",
			      davy_engine_name((enum davy_engine)in->engine), "backend",
			      davy_backend_name(in->backend), "where", text(in->where), "status",
			      in->status, "adopted", in->adopted);

	if (in->device[0])
		json_object_set_new(o, "device", text(in->device));
	if (in->model[0])
		json_object_set_new(o, "model", text(in->model));
	return o;
}

static json_t *body(const struct davy_event *ev)
{
	switch (ev->kind) {
	case DAVY_EV_PROCESS:
		return process(&ev->process);
	case DAVY_EV_PROCESS_EXIT:
		return json_pack("{s:i}", "status", ev->process_exit.status);
	case DAVY_EV_THROW:
		return json_pack("{s:o}", "exception", text(ev->thrown.type));
	case DAVY_EV_FAULT:
		return fault(&ev->fault);
	case DAVY_EV_PASID:
		return json_pack("{s:I, s:b}", "pasid", NUMBER(ev->pasid.pasid), "freed",
				 ev->pasid.freed);
	case DAVY_EV_BO_MOVED:
		return moved(&ev->bo_moved);
	case DAVY_EV_RING:
		return ring(&ev->ring);
	case DAVY_EV_JOB_TIMEOUT:
		return timed_out(&ev->job_timeout);
	case DAVY_EV_RESET:
		return json_pack("{s:o, s:i, s:b}", "device", text(ev->reset.device), "result",
				 ev->reset.result, "begun", ev->reset.begun);
	case DAVY_EV_WORKLOAD:
		return workload(&ev->workload);
	case DAVY_EV_PROBE:
		return probe(&ev->probe);
	case DAVY_EV_ACT:
		return json_pack("{s:I, s:I, s:i, s:i}", "plan", NUMBER(ev->act.plan), "workload",
				 NUMBER(ev->act.workload), "stage", ev->act.stage, "result",
				 ev->act.result);
	case DAVY_EV_ALLOC_FAILED:
		return json_pack(
			"{s:o, s:I, s:I, s:i, s:I, s:I}", "device", text(ev->alloc_failed.device),
			"bytes", NUMBER(ev->alloc_failed.bytes), "count",
			NUMBER(ev->alloc_failed.count), "error", ev->alloc_failed.error, "what",
			NUMBER(ev->alloc_failed.what), "stage", NUMBER(ev->alloc_failed.stage));
	case DAVY_EV_MEMORY:
	case DAVY_EV_CLIENT:
	case DAVY_EV_DEVICE:
	case DAVY_EV_LOG:
	case DAVY_EV_KFD:
	case DAVY_EV_KFD_USE:
	case DAVY_EV_LOCKUP:
	case DAVY_EV_DMEM:
		return davy_device_json(ev);
	case DAVY_EV_FACT:
		return fact(&ev->fact);
	case DAVY_EV_JOB_TIMES:
		return job_times(&ev->job_times);
	case DAVY_EV_ORDER:
		return order(&ev->order);
	case DAVY_EV_LEFT:
		return left(&ev->left);
	case DAVY_EV_TUNING:
		return tuning(&ev->tuning);
	case DAVY_EV_FINDING:
		return finding(&ev->finding);
	case DAVY_EV_RULES:
		return rules(&ev->rules);
	case DAVY_EV_OWNER:
		return json_pack("{s:I}", "uid", NUMBER(ev->owner.uid));
	case DAVY_EV_CLOCK:
		return json_pack("{s:I}", "wall_s", NUMBER(ev->clock.wall_s));
	case DAVY_EV_SENSOR:
		return sensor(&ev->sensor);
	case DAVY_EV_PROGRESS:
		return progress(&ev->progress);
	case DAVY_EV_CONFIG_FOR:
		return config_for(&ev->config_for);
	case DAVY_EV_CONFIG:
		return json_pack("{s:o, s:I}", "key", text(ev->config.key), "value",
				 NUMBER(ev->config.value));
	default:
		return NULL; /* ticks, graph samples */
	}
}

char *davy_event_json(const struct davy_event *ev)
{
	json_t *facts = body(ev), *o;
	char *dump;

	if (!facts)
		return NULL;
	o = json_pack("{s:s, s:I, s:s}", "type", "event", "at_ns", NUMBER(ev->at_ns), "event",
		      ev->kind == DAVY_EV_FACT ? davy_fact_name(ev->fact.fact)
					       : davy_event_kind_name(ev->kind));
	if (o && ev->pid)
		json_object_set_new(o, "pid", json_integer(ev->pid));
	json_object_update_missing(o, facts);
	json_decref(facts);
	dump = o ? json_dumps(o, JSON_COMPACT) : NULL;
	json_decref(o);
	return dump;
}
