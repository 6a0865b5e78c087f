// SPDX-License-Identifier: GPL-2.0
/*
 * A stand-in for NVIDIA's module, which no distribution's kernel has: only its tracepoint, for
 * "fire tp nvidia_dev_xid". Its BTF is written into the file by "fire btf" before it is loaded.
 */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "nvidia_trace.h"

static const char btf_room[1024] __used __section(".BTF") = "davylamp: room for BTF";

MODULE_DESCRIPTION("A tracepoint of NVIDIA's driver, for laboratory VMs only");
MODULE_LICENSE("GPL");
