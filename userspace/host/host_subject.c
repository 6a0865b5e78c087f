/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/host_subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "sensors/kfd/kfd_topology.h"
#include "sensors/gpu/lockup.h"

#define MES_VERSION 0xfffu /* AMDGPU_MES_VERSION_MASK; the bits above are the interface version */

static void host_subject_add_kfd(struct davy_policy_subject *s)
{
	struct davy_kfd_node *nodes = calloc(DAVY_KFD_NODES_MAX, sizeof(*nodes));
	size_t count = nodes ? davy_kfd_nodes_list(nodes, DAVY_KFD_NODES_MAX) : 0;

	for (size_t i = 0; i < count; i++)
		if (davy_same_name(nodes[i].device, s->device))
			davy_subject_kfd(s, nodes[i].gfx_target_version, nodes[i].simd_count);
	free(nodes);
}

void davy_host_kernel(struct davy_policy_subject *subject)
{
	struct utsname name;

	if (!uname(&name))
		davy_copy_name(subject->kernel, sizeof(subject->kernel), name.release);
}

void davy_host_subject(const struct davy_gpu *gpu, const struct davy_lockups *lockups,
		       struct davy_policy_subject *subject)
{
	struct davy_policy_subject *s = subject;
	uint64_t value, vendor;

	davy_copy_name(s->device, sizeof(s->device), gpu->device);
	davy_subject_driver(s, gpu->driver);
	if (!davy_gpu_attribute(gpu, "vendor", &vendor) &&
	    !davy_gpu_attribute(gpu, "device", &value))
		davy_subject_pci(s, (uint32_t)vendor, (uint32_t)value);
	if (davy_same_name(s->vendor, "intel") && !davy_gpu_attribute(gpu, "device", &value))
		davy_subject_intel(s, (uint32_t)value);
	if (davy_same_name(s->vendor, "amd"))
		host_subject_add_kfd(s);
	/* amdgpu, amdgpu_ucode.c: fw_attrs; missing on older kernels */
	if (!davy_gpu_attribute(gpu, "fw_version/mes_fw_version", &value) && value & MES_VERSION)
		snprintf(s->firmware, sizeof(s->firmware), "mes 0x%x",
			 (unsigned int)value & MES_VERSION);
	davy_host_kernel(s);
	for (size_t i = 0; i < lockups->count; i++)
		davy_subject_lockup(s, lockups->at[i].queue, lockups->at[i].timeout_ns,
				    lockups->at[i].origin);
}

void davy_host_subject_read(const struct davy_gpu *gpu, struct davy_policy_subject *subject)
{
	struct davy_module_text text;
	struct davy_lockups lockups;
	bool described =
		davy_lockup_is_described(gpu->driver) &&
		!davy_module_text_read(NULL, gpu->driver, DAVY_LOCKUP_PARAMETER_NAME, &text);

	davy_lockups_read(gpu, described ? &text : NULL, &lockups);
	davy_host_subject(gpu, &lockups, subject);
}

bool davy_host_subject_before(const struct davy_policy_subject *other,
			      const struct davy_policy_subject *best)
{
	return !best->device[0] || strcmp(other->kind, "igpu") != 0;
}

void davy_host_subject_choose(struct davy_policy_subject *subject)
{
	const struct davy_policy_subject blank = *subject;
	struct davy_gpu gpus[DAVY_GPUS_MAX];
	size_t count = davy_gpus_list(gpus, DAVY_GPUS_MAX);

	for (size_t i = count; i-- > 0;) {
		struct davy_policy_subject one = blank;

		davy_host_subject_read(&gpus[i], &one);
		if (davy_host_subject_before(&one, subject))
			*subject = one;
	}
	if (!count)
		davy_host_kernel(subject);
}
