/* SPDX-License-Identifier: GPL-2.0 */
/* i915's recovery: hang declared, context banned, engine reset, GT reset, wedged. */
#include "wire.h"
#include "facts.bpf.h"
#include "compat.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Variadic: a kprobe, since trampolines refuse it on all kernels. */
SEC("?kprobe/intel_gt_handle_error")
int gt_error(struct pt_regs *ctx)
{
	struct intel_gt *gt = (void *)PT_REGS_PARM1(ctx);
	struct davy_wire_fact *e = fact_begin(DAVY_FACT_GT_ERROR, BPF_CORE_READ(gt, i915, drm.dev));

	if (!e)
		return 0;
	e->detail = (__u32)PT_REGS_PARM2(ctx);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("?fentry/intel_context_ban")
int BPF_PROG(context_banned, struct intel_context *ce)
{
	struct pid *pid = BPF_CORE_READ(ce, gem_context, pid);
	struct davy_wire_fact *e =
		fact_begin(DAVY_FACT_CONTEXT_BANNED, BPF_CORE_READ(ce, engine, i915, drm.dev));

	if (!e)
		return 0;
	if (pid)
		e->pid = davy_pid_tgid(pid);
	BPF_CORE_READ_STR_INTO(&e->name, ce, engine, name);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/* Called by intel_engine_reset() for a context, and by the error handler. */
SEC("?fexit/__intel_engine_reset_bh")
int BPF_PROG(engine_reset, struct intel_engine_cs *engine)
{
	struct davy_wire_fact *e =
		fact_begin(DAVY_FACT_ENGINE_RESET, BPF_CORE_READ(engine, i915, drm.dev));
	__u64 ret = 0;

	if (!e)
		return 0;
	bpf_get_func_ret(ctx, &ret);
	e->error = (int)ret;
	BPF_CORE_READ_STR_INTO(&e->name, engine, name);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

#define GT_WEDGED (1ULL << 63) /* I915_WEDGED, intel_reset_types.h */

static __always_inline int reset_event(struct intel_gt *gt, __u32 begun)
{
	struct davy_wire_gpu_reset *e = davy_reserve(DAVY_WIRE_GPU_RESET, sizeof(*e));

	if (!e)
		return 0;
	davy_dev_name(e->dev, BPF_CORE_READ(gt, i915, drm.dev));
	e->begun = begun;
	if (!begun && (BPF_CORE_READ(gt, reset.flags) & GT_WEDGED))
		e->result = -EIO;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("?fentry/intel_gt_reset_global")
int BPF_PROG(gt_reset_begun, struct intel_gt *gt)
{
	return reset_event(gt, 1);
}

/* It returns nothing: after a failed reset the GT is wedged. */
SEC("?fexit/intel_gt_reset_global")
int BPF_PROG(gt_reset_ended, struct intel_gt *gt)
{
	return reset_event(gt, 0);
}

/* Also called when a healthy driver is unbound or fails to start: then it is not registered. */
SEC("?fentry/__intel_gt_set_wedged")
int BPF_PROG(gt_wedged, struct intel_gt *gt)
{
	struct davy_wire_fact *e;

	if (!BPF_CORE_READ(gt, i915, drm.registered) ||
	    (BPF_CORE_READ(gt, reset.flags) & GT_WEDGED))
		return 0;
	e = fact_begin(DAVY_FACT_WEDGED, BPF_CORE_READ(gt, i915, drm.dev));
	if (!e)
		return 0;
	fact_name(e, "i915");
	bpf_ringbuf_submit(e, 0);
	return 0;
}
