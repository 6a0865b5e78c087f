/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The driver version of a device, from the module's sysfs files. Does not wake the device. */
#ifndef DAVY_DRIVER_VERSION_H
#define DAVY_DRIVER_VERSION_H

#include "core/event/types.h"

/*
 * "nvidia 550.54.14", "amdgpu 6.8.5 (533BB7E5866E52F63B9ACCB)". "xe (build 0123456789abcdef)" if
 * the module has no version and the kernel no source versions. "xe" if it is built in: then the
 * kernel version applies.
 */
void davy_driver_version_read(const char *driver, char ret_text[DAVY_VERSION_TEXT_LEN]);

/* The driver of a PCI device, DRM or not; "" if it has none. */
void davy_driver_of_device(const char *device, char *ret_driver, size_t size);

#endif
