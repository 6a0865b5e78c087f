/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The BPF objects, with the kernel module whose hooks each uses. */
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

const struct dl_object_row dl_object_rows[DL_OBJ_COUNT] = {
	[DL_OBJ_PROCESS] = { "process", NULL, false, dl_bpf_process__elf_bytes },
	[DL_OBJ_ENGINE] = { "engine", NULL, false, dl_bpf_engine__elf_bytes },
	[DL_OBJ_HOST] = { "host", NULL, true, dl_bpf_host__elf_bytes },
	[DL_OBJ_FENCE] = { "fence", NULL, false, dl_bpf_fence__elf_bytes },
	[DL_OBJ_DRM_SCHED] = { "drm_sched", "gpu_sched", false, dl_bpf_drm_sched__elf_bytes },
	[DL_OBJ_SCHED_TDR] = { "sched_tdr", "gpu_sched", true, dl_bpf_sched_tdr__elf_bytes },
	[DL_OBJ_TTM] = { "ttm", "ttm", true, dl_bpf_ttm__elf_bytes },
	[DL_OBJ_DRM] = { "drm", "drm", true, dl_bpf_drm__elf_bytes },
	[DL_OBJ_AMDGPU] = { "amdgpu", "amdgpu", false, dl_bpf_amdgpu__elf_bytes },
	[DL_OBJ_AMDGPU_TDR] = { "amdgpu_tdr", "amdgpu", true, dl_bpf_amdgpu_tdr__elf_bytes },
	[DL_OBJ_KFD] = { "kfd", "amdgpu", true, dl_bpf_kfd__elf_bytes },
	[DL_OBJ_I915] = { "i915", "i915", false, dl_bpf_i915__elf_bytes },
	[DL_OBJ_I915_TDR] = { "i915_tdr", "i915", true, dl_bpf_i915_tdr__elf_bytes },
	[DL_OBJ_XE] = { "xe", "xe", false, dl_bpf_xe__elf_bytes },
	[DL_OBJ_XE_TDR] = { "xe_tdr", "xe", true, dl_bpf_xe_tdr__elf_bytes },
	[DL_OBJ_RADEON] = { "radeon", "radeon", true, dl_bpf_radeon__elf_bytes },
	[DL_OBJ_NOUVEAU] = { "nouveau", "nouveau", true, dl_bpf_nouveau__elf_bytes },
	[DL_OBJ_NVIDIA] = { "nvidia", "nvidia", false, dl_bpf_nvidia__elf_bytes },
};
