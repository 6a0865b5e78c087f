/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Variables as of ggml 0.27, ROCm 7, CUDA 13, oneAPI 2026 and Ollama 0.33. GGML_VK_VISIBLE_DEVICES
 * counts as vkEnumeratePhysicalDevices does, and what it leaves is number 0 again; so with the
 * others. HIP_VISIBLE_DEVICES counts what ROCR_VISIBLE_DEVICES has left. CUDA counts by speed
 * unless CUDA_DEVICE_ORDER is PCI_BUS_ID, Level Zero cards first unless
 * ZE_ENABLE_PCI_ID_DEVICE_ORDER is set.
 */
#include "engines/tell.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BIT(backend) (1u << (backend))

static const uint32_t gpus =
	BIT(DL_BACKEND_VULKAN) | BIT(DL_BACKEND_ROCM) | BIT(DL_BACKEND_CUDA) | BIT(DL_BACKEND_SYCL);

uint32_t dl_engine_backends(enum dl_engine engine)
{
	switch (engine) {
	case DL_ENGINE_OLLAMA: /* no SYCL since 0.12.11 */
		return BIT(DL_BACKEND_CPU) | (gpus & ~BIT(DL_BACKEND_SYCL));
	case DL_ENGINE_VLLM: /* one backend a build, and the CPU's is another package */
	case DL_ENGINE_SGLANG:
	case DL_ENGINE_TGI:
		return gpus & ~BIT(DL_BACKEND_VULKAN);
	default:
		return BIT(DL_BACKEND_CPU) | gpus;
	}
}

bool dl_engine_by_options(enum dl_engine engine, enum dl_backend backend)
{
	if (backend == DL_BACKEND_CPU)
		return dl_engine_movable(engine);
	return dl_engine_can(engine) & DL_CAN_SWITCH;
}

static void hide(enum dl_backend backend, struct dl_environment *e)
{
	if (backend == DL_BACKEND_VULKAN)
		dl_environment_set(e, "GGML_VK_VISIBLE_DEVICES", "-1");
	if (backend == DL_BACKEND_ROCM) {
		dl_environment_set(e, "ROCR_VISIBLE_DEVICES", "-1");
		dl_environment_set(e, "HIP_VISIBLE_DEVICES", "-1");
	}
	if (backend == DL_BACKEND_CUDA)
		dl_environment_set(e, "CUDA_VISIBLE_DEVICES", "-1");
	if (backend == DL_BACKEND_SYCL)
		dl_environment_set(e, "ONEAPI_DEVICE_SELECTOR", "!*:gpu");
}

static void show(enum dl_backend backend, uint32_t index, struct dl_environment *e)
{
	char text[32] = "level_zero:";

	if (backend == DL_BACKEND_VULKAN)
		dl_environment_set_number(e, "GGML_VK_VISIBLE_DEVICES", index);
	if (backend == DL_BACKEND_ROCM) {
		dl_environment_set_number(e, "ROCR_VISIBLE_DEVICES", index);
		dl_environment_set(e, "HIP_VISIBLE_DEVICES", "0");
	}
	if (backend == DL_BACKEND_CUDA) {
		dl_environment_set(e, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
		dl_environment_set_number(e, "CUDA_VISIBLE_DEVICES", index);
	}
	if (backend == DL_BACKEND_SYCL) {
		snprintf(text + 11, sizeof(text) - 11, "%u", index);
		dl_environment_set(e, "ZE_ENABLE_PCI_ID_DEVICE_ORDER", "1");
		dl_environment_set(e, "ONEAPI_DEVICE_SELECTOR", text);
	}
}

static int choose_device(const struct dl_engine_target *t, struct dl_environment *e)
{
	bool any = false;

	for (int i = DL_BACKEND_VULKAN; i < DL_BACKEND_COUNT; i++) {
		enum dl_backend backend = (enum dl_backend)i;

		if (t->index[i] < 0 || t->hidden & BIT(i) ||
		    (t->backend != DL_BACKEND_UNKNOWN && t->backend != backend))
			continue;
		show(backend, (uint32_t)t->index[i], e);
		any = true;
	}
	if (any || t->backend == DL_BACKEND_CPU)
		return 0;
	dl_environment_refuse(e, "%s does not see that device, or how it counts it is not known",
			      t->backend ? dl_backend_name(t->backend) : "no backend");
	return -ENODEV;
}

/*
 * Its folders of ROCm and CUDA are named after versions: without Vulkan it takes one of those by
 * itself. The name "vulkan" is a folder's, "cpu" is none's, which leaves the CPU.
 */
static int tell_ollama(const struct dl_engine_facts *f, enum dl_backend backend,
		       struct dl_environment *e)
{
	const struct dl_engine_wish wish = { .backend = backend };
	const struct dl_engine_look look = { .exe = "", .parent = "" };

	if (backend != DL_BACKEND_ROCM && backend != DL_BACKEND_CUDA)
		return dl_engine_environment(&look, f, &wish, e);
	dl_environment_set(e, "OLLAMA_VULKAN", "0");
	if (backend == DL_BACKEND_CUDA)
		hide(DL_BACKEND_ROCM, e);
	return 0;
}

int dl_engine_tell(const struct dl_engine_facts *facts, const struct dl_engine_target *t,
		   struct dl_environment *ret_environment)
{
	struct dl_environment *e = ret_environment;
	uint32_t hidden = t->hidden;
	int err = 0;

	memset(e, 0, sizeof(*e));
	if (t->backend != DL_BACKEND_UNKNOWN &&
	    !(dl_engine_backends(facts->engine) & BIT(t->backend)))
		return dl_environment_refuse(e, "%s cannot be told to use %s",
					     facts->engine ? dl_engine_name(facts->engine)
							   : "this program",
					     dl_backend_name(t->backend));
	if (facts->engine == DL_ENGINE_OLLAMA)
		err = tell_ollama(facts, t->backend, e);
	else if (t->backend == DL_BACKEND_CPU && !dl_engine_by_options(facts->engine, t->backend))
		hidden = gpus;
	if (t->backend == DL_BACKEND_CPU && facts->engine == DL_ENGINE_OLLAMA)
		hidden = 0; /* said already */
	for (int i = DL_BACKEND_VULKAN; i < DL_BACKEND_COUNT && !err; i++)
		if (hidden & BIT(i))
			hide((enum dl_backend)i, e);
	if (!err && t->device)
		err = choose_device(t, e);
	return err;
}
