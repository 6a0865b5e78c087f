/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applies the tuner (tuner.h) to a workload: reports failures, survival and depth to it, and turns
 * its answers into acts. The tuner knows sizes; the breaker decides on the backend.
 */
#include "core/action/acts.h"

#include <string.h>

#define MINUTE_NS   (60 * DAVY_NS_PER_S)
#define LAYERS_LEFT 4 /* a quarter of the layers stays on the GPU: with fewer, use the CPU */

static struct davy_tuned *tuned_find(struct davy_core *core, uint32_t workload)
{
	for (size_t i = 0; workload && i < DAVY_TUNED_MAX; i++)
		if (core->tuned[i].workload == workload)
			return &core->tuned[i];
	return NULL;
}

const struct davy_tuned *davy_core_tuned(const struct davy_core *core, uint32_t workload)
{
	return tuned_find((struct davy_core *)core, workload);
}

/* An entry whose workload has ended is free. NULL: none is free. */
static struct davy_tuned *tuned_get(struct davy_core *core, uint32_t workload)
{
	struct davy_tuned *t = tuned_find(core, workload);

	if (t)
		return t;
	for (size_t i = 0; i < DAVY_TUNED_MAX; i++) {
		t = &core->tuned[i];
		if (t->workload && davy_world_workload(&core->world, t->workload))
			continue;
		memset(t, 0, sizeof(*t));
		t->workload = workload;
		return t;
	}
	return NULL;
}

static void note_change(struct davy_tuned *t)
{
	t->own = true;
	t->changes++;
	t->answers++;
}

static uint64_t wall_s(const struct davy_step *s)
{
	return s->core->wall_s + (s->now_ns - s->core->wall_ns) / DAVY_NS_PER_S + 1;
}

static void tuned_forget(struct davy_tuned *t)
{
	uint64_t stamp = t->tuner.stamp;

	memset(&t->tuner, 0, sizeof(t->tuner));
	t->tuner.stamp = stamp;
	t->higher = false;
	note_change(t);
}

void davy_tuned_restore(struct davy_step *s)
{
	const struct davy_ev_tuning *in = &s->ev->tuning;
	const struct davy_workload *w = davy_world_workload(&s->core->world, in->workload);
	struct davy_tuned *t = w ? tuned_get(s->core, in->workload) : NULL;

	if (!t)
		return;
	if (in->flags & DAVY_TUNING_FORGET) {
		tuned_forget(t);
		return;
	}
	if (in->flags & DAVY_TUNING_FIRST) {
		t->loading = !t->own;
		if (t->loading)
			memset(&t->tuner, 0, sizeof(t->tuner));
	}
	if (t->loading) {
		memcpy(&t->tuner, in->head, sizeof(in->head));
		t->tuner.of[in->backend] = in->of;
		memcpy(t->configured, in->configured, sizeof(t->configured));
		t->layers_asked = in->layers_asked;
	}
	if (!(in->flags & DAVY_TUNING_LAST))
		return;
	t->loading = false;
	if (in->stamp)
		davy_tuner_environment(&t->tuner, in->stamp);
}

/* Requested layers: "off" counts from this number, which may exceed the model's. */
static uint32_t layers_asked(const struct davy_process *p)
{
	if (p->gpu_layers >= 0)
		return (uint32_t)p->gpu_layers;
	return p->layer_count ? p->layer_count + 1 : 0; /* plus the output layer */
}

static uint32_t layers_there(const struct davy_process *p)
{
	uint32_t asked = layers_asked(p);

	return p->layer_count && asked > p->layer_count ? p->layer_count + 1 : asked;
}

/* Settings that the agent has not changed are in the command. */
static void tuned_note_configured(struct davy_tuned *t, const struct davy_workload *w,
				  const struct davy_process *p)
{
	const uint32_t is[DAVY_TUNER_SETTINGS] = {
		[DAVY_TUNER_UBATCH] = p->ubatch,       [DAVY_TUNER_CONTEXT] = p->context_size,
		[DAVY_TUNER_PARALLEL] = p->parallel,   [DAVY_TUNER_CACHE_TYPE] = p->cache_type,
		[DAVY_TUNER_LAYERS] = layers_there(p),
	};

	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		if (is[i] && !davy_start_setting_get(&w->settings, i))
			t->configured[i] = is[i];
	if (!w->settings.gpu_layers_off)
		t->layers_asked = layers_asked(p);
}

static uint32_t scaled(uint32_t part_s, uint64_t soak_s)
{
	uint64_t s = part_s * soak_s / davy_tuner_times.soak_s;

	return s < UINT32_MAX ? (uint32_t)s : UINT32_MAX;
}

