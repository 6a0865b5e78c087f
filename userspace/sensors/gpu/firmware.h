/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The firmware versions of a GPU. amdgpu has them in sysfs, where reading never blocks. i915 and xe
 * have them only in debugfs; reading wakes the device and may wait for a reset, so a child reads
 * them. NVIDIA's firmware always has the version of its driver and is not reported.
 */
#ifndef DAVY_FIRMWARE_H
#define DAVY_FIRMWARE_H

#include <stdbool.h>

#include "lib/child.h"
#include "sensors/gpu/gpus.h"

/* "mes 0x83, mec 0x1f4, ..., all 5f0c12aa": some versions, and a hash of all. "": unknown. */
void davy_firmware_read(const struct davy_gpu *gpu, char ret_text[DAVY_VERSION_TEXT_LEN]);

/* True if a child must read it. */
bool davy_firmware_waits(const struct davy_gpu *gpu);

/*
 * Starts a child that reads it and exits. Returns a nonblocking descriptor for davy_firmware_take,
 * or -errno. The caller waits for the child, which may block as long as the device.
 */
int davy_firmware_ask(const struct davy_gpu *gpu, struct davy_child *ret_child);

/* 0: "guc 70.36.0, huc 8.2.10", or "". -EAGAIN: not yet; -ENOENT: unreadable. */
int davy_firmware_take(int fd, char ret_text[DAVY_VERSION_TEXT_LEN]);

/* The version in the text of guc_info or huc_info; false if there is none. */
bool davy_firmware_intel(const char *text, char *ret_version, size_t size);

#endif
