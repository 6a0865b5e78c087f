/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GPU of an open device file, from its device number and sysfs. Never from its name: a
 * container may use any name.
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

/* Its kind, and the PCI address; "" if sysfs has none. */
enum davy_node davy_device_node(unsigned int node_major, unsigned int node_minor, char *ret_device);

/* The devices on which the process holds memory through KFD; at most DAVY_DEVICES_MAX. */
size_t davy_kfd_devices(uint32_t pid, char ret_device[][DAVY_DEVICE_LEN]);

#endif
