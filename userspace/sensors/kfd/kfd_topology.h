/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KFD's GPUs, from /sys/class/kfd/kfd/topology/nodes (amdkfd/kfd_topology.c: node_show, mem_show;
 * reading does not access the GPU). A partitioned GPU has one node per partition.
 */
#ifndef DAVY_KFD_TOPOLOGY_H
#define DAVY_KFD_TOPOLOGY_H

#include "core/event/types.h"

#define DAVY_KFD_NODES_MAX 64 /* CPU nodes are skipped */

struct davy_kfd_node {
	uint32_t number;	     /* of its directory */
	uint32_t gpu_id;	     /* 0 would be a CPU */
	uint32_t gfx_target_version; /* 90402: gfx942 */
	uint32_t simd_count;
	bool partitioned; /* its partitions can be changed, which removes all its nodes */
	uint64_t memory;  /* bytes of its own memory */
	char device[DAVY_DEVICE_LEN];
};

/* Values of a "properties" file, 0 if missing. */
struct davy_kfd_properties {
	uint32_t gfx_target_version;
	uint32_t simd_count;
	uint32_t location_id; /* bus, slot and function; for a partition, its number */
	uint32_t domain;
	uint32_t mem_banks_count;
	uint32_t heap_type; /* of a memory bank: 1 and 2 are GPU memory */
	uint64_t size_in_bytes;
};

/* Parses lines "NAME NUMBER"; skips other lines. */
void davy_kfd_properties_parse(const char *text, struct davy_kfd_properties *ret_properties);

size_t davy_kfd_nodes_list(struct davy_kfd_node *list, size_t max);

/* The PCI address of a node; false if the number is unknown. */
bool davy_kfd_device_of(uint32_t gpu_id, char *ret_device);

#endif