static void set_times(const struct davy_step *s, struct davy_tuner_times *times)
{
	uint64_t soak_s = davy_config_ns(&s->core->config, DAVY_CFG_TUNER_SOAK_MS) / DAVY_NS_PER_S;

	times->soak_s = (uint32_t)soak_s;
	times->lasted_s = scaled(davy_tuner_times.lasted_s, soak_s);
	times->at_once_s = scaled(davy_tuner_times.at_once_s, soak_s);
	times->backoff_s = scaled(davy_tuner_times.backoff_s, soak_s);
	times->backoff_max_s = scaled(davy_tuner_times.backoff_max_s, soak_s);
	times->bad_s = scaled(davy_tuner_times.bad_s, soak_s);
	times->bad_max_s = scaled(davy_tuner_times.bad_max_s, soak_s);
}

uint32_t davy_ubatch_floor(const struct davy_step *s, const struct davy_workload *w)
{
	uint64_t least = davy_config_u64(&s->core->config, DAVY_CFG_HEADROOM_UBATCH_FLOOR);

	return w->ubatch_floor ? w->ubatch_floor : (uint32_t)least;
}

/* The process's backend is the only one: the breaker handles the others. */
static void set_bounds(const struct davy_step *s, const struct davy_tuned *t,
		       const struct davy_workload *w, uint8_t backend, struct davy_tuner_bounds *b)
{
	const struct davy_config *config = &s->core->config;
	uint32_t ubatch = davy_ubatch_floor(s, w), fixed = t->fixed | w->fixed;
	uint32_t context = (uint32_t)davy_config_u64(config, DAVY_CFG_CONTEXT_FLOOR);

	memset(b, 0, sizeof(*b));
	set_times(s, &b->times);
	b->backends[0] = backend;
	b->layers_fit = t->layers_fit;
	b->range[DAVY_TUNER_UBATCH] = (struct davy_tuner_range){ ubatch, 0, ubatch };
	b->range[DAVY_TUNER_CONTEXT] = (struct davy_tuner_range){ context, 0, context / 2 };
	b->range[DAVY_TUNER_PARALLEL] = (struct davy_tuner_range){ 1, 0, 1 };
	b->range[DAVY_TUNER_CACHE_TYPE] = (struct davy_tuner_range){ DAVY_TUNER_CACHE_Q8_0, 0, 1 };
	b->range[DAVY_TUNER_LAYERS] =
		(struct davy_tuner_range){ t->configured[DAVY_TUNER_LAYERS] / LAYERS_LEFT, 0, 1 };
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		if (w->can & DAVY_CAN_SHRINK && !(fixed & 1u << i))
			b->range[i].ceiling = t->configured[i];
}

/* Takes over the settings of others (operators, escalation) that are in force. */
static void find_in_force(const struct davy_step *s, struct davy_tuned *t,
			  const struct davy_workload *w, const struct davy_tuner_bounds *b)
{
	struct davy_tuner_setting is = { 0 };
	uint32_t off = w->settings.gpu_layers_off;

	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		is.size[i] = davy_start_setting_get(&w->settings, i);
	is.size[DAVY_TUNER_LAYERS] = off && off < t->layers_asked ? t->layers_asked - off : 0;
	is.backend = b->backends[0];
	davy_tuner_found(&t->tuner, wall_s(s), b, &is);
}

static bool tuned_on_gpu(const struct davy_process *p)
{
	return p && p->backend != DAVY_BACKEND_CPU && p->backend != DAVY_BACKEND_UNKNOWN;
}

/* Of a workload that runs, or has just ended, on a GPU; NULL: no statement about its sizes. */
static struct davy_tuned *tuned_look(struct davy_step *s, const struct davy_workload *w,
				     const struct davy_process *p,
				     struct davy_tuner_bounds *ret_bounds)
{
	struct davy_tuned *t = tuned_on_gpu(p) && !w->act_plan ? tuned_get(s->core, w->id) : NULL;

	if (!t)
		return NULL;
	tuned_note_configured(t, w, p);
	set_bounds(s, t, w, p->backend, ret_bounds);
	find_in_force(s, t, w, ret_bounds);
	return t;
}

static struct davy_start_settings tuned_settings_of(const struct davy_tuned *t,
						    const struct davy_workload *w,
						    const struct davy_tuner_setting *setting)
{
	struct davy_start_settings k = w->settings;

	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++) {
		uint32_t size = setting->size[i];

		if (size && i == DAVY_TUNER_LAYERS)
			size = size < t->layers_asked ? t->layers_asked - size : 0;
		if (t->configured[i])
			davy_start_setting_set(&k, i, size);
	}
	return k;
}

