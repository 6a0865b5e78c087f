/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outcome is the first of: a process crashed or was killed from outside; missing libraries kept
 * a program from starting; the GPU runtime that came furthest, and why it failed; the exit status.
 * A start that completes on the CPU also gets the reason why it has no GPU.
 */
#include <string.h>

#include "trace/stages_state.h"

#define HANG_NS	     5000000000ULL
#define CRASHES	     (1U << 4 | 1U << 6 | 1U << 7 | 1U << 8 | 1U << 11 | 1U << 31)
#define NOT_FOUND    127 /* exit status by ld.so if libraries are missing */
#define FIRST_FAMILY DAVY_FAMILY_NVML

static void from_process(struct davy_cause *c, enum davy_cause_kind kind,
			 const struct davy_start_process *p)
{
	const struct davy_function *f = p->open_call ? davy_function_at(p->open_call - 1) : NULL;

	memset(c, 0, sizeof(*c));
	c->kind = kind;
	c->stage = p->stage;
	c->pid = p->pid;
	c->at_ns = p->ended_ns;
	davy_keep(c->of, sizeof(c->of), p->name);
	if (!f)
		return;
	c->stage = f->stage;
	c->family = f->family;
	davy_keep(c->what, sizeof(c->what), f->symbol);
}

static bool find_crash(const struct davy_stages *s, struct davy_cause *c)
{
	for (size_t i = 0; i < DAVY_STAGES_PROCESSES; i++) {
		const struct davy_start_process *p = &s->process[i];
		int sig = p->status & 0x7f;

		if (!p->pid || !p->ended_ns || !sig || p->ended_on_purpose)
			continue;
		from_process(c, 1U << (sig & 31) & CRASHES ? DAVY_CAUSE_CRASHED : DAVY_CAUSE_KILLED,
			     p);
		c->code = sig;
		if (c->kind == DAVY_CAUSE_KILLED)
			davy_keep(c->detail, sizeof(c->detail),
				  p->sender || p->signal != sig ? p->sender_name : "the kernel");
		return true;
	}
	return false;
}

/* ld.so reports a missing library or symbol, then exits with 127. */
static bool find_unstarted(const struct davy_stages *s, struct davy_cause *c)
{
	for (size_t i = 0; i < DAVY_STAGES_PROCESSES; i++) {
		const struct davy_start_process *p = &s->process[i];

		if (!p->pid || !p->ended_ns || p->status != NOT_FOUND << 8 || !p->last_error)
			continue;
		*c = s->cause[p->last_error - 1];
		if (c->kind == DAVY_CAUSE_SYMBOL_UNDEFINED)
			davy_keep(c->detail, sizeof(c->detail), "which ended the program");
		return true;
	}
	return false;
}

/* NVML only lists devices: a runtime with the same progress counts more. */
static unsigned int stages_judge_distance(const struct davy_start_process *p, int family)
{
	return p->headway[family] ? p->headway[family] * 2U + (family != DAVY_FAMILY_NVML) : 0;
}

/* The process with most progress in a GPU runtime; the first of several. */
static const struct davy_start_process *stages_judge_furthest(const struct davy_stages *s,
							      enum davy_family *ret_family)
{
	const struct davy_start_process *best = NULL;
	unsigned int most = 0;

	for (size_t i = 0; i < DAVY_STAGES_PROCESSES; i++)
		for (int f = FIRST_FAMILY; f < DAVY_FAMILY_COUNT; f++) {
			if (!s->process[i].pid || stages_judge_distance(&s->process[i], f) <= most)
				continue;
			most = stages_judge_distance(&s->process[i], f);
			best = &s->process[i];
			*ret_family = (enum davy_family)f;
		}
	return best;
}

static bool stages_judge_descends(const struct davy_stages *s, const struct davy_start_process *p,
				  uint32_t ancestor)
{
	for (int i = 0; i < 16 && p; i++) {
		if (p->parent == ancestor)
			return true;
		p = p->parent == p->pid ? NULL : davy_stages_process(s, p->parent);
	}
	return false;
}

