// SPDX-License-Identifier: GPL-2.0
/*
 * Verbs for the most frequent events of tests, as arguments of tracepoints: objects as deep as a
 * probe may read them, as the drivers build them (drivers/gpu/drm/amd/amdgpu and
 * drivers/gpu/drm/scheduler). Differences between kernels come from BTF, never from a version.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fire.h"

#define AMDGPU_PL_MAX 16 /* placements are small numbers; a larger one is a mistake */
#define LIST_MAX      40

struct list {
	char *args[LIST_MAX];
	int count;
};

__attribute__((format(printf, 2, 3))) static void add(struct list *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (l->count == LIST_MAX || vasprintf(&l->args[l->count++], format, args) < 0)
		abort();
	va_end(args);
}

static void add_device(struct list *l, const struct fire_options *o)
{
	add(l, "@adev:amdgpu_device.dev.kobj.name=%s", o->dev_name);
	add(l, "@adev.ddev.dev=&@adev.dev");
}

/* The thread's number and name are in a separate structure since 6.17. */
static void add_vm(struct list *l, const struct fire_options *o, const char *vm)
{
	add(l, "%s.pasid=%" PRIu64, vm, o->pasid);
	add(l, "%s.task_info.tgid=%" PRIu64, vm, o->pid);
	add(l, "%s.task_info.task.pid|%s.task_info.pid=%" PRIu64, vm, vm, o->pid);
	add(l, "%s.task_info.process_name=%s", vm, o->comm);
	add(l, "%s.task_info.task.comm|%s.task_info.task_name=%s", vm, vm, o->comm);
}

static void fire_list(struct fire_session *s, const struct fire_options *o, const char *name,
		      struct list *l)
{
	struct fire_hook h = {
		.kind = FIRE_TRACEPOINT,
		.name = name,
		.module = "amdgpu",
		.cpus = o->cpus,
		.count = o->count,
		.in_irq = o->in_irq,
	};
	int found = fire_hook_find(s, &h);

	if (found > 0)
		fire_hook_run(s, &h, l->args, l->count);
	else if (!found)
		fire_fail(s, -ENOENT, "this kernel has no tracepoint '%s'", name);
	while (l->count)
		free(l->args[--l->count]);
}

/*
 * An entry of the interrupt ring. The driver's rings are inside adev->irq, and the event's first
 * argument says which one: the entry's pointer does the same here.
 */
void fire_iv(struct fire_session *s, const struct fire_options *o)
{
	static const char *const rings[] = { "ih", "ih1", "ih2" };
	struct list l = { .count = 0 };

	if (o->ih >= sizeof(rings) / sizeof(rings[0])) {
		fire_fail(s, -ERANGE, "--ih takes 0 to 2");
		return;
	}
	add_device(&l, o);
	add(&l, "0=%" PRIu64, o->ih);
	add(&l, "iv.ih=&@adev.irq.%s", rings[o->ih]);
	add(&l, "iv.client_id=%" PRIu64, o->client);
	add(&l, "iv.src_id=%" PRIu64, o->src);
	add(&l, "iv.ring_id=%" PRIu64, o->ring_id);
	add(&l, "iv.vmid=%" PRIu64, o->vmid);
	add(&l, "iv.timestamp=%" PRIu64, o->timestamp);
	add(&l, "iv.pasid=%" PRIu64, o->pasid);
	/* As gmc_v9_0 and later split a page fault's address: 48 bits, the page first. */
	add(&l, "iv.src_data[0]=%" PRIu32, (uint32_t)(o->addr >> 12));
	add(&l, "iv.src_data[1]=%" PRIu64, (o->addr >> 44 & 0xf) | o->flags);
	fire_list(s, o, "amdgpu_iv", &l);
}

void fire_bo_move(struct fire_session *s, const struct fire_options *o)
{
	struct list l = { .count = 0 };

	if (o->from > AMDGPU_PL_MAX || o->to > AMDGPU_PL_MAX) {
		fire_fail(s, -ERANGE, "--from and --to take 0 (system), 1 (GTT), 2 (VRAM)...");
		return;
	}
	add_device(&l, o);
	add_vm(&l, o, "0.vm_bo.vm");
	add(&l, "0.vm_bo.bo=&0");
	add(&l, "0.tbo.base.dev=&@adev.ddev");
	add(&l, "0.tbo.bdev=&@adev.mman.bdev");
	add(&l, "0.tbo.base.size=%" PRIu64, o->bytes);
	add(&l, "1=%" PRIu64, o->to);
	add(&l, "2=%" PRIu64, o->from);
	fire_list(s, o, "amdgpu_bo_move", &l);
}

void fire_pasid(struct fire_session *s, const struct fire_options *o, bool freed)
{
	struct list l = { .count = 0 };

	add(&l, "0=%" PRIu64, o->pasid);
	fire_list(s, o, freed ? "amdgpu_pasid_freed" : "amdgpu_pasid_allocated", &l);
}

static void add_ring(struct list *l, const struct fire_options *o)
{
	add_device(l, o);
	add(l, "@ring:amdgpu_ring.adev=&@adev");
	add(l, "@ring.name=%s", o->ring);
	add(l, "@ring.sched.name=%s", o->ring);
	add(l, "@ring.sched.timeout=2500"); /* in jiffies: 10 s */
	add(l, "@ring.sched.credit_count|@ring.sched.hw_rq_count=1");
	add(l, "@ring.sched.dev=&@adev.dev");
}

/* The job's own fences, and its hardware fence as the parent. */
static void add_fence(struct list *l, const struct fire_options *o)
{
	add(l, "@fence:drm_sched_fence.parent.seqno=%" PRIu64, o->seqno);
	add(l, "@fence.sched=&@ring.sched");
	add(l, "@fence.scheduled.ops=sym:drm_sched_fence_ops_scheduled");
	add(l, "@fence.finished.ops=sym:drm_sched_fence_ops_finished");
	add(l, "@fence.scheduled.context=%" PRIu64, o->context);
	add(l, "@fence.finished.context=%" PRIu64, o->context + 1);
	add(l, "@fence.scheduled.seqno=%" PRIu64, o->seqno);
	add(l, "@fence.finished.seqno=%" PRIu64, o->seqno);
}

/* Stages: "queue", "run" and "done"; each has an old name and one since 6.17. */
static const char *stage_tracepoint(const char *stage)
{
	if (!strcmp(stage, "queue"))
		return "drm_sched_job_queue|drm_sched_job";
	return !strcmp(stage, "run") ? "drm_sched_job_run|drm_run_job"
				     : "drm_sched_job_done|drm_sched_process_job";
}

void fire_job(struct fire_session *s, const struct fire_options *o, const char *stage)
{
	struct list l = { .count = 0 };

	add_ring(&l, o);
	add_fence(&l, o);
	if (!strcmp(stage, "done")) {
		add(&l, "0=&@fence");
	} else {
		add(&l, "@job:amdgpu_job.base.sched=&@ring.sched");
		add(&l, "@job.base.s_fence=&@fence");
		add(&l, "?@job.base.id=%" PRIu64, o->id);
		add(&l, "@job.vmid=%" PRIu64, o->vmid);
		add(&l, "@job.pasid=%" PRIu64, o->pasid);
		add_vm(&l, o, "@job.vm");
		add(&l, "0=&@job.base");
		add(&l, "1.fence_context=%" PRIu64, o->context);
		add(&l, "@job.base.entity=&1");
	}
	fire_list(s, o, stage_tracepoint(stage), &l);
}
