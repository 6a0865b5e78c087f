/* SPDX-License-Identifier: GPL-2.0-or-later */
/* GPUs of the PCI bus (includes those without a driver) and of DRM. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/host_subject.h"
#include "lib/file.h"
#include "sensors/kfd/kfd_topology.h"
#include "doctor/read.h"

#define ENTRIES_MAX 4096

static const struct {
	uint32_t id;
	const char *vendor;
	const char *driver;
} vendors[] = {
	{ 0x1002, "amd", "amdgpu" },
	{ 0x8086, "intel", "i915" },
	{ 0x10de, "nvidia", "nvidia" },
};

static void first_line(const char *path, char *buf, size_t size)
{
	buf[0] = 0;
	if (davy_read_file(path, buf, size) < 0)
		buf[0] = 0;
	buf[strcspn(buf, "\n")] = 0;
}

static struct davy_doctor_gpu *read_gpus_find(struct davy_doctor_facts *facts, const char *device)
{
	for (size_t i = 0; i < facts->gpu_count; i++)
		if (!strcmp(facts->gpu[i].device, device))
			return &facts->gpu[i];
	return NULL;
}

/* Reads a GPU of a known vendor with any driver; false: another device. */
static bool read_pci(const char *device, struct davy_doctor_gpu *g)
{
	char path[PATH_MAX];
	struct davy_gpu gpu;
	uint64_t vendor = 0, id = 0;

	if (!davy_gpu_on_bus(device, &gpu))
		return false;
	memset(g, 0, sizeof(*g));
	davy_gpu_attribute(&gpu, "vendor", &vendor);
	davy_gpu_attribute(&gpu, "device", &id);
	for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++) {
		if (vendors[i].id != vendor)
			continue;
		davy_copy_name(g->subject.vendor, sizeof(g->subject.vendor), vendors[i].vendor);
		davy_copy_name(g->wanted, sizeof(g->wanted), vendors[i].driver);
	}
	davy_copy_name(g->device, sizeof(g->device), device);
	davy_copy_name(g->driver, sizeof(g->driver), gpu.driver);
	davy_copy_name(g->subject.device, sizeof(g->subject.device), device);
	g->pci_vendor = (uint32_t)vendor;
	g->pci_device = (uint32_t)id;
	g->card = g->render = -1;
	if (!davy_gpu_path(&gpu, "iommu_group/type", path, sizeof(path)))
		first_line(path, g->iommu_type, sizeof(g->iommu_type));
	return true;
}

static int by_device(const void *a, const void *b)
{
	return strcmp(((const struct davy_doctor_gpu *)a)->device,
		      ((const struct davy_doctor_gpu *)b)->device);
}

static void read_bus(struct davy_doctor_facts *facts)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (davy_root_path(path, sizeof(path), "/sys/bus/pci/devices"))
		return;
	dir = opendir(path);
	for (int i = 0; dir && i < ENTRIES_MAX && facts->gpu_count < DAVY_DOCTOR_GPUS &&
			(entry = readdir(dir));
	     i++)
		if (entry->d_name[0] != '.' && strlen(entry->d_name) < DAVY_DEVICE_LEN)
			facts->gpu_count += read_pci(entry->d_name, &facts->gpu[facts->gpu_count]);
	if (dir)
		closedir(dir);
	qsort(facts->gpu, facts->gpu_count, sizeof(facts->gpu[0]), by_device);
}

static bool is_connected(int card)
{
	char path[PATH_MAX], begin[24], status[32];
	struct dirent *entry;
	bool connected = false;
	DIR *dir;

	snprintf(begin, sizeof(begin), "card%d-", card);
	if (davy_root_path(path, sizeof(path), "/sys/class/drm"))
		return false;
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, begin, strlen(begin)) != 0 ||
		    davy_root_path(path, sizeof(path), "/sys/class/drm/%s/status", entry->d_name))
			continue;
		first_line(path, status, sizeof(status));
		connected |= !strcmp(status, "connected");
	}
	if (dir)
		closedir(dir);
	return connected;
}

/* Facts from the driver. */
static void gpus_read_drm(struct davy_doctor_facts *facts, const struct davy_gpu *gpu)
{
	struct davy_doctor_gpu *g = read_gpus_find(facts, gpu->device);
	struct davy_policy_subject subject = { 0 };

	davy_host_subject_read(gpu, &subject);
	if (!g && (!subject.vendor[0] || facts->gpu_count == DAVY_DOCTOR_GPUS))
		return; /* a display adapter without compute */
	if (!g) {
		g = &facts->gpu[facts->gpu_count++];
		memset(g, 0, sizeof(*g));
		davy_copy_name(g->device, sizeof(g->device), gpu->device);
		davy_copy_name(g->driver, sizeof(g->driver), gpu->driver);
	}
	g->subject = subject;
	g->card = gpu->card;
	g->render = gpu->render;
	g->connected = is_connected(gpu->card);
	g->may_suspend = davy_gpu_may_suspend(gpu);
	davy_gpu_attribute(gpu, "mem_info_vram_total", &g->vram_bytes);
	davy_gpu_attribute(gpu, "mem_info_gtt_total", &g->gtt_bytes);
}

static void gpus_read_kfd(struct davy_doctor_facts *facts)
{
	struct davy_kfd_node *nodes = calloc(DAVY_KFD_NODES_MAX, sizeof(*nodes));
	size_t count = nodes ? davy_kfd_nodes_list(nodes, DAVY_KFD_NODES_MAX) : 0;
	char path[PATH_MAX];

	facts->kfd_class = !davy_root_path(path, sizeof(path), "/sys/class/kfd/kfd/topology") &&
			   !access(path, F_OK);
	for (size_t i = 0; i < count; i++) {
		struct davy_doctor_gpu *g = read_gpus_find(facts, nodes[i].device);

		if (!g)
			continue;
		if (!g->has_kfd_node ||
		    nodes[i].number < g->kfd_node) /* a partitioned GPU has several */
			g->kfd_node = nodes[i].number;
		g->has_kfd_node = true;
		g->kfd_gfx = nodes[i].gfx_target_version;
		if (!g->vram_bytes)
			g->vram_bytes = nodes[i].memory;
	}
	free(nodes);
}

void davy_read_gpus(struct davy_doctor_facts *facts)
{
	struct davy_gpu gpus[DAVY_GPUS_MAX];
	size_t count = davy_gpus_list(gpus, DAVY_GPUS_MAX);
	char path[PATH_MAX];
	struct utsname name;

	if (!uname(&name))
		davy_copy_name(facts->kernel, sizeof(facts->kernel), name.release);
	read_bus(facts);
	for (size_t i = 0; i < count; i++)
		gpus_read_drm(facts, &gpus[i]);
	gpus_read_kfd(facts);
	for (size_t i = 0; i < facts->gpu_count; i++) {
		struct davy_doctor_gpu *g = &facts->gpu[i];

		if (!g->subject.driver[0])
			davy_copy_name(g->subject.driver, sizeof(g->subject.driver), g->driver);
		davy_copy_name(g->subject.kernel, sizeof(g->subject.kernel), facts->kernel);
		if (g->driver[0] &&
		    !davy_root_path(path, sizeof(path), "/sys/module/%s/version", g->driver))
			first_line(path, g->version, sizeof(g->version));
	}
	if (!davy_root_path(path, sizeof(path), "/sys/class/iommu")) {
		struct dirent *entry;
		DIR *dir = opendir(path);

		while (dir && (entry = readdir(dir)))
			facts->iommu_on |= entry->d_name[0] != '.';
		if (dir)
			closedir(dir);
	}
}
