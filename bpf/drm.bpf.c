/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DRM ioctls that fail for want of memory: what the application itself is told, whatever the driver.
 */
#include "wire.h"
#include "maps.bpf.h"
#include "compat.bpf.h"
#include "alloc.bpf.h"

char LICENSE[] SEC("license") = "GPL";

SEC("?fexit/drm_ioctl")
int BPF_PROG(ioctl_done, struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct dl_alloc_key key = { .stage = DL_ALLOC_IOCTL };
	struct drm_file *file;
	__u64 ret = 0;

	if (bpf_get_func_ret(ctx, &ret) || ((long)ret != -ENOMEM && (long)ret != -ENOSPC))
		return 0;
	file = BPF_CORE_READ(filp, private_data);
	return alloc_failed(&key, BPF_CORE_READ(file, minor, dev, dev), (int)ret, cmd & 0xff, 0);
}