static uint32_t libraries_of(enum davy_family family, bool backends)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < davy_known_library_count; i++)
		if (davy_known_libraries[i].backend == backends &&
		    (family == DAVY_FAMILY_COUNT
			     ? davy_known_libraries[i].family != DAVY_FAMILY_GGML
			     : davy_known_libraries[i].family == family))
			bits |= 1U << i;
	return bits;
}

/* Differences between the search paths of parent and child. */
static void compare_paths(struct davy_cause *c, const struct davy_start_process *parent,
			  const struct davy_start_process *child)
{
	if (strcmp(parent->preload, child->preload) != 0)
		davy_keep(c->detail, sizeof(c->detail),
			  child->preload[0] ? "its LD_PRELOAD differs"
					    : "its LD_PRELOAD is not set");
	else if (strcmp(parent->library_path, child->library_path) != 0)
		davy_keep(c->detail, sizeof(c->detail),
			  child->library_path[0] ? "its LD_LIBRARY_PATH differs"
						 : "its LD_LIBRARY_PATH is not set");
}

/* An engine's child without a library that its parent has loaded, and without another GPU. */
static bool find_lacking_child(const struct davy_stages *s, const struct davy_start_process *parent,
			       enum davy_family family, struct davy_cause *c)
{
	for (size_t i = 0; i < DAVY_STAGES_PROCESSES; i++) {
		const struct davy_start_process *p = &s->process[i];
		uint8_t most = 0;

		if (!p->pid || !p->engine || p == parent ||
		    !stages_judge_descends(s, p, parent->pid) || !p->execs)
			continue;
		for (int f = FIRST_FAMILY; f < DAVY_FAMILY_COUNT; f++)
			most = p->headway[f] > most ? p->headway[f] : most;
		if (most >= DAVY_HEADWAY_LOADED)
			continue;
		memset(c, 0, sizeof(*c));
		c->kind = DAVY_CAUSE_NOT_IN_CHILD;
		c->stage = DAVY_STAGE_LIBRARY;
		c->family = family;
		c->pid = p->pid;
		c->at_ns = p->began_ns;
		c->code = (int32_t)parent->pid;
		davy_keep(c->of, sizeof(c->of), parent->name);
		for (size_t l = 0; l < davy_known_library_count; l++)
			if (davy_known_libraries[l].family == family &&
			    !davy_known_libraries[l].backend && parent->libraries >> l & 1)
				davy_keep(c->what, sizeof(c->what), davy_known_libraries[l].name);
		compare_paths(c, parent, p);
		return true;
	}
	return false;
}

static const char *backend_for(enum davy_family family)
{
	switch (family) {
	case DAVY_FAMILY_NVML:
	case DAVY_FAMILY_CUDA:
		return "libggml-cuda.so";
	case DAVY_FAMILY_HSA:
	case DAVY_FAMILY_HIP:
		return "libggml-hip.so";
	case DAVY_FAMILY_LEVEL_ZERO:
		return "libggml-sycl.so";
	default:
		return "libggml-vulkan.so";
	}
}

/*
 * Devices are known, but no backend was loaded or searched for. NVML alone is no proof: an engine
 * with a static backend calls the runtime itself.
 */
static bool find_missing_backend(const struct davy_stages *s,
				 const struct davy_start_process *found, enum davy_family family,
				 struct davy_cause *c)
{
	uint32_t backends = libraries_of(DAVY_FAMILY_COUNT, true);
	bool engine = false;

