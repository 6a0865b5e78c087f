/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The BPF objects, with the kernel module whose hooks each uses. */
#include "admit.skel.h"
#include "amdgpu.skel.h"
#include "amdgpu_tdr.skel.h"
#include "drm.skel.h"
#include "drm_sched.skel.h"
#include "engine.skel.h"
#include "fence.skel.h"
#include "host.skel.h"
#include "i915.skel.h"
#include "i915_tdr.skel.h"
#include "kfd.skel.h"
#include "nouveau.skel.h"
#include "nvidia.skel.h"
#include "process.skel.h"
#include "radeon.skel.h"
#include "sched_tdr.skel.h"
#include "ttm.skel.h"
#include "xe.skel.h"
#include "xe_tdr.skel.h"

#include "sensors/bpf/bpf_state.h"

const struct davy_object_row davy_object_rows[DAVY_OBJ_COUNT] = {
	[DAVY_OBJ_PROCESS] = { "process", NULL, false, davy_bpf_process__elf_bytes },
	[DAVY_OBJ_ENGINE] = { "engine", NULL, false, davy_bpf_engine__elf_bytes },
	[DAVY_OBJ_HOST] = { "host", NULL, true, davy_bpf_host__elf_bytes },
	[DAVY_OBJ_FENCE] = { "fence", NULL, false, davy_bpf_fence__elf_bytes },
	[DAVY_OBJ_DRM_SCHED] = { "drm_sched", "gpu_sched", false, davy_bpf_drm_sched__elf_bytes },
	[DAVY_OBJ_SCHED_TDR] = { "sched_tdr", "gpu_sched", true, davy_bpf_sched_tdr__elf_bytes },
	[DAVY_OBJ_TTM] = { "ttm", "ttm", true, davy_bpf_ttm__elf_bytes },
	[DAVY_OBJ_DRM] = { "drm", "drm", true, davy_bpf_drm__elf_bytes },
	[DAVY_OBJ_AMDGPU] = { "amdgpu", "amdgpu", false, davy_bpf_amdgpu__elf_bytes },
	[DAVY_OBJ_AMDGPU_TDR] = { "amdgpu_tdr", "amdgpu", true, davy_bpf_amdgpu_tdr__elf_bytes },
	[DAVY_OBJ_KFD] = { "kfd", "amdgpu", true, davy_bpf_kfd__elf_bytes },
	[DAVY_OBJ_I915] = { "i915", "i915", false, davy_bpf_i915__elf_bytes },
	[DAVY_OBJ_I915_TDR] = { "i915_tdr", "i915", true, davy_bpf_i915_tdr__elf_bytes },
	[DAVY_OBJ_XE] = { "xe", "xe", false, davy_bpf_xe__elf_bytes },
	[DAVY_OBJ_XE_TDR] = { "xe_tdr", "xe", true, davy_bpf_xe_tdr__elf_bytes },
	[DAVY_OBJ_RADEON] = { "radeon", "radeon", true, davy_bpf_radeon__elf_bytes },
	[DAVY_OBJ_NOUVEAU] = { "nouveau", "nouveau", true, davy_bpf_nouveau__elf_bytes },
	[DAVY_OBJ_NVIDIA] = { "nvidia", "nvidia", false, davy_bpf_nvidia__elf_bytes },
	[DAVY_OBJ_ADMIT] = { "admit", "amdgpu", true, davy_bpf_admit__elf_bytes },
};
