/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: how fast a heap of a device (VRAM, GTT; host memory for an integrated GPU) or a
 *   cgroup's limit on device memory (dmem) fills. The value is the time until it is full at that
 *   rate.
 * Threshold: 60, 20, 5 s left are levels 1 to 3, for growth that has lasted "trend". A level stays
 *   until 1.5 times its limit is left. Growth beside a loaded model is level 2 when a quarter of
 *   the time that it has lasted is left, 4 min at most. A load that leaves less than "headroom" is
 *   level 1, once; less than 512 MiB is level 2 until the engine has computed, not for engines on
 *   PyTorch, whose allocator keeps what it has freed. A load asks for no action. A saw tooth whose
 *   peaks rise six times in a row: level 1 if the third next peak finds no room, level 2 if the
 *   next one does not.
 * False alarms: a model load is fast and stops at an unknown size. Growth above "load_rate" is a
 *   load if the process has never stopped growing or is unknown; growth above "fast_rate" is
 *   always a load. A process that had its model long before the agent first saw it does not
 *   load. A load is level 1, or no alarm while its model is known to fit. It gets its real level
 *   only if the heap is nearly full (less than a second left), stays so and still fills. It
 *   stays at level 1 while the largest other model is idle, because the driver can evict that
 *   (NVIDIA's does not), and where an engine has computed with as little room. A load that fills
 *   the last "headroom" gets its real level at once if the rest of its file cannot fit. Growth
 *   below a recent peak is treated like a load. So is growth of a heap that was nearly as full
 *   in the last hour, until it has covered a fifth of the room above that top. VRAM whose pages
 *   the driver moves to the host when it needs room (KFD's managed memory) is level 1. A full
 *   heap without growth, and VRAM of a device that shares host memory, raise no alarm.
 * Test: tests/unit/test_forecast.c, test_exhaustion.c, test_load_room.c.
 */
#include "core/hazard/hazards.h"

#include <assert.h>
#include <inttypes.h>

#define LOAD_LEFT_MS	 1000
#define STAYS_NS	 (800 * DAVY_NS_PER_MS) /* by then a load is nearly full or over */
#define GREW_NS		 (5 * DAVY_NS_PER_S)	/* clients are sampled every second */
#define RISE_BLOCK	 (16ULL << 20)
#define RISE_ENDS_NS	 (10 * DAVY_NS_PER_S)
#define LOAD_BYTES	 (1ULL << 30)	       /* a rise of this size is a load */
#define LOAD_NS		 (300 * DAVY_NS_PER_S) /* tens of GB are read in a minute or two */
#define USER_HZ		 100
#define PEAKS_AHEAD	 3
#define SLOW_PART	 4 /* what has grown for 16 min and has 4 left does not stop */
#define SLOW_MOST_MS	 240000
#define COMPUTES_NS	 (60 * DAVY_NS_PER_S)
#define FIRST_REQUEST_NS (3600 * DAVY_NS_PER_S)
#define PAGED_NS	 (60 * DAVY_NS_PER_S)
#define LITTLE_BYTES	 (512ULL << 20) /* compute buffers and workspaces of one engine */

struct heap_view {
	const char *device;
	enum davy_plan_heap heap;
	const char *detail;
	uint64_t total;
	uint64_t used;
	uint32_t pid;		      /* owner, if it is not found by the growth of clients */
	const struct davy_process *p; /* its thresholds apply; NULL without thresholds per model */
};

/* "name" identifies the alarm and is printed in decisions; "text" is for sentences. */
static const struct {
	const char *name;
	const char *text;
} heaps[DAVY_OF_HEAP_COUNT] = {
	[DAVY_OF_NO_HEAP] = { "", "" },
	[DAVY_OF_VRAM] = { "vram", "VRAM" },
	[DAVY_OF_GTT] = { "gtt", "GTT" },
	[DAVY_OF_HOST] = { "host", "the host's memory" },
	[DAVY_OF_CGROUP] = { "cgroup", "the device memory of its cgroup " },
};

static uint64_t exhaustion_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* An active level stays until 1.5 times its limit is left. */
static uint64_t exhaustion_limit_of(const struct davy_step *s, const struct heap_view *v,
				    uint32_t level)
{
	int key = DAVY_CFG_EXHAUSTION_LEVEL1_MS + (int)level - 1;

	return davy_threshold(s, (enum davy_config_key)key, v->device, v->p);
}

static const struct davy_memory_client *exhaustion_filler(const struct davy_step *s,
							  const struct heap_view *v)
{
	const struct davy_memory *m = &s->core->world.memory;

	return v->pid ? davy_memory_client_of(m, v->pid, v->device)
		      : davy_memory_grower(m, v->device, s->now_ns, GREW_NS);
}

/*
 * The time left at which slow growth is level 2: a quarter of the time that it has lasted. Of a
 * process whose model is loaded, or of small steps beside such a process; otherwise 0.
 */
static uint64_t exhaustion_slow_ms(const struct davy_step *s, const struct heap_view *v,
				   const struct davy_outlook *o)
{
	const struct davy_memory_client *c = exhaustion_filler(s, v);

	if (!c)
		c = davy_memory_largest(&s->core->world.memory, v->device);
	if (!c || !davy_memory_settled(c, s->now_ns))
		return 0;
	return exhaustion_min((s->now_ns - o->since_ns) / DAVY_NS_PER_MS / SLOW_PART, SLOW_MOST_MS);
}

static uint32_t exhaustion_level_of(const struct davy_step *s, const struct heap_view *v,
				    uint64_t left_ms, uint32_t raised, uint64_t slow_ms)
{
	uint32_t level = 0;

	for (uint32_t i = 0; i < 3; i++) {
		uint64_t limit = exhaustion_limit_of(s, v, i + 1);

		level += left_ms <= (raised > i ? limit + limit / 2 : limit);
	}
	if (level < 2 && left_ms <= (raised > 1 ? slow_ms + slow_ms / 2 : slow_ms))
		level = 2;
	return level;
}

/*
 * True if the agent first saw the process long after its start, with its model: its load was over
 * then, although the agent never saw it stop growing.
 */
static bool exhaustion_had_model(const struct davy_step *s, const struct heap_view *v,
				 const struct davy_memory_client *c)
{
	const struct davy_process *p = davy_world_process(&s->core->world, c->pid);
	uint64_t started_ns = p ? p->start_ticks * (DAVY_NS_PER_S / USER_HZ) : 0;

	return p && c->first_ns > started_ns && c->first_ns - started_ns > LOAD_NS &&
	       c->first_bytes >= (p->model_bytes ? p->model_bytes : v->total / 4);
}

static bool exhaustion_fills_as_load(struct davy_step *s, const struct heap_view *v,
				     const struct davy_memory_client *c,
				     const struct davy_outlook *o)
{
	if (o->rate > davy_threshold(s, DAVY_CFG_EXHAUSTION_FAST_RATE, v->device, v->p))
		return true;
	return o->rate > davy_threshold(s, DAVY_CFG_EXHAUSTION_LOAD_RATE, v->device, v->p) &&
	       (!c || !(davy_memory_settled(c, s->now_ns) || exhaustion_had_model(s, v, c)));
}

/* The rate of a load that has ended decreases through all slower ones. */
static bool exhaustion_is_load(struct davy_step *s, struct davy_heap_state *h,
			       const struct heap_view *v, const struct davy_memory_client *c,
			       const struct davy_outlook *o)
{
	if (exhaustion_fills_as_load(s, v, c, o))
		h->load_ns = s->now_ns;
	return o->seen_before || (h->load_ns && s->now_ns - h->load_ns <= RISE_ENDS_NS);
}

/*
 * True if the model file is known and its missing part plus one eighth for the cache fits. Clients
 * are sampled less often than the heap: the growth since then is theirs.
 */
static bool exhaustion_load_fits(struct davy_step *s, const struct davy_memory_client *c,
				 uint64_t left, uint64_t rate)
{
	const struct davy_process *p = c ? davy_world_process(&s->core->world, c->pid) : NULL;
	uint64_t whole, age_ns, bytes;

	if (!p || !p->model_bytes || davy_memory_settled(c, s->now_ns))
		return false;
	whole = p->model_bytes + p->model_bytes / 8;
	age_ns = exhaustion_min(s->now_ns - c->used_ns, GREW_NS);
	bytes = c->bytes + rate / 1000 * (age_ns / DAVY_NS_PER_MS);
	return whole > bytes && whole - bytes <= left;
}

/*
 * True if another model is idle: the driver evicts it for a load and has room again. NVIDIA's
 * driver evicts managed memory only, which engines do not use by default.
 */
static bool exhaustion_can_evict_idle(struct davy_step *s, const struct heap_view *v,
				      const struct davy_memory_client *c)
{
	const struct davy_device_state *d = davy_world_device(&s->core->world, v->device);
	const struct davy_memory_client *other;

	if (v->heap != DAVY_OF_VRAM || (d && davy_same_name(d->driver, "nvidia")))
		return false;
	other = davy_memory_largest_but(&s->core->world.memory, v->device, c ? c->pid : 0);
	return other && other->bytes > v->total / 16 && davy_is_idle(s, other->pid);
}

/*
 * Managed memory of KFD (SVM, XNACK): the driver moves its pages out of VRAM when VRAM is needed,
 * and back when they are touched (svm_range_evict_svm_bo_worker()). Full VRAM is usual then.
 */
static bool exhaustion_is_paged(struct davy_step *s, const struct heap_view *v)
{
	const struct davy_memory_client *c = davy_memory_largest(&s->core->world.memory, v->device);
	const struct davy_kfd_state *k = c ? davy_world_kfd(&s->core->world, c->pid) : NULL;

	return v->heap == DAVY_OF_VRAM && k && k->paged_ns && s->now_ns - k->paged_ns <= PAGED_NS;
}

/* True if an engine has computed here with as little room: a load that ends there has room. */
static bool exhaustion_is_proven(struct davy_step *s, const struct heap_view *v, uint64_t left)
{
	const struct davy_memory_device *d = davy_memory_device(&s->core->world.memory, v->device);

	return v->heap == DAVY_OF_VRAM && d && d->proven && left >= d->proven_left / 8 * 7;
}

/* True if the process has memory on another device, too: its share of the model is not known. */
static bool exhaustion_is_split(struct davy_step *s, const struct heap_view *v, uint32_t pid)
{
	const struct davy_memory *m = &s->core->world.memory;

	for (size_t i = 0; i < m->device_count; i++)
		if (!davy_same_name(m->devices[i].device, v->device) &&
		    davy_memory_client_of(m, pid, m->devices[i].device))
			return true;
	return false;
}

/*
 * True if all layers are wanted on this device, and the rest of the file is more than twice its
 * room: clients are sampled less often than the heap.
 */
static bool exhaustion_cannot_fit(struct davy_step *s, const struct heap_view *v,
				  const struct davy_memory_client *c, uint64_t left)
{
	const struct davy_process *p = c ? davy_world_process(&s->core->world, c->pid) : NULL;
	uint64_t little = davy_threshold(s, DAVY_CFG_EXHAUSTION_HEADROOM, v->device, v->p);

	return p && p->gpu_layers == DAVY_LAYERS_ALL && p->model_bytes > c->bytes + left * 2 &&
	       left < exhaustion_min(little, v->total / 8) && !exhaustion_is_split(s, v, c->pid);
}

/* A load that has ended lowers the rate only gradually: its newest sample must grow, too. */
static uint32_t exhaustion_load_level(struct davy_step *s, struct davy_heap_state *h,
				      uint64_t left_ms, uint32_t level,
				      const struct davy_outlook *o, bool cannot_fit)
{
	if (left_ms >= LOAD_LEFT_MS) {
		h->short_ns = 0;
		return 1;
	}
	if (!h->short_ns)
		h->short_ns = s->now_ns;
	if (s->now_ns - h->short_ns < STAYS_NS && !cannot_fit)
		return 1;
	return o->step >= o->rate / 2 ? level : 1;
}

static struct davy_plan exhaustion_note(struct davy_step *s, const struct heap_view *v,
					uint32_t pid, uint32_t level)
{
	const struct davy_process *p = davy_world_process(&s->core->world, pid);
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_EXHAUSTION, p);

	note.pid = pid;
	note.level = (uint8_t)level;
	davy_copy_name(note.device, sizeof(note.device), v->device);
	note.heap = (uint8_t)v->heap;
	davy_copy_name(note.ring, sizeof(note.ring), heaps[v->heap].name);
	davy_copy_name(note.detail, sizeof(note.detail), v->detail);
	return note;
}

static void exhaustion_raise(struct davy_step *s, const struct heap_view *v, uint32_t pid,
			     uint32_t level, const struct davy_outlook *o, bool load)
{
	struct davy_plan note = exhaustion_note(s, v, pid, level);
	uint64_t left_ms =
		davy_forecast_left_ms(v->total - exhaustion_min(v->used, v->total), o->rate);

	if (o->of_peaks) {
		note.unit = DAVY_UNIT_COUNT;
		note.observed = o->peaks_left;
		note.threshold = level == 2 ? 1 : PEAKS_AHEAD;
		note.until_ns = s->now_ns + (o->peaks_left + 1) * o->period_ns;
	} else {
		note.unit = DAVY_UNIT_NS;
		note.observed = left_ms * DAVY_NS_PER_MS;
		note.threshold = exhaustion_limit_of(s, v, level) * DAVY_NS_PER_MS;
		note.until_ns = s->now_ns + note.observed;
	}
	note.rate = o->rate;
	note.form = load ? DAVY_FORM_LOAD : DAVY_FORM_PLAIN;
	davy_plan_evidence(&note, o->since_ns, s->ev->kind, 1);
	davy_alarm_raise(s, &note);
}

/* Keep the same pid while the alarm stands. A known pid may replace an unknown one. */
static void exhaustion_report(struct davy_step *s, struct davy_heap_state *h,
			      const struct heap_view *v, uint32_t pid, uint32_t level,
			      uint32_t raised, const struct davy_outlook *o, bool load)
{
	h->good_until_ns = 0;
	if (!level || level < raised)
		return; /* the alarm expires later */
	h->good_until_ns = o->good_until_ns;
	if (level == raised && (h->pid || !pid)) {
		davy_alarm_keep(s, DAVY_HZ_EXHAUSTION, h->pid, v->device, heaps[v->heap].name);
		return;
	}
	if (raised && !h->pid && pid)
		davy_alarm_clear(s, DAVY_HZ_EXHAUSTION, 0, v->device, heaps[v->heap].name);
	if (!raised || !h->pid)
		h->pid = pid;
	exhaustion_raise(s, v, h->pid, level, o, load);
}

/* The process that fills the heap, if its model may have its own thresholds. */
static const struct davy_process *exhaustion_scope(const struct davy_step *s,
						   const struct heap_view *v)
{
	const struct davy_memory_client *c;

	if (!s->core->config.override_count)
		return NULL;
	c = exhaustion_filler(s, v);
	return davy_scoped_process(s, c ? c->pid : v->pid);
}

/* Requests whose peaks rise (an image encoder, a leak between them). 0: there is room. */
static uint32_t exhaustion_of_peaks(const struct davy_outlook *peaks)
{
	if (!peaks->rate || peaks->peaks_left >= PEAKS_AHEAD)
		return 0;
	return peaks->peaks_left ? 1 : 2;
}

static void exhaustion_sample(struct davy_step *s, struct davy_heap_state *h, struct heap_view *v)
{
	uint64_t left = v->total - exhaustion_min(v->used, v->total), left_ms;
	const struct davy_memory_client *c;
	struct davy_outlook o, peaks;
	uint32_t raised, level, peak_level;
	bool load = false;

	if (!v->total)
		return;
	davy_forecast_add(&h->forecast, s->now_ns, v->used);
	v->p = exhaustion_scope(s, v);
	peaks = davy_forecast_peaks(&h->forecast, v->total);
	peak_level = exhaustion_of_peaks(&peaks);
	o = davy_forecast_look(&h->forecast, v->total,
			       davy_threshold_ns(s, DAVY_CFG_EXHAUSTION_TREND_MS, v->device, v->p));
	left_ms = davy_forecast_left_ms(left, o.rate);
	raised = o.rate || peak_level ? davy_alarm_level(s, DAVY_HZ_EXHAUSTION, h->pid, v->device,
							 heaps[v->heap].name)
				      : 0;
	level = o.rate ? exhaustion_level_of(s, v, left_ms, raised, exhaustion_slow_ms(s, v, &o))
		       : 0;
	if (!level && !peak_level) {
		h->good_until_ns = h->short_ns = 0;
		return;
	}
	c = exhaustion_filler(s, v);
	if (level && exhaustion_is_load(s, h, v, c, &o)) {
		load = true;
		level = exhaustion_load_level(s, h, left_ms, level, &o,
					      exhaustion_cannot_fit(s, v, c, left));
		if (exhaustion_load_fits(s, c, left, o.rate))
			level = 0;
		if (level > 1 &&
		    (exhaustion_can_evict_idle(s, v, c) || exhaustion_is_proven(s, v, left)))
			level = 1;
	}
	if (level < peak_level) {
		level = peak_level;
		o = peaks;
		load = false;
	}
	if (level > 1 && exhaustion_is_paged(s, v))
		level = 1;
	exhaustion_report(s, h, v, c ? c->pid : v->pid, level, raised, &o, load);
}

static void exhaustion_follow_rise(struct davy_rise *r, uint64_t used, uint64_t now_ns)
{
	uint64_t fallen = r->top > used ? r->top - used : 0;

	if (!r->rose_ns || (fallen > RISE_BLOCK && fallen > (r->top - r->from) / 2))
		r->from = r->top = used;
	else if (used <= r->top + RISE_BLOCK)
		return;
	r->top = used;
	r->rose_ns = now_ns ? now_ns : 1;
}

static uint64_t exhaustion_vram_left(const struct davy_memory_device *d)
{
	return d->now.vram_total - exhaustion_min(d->now.vram_used, d->now.vram_total);
}

/* True if an engine works a minute after the last rise: the memory of its requests is in it. */
static bool exhaustion_works_after_rise(struct davy_step *s, const struct davy_memory_device *d)
{
	const struct davy_process *p;
	size_t at = 0;

	if (s->now_ns - d->rise.rose_ns < COMPUTES_NS)
		return false;
	while ((p = davy_world_process_next(&s->core->world, &at)))
		if (p->engine != DAVY_ENGINE_NONE && davy_same_name(p->device, d->device) &&
		    davy_process_worked_ns(p) >= d->rise.rose_ns + COMPUTES_NS)
			return true;
	return false;
}

/*
 * The least room with which an engine was seen to compute here, so that less room is news. At a
 * tick: a heap that does not change is not reported.
 */
static void exhaustion_note_room(struct davy_step *s, struct davy_memory_device *d)
{
	uint64_t left = exhaustion_vram_left(d);

	if ((d->now.flags & DAVY_MEMORY_SHARED) || (d->proven && left >= d->proven_left))
		return;
	if (davy_engine_computes(s, d->device, COMPUTES_NS) || exhaustion_works_after_rise(s, d)) {
		d->proven = 1;
		d->proven_left = left;
	}
}

static const enum davy_plan_heap heap_of[DAVY_HEAP_COUNT] = {
	[DAVY_HEAP_VRAM] = DAVY_OF_VRAM,
	[DAVY_HEAP_GTT] = DAVY_OF_GTT,
	[DAVY_HEAP_HOST] = DAVY_OF_HOST,
};

static void exhaustion_look_at_memory(struct davy_step *s)
{
	struct davy_memory_device *d =
		davy_memory_device(&s->core->world.memory, s->ev->memory.device);
	const struct davy_ev_memory *m = &s->ev->memory;
	bool shared = m->flags & DAVY_MEMORY_SHARED;

	if (!d)
		return;
	for (int i = 0; i < DAVY_HEAP_COUNT; i++) {
		struct heap_view v = { .device = d->device, .heap = heap_of[i], .detail = "" };

		if (i == DAVY_HEAP_GTT) {
			v.total = m->gtt_total;
			v.used = m->gtt_used;
		} else if (i == DAVY_HEAP_VRAM && !shared) {
			v.total = m->vram_total;
			v.used = m->vram_used;
		} else if (i == DAVY_HEAP_HOST && shared) {
			v.total = m->host_total;
			v.used = m->host_total - exhaustion_min(m->host_available, m->host_total);
		}
		exhaustion_sample(s, &d->heap[i], &v);
	}
	if (!shared)
		exhaustion_follow_rise(&d->rise, m->vram_used, s->now_ns);
}

static void exhaustion_look_at_cgroup(struct davy_step *s)
{
	const struct davy_ev_dmem *in = &s->ev->dmem;
	uint64_t total = in->capacity ? exhaustion_min(in->max, in->capacity) : in->max;
	struct davy_memory_cgroup *c;
	struct heap_view v = { .heap = DAVY_OF_CGROUP, .total = total, .used = in->current };

	if (in->max == UINT64_MAX || !in->max || !in->device[0])
		return; /* no limit */
	c = davy_memory_cgroup_get(&s->core->world.memory, in, s->now_ns);
	v.device = c->device;
	v.detail = c->unit;
	v.pid = s->ev->pid;
	exhaustion_sample(s, &c->heap, &v);
}

static void exhaustion_keep(struct davy_step *s, struct davy_heap_state *h, const char *device,
			    enum davy_plan_heap heap)
{
	if (!h->good_until_ns)
		return;
	if (s->now_ns <= h->good_until_ns)
		davy_alarm_keep(s, DAVY_HZ_EXHAUSTION, h->pid, device, heaps[heap].name);
	else
		h->good_until_ns = 0;
}

/*
 * PyTorch's allocator keeps what it has freed, and the driver counts that as used: the memory for
 * requests may be in it. These engines also size what they load by the free memory.
 */
static bool exhaustion_keeps_freed(const struct davy_process *p)
{
	return p->engine == DAVY_ENGINE_COMFYUI || p->engine == DAVY_ENGINE_VLLM ||
	       p->engine == DAVY_ENGINE_SGLANG || p->engine == DAVY_ENGINE_TGI;
}

/* Buffers for the first request are often allocated with it (FIELD.md 4, 8). */
static uint32_t exhaustion_headroom_level(struct davy_step *s, const struct davy_memory_device *d,
					  uint32_t pid)
{
	uint64_t left = exhaustion_vram_left(d);
	const struct davy_process *p;

	if (left >= LITTLE_BYTES || (d->proven && left >= d->proven_left / 8 * 7))
		return 1;
	p = davy_world_process(&s->core->world, pid);
	if (!p || p->engine == DAVY_ENGINE_NONE || exhaustion_keeps_freed(p))
		return 1;
	return davy_worked_ns(s, pid) <= d->rise.rose_ns ? 2 : 1;
}

/* At the end of a load, checks the room left for the memory that requests need. */
static void exhaustion_look_at_headroom(struct davy_step *s, struct davy_memory_device *d)
{
	uint64_t total = d->now.vram_total, left = exhaustion_vram_left(d);
	struct heap_view v = { .device = d->device, .heap = DAVY_OF_VRAM, .detail = "" };
	uint64_t risen = d->rise.top - d->rise.from, wanted;
	const struct davy_memory_client *c;
	struct davy_plan note;
	uint32_t level;

	if (!risen || s->now_ns - d->rise.rose_ns < RISE_ENDS_NS)
		return;
	d->rise.from = d->rise.top = d->now.vram_used;
	if ((d->now.flags & DAVY_MEMORY_SHARED) || risen < LOAD_BYTES)
		return;
	c = davy_memory_grower(&s->core->world.memory, d->device, s->now_ns,
			       RISE_ENDS_NS + GREW_NS);
	wanted = davy_threshold(s, DAVY_CFG_EXHAUSTION_HEADROOM, d->device,
				davy_scoped_process(s, c ? c->pid : 0));
	wanted = exhaustion_min(wanted, total / 8);
	if (left >= wanted)
		return;
	level = exhaustion_headroom_level(s, d, c ? c->pid : 0);
	note = exhaustion_note(s, &v, c ? c->pid : 0, level);
	note.unit = DAVY_UNIT_BYTES;
	note.form = DAVY_FORM_LOAD;
	note.observed = left;
	note.threshold = wanted;
	davy_alarm_raise(s, &note);
}

static void exhaustion_look_at_tick(struct davy_step *s)
{
	struct davy_memory *m = &s->core->world.memory;

	for (size_t i = 0; i < m->device_count; i++) {
		struct davy_memory_device *d = &m->devices[i];

		if (!d->device[0])
			continue;
		for (int heap = 0; heap < DAVY_HEAP_COUNT; heap++)
			exhaustion_keep(s, &d->heap[heap], d->device, heap_of[heap]);
		exhaustion_look_at_headroom(s, d);
		exhaustion_note_room(s, d);
	}
	for (size_t i = 0; i < m->cgroup_count; i++)
		exhaustion_keep(s, &m->cgroups[i].heap, m->cgroups[i].device, DAVY_OF_CGROUP);
}

static void exhaustion_look(struct davy_step *s)
{
	if (s->ev->kind == DAVY_EV_MEMORY)
		exhaustion_look_at_memory(s);
	else if (s->ev->kind == DAVY_EV_DMEM)
		exhaustion_look_at_cgroup(s);
	else
		exhaustion_look_at_tick(s);
}

/* Little room is left until the first request has shown that it is enough. */
static bool exhaustion_stands(const struct davy_step *s, const struct davy_plan *note)
{
	return note->form == DAVY_FORM_LOAD && note->unit == DAVY_UNIT_BYTES && note->level > 1 &&
	       davy_world_process(&s->core->world, note->pid) &&
	       davy_worked_ns(s, note->pid) < note->at_ns &&
	       s->now_ns - note->at_ns < FIRST_REQUEST_NS;
}

static void exhaustion_reason(const struct davy_plan *p, struct davy_clause *c)
{
	bool slow = p->rate < 10 << 20;
	const char *heap = heaps[p->heap].text;

	if (p->unit == DAVY_UNIT_COUNT)
		c->say(c,
		       "the peaks of its use of %s rise: %" PRIu64
		       " more will fit (threshold %" PRIu64 ")",
		       heap, p->observed, p->threshold);
	else if (p->unit == DAVY_UNIT_BYTES)
		c->say(c,
		       "after a load, %" PRIu64 " MiB of %s are free (threshold %" PRIu64 " MiB)",
		       p->observed >> 20, heap, p->threshold >> 20);
	else
		c->say(c,
		       "fills %s%s at %" PRIu64 " %s/s: full in %" PRIu64 ".%" PRIu64
		       " s (threshold %" PRIu64 " s)",
		       heap, p->detail, slow ? p->rate >> 10 : p->rate >> 20, slow ? "KiB" : "MiB",
		       p->observed / DAVY_NS_PER_S,
		       p->observed % DAVY_NS_PER_S / (100 * DAVY_NS_PER_MS),
		       p->threshold / DAVY_NS_PER_S);
}

const struct davy_hazard_row davy_hazard_exhaustion = {
	.sees = DAVY_SEES(DAVY_EV_MEMORY) | DAVY_SEES(DAVY_EV_DMEM) | DAVY_SEES(DAVY_EV_TICK),
	.look = exhaustion_look,
	.reason = exhaustion_reason,
	.precursor.leads = DAVY_CAN_FIND_NO_ROOM | DAVY_CAN_DEVICE_LOST | DAVY_CAN_HOST_CRASH |
			   DAVY_CAN_END | DAVY_CAN_WRONG_OUTPUT, /* ggml-org/llama.cpp#7240 */
	.precursor.horizon = DAVY_CFG_FORESIGHT_HORIZON_MS,
	.escalation[0] = { 2, { DAVY_ACTION_UNLOAD, DAVY_ACTION_CAP, DAVY_ACTION_SHRINK } },
	.escalation[1] = { 2, { DAVY_ACTION_NONE }, DAVY_FORM_LOAD }, /* it may fit */
	.stands = exhaustion_stands,
	.shortage = DAVY_SHORT_OF_MEMORY,
};
