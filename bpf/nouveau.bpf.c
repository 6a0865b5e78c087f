/* SPDX-License-Identifier: GPL-2.0 */
/* nouveau: ioctls that fail before the DRM core sees them (runtime resume, or its own NVIF commands). */
#include "wire.h"
#include "facts.bpf.h"
#include "compat.bpf.h"
#include "ioctl.bpf.h"

char LICENSE[] SEC("license") = "GPL";

SEC("?fexit/nouveau_drm_ioctl")
int BPF_PROG(nouveau_ioctl_done, struct file *filp, unsigned int cmd, unsigned long arg, long ret)
{
	return wrapper_done(filp, cmd, ret);
}
