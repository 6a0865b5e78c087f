/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classifies events as failures. The classes are those of log_kind.h, for all sources: resets of a
 * ring and of an i915 engine belong to the timeout, those of a queue to the GPU.
 *
 * Not failures: faults without PASID (the driver's own traffic after a reset), retry faults, a
 * wedged event with recovery "none" (the end of a successful reset), an out-of-memory exception
 * that its engine survives (ggml's -fit catches them by design), SIGKILL (an OOM victim is reported
 * separately; otherwise a user ended it), an end caused by an action of davylamp, victims of a
 * memory cgroup's limit that are no engines, and failures that affect only a process of an ordinary
 * user: any user could fill the counts with them. Effects of such a process on the device or the
 * host count.
 */
#include "core/score/failure.h"

#include <string.h>

#define EIO_	   5 /* Linux's numbers: a trace may be replayed on another machine */
#define ENODEV_	   19
#define ECANCELED_ 125
#define EHWPOISON_ 133

#define SIG_ILL	 4
#define SIG_ABRT 6
#define SIG_BUS	 7
#define SIG_FPE	 8
#define SIG_SEGV 11

#define WEDGED_NONE 1 /* DRM_WEDGE_RECOVERY_NONE, include/drm/drm_device.h of 6.15 */

static const struct {
	uint8_t part;
	uint8_t class;
} facts[DAVY_FACT_COUNT] = {
	[DAVY_FACT_FENCE_FAILED] = { DAVY_FAILS_AFTER, 0 },
	[DAVY_FACT_SOFT_RECOVERY] = { DAVY_FAILS, DAVY_CLASS_RING_TIMEOUT },
	[DAVY_FACT_RING_RESET] = { DAVY_FAILS, DAVY_CLASS_RING_TIMEOUT },
	[DAVY_FACT_ENGINE_RESET] = { DAVY_FAILS, DAVY_CLASS_RING_TIMEOUT },
	[DAVY_FACT_WEDGED] = { DAVY_FAILS, DAVY_CLASS_DEVICE_LOST },
	[DAVY_FACT_COREDUMP] = { DAVY_FAILS_AFTER, 0 },
	[DAVY_FACT_RAS_RESET] = { DAVY_FAILS, DAVY_CLASS_GPU_RESET },
	[DAVY_FACT_GT_ERROR] = { DAVY_FAILS, DAVY_CLASS_RING_TIMEOUT },
	[DAVY_FACT_CONTEXT_BANNED] = { DAVY_FAILS_AFTER, 0 },
	[DAVY_FACT_KFD_VM_FAULT] = { DAVY_FAILS, DAVY_CLASS_PAGE_FAULT },
	[DAVY_FACT_KFD_HW_EXCEPTION] = { DAVY_FAILS, DAVY_CLASS_HANG },
	[DAVY_FACT_KFD_RESET_SIGNAL] = { DAVY_FAILS, DAVY_CLASS_GPU_RESET },
	[DAVY_FACT_KFD_GPU_RESET] = { DAVY_FAILS, DAVY_CLASS_GPU_RESET },
	[DAVY_FACT_XE_VM_KILLED] = { DAVY_FAILS, DAVY_CLASS_DEVICE_LOST },
	[DAVY_FACT_XE_CAT_ERROR] = { DAVY_FAILS, DAVY_CLASS_PAGE_FAULT },
	[DAVY_FACT_XE_QUEUE_RESET] = { DAVY_FAILS, DAVY_CLASS_GPU_RESET },
};

static bool failure_fails(struct davy_failure *f, enum davy_log_class class)
{
	f->part = DAVY_FAILS;
	f->class = class;
	return true;
}

static bool failure_goes_on(struct davy_failure *f)
{
	f->part = DAVY_FAILS_AFTER;
	return true;
}

bool davy_is_stranger(const struct davy_process *p)
{
	return p && (p->flags & DAVY_PROCESS_LOGIN_USER) && !p->workload;
}

bool davy_ended_by_us(const struct davy_step *s, const struct davy_process *p)
{
	const struct davy_workload *w = davy_world_workload(&s->core->world, p->workload);

	return w && w->act_plan && (!w->act_started || w->pid != p->pid);
}

/* True for an engine that is not an ordinary user's. */
static bool failure_is_engine(const struct davy_process *p)
{
	return p && p->engine != DAVY_ENGINE_NONE && !davy_is_stranger(p);
}

static bool failure_oom_victim(const struct davy_step *s, bool of_cgroup, struct davy_failure *f)
{
	const struct davy_process *p = davy_world_process(&s->core->world, f->pid);

	if (of_cgroup && !failure_is_engine(p))
		return false;
	if (failure_is_engine(p))
		f->device = p->device;
	else
		f->pid = 0; /* the host ran out of memory; the victim is not the cause */
	return failure_fails(f, DAVY_CLASS_OOM_GTT_HOST);
}

static bool failure_wedged(struct davy_failure *f, bool recovered)
{
	return recovered ? failure_goes_on(f) : failure_fails(f, DAVY_CLASS_DEVICE_LOST);
}

/* Permanent ioctl errors: the device is gone, or the context of this process. */
static bool failure_is_permanent(const struct davy_ev_fact *in)
{
	return in->what == DAVY_IOCTL_MATTERS &&
	       (in->error == -ENODEV_ || in->error == -ECANCELED_ || in->error == -EIO_ ||
		in->error == -EHWPOISON_);
}

static bool failure_read_fact(const struct davy_step *s, struct davy_failure *f)
{
	const struct davy_ev_fact *in = &s->ev->fact;
	const struct davy_client *client;

	f->device = in->device;
	if (in->fact == DAVY_FACT_OOM_VICTIM)
		return failure_oom_victim(s, in->detail == 1, f);
	if (in->fact == DAVY_FACT_WEDGED_EVENT)
		return failure_wedged(f, in->detail == WEDGED_NONE);
	if (in->fact == DAVY_FACT_IOCTL_FAILED)
		return failure_is_permanent(in) && failure_fails(f, DAVY_CLASS_DEVICE_LOST);
	if (in->fact >= DAVY_FACT_COUNT || !facts[in->fact].part)
		return false;
	client = f->pid ? NULL : davy_world_client(&s->core->world, in->pasid);
	if (client)
		f->pid = client->pid;
	f->part = (enum davy_failure_part)facts[in->fact].part;
	f->class = (enum davy_log_class)facts[in->fact].class;
	return true;
}

static bool failure_read_reset(const struct davy_step *s, struct davy_failure *f)
{
	const struct davy_ev_reset *in = &s->ev->reset;

	f->device = in->device;
	f->reset_begun = in->begun;
	f->reset_ended = !in->begun;
	return in->begun || in->result < 0 ? failure_fails(f, DAVY_CLASS_GPU_RESET)
					   : failure_goes_on(f);
}

/* i915 sends ERROR=1 and RESET=1 at the start of a reset of the whole GT, ERROR=0 at its end. */
static bool failure_read_device(const struct davy_step *s, struct davy_failure *f)
{
	const struct davy_ev_device *in = &s->ev->device;

	f->device = in->device;
	switch (in->change) {
	case DAVY_DEVICE_WEDGED:
		return failure_wedged(f, davy_same_name(in->detail, "none"));
	case DAVY_DEVICE_ERROR:
		f->reset_ended = !in->value;
		return in->value ? failure_fails(f, DAVY_CLASS_RING_TIMEOUT) : failure_goes_on(f);
	case DAVY_DEVICE_RESET:
		f->reset_begun = true;
		return failure_fails(f, DAVY_CLASS_GPU_RESET);
	case DAVY_DEVICE_COREDUMP:
		return failure_goes_on(f);
	default:
		return false;
	}
}

static bool failure_read_kfd(const struct davy_step *s, struct davy_failure *f)
{
	f->device = s->ev->kfd.device;
	switch (s->ev->kfd.event) {
	case DAVY_KFD_VM_FAULT:
		return failure_fails(f, DAVY_CLASS_PAGE_FAULT);
	case DAVY_KFD_RESET_BEGIN:
		f->reset_begun = true;
		return failure_fails(f, DAVY_CLASS_GPU_RESET);
	case DAVY_KFD_RESET_END:
		f->reset_ended = true;
		return failure_goes_on(f);
	default:
		return false;
	}
}

static bool failure_read_log(const struct davy_step *s, struct davy_failure *f)
{
	const struct davy_ev_log *in = &s->ev->log;

	f->device = in->device;
	f->ring = in->ring;
	f->reset_begun = in->kind == DAVY_LOG_GPU_RESET_BEGUN || in->kind == DAVY_LOG_XE_GT_RESET;
	f->reset_ended =
		in->kind == DAVY_LOG_GPU_RESET_DONE || in->kind == DAVY_LOG_GPU_RESET_FAILED ||
		in->kind == DAVY_LOG_XE_GT_RESET_DONE || in->kind == DAVY_LOG_XE_GT_RESET_FAILED;
	if (in->role == DAVY_PART_AFTERMATH)
		return failure_goes_on(f);
	if (in->role != DAVY_PART_FAILURE)
		return false;
	if (in->kind == DAVY_LOG_OOM_KILL) /* with a name, the line does not show a cgroup limit */
		return failure_oom_victim(s, f->pid && davy_world_process(&s->core->world, f->pid),
					  f);
	return failure_fails(f,
			     in->log_class ? (enum davy_log_class)in->log_class : DAVY_CLASS_OTHER);
}

static bool failure_read_throw(const struct davy_step *s, struct davy_failure *f)
{
	if (!failure_is_engine(davy_world_process(&s->core->world, f->pid)))
		return false;
	if (davy_is_device_lost(s->ev->thrown.type))
		return failure_fails(f, DAVY_CLASS_DEVICE_LOST);
	f->part = DAVY_FAILS_PERHAPS;
	f->class = DAVY_CLASS_OOM_VRAM;
	return davy_is_out_of_memory(s->ev->thrown.type);
}

static bool failure_is_crash(int32_t status)
{
	int sig = status & 0x7f;

	return sig == SIG_ABRT || sig == SIG_SEGV || sig == SIG_BUS || sig == SIG_ILL ||
	       sig == SIG_FPE;
}

static bool failure_out_of_memory(const struct davy_step *s, const struct davy_process *p)
{
	return p->out_of_memory_ns &&
	       s->now_ns - p->out_of_memory_ns <=
		       davy_config_ns(&s->core->config, DAVY_CFG_FORESIGHT_DEATH_MS);
}

/* Cause of death according to its exceptions. Before its first graph, it failed at start. */
static enum davy_log_class failure_class_of(const struct davy_step *s, const struct davy_process *p)
{
	if (p->exception_ns)
		return DAVY_CLASS_DEVICE_LOST;
	if (failure_out_of_memory(s, p))
		return DAVY_CLASS_OOM_VRAM;
	return p->graph.graph_count ? DAVY_CLASS_OTHER : DAVY_CLASS_RUNNER_CRASH_INIT;
}

static bool failure_read_exit(const struct davy_step *s, struct davy_failure *f)
{
	const struct davy_ev_process_exit *in = &s->ev->process_exit;
	const struct davy_process *p = davy_world_process(&s->core->world, f->pid);

	if (!failure_is_engine(p) || (in->start_ticks && in->start_ticks != p->start_ticks) ||
	    davy_ended_by_us(s, p))
		return false;
	f->death = true;
	if (in->status && p->vram_limit && davy_load_refused(s, p))
		return false; /* refused by davylamp: the quota works */
	if (failure_is_crash(in->status) ||
	    (in->status && !(in->status & 0x7f) && failure_out_of_memory(s, p)))
		return failure_fails(f, failure_class_of(s, p));
	return false;
}

static bool failure_read_fault(const struct davy_step *s, struct davy_failure *f)
{
	const struct davy_ev_fault *in = &s->ev->fault;
	const struct davy_client *client;

	if (!in->pasid || in->fault_class != DAVY_FAULT_VM)
		return false;
	client = davy_world_client(&s->core->world, in->pasid);
	f->device = in->device;
	f->pid = client ? client->pid : 0;
	return failure_fails(f, DAVY_CLASS_PAGE_FAULT);
}

/* True if more than one process is affected, regardless of the process in the event. */
static bool failure_concerns_device(const struct davy_step *s, const struct davy_failure *f)
{
	bool lost = f->class == DAVY_CLASS_GPU_RESET || f->class == DAVY_CLASS_DEVICE_LOST;

	switch (s->ev->kind) {
	case DAVY_EV_RESET:
	case DAVY_EV_DEVICE:
		return true;
	case DAVY_EV_KFD:
		return s->ev->kfd.event != DAVY_KFD_VM_FAULT;
	case DAVY_EV_FACT:
		return lost && s->ev->fact.fact != DAVY_FACT_XE_QUEUE_RESET &&
		       s->ev->fact.fact != DAVY_FACT_XE_VM_KILLED &&
		       s->ev->fact.fact != DAVY_FACT_IOCTL_FAILED;
	case DAVY_EV_LOG:
		return lost || f->class == DAVY_CLASS_HOST_CRASH ||
		       f->class == DAVY_CLASS_OOM_GTT_HOST;
	default:
		return false;
	}
}

/* A process that faulted and ended before it was read is unknown. */
static bool failure_of_stranger(const struct davy_step *s, const struct davy_failure *f)
{
	const struct davy_process *p = davy_world_process(&s->core->world, f->pid);

	if (!f->pid || failure_concerns_device(s, f))
		return false;
	return p ? davy_is_stranger(p) : f->class == DAVY_CLASS_PAGE_FAULT;
}

static bool failure_read_event(const struct davy_step *s, struct davy_failure *f)
{
	switch (s->ev->kind) {
	case DAVY_EV_JOB_TIMEOUT:
		f->device = s->ev->job_timeout.device;
		f->ring = s->ev->job_timeout.ring;
		return failure_fails(f, DAVY_CLASS_RING_TIMEOUT);
	case DAVY_EV_RESET:
		return failure_read_reset(s, f);
	case DAVY_EV_DEVICE:
		return failure_read_device(s, f);
	case DAVY_EV_THROW:
		return failure_read_throw(s, f);
	case DAVY_EV_FAULT:
		return failure_read_fault(s, f);
	case DAVY_EV_KFD:
		return failure_read_kfd(s, f);
	case DAVY_EV_LOG:
		return failure_read_log(s, f);
	case DAVY_EV_FACT:
		return failure_read_fact(s, f);
	case DAVY_EV_PROCESS_EXIT:
		return failure_read_exit(s, f);
	default:
		return false;
	}
}

bool davy_failure_read(const struct davy_step *s, struct davy_failure *ret_failure)
{
	struct davy_failure f = { .device = "", .ring = "", .pid = s->ev->pid };
	const struct davy_process *p;

	if (!failure_read_event(s, &f) || failure_of_stranger(s, &f))
		return false;
	p = f.device[0] ? NULL : davy_world_process(&s->core->world, f.pid);
	if (p)
		f.device = p->device;
	*ret_failure = f;
	return true;
}
