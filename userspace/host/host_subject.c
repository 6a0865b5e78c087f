/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/host_subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "sensors/kfd/kfd_topology.h"
#include "sensors/gpu/lockup.h"

#define MES_VERSION 0xfffu /* AMDGPU_MES_VERSION_MASK; above it: of the interface */

static void add_kfd(struct dl_policy_subject *s)
{
	struct dl_kfd_node *nodes = calloc(DL_KFD_NODES_MAX, sizeof(*nodes));
	size_t count = nodes ? dl_kfd_nodes_list(nodes, DL_KFD_NODES_MAX) : 0;

	for (size_t i = 0; i < count; i++)
		if (dl_same_name(nodes[i].device, s->device))
			dl_subject_kfd(s, nodes[i].gfx_target_version, nodes[i].simd_count);
	free(nodes);
}

void dl_host_kernel(struct dl_policy_subject *subject)
{
	struct utsname name;

	if (!uname(&name))
		dl_copy_name(subject->kernel, sizeof(subject->kernel), name.release);
}

void dl_host_subject(const struct dl_gpu *gpu, const struct dl_lockups *lockups,
		     struct dl_policy_subject *subject)
{
	struct dl_policy_subject *s = subject;
	uint64_t value;

	dl_copy_name(s->device, sizeof(s->device), gpu->device);
	dl_subject_driver(s, gpu->driver);
	if (dl_same_name(s->vendor, "intel") && !dl_gpu_attribute(gpu, "device", &value))
		dl_subject_intel(s, (uint32_t)value);
	if (dl_same_name(s->vendor, "amd"))
		add_kfd(s);
	/* amdgpu, amdgpu_ucode.c: fw_attrs; not on kernels without the file. */
	if (!dl_gpu_attribute(gpu, "fw_version/mes_fw_version", &value) && value & MES_VERSION)
		snprintf(s->firmware, sizeof(s->firmware), "mes 0x%x",
			 (unsigned int)value & MES_VERSION);
	dl_host_kernel(s);
	for (size_t i = 0; i < lockups->count; i++)
		dl_subject_lockup(s, lockups->at[i].queue, lockups->at[i].timeout_ns,
				  lockups->at[i].origin);
}

void dl_host_subject_read(const struct dl_gpu *gpu, struct dl_policy_subject *subject)
{
	struct dl_module_text text;
	struct dl_lockups lockups;
	bool told = dl_lockup_is_described(gpu->driver) &&
		    !dl_module_text_read(NULL, gpu->driver, DL_LOCKUP_PARAMETER_NAME, &text);

	dl_lockups_read(gpu, told ? &text : NULL, &lockups);
	dl_host_subject(gpu, &lockups, subject);
}

bool dl_host_subject_before(const struct dl_policy_subject *other,
			    const struct dl_policy_subject *best)
{
	return !best->device[0] || strcmp(other->kind, "igpu") != 0;
}

void dl_host_subject_choose(struct dl_policy_subject *subject)
{
	const struct dl_policy_subject blank = *subject;
	struct dl_gpu gpus[DL_GPUS_MAX];
	size_t count = dl_gpus_list(gpus, DL_GPUS_MAX);

	for (size_t i = count; i-- > 0;) {
		struct dl_policy_subject one = blank;

		dl_host_subject_read(&gpus[i], &one);
		if (dl_host_subject_before(&one, subject))
			*subject = one;
	}
	if (!count)
		dl_host_kernel(subject);
}
