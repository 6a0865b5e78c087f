/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "doctor/checks.h"

static const struct dl_check rows[] = {
	{ "self.btf", "the kernel's types (BTF)", "", DL_AT_SELF, false, dl_check_btf },
	{ "self.tracefs", "tracefs", "", DL_AT_SELF, false, dl_check_tracefs },
	{ "self.lockdown", "lockdown", "", DL_AT_SELF, false, dl_check_lockdown },
	{ "self.capabilities", "capabilities", "", DL_AT_SELF, false, dl_check_capabilities },
	{ "driver.gpu", "a GPU is here", "", DL_AT_DRIVER, false, dl_check_gpus },
	{ "driver.bound", "driver is bound", "no driver is bound to the GPU", DL_AT_DRIVER, false,
	  dl_check_driver },
	{ "driver.topology", "KFD knows the GPU", "KFD does not know the GPU", DL_AT_DRIVER, false,
	  dl_check_topology },
	{ "driver.parameters", "module parameters took", "", DL_AT_DRIVER, false,
	  dl_check_parameters },
	{ "driver.denied", "no firmware or kernel known to fail", "", DL_AT_DRIVER, false,
	  dl_check_denied },
	{ "driver.iommu", "IOMMU", "", DL_AT_DRIVER, false, dl_check_iommu },
	{ "driver.sleep", "a GPU without a display stays awake", "", DL_AT_DRIVER, false,
	  dl_check_sleep },
	{ "nodes.container", "container and cgroup rules",
	  "the service's sandbox hides the device files", DL_AT_NODES, false, dl_check_container },
	{ "nodes.present", "device files", "device files are missing", DL_AT_NODES, true,
	  dl_check_nodes },
	{ "access.service", "whose engine it is", "", DL_AT_ACCESS, false, dl_check_service },
	{ "access.frozen", "the service is not frozen", "the service's cgroup is frozen",
	  DL_AT_ACCESS, false, dl_check_frozen },
	{ "access.open", "the service's user opens the device files",
	  "the service's user may not open the device files", DL_AT_ACCESS, false,
	  dl_check_access },
	{ "config.override", "HSA_OVERRIDE_GFX_VERSION fits",
	  "HSA_OVERRIDE_GFX_VERSION does not fit the GPU", DL_AT_CONFIG, false, dl_check_override },
	{ "config.visible", "no variable hides the GPU", "a variable hides the GPU", DL_AT_CONFIG,
	  false, dl_check_hidden },
	{ "config.igpu", "the integrated GPU is not dropped", "Ollama drops the integrated GPU",
	  DL_AT_CONFIG, false, dl_check_dropped },
	{ "config.off", "no variable turns a backend off", "", DL_AT_CONFIG, false,
	  dl_check_switched_off },
	{ "config.icds", "Vulkan's drivers (ICDs)", "Vulkan has no driver (ICD) to load",
	  DL_AT_CONFIG, false, dl_check_icds },
	{ "runtime.rocm", "ROCm finds the GPU", "ROCm's runtime fails", DL_AT_RUNTIME, true,
	  dl_check_rocm },
	{ "runtime.vulkan", "Vulkan computes on the GPU", "Vulkan fails", DL_AT_RUNTIME, true,
	  dl_check_vulkan },
	{ "runtime.levelzero", "Level Zero finds the GPU", "Level Zero fails", DL_AT_RUNTIME, true,
	  dl_check_level_zero },
	{ "runtime.nvml", "NVML finds the GPU", "NVIDIA's driver libraries fail", DL_AT_RUNTIME,
	  true, dl_check_nvml },
	{ "bundle.targets", "the engine has kernels for the GPU",
	  "the engine has no kernels for the GPU", DL_AT_BUNDLE, false, dl_check_bundle },
	{ "engine.discovery", "the engine's own look for devices",
	  "the engine's own look for devices fails", DL_AT_ENGINE, true, dl_check_runner },
	{ "model.lockup", "lockup timeout against the batch", "", DL_AT_MODEL, false,
	  dl_check_lockup },
	{ "model.memory", "memory against the model", "", DL_AT_MODEL, false, dl_check_memory },
};

const struct dl_check *dl_check_at(size_t index)
{
	return index < sizeof(rows) / sizeof(rows[0]) ? &rows[index] : NULL;
}

void dl_checks_run(const struct dl_doctor_facts *facts, struct dl_findings *ret_findings)
{
	ret_findings->count = 0;
	ret_findings->left_out = 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		rows[i].look(facts, &rows[i], ret_findings);
}

void dl_check_not_needed(struct dl_findings *findings, const struct dl_check *check,
			 const char *why)
{
	dl_finding_evidence(dl_finding_add(findings, check, DL_FOUND_NOT_NEEDED, 0, ""), "%s", why);
}

const struct dl_doctor_gpu *dl_doctor_gpu_of(const struct dl_doctor_facts *facts,
					     const char *vendor)
{
	for (size_t i = 0; i < facts->gpu_count; i++)
		if (!strcmp(facts->gpu[i].subject.vendor, vendor))
			return &facts->gpu[i];
	return NULL;
}
