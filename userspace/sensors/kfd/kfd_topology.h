/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KFD's GPUs, from /sys/class/kfd/kfd/topology/nodes (amdkfd/kfd_topology.c: node_show, mem_show;
 * nothing of it asks the GPU). A GPU in partitions has a node for each.
 */
#ifndef DAVY_KFD_TOPOLOGY_H
#define DAVY_KFD_TOPOLOGY_H

#include "core/event/types.h"

#define DAVY_KFD_NODES_MAX 64 /* nodes of CPUs among them are passed over */

struct davy_kfd_node {
	uint32_t number;	     /* of its folder */
	uint32_t gpu_id;	     /* not 0: that is a CPU's */
	uint32_t gfx_target_version; /* 90402: gfx942 */
	uint32_t simd_count;
	bool partitioned; /* its partitions can be changed, which ends every node of it */
	uint64_t memory;  /* bytes, of its own */
	char device[DAVY_DEVICE_LEN];
};

/* Values of a "properties" file, 0 where it has none. */
struct davy_kfd_properties {
	uint32_t gfx_target_version;
	uint32_t simd_count;
	uint32_t location_id; /* bus, slot and function, which is a partition's number */
	uint32_t domain;
	uint32_t mem_banks_count;
	uint32_t heap_type; /* of a memory bank: 1 and 2 are the GPU's own */
	uint64_t size_in_bytes;
};

/* Lines "NAME NUMBER"; what is not understood is passed over. */
void davy_kfd_properties_parse(const char *text, struct davy_kfd_properties *ret_properties);

size_t davy_kfd_nodes_list(struct davy_kfd_node *list, size_t max);

/* The PCI address of a node; false when there is none of that number. */
bool davy_kfd_device_of(uint32_t gpu_id, char *ret_device);

#endif