	for (size_t i = 0; i < DAVY_STAGES_PROCESSES; i++) {
		const struct davy_start_process *p = &s->process[i];

		if (!p->pid)
			continue;
		engine |= p->engine;
		if (p->libraries & backends)
			return false;
		for (int f = DAVY_FAMILY_CUDA; f < DAVY_FAMILY_COUNT; f++)
			if (p->headway[f] >= DAVY_HEADWAY_ENTERED && family == DAVY_FAMILY_NVML)
				return false;
	}
	if (!engine || family != DAVY_FAMILY_NVML)
		return false;
	memset(c, 0, sizeof(*c));
	c->kind = DAVY_CAUSE_BACKEND_NOT_LOADED;
	c->stage = DAVY_STAGE_LIBRARY;
	c->family = family;
	c->pid = found->pid;
	c->at_ns = s->last_ns;
	davy_keep(c->what, sizeof(c->what), backend_for(family));
	return true;
}

/* The weight of a cause: larger is closer to the fault. */
static int stages_judge_weight(const struct davy_cause *c, enum davy_family family)
{
	static const uint8_t of_kind[DAVY_CAUSE_COUNT] = {
		[DAVY_CAUSE_NODE_REFUSED] = 1,	   [DAVY_CAUSE_BACKEND_REFUSED] = 2,
		[DAVY_CAUSE_LIBRARY_MISSING] = 3,  [DAVY_CAUSE_SYMBOL_UNDEFINED] = 5,
		[DAVY_CAUSE_LIBRARY_UNUSABLE] = 5, [DAVY_CAUSE_DEPENDENCY_MISSING] = 5,
		[DAVY_CAUSE_INIT_FAILED] = 6,	   [DAVY_CAUSE_NO_DEVICE] = 7,
		[DAVY_CAUSE_QUERY_FAILED] = 6,	   [DAVY_CAUSE_MEMORY_FAILED] = 8,
		[DAVY_CAUSE_GRAPH_FAILED] = 9,
	};

	if (c->family == family || c->kind == DAVY_CAUSE_MEMORY_FAILED ||
	    c->kind == DAVY_CAUSE_GRAPH_FAILED)
		return of_kind[c->kind] * 2;
	return c->family == DAVY_FAMILY_NONE ? 0 : of_kind[c->kind];
}

/* NVML and CUDA, and HSA and HIP, belong together. */
static bool stages_judge_related(enum davy_family a, enum davy_family b)
{
	return a == b ||
	       (a <= DAVY_FAMILY_CUDA && b <= DAVY_FAMILY_CUDA && a && b && a != DAVY_FAMILY_GGML &&
		b != DAVY_FAMILY_GGML) ||
	       ((a == DAVY_FAMILY_HSA || a == DAVY_FAMILY_HIP) &&
		(b == DAVY_FAMILY_HSA || b == DAVY_FAMILY_HIP));
}

static const struct davy_cause *stages_judge_heaviest(const struct davy_stages *s,
						      enum davy_family family, bool same)
{
	const struct davy_cause *best = NULL;
	int most = 0;

	for (size_t i = 0; i < s->cause_count; i++) {
		const struct davy_cause *c = &s->cause[i];
		int w = stages_judge_weight(c, family);

		if (same && !stages_judge_related(c->family, family) &&
		    c->stage < DAVY_STAGE_MEMORY)
			continue;
		if (w > most) {
			most = w;
			best = c;
		}
	}
	return best;
}

/* Reliable for Vulkan (its loader creates all devices); CUDA's runtime may be static. */
static bool any_opened(const struct davy_stages *s)
{
	for (size_t i = 0; i < DAVY_STAGES_PROCESSES; i++)
		for (int f = FIRST_FAMILY; f < DAVY_FAMILY_COUNT; f++)
			if (s->process[i].pid && s->process[i].headway[f] >= DAVY_HEADWAY_OPENED)
				return true;
	return false;
}

