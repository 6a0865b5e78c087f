/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which firmware a GPU runs. amdgpu keeps the versions in sysfs, where nobody is waited for; i915
 * and xe tell them by debugfs only, whose reader wakes the device and may wait for a reset: a child
 * reads those. NVIDIA's firmware is of its driver's very version, and so tells nothing of its own.
 */
#ifndef DAVY_FIRMWARE_H
#define DAVY_FIRMWARE_H

#include <stdbool.h>

#include "lib/child.h"
#include "sensors/gpu/gpus.h"

/*
 * "mes 0x83, mec 0x1f4, smc 0x4d3a00, sdma 0x14, all 5f0c12aa": some by name, and a sum over all.
 * "" when nothing is told.
 */
void davy_firmware_read(const struct davy_gpu *gpu, char ret_text[DAVY_VERSION_TEXT_LEN]);

/* Whether a child is to be asked. */
bool davy_firmware_waits(const struct davy_gpu *gpu);

/*
 * A child reads it, and ends: a descriptor for davy_firmware_take, non-blocking, and the child,
 * which the caller waits for; or -errno. It may not end before its device does.
 */
int davy_firmware_ask(const struct davy_gpu *gpu, struct davy_child *ret_child);

/* 0: "guc 70.36.0, huc 8.2.10", or "". -EAGAIN: not yet; -ENOENT: it could not read it. */
int davy_firmware_take(int fd, char ret_text[DAVY_VERSION_TEXT_LEN]);

/* The version in guc_info's or huc_info's text; false when it tells none. */
bool davy_firmware_intel(const char *text, char *ret_version, size_t size);

#endif
