/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which GPU stands behind an open device file. By the device number and sysfs, never by the file's
 * name: a container may call it anything.
 */
#ifndef DAVY_DEVICE_NODE_H
#define DAVY_DEVICE_NODE_H

#include <sys/types.h>

#include "core/event/types.h"

enum davy_node {
	DAVY_NODE_OTHER = 0,
	DAVY_NODE_DRM = 1, /* render, primary or accel */
	DAVY_NODE_KFD = 2,
	DAVY_NODE_NVIDIA = 3,
};

/* Its kind, and the PCI address behind it; "" where sysfs names none. */
enum davy_node davy_device_node(unsigned int node_major, unsigned int node_minor, char *ret_device);

/* The devices on which the process holds memory through KFD; fills at most DAVY_DEVICES_MAX. */
size_t davy_kfd_devices(uint32_t pid, char ret_device[][DAVY_DEVICE_LEN]);

#endif