/* Judges the GPUs. Sets the family and its devices; cause NONE: the start uses them. */
static void judge_gpu(const struct davy_stages *s, struct davy_start_outcome *o)
{
	enum davy_family family = DAVY_FAMILY_NONE;
	const struct davy_start_process *best = stages_judge_furthest(s, &family);
	const struct davy_cause *c;
	bool devices;

	if (!best) {
		c = stages_judge_heaviest(s, DAVY_FAMILY_GGML, false);
		if (c)
			o->cause = *c;
		else if (!o->complete)
			o->cause.kind = DAVY_CAUSE_NOTHING_LOOKED_FOR;
		if (!c)
			o->cause.stage = DAVY_STAGE_LIBRARY;
		return;
	}
	o->family = family;
	o->devices = best->devices[family];
	devices = best->headway[family] >= DAVY_HEADWAY_DEVICES;
	c = stages_judge_heaviest(s, family, true);
	if (devices && c && c->stage >= DAVY_STAGE_MEMORY && !o->complete) {
		o->cause = *c;
		return;
	}
	if (best->headway[family] >= DAVY_HEADWAY_LOADED && (devices || !c) &&
	    find_lacking_child(s, best, family, &o->cause))
		return;
	if (devices && family == DAVY_FAMILY_NVML) { /* NVML lists devices, but does not compute */
		if (find_missing_backend(s, best, family, &o->cause))
			return;
		if (c && !o->complete)
			o->cause = *c;
		return;
	}
	if (!devices && c)
		o->cause = *c;
	o->unused = o->complete && devices && family == DAVY_FAMILY_VULKAN && !any_opened(s);
}

static bool find_hang(const struct davy_stages *s, uint64_t now_ns, struct davy_cause *c)
{
	for (size_t i = 0; i < DAVY_STAGES_PROCESSES; i++) {
		const struct davy_start_process *p = &s->process[i];

		if (!p->pid || p->ended_ns || !p->open_call || now_ns < p->open_call_ns + HANG_NS)
			continue;
		from_process(c, DAVY_CAUSE_HANGS, p);
		c->at_ns = p->open_call_ns;
		return true;
	}
	return false;
}

static bool find_exit(const struct davy_stages *s, struct davy_cause *c)
{
	const struct davy_start_process *p = davy_stages_process(s, s->root);

	if (!p || !p->ended_ns || !p->status || p->ended_on_purpose)
		return false;
	from_process(c, DAVY_CAUSE_EXITED, p);
	c->code = p->status >> 8 & 0xff;
	return true;
}

/* Further failures of GPU runtimes. */
static void add_others(const struct davy_stages *s, struct davy_start_outcome *o)
{
	for (size_t i = 0; i < s->cause_count; i++) {
		const struct davy_cause *c = &s->cause[i];

		if (o->also_count == sizeof(o->also) / sizeof(o->also[0]))
			return;
		if (c->family == DAVY_FAMILY_NONE ||
		    (c->kind == o->cause.kind && c->pid == o->cause.pid &&
		     c->at_ns == o->cause.at_ns && !strcmp(c->what, o->cause.what)))
			continue;
		o->also[o->also_count++] = i;
	}
}

void davy_stages_judge(const struct davy_stages *s, uint64_t now_ns, uint64_t lost,
		       struct davy_start_outcome *ret_outcome)
{
	struct davy_start_outcome o;
	bool found;

	memset(&o, 0, sizeof(o));
	o.incomplete = lost || s->processes_dropped;
	for (size_t i = 0; i < DAVY_STAGES_PROCESSES; i++)
		if (s->process[i].pid && s->process[i].stage > o.reached)
			o.reached = s->process[i].stage;
	o.complete = o.reached == DAVY_STAGE_GRAPH;
	found = find_crash(s, &o.cause) || find_unstarted(s, &o.cause) ||
		find_hang(s, now_ns, &o.cause);
	if (found)
		o.complete = false;
	else
		judge_gpu(s, &o);
	if (!o.complete &&
	    (o.cause.kind == DAVY_CAUSE_NONE || o.cause.kind == DAVY_CAUSE_NOTHING_LOOKED_FOR)) {
		struct davy_cause end;

		if (find_exit(s, &end))
			o.cause = end;
	}
	add_others(s, &o);
	*ret_outcome = o;
}
