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
#include "process.skel.h"
#include "radeon.skel.h"
#include "sched_tdr.skel.h"
#include "ttm.skel.h"
#include "xe.skel.h"
#include "xe_tdr.skel.h"

#include "bpf_state.h"

const struct dl_object_row dl_object_rows[DL_OBJ_COUNT] = {
	[DL_OBJ_PROCESS] = { "process", NULL, dl_bpf_process__elf_bytes },
	[DL_OBJ_ENGINE] = { "engine", NULL, dl_bpf_engine__elf_bytes },
	[DL_OBJ_HOST] = { "host", NULL, dl_bpf_host__elf_bytes },
	[DL_OBJ_FENCE] = { "fence", NULL, dl_bpf_fence__elf_bytes },
	[DL_OBJ_DRM_SCHED] = { "drm_sched", "gpu_sched", dl_bpf_drm_sched__elf_bytes },
	[DL_OBJ_SCHED_TDR] = { "sched_tdr", "gpu_sched", dl_bpf_sched_tdr__elf_bytes },
	[DL_OBJ_TTM] = { "ttm", "ttm", dl_bpf_ttm__elf_bytes },
	[DL_OBJ_DRM] = { "drm", "drm", dl_bpf_drm__elf_bytes },
	[DL_OBJ_AMDGPU] = { "amdgpu", "amdgpu", dl_bpf_amdgpu__elf_bytes },
	[DL_OBJ_AMDGPU_TDR] = { "amdgpu_tdr", "amdgpu", dl_bpf_amdgpu_tdr__elf_bytes },
	[DL_OBJ_KFD] = { "kfd", "amdgpu", dl_bpf_kfd__elf_bytes },
	[DL_OBJ_I915] = { "i915", "i915", dl_bpf_i915__elf_bytes },
	[DL_OBJ_I915_TDR] = { "i915_tdr", "i915", dl_bpf_i915_tdr__elf_bytes },
	[DL_OBJ_XE] = { "xe", "xe", dl_bpf_xe__elf_bytes },
	[DL_OBJ_XE_TDR] = { "xe_tdr", "xe", dl_bpf_xe_tdr__elf_bytes },
	[DL_OBJ_RADEON] = { "radeon", "radeon", dl_bpf_radeon__elf_bytes },
	[DL_OBJ_NOUVEAU] = { "nouveau", "nouveau", dl_bpf_nouveau__elf_bytes },
};
