/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a runtime finds the GPUs: davylamp-probe tries it as the service's user. A crash, a hang
 * or an error of vendor code is a finding with its stage: load, symbols, init, count, query.
 */
#include <string.h>

#include "doctor/checks.h"

static const char *what_to_do(enum davy_doctor_runtime runtime, const struct davy_doctor_probe *p)
{
	static const char *const install[DAVY_DOCTOR_RUNTIMES] = {
		[DAVY_DISCOVERY_ROCM] = "install ROCm's runtime (libhsa-runtime64-1, hsa-rocr), if "
					"the engine does not include it",
		[DAVY_DISCOVERY_VULKAN] = "install the Vulkan loader (libvulkan1) and the GPU's "
					  "driver (mesa-vulkan-drivers)",
		[DAVY_DISCOVERY_LEVEL_ZERO] = "install Level Zero (libze1) and Intel's compute "
					      "runtime (intel-level-zero-gpu)",
		[DAVY_DISCOVERY_NVML] = "install the driver's libraries of the same version as its "
					"kernel module (libnvidia-ml1)",
	};

	if (p->absent)
		return install[runtime];
	if (!strcmp(p->stage, "symbols"))
		return "the library is a wrong or old one: check which file is loaded "
		       "('ldconfig -p', LD_LIBRARY_PATH and LD_PRELOAD of the service)";
	if (!strcmp(p->stage, "count"))
		return "it finds no device: check permissions, and variables that hide devices";
	return "update the runtime and the driver together; until then use another backend";
}

static const char *verify_of(enum davy_doctor_runtime runtime)
{
	static const char *const words[DAVY_DOCTOR_RUNTIMES] = {
		[DAVY_DISCOVERY_ROCM] = "rocm",
		[DAVY_DISCOVERY_VULKAN] = "vulkan",
		[DAVY_DISCOVERY_LEVEL_ZERO] = "levelzero",
		[DAVY_DISCOVERY_NVML] = "nvml",
	};

	return words[runtime];
}

/* An engine that includes ROCm or SYCL does not need the system's. */
static bool check_runtime_dispensable(enum davy_doctor_runtime runtime)
{
	return runtime == DAVY_DISCOVERY_ROCM || runtime == DAVY_DISCOVERY_LEVEL_ZERO;
}

static void runtime_look(const struct davy_doctor_facts *facts, const struct davy_check *check,
			 struct davy_findings *findings, enum davy_doctor_runtime runtime)
{
	const struct davy_doctor_probe *p = &facts->probe[runtime];
	const struct davy_doctor_service *s = &facts->service;
	struct davy_finding *f;

	if (!p->wanted) {
		davy_check_not_needed(findings, check, "no GPU that needs it");
		return;
	}
	f = davy_finding_add(findings, check,
			     !p->ran			  ? DAVY_FOUND_UNCHECKED
			     : p->healthy && !p->software ? DAVY_FOUND_OK
			     : p->healthy		  ? DAVY_FOUND_WARNING
			     : p->absent && check_runtime_dispensable(runtime) ? DAVY_FOUND_WARNING
									       : DAVY_FOUND_FAILURE,
			     1u << davy_doctor_runtime_backend(runtime), p->library);
	f->mend = p->absent || !strcmp(p->stage, "symbols");
	if (!p->ran) {
		davy_finding_evidence(f, "not tried: %s", p->text);
	} else if (p->healthy) {
		davy_finding_evidence(f, "as user %s: %u device%s%s%s%s", s->user, p->gpu_count,
				      p->gpu_count == 1 ? "" : "s", p->names[0] ? ": " : "",
				      p->names, p->software ? "; all compute on the CPU" : "");
	} else {
		davy_finding_evidence(f, "as user %s: %s", s->user, p->text);
	}
	if (f->verdict == DAVY_FOUND_OK)
		return;
	if (p->ran)
		davy_finding_fix(f, "%s", what_to_do(runtime, p));
	davy_finding_verify(f, "davylamp-probe %s --uid %u --gid %u", verify_of(runtime), s->uid,
			    s->gid);
}

DAVY_CHECK(rocm)
{
	runtime_look(facts, check, findings, DAVY_DISCOVERY_ROCM);
}

/* Vulkan may miss some GPUs, for example if one vendor's driver is not installed. */
DAVY_CHECK(vulkan)
{
	const struct davy_doctor_probe *p = &facts->probe[DAVY_DISCOVERY_VULKAN];

	runtime_look(facts, check, findings, DAVY_DISCOVERY_VULKAN);
	for (size_t i = 0; p->healthy && p->addressed && i < facts->gpu_count; i++) {
		const struct davy_doctor_gpu *g = &facts->gpu[i];
		struct davy_finding *f;

		if (g->in_vulkan || !g->driver[0])
			continue;
		f = davy_finding_add(findings, check, DAVY_FOUND_WARNING, DAVY_BIT(VULKAN),
				     g->device);
		davy_finding_evidence(f, "not among Vulkan's devices (%s)", p->names);
		davy_finding_fix(f,
				 "install the vendor's Vulkan driver, or correct VK_DRIVER_FILES");
		davy_finding_verify(f, "davylamp probe vulkan --device %s", g->device);
	}
}

DAVY_CHECK(level_zero)
{
	runtime_look(facts, check, findings, DAVY_DISCOVERY_LEVEL_ZERO);
}

DAVY_CHECK(nvml)
{
	runtime_look(facts, check, findings, DAVY_DISCOVERY_NVML);
}