/* The tuner's answer, without changing its state. */
static void peek(struct davy_step *s, const struct davy_tuned *t, const struct davy_workload *w,
		 const struct davy_tuner_bounds *b, struct davy_plan *plan)
{
	struct davy_tuner tuner = t->tuner;
	struct davy_tuner_setting setting;

	davy_tuner_next(&tuner, wall_s(s), b, &setting, &plan->tuning);
	plan->settings = tuned_settings_of(t, w, &setting);
}

/* A process that fails with the smallest settings fails for another reason. */
static bool is_large(const struct davy_step *s, const struct davy_workload *w,
		     const struct davy_process *p)
{
	return p->lost_batch > davy_ubatch_floor(s, w) ||
	       p->lost_depth >= davy_config_u64(&s->core->config, DAVY_CFG_CONTEXT_FLOOR);
}

static enum davy_log_class tuned_class_of(const struct davy_step *s, const struct davy_workload *w,
					  const struct davy_process *p,
					  const struct davy_plan *note)
{
	enum davy_log_class fails_as =
		(enum davy_log_class)s->hazards[note->hazard]->precursor.fails_as;

	if (p->out_of_memory_ns || davy_load_refused(s, p))
		return DAVY_CLASS_OOM_VRAM;
	if (!note->device_class)
		return DAVY_CLASS_NONE; /* a plain bug */
	if (fails_as && !p->exception_ns && note->form != DAVY_FORM_FAILING)
		return fails_as;
	return is_large(s, w, p) ? DAVY_CLASS_DEVICE_LOST : DAVY_CLASS_NONE;
}

/* What the process could have: its quota, else what the others leave of the device; 0: unknown. */
static uint64_t room_of(struct davy_step *s, const struct davy_process *p)
{
	struct davy_memory *m = &s->core->world.memory;
	const struct davy_memory_device *d = davy_memory_device(m, p->device);
	const struct davy_memory_client *own = davy_memory_client_of(m, p->pid, p->device);
	uint64_t used = d ? d->now.vram_used : 0, mine = own ? own->bytes : 0;

	if (p->vram_limit)
		return p->vram_limit;
	if (!d || d->now.vram_total < used)
		return 0;
	return d->now.vram_total - used + (mine < used ? mine : used);
}

/*
 * How many layers have room, with an eighth for cache and buffers; half of them if the estimate is
 * unknown or does not explain the refusal. 0: too few for the GPU.
 */
static uint32_t layers_that_fit(struct davy_step *s, const struct davy_process *p)
{
	uint64_t whole = p->model_bytes + p->model_bytes / 8, room = room_of(s, p);
	uint64_t layer = p->layer_count ? whole / (p->layer_count + 1) : 0;
	uint32_t now = layers_there(p), fit = now / 2;

	if (layer && room && room / layer < now)
		fit = (uint32_t)(room / layer);
	return fit >= now / LAYERS_LEFT ? fit : 0;
}

bool davy_tuned_trouble(struct davy_step *s, const struct davy_workload *w,
			const struct davy_process *p, const struct davy_plan *note)
{
	enum davy_log_class class = tuned_class_of(s, w, p, note);
	struct davy_tuner_bounds bounds;
	struct davy_tuned *t = class != DAVY_CLASS_NONE ? tuned_look(s, w, p, &bounds) : NULL;

	if (!t)
		return false;
	t->layers_fit = davy_load_refused(s, p) ? layers_that_fit(s, p) : 0;
	davy_tuner_trouble(&t->tuner, wall_s(s), p->lost_depth ? p->lost_depth : w->deepest, class);
	note_change(t);
	return true;
}

static bool goes_down(const struct davy_plan *plan)
{
	return plan->tuning.why == DAVY_TUNER_LOWER || plan->tuning.why == DAVY_TUNER_BACK;
}

bool davy_tuned_lower(struct davy_step *s, const struct davy_workload *w,
		      const struct davy_process *p, struct davy_plan *plan)
{
	struct davy_plan lower = *plan;
	struct davy_tuner_bounds bounds;
	struct davy_tuned *t = tuned_look(s, w, p, &bounds);

	if (!t)
		return false;
	peek(s, t, w, &bounds, &lower);
	if (!goes_down(&lower))
		return false;
	plan->settings = lower.settings;
	plan->tuning = lower.tuning;
	return true;
}

void davy_tuned_come_back(struct davy_step *s, const struct davy_workload *w, uint8_t backend,
			  struct davy_plan *plan)
{
	struct davy_tuned *t = tuned_find(s->core, w->id);
	struct davy_plan lower = *plan;
	struct davy_tuner_bounds bounds;

	if (!t || !t->tuner.failed || t->tuner.backend != backend)
		return;
	set_bounds(s, t, w, backend, &bounds);
	peek(s, t, w, &bounds, &lower);
	if (!goes_down(&lower))
		return;
	plan->settings = lower.settings;
	plan->tuning = lower.tuning;
}

