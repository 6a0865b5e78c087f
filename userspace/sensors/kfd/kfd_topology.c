/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kfd/kfd_topology.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"

#define NODES	    "/sys/class/kfd/kfd/topology/nodes"
#define ENTRIES_MAX 1024
#define BANKS_MAX   16
#define TEXT_SIZE   4096 /* sysfs returns at most one page */

/* KFD's heap types (kfd_crat.h): 0 is system memory. */
#define HEAP_FB_PUBLIC	1
#define HEAP_FB_PRIVATE 2

static void kfd_topology_take(struct davy_kfd_properties *p, const char *name, size_t len,
			      uint64_t value)
{
	const struct {
		const char *name;
		uint32_t *to;
	} rows[] = {
		{ "gfx_target_version", &p->gfx_target_version },
		{ "simd_count", &p->simd_count },
		{ "location_id", &p->location_id },
		{ "domain", &p->domain },
		{ "mem_banks_count", &p->mem_banks_count },
		{ "heap_type", &p->heap_type },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strlen(rows[i].name) == len && !memcmp(rows[i].name, name, len) &&
		    value <= UINT32_MAX)
			*rows[i].to = (uint32_t)value;
	if (len == 13 && !memcmp(name, "size_in_bytes", len))
		p->size_in_bytes = value;
}

void davy_kfd_properties_parse(const char *text, struct davy_kfd_properties *ret_properties)
{
	memset(ret_properties, 0, sizeof(*ret_properties));
	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		size_t len = strcspn(at, " \n");
		uint64_t value;
		char *end;

		if (at[len] != ' ' || !isdigit((unsigned char)at[len + 1]))
			continue;
		errno = 0;
		value = strtoull(at + len + 1, &end, 10);
		if (!errno && (!*end || *end == '\n'))
			kfd_topology_take(ret_properties, at, len, value);
	}
}

static bool kfd_topology_read_properties(const char *folder,
					 struct davy_kfd_properties *ret_properties)
{
	char path[PATH_MAX], text[TEXT_SIZE];

	if (davy_root_path(path, sizeof(path), NODES "/%s/properties", folder) ||
	    davy_read_file(path, text, sizeof(text)) <= 0)
		return false;
	davy_kfd_properties_parse(text, ret_properties);
	return true;
}

static uint32_t kfd_topology_gpu_id(const char *node)
{
	char path[PATH_MAX], text[32];
	uint64_t value;

	if (davy_root_path(path, sizeof(path), NODES "/%s/gpu_id", node) ||
	    davy_read_file(path, text, sizeof(text)) <= 0)
		return 0;
	value = strtoull(text, NULL, 10);
	return value <= UINT32_MAX ? (uint32_t)value : 0;
}

static bool kfd_topology_is_pci(const char *device, const char *file)
{
	char path[PATH_MAX];

	return !davy_root_path(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", device, file) &&
	       !access(path, F_OK);
}

/* The number of a partition replaces the function (6.12, kfd_topology_add_device). */
static void kfd_topology_name_device(const struct davy_kfd_properties *p, char *ret_device)
{
	unsigned int domain = p->domain, bus = p->location_id >> 8 & 0xff;
	unsigned int slot = p->location_id >> 3 & 0x1f, function = p->location_id & 7;
	char whole[DAVY_DEVICE_LEN];

	snprintf(ret_device, DAVY_DEVICE_LEN, "%04x:%02x:%02x.%x", domain, bus, slot, function);
	snprintf(whole, sizeof(whole), "%04x:%02x:%02x.0", domain, bus, slot);
	if (function && !kfd_topology_is_pci(ret_device, "") && kfd_topology_is_pci(whole, ""))
		memcpy(ret_device, whole, sizeof(whole));
}

static uint64_t kfd_topology_memory_of(const char *node, uint32_t bank_count)
{
	struct davy_kfd_properties p;
	char folder[NAME_MAX + 32];
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < bank_count && i < BANKS_MAX; i++) {
		snprintf(folder, sizeof(folder), "%s/mem_banks/%u", node, i);
		if (kfd_topology_read_properties(folder, &p) &&
		    (p.heap_type == HEAP_FB_PUBLIC || p.heap_type == HEAP_FB_PRIVATE))
			bytes += p.size_in_bytes;
	}
	return bytes;
}

static bool kfd_topology_read_node(const char *name, struct davy_kfd_node *ret_node)
{
	struct davy_kfd_properties p;

	memset(ret_node, 0, sizeof(*ret_node));
	ret_node->number = (uint32_t)strtoul(name, NULL, 10);
	ret_node->gpu_id = kfd_topology_gpu_id(name);
	if (!ret_node->gpu_id || !kfd_topology_read_properties(name, &p))
		return false;
	ret_node->gfx_target_version = p.gfx_target_version;
	ret_node->simd_count = p.simd_count;
	kfd_topology_name_device(&p, ret_node->device);
	ret_node->partitioned = kfd_topology_is_pci(ret_node->device, "current_compute_partition");
	ret_node->memory = kfd_topology_memory_of(name, p.mem_banks_count);
	return true;
}

/* Calls "see" with the name of each node until it returns true. */
static void kfd_topology_each_node(bool (*see)(void *arg, const char *name), void *arg)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (davy_root_path(path, sizeof(path), NODES))
		return;
	dir = opendir(path);
	for (int i = 0; dir && i < ENTRIES_MAX && (entry = readdir(dir)); i++)
		if (isdigit((unsigned char)entry->d_name[0]) && see(arg, entry->d_name))
			break;
	if (dir)
		closedir(dir);
}

struct listing {
	struct davy_kfd_node *list;
	size_t max;
	size_t count;
};

static bool kfd_topology_list_node(void *arg, const char *name)
{
	struct listing *l = arg;

	l->count += kfd_topology_read_node(name, &l->list[l->count]);
	return l->count == l->max;
}

static int kfd_topology_by_gpu(const void *a, const void *b)
{
	const struct davy_kfd_node *left = a, *right = b;
	int order = strcmp(left->device, right->device);

	return order ? order : (left->gpu_id > right->gpu_id) - (left->gpu_id < right->gpu_id);
}

size_t davy_kfd_nodes_list(struct davy_kfd_node *list, size_t max)
{
	struct listing l = { list, max, 0 };

	if (max)
		kfd_topology_each_node(kfd_topology_list_node, &l);
	qsort(list, l.count, sizeof(*list), kfd_topology_by_gpu);
	return l.count;
}

struct search {
	uint32_t gpu_id;
	char *device;
	bool found;
};

static bool kfd_topology_compare_node(void *arg, const char *name)
{
	struct search *s = arg;
	struct davy_kfd_properties p;

	if (kfd_topology_gpu_id(name) != s->gpu_id || !kfd_topology_read_properties(name, &p))
		return false;
	kfd_topology_name_device(&p, s->device);
	s->found = true;
	return true;
}

bool davy_kfd_device_of(uint32_t gpu_id, char *ret_device)
{
	struct search s = { gpu_id, ret_device, false };

	ret_device[0] = 0;
	if (gpu_id)
		kfd_topology_each_node(kfd_topology_compare_node, &s);
	return s.found;
}
