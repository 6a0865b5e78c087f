/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_vram, in the order of TTM: VRAM fills, heaps return -ENOSPC and buffers are evicted, no
 * placement is left (-ENOMEM), the ioctl fails, the engine throws and dies. ROCm does not evict:
 * its limit refuses. The precursor: a tenth of the VRAM is left while it fills.
 */
#include "lab/scenarios.h"

#define STEP_NS	 (100 * DAVY_MS)
#define ENOMEM_	 (-12)
#define ENOSPC_	 (-28)
#define BUFFER	 (64 * DAVY_MIB)
#define KFD_VRAM 1 /* KFD_IOC_ALLOC_MEM_FLAGS_VRAM */

enum stage {
	FILLS = 0,
	NO_ROOM = 1,
	REFUSED = 2,
};

static uint64_t left_of(const struct davy_sim *s, const struct davy_sim_device *d)
{
	return d->memory.vram_total - davy_sim_vram_used(s, d);
}

static void next_stage(struct davy_sim *s, struct davy_sim_actor *a, uint64_t lasts_ns)
{
	a->stage++;
	a->n[1] = s->now_ns;
	a->n[2] = s->now_ns + lasts_ns;
}

/* n[0]: bytes a step; n[3]: bytes collected for one allocation, as a KV cache grows. */
static void synth_memory_fill(struct davy_sim *s, struct davy_sim_actor *a,
			      struct davy_sim_process *p)
{
	struct davy_sim_device *d = p->device;

	davy_sim_cause(s);
	a->n[3] += davy_random_near(&s->random, a->n[0], 300);
	if (a->n[3] >= a->n[4]) {
		p->client.vram += a->n[3] < left_of(s, d) ? a->n[3] : left_of(s, d);
		a->n[3] = 0;
	}
	if (left_of(s, d) < d->memory.vram_total / 10)
		davy_sim_precursor(s, s->now_ns);
}

/* Allocations go to GTT, or evict older buffers, ever more often. */
static void overflow(struct davy_sim *s, struct davy_sim_actor *a, struct davy_sim_process *p)
{
	uint64_t whole_ns = a->n[2] - a->n[1], passed_ns = s->now_ns - a->n[1];
	uint32_t tries = 2 + (uint32_t)(passed_ns * 30 / whole_ns);

	davy_sim_alloc_failed(s, p, DAVY_ALLOC_RESOURCE, ENOSPC_, BUFFER, tries);
	davy_sim_move_out(s, p->pid, p, a->n[0] / 2 * tries / 8);
	davy_sim_hot_fact(s, DAVY_FACT_VRAM_SPILL, p, a->n[0], 1);
	p->client.gtt += a->n[0] / 2;
	p->client.vram += left_of(s, p->device); /* freed memory is used at once */
}

static void memory_refuse(struct davy_sim *s, struct davy_sim_process *p)
{
	davy_sim_alloc_failed(s, p, DAVY_ALLOC_VALIDATE, ENOMEM_, BUFFER, 2);
	davy_sim_alloc_failed(s, p, DAVY_ALLOC_IOCTL, ENOMEM_, BUFFER, 2);
	davy_sim_log(s, DAVY_LOG_CS_NO_MEMORY, p->device, NULL, 0);
}

static uint64_t leak(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (a->stage == FILLS) {
		synth_memory_fill(s, a, p);
		if (left_of(s, p->device) < BUFFER)
			next_stage(s, a, davy_sim_around(s, 20 * DAVY_S));
	} else if (a->stage == NO_ROOM) {
		overflow(s, a, p);
		if (s->now_ns >= a->n[2])
			next_stage(s, a, davy_sim_around(s, 4 * DAVY_S));
	} else {
		memory_refuse(s, p);
		if (s->now_ns >= a->n[2]) {
			davy_sim_throw(s, p, DAVY_NO_MEMORY);
			davy_sim_failed(s);
			davy_synth_end_later(s, p, davy_sim_between(s, 5, 50) * DAVY_MS,
					     DAVY_STATUS_ABORT);
			return 0;
		}
	}
	return s->now_ns + STEP_NS;
}