bool davy_tuned_raise(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan)
{
	struct davy_tuned *t = tuned_find(s->core, w->id);
	struct davy_tuner_bounds bounds;

	if (!t || !t->higher ||
	    !tuned_look(s, w, davy_world_process(&s->core->world, w->pid), &bounds))
		return false;
	peek(s, t, w, &bounds, plan);
	t->higher = plan->tuning.from < plan->tuning.to && !goes_down(plan);
	return t->higher;
}

/* Without knowledge, the tuner must not raise settings of an earlier agent. */
bool davy_tuned_knows(const struct davy_step *s, const struct davy_workload *w)
{
	const struct davy_tuned *t = tuned_find(s->core, w->id);

	for (size_t i = 0; t && i < DAVY_BACKEND_COUNT; i++)
		if (t->tuner.of[i].failures)
			return true;
	return false;
}

void davy_tuned_take(struct davy_step *s, const struct davy_workload *w,
		     const struct davy_plan *plan)
{
	struct davy_tuned *t = tuned_find(s->core, w->id);
	struct davy_tuner_setting setting;
	struct davy_tuner_reason reason;
	struct davy_tuner_bounds bounds;

	if (!t || plan->tuning.why == DAVY_TUNER_AS_CONFIGURED)
		return;
	set_bounds(s, t, w, t->tuner.backend ? t->tuner.backend : plan->backend, &bounds);
	davy_tuner_next(&t->tuner, wall_s(s), &bounds, &setting, &reason);
	t->higher = false;
	t->layers_fit = 0;
	note_change(t);
}

void davy_tuned_failed(struct davy_step *s, const struct davy_workload *w, int32_t result)
{
	struct davy_tuned *t = tuned_find(s->core, w->id);
	bool cannot = result == -95 /* EOPNOTSUPP */ || result == -34 /* ERANGE */;

	if (w->act_tuning.setting == DAVY_TUNER_CACHE_TYPE)
		cannot = true; /* not every backend supports a smaller one */
	if (t && cannot && w->act_tuning.why && w->act_tuning.setting < DAVY_TUNER_SETTINGS)
		t->fixed |= 1u << w->act_tuning.setting;
}

void davy_tuned_forget(struct davy_step *s, const struct davy_workload *w)
{
	struct davy_tuned *t = tuned_find(s->core, w->id);

	if (t)
		tuned_forget(t);
}

/* Four times in a soak, at least once a minute. */
static uint64_t count_ns(const struct davy_step *s)
{
	uint64_t part_ns = davy_config_ns(&s->core->config, DAVY_CFG_TUNER_SOAK_MS) / 4;

	return part_ns < MINUTE_NS ? part_ns : MINUTE_NS;
}

static bool worked(const struct davy_process *p, uint64_t since_ns)
{
	return p->worked_ns > since_ns || p->life.token_ns > since_ns ||
	       p->life.done_ns > since_ns || p->life.busy_ns > since_ns;
}

static void tuned_count(struct davy_step *s, struct davy_tuned *t, const struct davy_workload *w,
			const struct davy_tuner_bounds *bounds, uint64_t seconds)
{
	struct davy_tuner tuner;
	struct davy_tuner_setting setting;
	struct davy_tuner_reason reason;

	davy_tuner_soak(&t->tuner, wall_s(s), seconds, w->deepest);
	t->own = true;
	t->changes++;
	if (t->tuner.failed)
		return; /* its answer belongs to an act */
	tuner = t->tuner;
	davy_tuner_next(&tuner, wall_s(s), bounds, &setting, &reason);
	t->higher = reason.from < reason.to;
	if (reason.from == reason.to)
		t->tuner = tuner;
}

void davy_tuned_tick(struct davy_step *s, const struct davy_workload *w)
{
	const struct davy_process *p = davy_world_process(&s->core->world, w->pid);
	struct davy_tuned *t =
		w->adopted && !w->act_plan && tuned_on_gpu(p) ? tuned_get(s->core, w->id) : NULL;
	struct davy_tuner_bounds bounds;
	uint64_t since_ns;

	if (!t)
		return;
	since_ns = t->counted_ns > w->act_end_ns ? t->counted_ns : w->act_end_ns;
	if (t->counted_ns && s->now_ns - since_ns < count_ns(s))
		return;
	t->counted_ns = s->now_ns;
	if (!since_ns || !tuned_look(s, w, p, &bounds) || !worked(p, since_ns))
		return;
	tuned_count(s, t, w, &bounds, (s->now_ns - since_ns) / DAVY_NS_PER_S);
}
