/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/checks.h"

static const struct davy_check rows[] = {
	{ "self.btf", "the kernel's types (BTF)", "", DAVY_AT_SELF, false, davy_check_btf },
	{ "self.ftrace", "function tracing", "", DAVY_AT_SELF, false, davy_check_ftrace },
	{ "self.lockdown", "lockdown", "", DAVY_AT_SELF, false, davy_check_lockdown },
	{ "self.capabilities", "capabilities", "", DAVY_AT_SELF, false, davy_check_capabilities },
	{ "driver.gpu", "a GPU is here", "", DAVY_AT_DRIVER, false, davy_check_gpus },
	{ "driver.bound", "a driver is bound", "no driver is bound to the GPU", DAVY_AT_DRIVER,
	  false, davy_check_driver },
	{ "driver.topology", "KFD knows the GPU", "KFD does not know the GPU", DAVY_AT_DRIVER,
	  false, davy_check_topology },
	{ "driver.parameters", "module parameters are in effect", "", DAVY_AT_DRIVER, false,
	  davy_check_parameters },
	{ "driver.denied", "no firmware or kernel known to fail", "", DAVY_AT_DRIVER, false,
	  davy_check_denied },
	{ "driver.iommu", "IOMMU", "", DAVY_AT_DRIVER, false, davy_check_iommu },
	{ "driver.sleep", "a GPU without a display stays awake", "", DAVY_AT_DRIVER, false,
	  davy_check_sleep },
	{ "nodes.container", "container and cgroup rules",
	  "the service's sandbox hides the device files", DAVY_AT_NODES, false,
	  davy_check_container },
	{ "nodes.present", "device files", "device files are missing", DAVY_AT_NODES, true,
	  davy_check_nodes },
	{ "access.service", "the engine's user", "", DAVY_AT_ACCESS, false, davy_check_service },
	{ "access.frozen", "the service is not frozen", "the service's cgroup is frozen",
	  DAVY_AT_ACCESS, false, davy_check_frozen },
	{ "access.open", "the service's user opens the device files",
	  "the service's user may not open the device files", DAVY_AT_ACCESS, false,
	  davy_check_access },
	{ "config.override", "HSA_OVERRIDE_GFX_VERSION matches the GPU",
	  "HSA_OVERRIDE_GFX_VERSION does not match the GPU", DAVY_AT_CONFIG, false,
	  davy_check_override },
	{ "config.visible", "no variable hides the GPU", "a variable hides the GPU", DAVY_AT_CONFIG,
	  false, davy_check_hidden },
	{ "config.igpu", "the integrated GPU is not dropped", "Ollama drops the integrated GPU",
	  DAVY_AT_CONFIG, false, davy_check_dropped },
	{ "config.off", "no variable turns a backend off", "", DAVY_AT_CONFIG, false,
	  davy_check_switched_off },
	{ "config.icds", "Vulkan's drivers (ICDs)", "Vulkan has no driver (ICD) to load",
	  DAVY_AT_CONFIG, false, davy_check_icds },
	{ "runtime.rocm", "ROCm finds the GPU", "ROCm's runtime fails", DAVY_AT_RUNTIME, true,
	  davy_check_rocm },
	{ "runtime.vulkan", "Vulkan computes on the GPU", "Vulkan fails", DAVY_AT_RUNTIME, true,
	  davy_check_vulkan },
	{ "runtime.levelzero", "Level Zero finds the GPU", "Level Zero fails", DAVY_AT_RUNTIME,
	  true, davy_check_level_zero },
	{ "runtime.nvml", "NVML finds the GPU", "NVIDIA's driver libraries fail", DAVY_AT_RUNTIME,
	  true, davy_check_nvml },
	{ "bundle.targets", "the engine has kernels for the GPU",
	  "the engine has no kernels for the GPU", DAVY_AT_BUNDLE, false, davy_check_bundle },
	{ "engine.discovery", "the engine's device discovery",
	  "the engine's device discovery fails", DAVY_AT_ENGINE, true, davy_check_runner },
	{ "model.lockup", "lockup timeout against the batch", "", DAVY_AT_MODEL, false,
	  davy_check_lockup },
	{ "model.memory", "memory against the model", "", DAVY_AT_MODEL, false, davy_check_memory },
};

const struct davy_check *davy_check_at(size_t index)
{
	return index < sizeof(rows) / sizeof(rows[0]) ? &rows[index] : NULL;
}

void davy_checks_run(const struct davy_doctor_facts *facts, struct davy_findings *ret_findings)
{
	ret_findings->count = 0;
	ret_findings->left_out = 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		rows[i].look(facts, &rows[i], ret_findings);
}
