// SPDX-License-Identifier: GPL-2.0
/*
 * The events: objects as deep as a probe may look into them, as the drivers build them
 * (drivers/gpu/drm/amd/amdgpu and drivers/gpu/drm/scheduler), then the tracepoint. What differs
 * between kernels is asked of BTF, never of a version.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fire.h"

#define AMDGPU_PL_MAX 16 /* placements are small numbers; more is a slip */

static const char *context_name(const struct fire_options *o)
{
	return o->in_irq ? "irq" : "task";
}

static void print_fired(struct fire_session *s, const char *name, uint64_t count)
{
	uint64_t calls = fire_result(s);

	if (!s->err)
		printf("fired=%s count=%" PRIu64 " probe_calls=%" PRIu64 "\n", name, count, calls);
}

/* The PCI device: its name is the PCI address. */
static struct fire_object new_device(struct fire_session *s, const struct fire_options *o)
{
	struct fire_object dev = fire_object_new(s, "device");

	fire_point_text(dev, "kobj.name", o->dev_name);
	return dev;
}

static struct fire_object new_adev(struct fire_session *s, struct fire_object dev)
{
	struct fire_object adev = fire_object_new(s, "amdgpu_device");

	fire_point(adev, "dev", dev, "");
	fire_point(adev, "ddev.dev", dev, "");
	return adev;
}

/* The thread's number and name lie in a structure of their own since 6.17. */
static struct fire_object new_task_info(struct fire_session *s, const struct fire_options *o)
{
	struct fire_object info = fire_object_new(s, "amdgpu_task_info");
	bool apart = fire_has_field(s, "amdgpu_task_info", "task");

	fire_set(info, apart ? "task.pid" : "pid", o->pid);
	fire_set(info, "tgid", o->pid);
	fire_set_text(info, "process_name", o->comm);
	fire_set_text(info, apart ? "task.comm" : "task_name", o->comm);
	return info;
}

/* The GPU address space of a process. Its task_info is a pointer, or a member in older kernels. */
static struct fire_object new_vm(struct fire_session *s, const struct fire_options *o)
{
	struct fire_object vm = fire_object_new(s, "amdgpu_vm");

	fire_set(vm, "pasid", o->pasid);
	if (fire_is_pointer(s, fire_field_of(s, "amdgpu_vm", "task_info"))) {
		fire_point(vm, "task_info", new_task_info(s, o), "");
		return vm;
	}
	fire_set(vm, "task_info.pid", o->pid);
	fire_set(vm, "task_info.tgid", o->pid);
	fire_set_text(vm, "task_info.process_name", o->comm);
	fire_set_text(vm, "task_info.task_name", o->comm);
	return vm;
}

/*
 * An entry of the interrupt ring. The driver's rings lie inside adev->irq, and the event's first
 * argument says which one: so does the entry's pointer here.
 */
void fire_iv(struct fire_session *s, const struct fire_options *o)
{
	static const char *const rings[] = { "irq.ih", "irq.ih1", "irq.ih2" };
	struct fire_object adev = new_adev(s, new_device(s, o));
	struct fire_object iv = fire_object_new(s, "amdgpu_iv_entry");

	if (o->ih >= sizeof(rings) / sizeof(rings[0])) {
		fprintf(stderr, "fire: --ih takes 0 to 2\n");
		s->err = -ERANGE;
		return;
	}
	fire_point(iv, "ih", adev, rings[o->ih]);
	fire_set(iv, "client_id", o->client);
	fire_set(iv, "src_id", o->src);
	fire_set(iv, "ring_id", o->ring_id);
	fire_set(iv, "vmid", o->vmid);
	fire_set(iv, "timestamp", o->timestamp);
	fire_set(iv, "pasid", o->pasid);
	/* As gmc_v9_0 and later take a page fault's address apart: 48 bits, the page first. */
	fire_set(iv, "src_data[0]", (uint32_t)(o->addr >> 12));
	fire_set(iv, "src_data[1]", (o->addr >> 44) & 0xf);
	fire_send(s, "fire %" PRIu64 " %s amdgpu_iv %" PRIu64 " &%u+0", o->count, context_name(o),
		  o->ih, iv.id);
	print_fired(s, "amdgpu_iv", o->count);
}

