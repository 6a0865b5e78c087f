/* SPDX-License-Identifier: GPL-2.0 */
/*
 * xe's functions: GT reset, wedged, and its ioctl wrapper, which refuses all calls when the device
 * is wedged.
 */
#include "wire.h"
#include "facts.bpf.h"
#include "compat.bpf.h"
#include "ioctl.bpf.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline int reset_event(struct work_struct *work, __u32 begun)
{
	struct xe_gt *gt = (void *)work - bpf_core_field_offset(struct xe_gt, reset.worker);
	struct davy_wire_gpu_reset *e = davy_reserve(DAVY_WIRE_GPU_RESET, sizeof(*e));

	if (!e)
		return 0;
	davy_dev_name(e->dev, BPF_CORE_READ(gt, tile, xe, drm.dev));
	e->begun = begun;
	if (!begun && BPF_CORE_READ(gt, tile, xe, wedged.flag.counter))
		e->result = -EIO;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("?fentry/gt_reset_worker")
int BPF_PROG(gt_reset_begun, struct work_struct *work)
{
	return reset_event(work, 1);
}

/* It returns nothing: after a failed reset the device is wedged. */
SEC("?fexit/gt_reset_worker")
int BPF_PROG(gt_reset_ended, struct work_struct *work)
{
	return reset_event(work, 0);
}

/* Called again at each later failure. */
SEC("?fentry/xe_device_declare_wedged")
int BPF_PROG(device_wedged, struct xe_device *xe)
{
	struct davy_wire_fact *e;

	if (BPF_CORE_READ(xe, wedged.flag.counter))
		return 0;
	e = fact_begin(DAVY_FACT_WEDGED, BPF_CORE_READ(xe, drm.dev));
	if (!e)
		return 0;
	fact_name(e, "xe");
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("?fexit/xe_drm_ioctl")
int BPF_PROG(xe_ioctl_done, struct file *filp, unsigned int cmd, unsigned long arg, long ret)
{
	return wrapper_done(filp, cmd, ret);
}
