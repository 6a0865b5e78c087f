/* SPDX-License-Identifier: GPL-2.0 */
/* radeon: ioctls that fail before the DRM core sees them (runtime resume). */
#include "wire.h"
#include "facts.bpf.h"
#include "compat.bpf.h"
#include "ioctl.bpf.h"

char LICENSE[] SEC("license") = "GPL";

SEC("?fexit/radeon_drm_ioctl")
int BPF_PROG(radeon_ioctl_done, struct file *filp, unsigned int cmd, unsigned long arg, long ret)
{
	return wrapper_done(filp, cmd, ret);
}