/* Bytes a step that fill it in some minutes. */
static uint64_t rate(struct davy_sim *s, const struct davy_sim_device *d)
{
	return left_of(s, d) / (davy_sim_around(s, 150 * DAVY_S) / STEP_NS);
}

/* Argument: MiB of one allocation; 0: any size. */
void davy_synth_vram_leak(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN,
						       (uint32_t)davy_sim_between(s, 500, 800));
	struct davy_sim_actor *a;

	davy_synth_chat(s, p);
	davy_sim_subject(s, d, p);
	a = davy_sim_add_actor(s, leak, p, davy_synth_when(s));
	a->n[0] = rate(s, d);
	a->n[4] = arg * DAVY_MIB;
}

static uint64_t rocm_leak(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_event ev;

	if (a->stage == FILLS) {
		synth_memory_fill(s, a, p);
		if (left_of(s, p->device) >= 4 * BUFFER)
			return s->now_ns + STEP_NS;
		next_stage(s, a, davy_sim_around(s, 3 * DAVY_S));
	}
	ev = davy_sim_fact(s, DAVY_FACT_KFD_LIMIT, p->device, p);
	ev.fact.bytes = 4 * BUFFER;
	ev.fact.detail = KFD_VRAM;
	ev.fact.error = ENOMEM_;
	davy_sim_tell(s, &ev);
	davy_sim_alloc_failed(s, p, DAVY_ALLOC_IOCTL, ENOMEM_, 4 * BUFFER, 1);
	if (s->now_ns < a->n[2])
		return s->now_ns + davy_sim_around(s, DAVY_S);
	davy_sim_exit(s, p, DAVY_STATUS_ABORT); /* ggml aborts on hipErrorOutOfMemory */
	davy_sim_failed(s);
	return 0;
}

void davy_synth_rocm_full(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p =
		davy_synth_engine(s, d, DAVY_BACKEND_ROCM, (uint32_t)davy_sim_between(s, 500, 800));
	struct davy_sim_actor *a;

	(void)arg;
	davy_synth_chat(s, p);
	davy_sim_subject(s, d, p);
	a = davy_sim_add_actor(s, rocm_leak, p, davy_synth_when(s));
	a->n[0] = rate(s, d);
	a->n[4] = 256 * DAVY_MIB;
}

/* amd-ttm-001: leaked buffers are logged for hours; amd-oom-001: submissions fail for 40 s. */
static uint64_t flood(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_sim_precursor(s, s->now_ns);
	if (!a->stage++) {
		a->n[1] = s->now_ns;
		a->n[2] = s->now_ns + davy_sim_around(s, 40 * DAVY_S);
	}
	if (s->now_ns >= a->n[2]) {
		davy_sim_throw(s, p, DAVY_NO_MEMORY);
		davy_sim_failed(s);
		davy_synth_end_later(s, p, 20 * DAVY_MS, DAVY_STATUS_ABORT);
		return 0;
	}
	davy_sim_alloc_failed(s, p, DAVY_ALLOC_IOCTL, ENOMEM_, BUFFER, 1);
	davy_sim_log(s, DAVY_LOG_CS_NO_MEMORY, p->device, NULL, 0);
	return s->now_ns + davy_sim_around(s, 2 * DAVY_S) / (1 + (s->now_ns - a->n[1]) / DAVY_S);
}

static uint64_t leaked(struct davy_sim *s, struct davy_sim_actor *a)
{
	if (s->label.precursor_ns)
		return 0;
	davy_sim_log(s, DAVY_LOG_VM_LEAK, NULL, NULL, 0);
	(void)a;
	return s->now_ns + davy_sim_around(s, 4 * DAVY_MIN);
}

void davy_synth_cs_flood(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 850);

	(void)arg;
	davy_synth_chat(s, p);
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, leaked, NULL, s->begin_ns + 20 * DAVY_S);
	davy_sim_add_actor(s, flood, p, davy_synth_when(s));
}
