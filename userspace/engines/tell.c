/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Variables as of ggml 0.27, ROCm 7, CUDA 13, oneAPI 2026 and Ollama 0.33. GGML_VK_VISIBLE_DEVICES
 * uses the order of vkEnumeratePhysicalDevices. The remaining devices are renumbered from 0, also
 * with the other variables. HIP_VISIBLE_DEVICES numbers the devices that ROCR_VISIBLE_DEVICES left.
 * CUDA numbers by speed unless CUDA_DEVICE_ORDER is PCI_BUS_ID; Level Zero numbers cards first
 * unless ZE_ENABLE_PCI_ID_DEVICE_ORDER is set.
 */
#include "engines/tell.h"
#include "engines/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BIT(backend) (1u << (backend))

bool davy_engine_by_options(enum davy_engine engine, enum davy_backend backend)
{
	const struct davy_engine_ops *ops = davy_engine_ops_of(engine);

	if (backend == DAVY_BACKEND_CPU)
		return ops && ops->to_cpu;
	return davy_engine_can(engine) & DAVY_CAN_SWITCH;
}

static void tell_hide(enum davy_backend backend, struct davy_environment *e)
{
	if (backend == DAVY_BACKEND_VULKAN)
		davy_environment_set(e, "GGML_VK_VISIBLE_DEVICES", "-1");
	if (backend == DAVY_BACKEND_ROCM) {
		davy_environment_set(e, "ROCR_VISIBLE_DEVICES", "-1");
		davy_environment_set(e, "HIP_VISIBLE_DEVICES", "-1");
	}
	if (backend == DAVY_BACKEND_CUDA)
		davy_environment_set(e, "CUDA_VISIBLE_DEVICES", "-1");
	if (backend == DAVY_BACKEND_SYCL)
		davy_environment_set(e, "ONEAPI_DEVICE_SELECTOR", "!*:gpu");
}

static void tell_show(enum davy_backend backend, uint32_t index, struct davy_environment *e)
{
	char text[32] = "level_zero:";

	if (backend == DAVY_BACKEND_VULKAN)
		davy_environment_set_number(e, "GGML_VK_VISIBLE_DEVICES", index);
	if (backend == DAVY_BACKEND_ROCM) {
		davy_environment_set_number(e, "ROCR_VISIBLE_DEVICES", index);
		davy_environment_set(e, "HIP_VISIBLE_DEVICES", "0");
	}
	if (backend == DAVY_BACKEND_CUDA) {
		davy_environment_set(e, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
		davy_environment_set_number(e, "CUDA_VISIBLE_DEVICES", index);
	}
	if (backend == DAVY_BACKEND_SYCL) {
		snprintf(text + 11, sizeof(text) - 11, "%u", index);
		davy_environment_set(e, "ZE_ENABLE_PCI_ID_DEVICE_ORDER", "1");
		davy_environment_set(e, "ONEAPI_DEVICE_SELECTOR", text);
	}
}

static int tell_device(const struct davy_engine_target *t, struct davy_environment *e)
{
	bool any = false;

	for (int i = DAVY_BACKEND_VULKAN; i < DAVY_BACKEND_COUNT; i++) {
		enum davy_backend backend = (enum davy_backend)i;

		if (t->index[i] < 0 || t->hidden & BIT(i) ||
		    (t->backend != DAVY_BACKEND_UNKNOWN && t->backend != backend))
			continue;
		tell_show(backend, (uint32_t)t->index[i], e);
		any = true;
	}
	if (any || t->backend == DAVY_BACKEND_CPU)
		return 0;
	davy_environment_refuse(e, "%s does not see that device, or its index there is unknown",
				t->backend ? davy_backend_name(t->backend) : "no backend");
	return -ENODEV;
}

/*
 * Ollama's ROCm and CUDA directories have versions in their names; without Vulkan it selects one of
 * them. "vulkan" is the name of a directory. "cpu" is not, so only the CPU remains.
 */
static int tell_ollama(const struct davy_engine_facts *f, enum davy_backend backend,
		       struct davy_environment *e)
{
	const struct davy_engine_override override = { .backend = backend };
	const struct davy_engine_look look = { .exe = "", .parent = "" };

	if (backend != DAVY_BACKEND_ROCM && backend != DAVY_BACKEND_CUDA)
		return davy_engine_environment(&look, f, &override, e);
	davy_environment_set(e, "OLLAMA_VULKAN", "0");
	if (backend == DAVY_BACKEND_CUDA)
		tell_hide(DAVY_BACKEND_ROCM, e);
	return 0;
}

int davy_engine_tell(const struct davy_engine_facts *facts, const struct davy_engine_target *t,
		     struct davy_environment *ret_environment)
{
	struct davy_environment *e = ret_environment;
	uint32_t hidden = t->hidden;
	int err = 0;

	memset(e, 0, sizeof(*e));
	if (t->backend != DAVY_BACKEND_UNKNOWN &&
	    !(davy_engine_backends(facts->engine) & BIT(t->backend)))
		return davy_environment_refuse(e, "%s has no option for %s",
					       facts->engine ? davy_engine_name(facts->engine)
							     : "this program",
					       davy_backend_name(t->backend));
	if (facts->engine == DAVY_ENGINE_OLLAMA)
		err = tell_ollama(facts, t->backend, e);
	else if (t->backend == DAVY_BACKEND_CPU &&
		 !davy_engine_by_options(facts->engine, t->backend)) {
		davy_environment_hide_gpus(e);
		hidden = BIT(DAVY_BACKEND_VULKAN) | BIT(DAVY_BACKEND_SYCL);
	}
	if (t->backend == DAVY_BACKEND_CPU && facts->engine == DAVY_ENGINE_OLLAMA)
		hidden = 0; /* already set above */
	for (int i = DAVY_BACKEND_VULKAN; i < DAVY_BACKEND_COUNT && !err; i++)
		if (hidden & BIT(i))
			tell_hide((enum davy_backend)i, e);
	if (!err && t->device)
		err = tell_device(t, e);
	return err;
}