void fire_bo_move(struct fire_session *s, const struct fire_options *o)
{
	struct fire_object adev = new_adev(s, new_device(s, o));
	struct fire_object vm = new_vm(s, o);
	struct fire_object base = fire_object_new(s, "amdgpu_vm_bo_base");
	struct fire_object bo = fire_object_new(s, "amdgpu_bo");

	if (o->from > AMDGPU_PL_MAX || o->to > AMDGPU_PL_MAX) {
		fprintf(stderr, "fire: --from and --to take 0 (system), 1 (GTT), 2 (VRAM)...\n");
		s->err = -ERANGE;
		return;
	}
	fire_point(base, "vm", vm, "");
	fire_point(base, "bo", bo, "");
	fire_point(bo, "vm_bo", base, "");
	fire_point(bo, "tbo.base.dev", adev, "ddev");
	fire_point(bo, "tbo.bdev", adev, "mman.bdev");
	fire_set(bo, "tbo.base.size", o->bytes);
	fire_send(s, "fire %" PRIu64 " %s amdgpu_bo_move &%u+0 %" PRIu64 " %" PRIu64, o->count,
		  context_name(o), bo.id, o->to, o->from);
	print_fired(s, "amdgpu_bo_move", o->count);
}

void fire_pasid(struct fire_session *s, const struct fire_options *o, bool freed)
{
	const char *name = freed ? "amdgpu_pasid_freed" : "amdgpu_pasid_allocated";

	fire_send(s, "fire %" PRIu64 " %s %s %" PRIu64, o->count, context_name(o), name, o->pasid);
	print_fired(s, name, o->count);
}

static struct fire_object new_ring(struct fire_session *s, const struct fire_options *o)
{
	struct fire_object dev = new_device(s, o);
	struct fire_object adev = new_adev(s, dev);
	struct fire_object ring = fire_object_new(s, "amdgpu_ring");
	bool credits = fire_has_field(s, "drm_gpu_scheduler", "credit_count"); /* since 6.8 */

	fire_point(ring, "adev", adev, "");
	fire_set_text(ring, "name", o->ring);
	fire_point(ring, "sched.name", ring, "name");
	fire_set(ring, "sched.timeout", 2500); /* in jiffies: 10 s */
	fire_set(ring, credits ? "sched.credit_count" : "sched.hw_rq_count", 1);
	fire_point(ring, "sched.dev", dev, "");
	return ring;
}

/* The job's own fences, and its hardware fence as the parent. */
static struct fire_object new_fence(struct fire_session *s, const struct fire_options *o,
				    struct fire_object ring)
{
	struct fire_object fence = fire_object_new(s, "drm_sched_fence");
	struct fire_object parent = fire_object_new(s, "dma_fence");

	fire_set(parent, "seqno", o->seqno);
	fire_point(fence, "parent", parent, "");
	fire_point(fence, "sched", ring, "sched");
	fire_set_symbol(fence, "scheduled.ops", "drm_sched_fence_ops_scheduled");
	fire_set_symbol(fence, "finished.ops", "drm_sched_fence_ops_finished");
	fire_set(fence, "scheduled.context", o->context);
	fire_set(fence, "finished.context", o->context + 1);
	fire_set(fence, "scheduled.seqno", o->seqno);
	fire_set(fence, "finished.seqno", o->seqno);
	return fence;
}

/* Stages: "queue", "run" and "done"; each has an old name and the one since 6.17. */
static const char *stage_tracepoint(struct fire_session *s, const char *stage)
{
	static const struct {
		const char *stage, *since, *until;
	} rows[] = {
		{ "queue", "drm_sched_job_queue", "drm_sched_job" },
		{ "run", "drm_sched_job_run", "drm_run_job" },
		{ "done", "drm_sched_job_done", "drm_sched_process_job" },
	};
	size_t i = 0;

	while (strcmp(rows[i].stage, stage))
		i++;
	return fire_has_tracepoint(s, "gpu_sched", rows[i].since) ? rows[i].since : rows[i].until;
}

void fire_job(struct fire_session *s, const struct fire_options *o, const char *stage)
{
	const char *name = stage_tracepoint(s, stage);
	struct fire_object ring = new_ring(s, o);
	struct fire_object fence = new_fence(s, o, ring);
	struct fire_object entity = fire_object_new(s, "drm_sched_entity");
	struct fire_object job = fire_object_new(s, "amdgpu_job");

	fire_set(entity, "fence_context", o->context);
	fire_point(job, "base.sched", ring, "sched");
	fire_point(job, "base.s_fence", fence, "");
	fire_point(job, "base.entity", entity, "");
	if (fire_has_field(s, "drm_sched_job", "id"))
		fire_set(job, "base.id", o->id);
	fire_set(job, "vmid", o->vmid);
	fire_set(job, "pasid", o->pasid);
	fire_point(job, "vm", new_vm(s, o), "");
	if (!strcmp(stage, "done")) {
		fire_send(s, "fire %" PRIu64 " %s %s &%u+0", o->count, context_name(o), name,
			  fence.id);
	} else {
		fire_send(s, "fire %" PRIu64 " %s %s &%u+%u &%u+0", o->count, context_name(o), name,
			  job.id, fire_field_of(s, "amdgpu_job", "base").offset, entity.id);
	}
	print_fired(s, name, o->count);
}
