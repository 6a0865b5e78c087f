/* SPDX-License-Identifier: GPL-2.0 */
/* The DRM core, for all drivers: failed ioctls, owners of buffers, wedged devices. */
#include "wire.h"
#include "facts.bpf.h"
#include "compat.bpf.h"
#include "ioctl.bpf.h"
#include "moves.bpf.h"

char LICENSE[] SEC("license") = "GPL";

SEC("?fexit/drm_ioctl")
int BPF_PROG(ioctl_done, struct file *filp, unsigned int cmd, unsigned long arg, long ret)
{
	if (ret >= 0 || ret < -4095)
		return 0;
	if (is_waiting(cmd & 0xff, (int)ret))
		return 0; /* called millions of times: return before any lookup */
	mark_inner(filp, cmd, (int)ret);
	return drm_ioctl_failed(filp, cmd, (int)ret);
}

/*
 * The creator makes the first handle; later handles are those of processes it was shared with. An
 * older BO at this address may have been freed unobserved.
 */
SEC("?fentry/drm_gem_handle_create")
int BPF_PROG(handle_made, struct drm_file *file, struct drm_gem_object *bo)
{
	bool first = !BPF_CORE_READ(bo, handle_count);
	__u64 id = (__u64)bo;
	__u32 tgid = davy_current();

	bpf_map_update_elem(&owners, &id, &tgid, first ? BPF_ANY : BPF_NOEXIST);
	return 0;
}

SEC("?fentry/drm_gem_object_free")
int BPF_PROG(bo_freed, struct kref *ref)
{
	__u64 id = (__u64)ref - bpf_core_field_offset(struct drm_gem_object, refcount);

	bpf_map_delete_elem(&owners, &id);
	bpf_map_delete_elem(&evicted, &id);
	return 0;
}

/* Since 6.15: the device is lost, or a reset succeeded (method "none"). */
SEC("?fentry/drm_dev_wedged_event")
int BPF_PROG(wedged, struct drm_device *dev, unsigned long method)
{
	struct davy_wire_fact *e = fact_begin(DAVY_FACT_WEDGED_EVENT, BPF_CORE_READ(dev, dev));

	if (!e)
		return 0;
	e->detail = (__u32)method;
	fact_name(e, BPF_CORE_READ(dev, driver, name));
	bpf_ringbuf_submit(e, 0);
	return 0;
}
