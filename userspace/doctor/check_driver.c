/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The GPU, its driver and the driver's configuration. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/checks.h"
#include "sensors/gpu/gpus.h"

DAVY_CHECK(gpus)
{
	struct davy_finding *f;

	if (!facts->gpu_count) {
		f = davy_finding_add(findings, check, DAVY_FOUND_UNCHECKED, 0, "");
		davy_finding_evidence(f,
				      "no GPU of AMD, Intel or NVIDIA on the PCI bus, and no DRM "
				      "device: no GPU could be checked");
		davy_finding_fix(f, "in a virtual machine or a container: pass the GPU through");
		davy_finding_verify(f, "lspci -nn -d ::03xx; ls /sys/class/drm");
		return;
	}
	for (size_t i = 0; i < facts->gpu_count; i++) {
		const struct davy_doctor_gpu *g = &facts->gpu[i];

		f = davy_finding_add(findings, check, DAVY_FOUND_OK,
				     davy_doctor_backends_of(g->subject.vendor), g->device);
		davy_finding_evidence(f, "%04x:%04x, %s%s%s%s%s", g->pci_vendor, g->pci_device,
				      g->subject.vendor, g->subject.gfx[0] ? ", " : "",
				      g->subject.gfx, g->subject.kind[0] ? ", " : "",
				      g->subject.kind);
	}
}

DAVY_CHECK(driver)
{
	for (size_t i = 0; i < facts->gpu_count; i++) {
		const struct davy_doctor_gpu *g = &facts->gpu[i];
		bool for_guest = davy_gpu_for_guest(g->driver);
		struct davy_finding *f = davy_finding_add(
			findings, check,
			g->driver[0] && !for_guest ? DAVY_FOUND_OK : DAVY_FOUND_FAILURE,
			davy_doctor_backends_of(g->subject.vendor), g->device);

		if (f->verdict == DAVY_FOUND_OK) {
			davy_finding_evidence(f, "%s %s%s", g->driver,
					      g->version[0] ? g->version : "of Linux ",
					      g->version[0] ? "" : facts->kernel);
			continue;
		}
		if (for_guest)
			davy_finding_evidence(f, "'%s' reserves it for a virtual machine",
					      g->driver);
		else
			davy_finding_evidence(f, "no driver is bound to %04x:%04x", g->pci_vendor,
					      g->pci_device);
		davy_finding_fix(f,
				 "load '%s' ('modprobe %s'); see 'dmesg' and 'modprobe.d' for "
				 "the reason",
				 g->wanted, g->wanted);
		davy_finding_verify(f, "readlink /sys/bus/pci/devices/%s/driver", g->device);
	}
	if (!facts->gpu_count)
		davy_check_not_needed(findings, check, "no GPU");
}

static bool node_exists(const struct davy_doctor_facts *facts, enum davy_doctor_node_kind kind)
{
	for (size_t i = 0; i < facts->node_count; i++)
		if (facts->node[i].kind == kind && facts->node[i].exists)
			return true;
	return false;
}

DAVY_CHECK(topology)
{
	size_t looked = 0;

	for (size_t i = 0; i < facts->gpu_count; i++) {
		const struct davy_doctor_gpu *g = &facts->gpu[i];
		struct davy_finding *f;

		if (strcmp(g->driver, "amdgpu") != 0)
			continue;
		looked++;
		if (g->has_kfd_node) {
			f = davy_finding_add(findings, check, DAVY_FOUND_OK, DAVY_BIT(ROCM),
					     g->device);
			davy_finding_evidence(f, "%s, %u compute units", g->subject.gfx,
					      g->subject.compute_units);
			continue;
		}
		f = davy_finding_add(findings, check, DAVY_FOUND_FAILURE, DAVY_BIT(ROCM),
				     g->device);
		davy_finding_evidence(f, "%s",
				      facts->kfd_class || node_exists(facts, DAVY_NODE_KFD)
					      ? "KFD does not list this GPU: ROCm cannot use "
						"it"
					      : "no KFD: amdgpu was built without "
						"CONFIG_HSA_AMD, or KFD refused this GPU");
		davy_finding_fix(f, "see 'dmesg | grep -i kfd' (a kernel without HSA_AMD, PCIe "
				    "atomics missing); Vulkan needs no KFD");
		davy_finding_verify(f, "cat /sys/class/kfd/kfd/topology/nodes/*/gpu_id");
	}
	if (!looked)
		davy_check_not_needed(findings, check, "no GPU with amdgpu");
}

/* "Y" is 1, "0x10" is 16. Other texts are compared as they are. */
static bool same_value(const char *configured, const char *value)
{
	char *end_c, *end_v;
	long long c, v;
	size_t len = strlen(value);

	if (!strcmp(configured, value))
		return true;
	/* amdgpu before 7.2 cuts lockup_timeout at its first comma (see lockup_rules.h). */
	if (len && !strncmp(configured, value, len) && configured[len] == ',')
		return true;
	if (!strcmp(value, "Y") || !strcmp(value, "N")) {
		bool on = strchr("1yYtT", configured[0]) && configured[0];

		return on == (value[0] == 'Y');
	}
	c = strtoll(configured, &end_c, 0);
	v = strtoll(value, &end_v, 0);
	if (end_c == configured || *end_c || end_v == value || *end_v)
		return false;
	/* An unsigned parameter shows -1 in hexadecimal. */
	return c == v || (uint32_t)c == (uint32_t)v;
}

DAVY_CHECK(parameters)
{
	size_t looked = 0;

	for (size_t i = 0; i < facts->parameter_count; i++) {
		const struct davy_doctor_parameter *p = &facts->parameter[i];
		char about[96];
		struct davy_finding *f;
		bool good;

		if (!p->loaded)
			continue;
		looked++;
		good = p->exists && same_value(p->configured, p->value);
		snprintf(about, sizeof(about), "%s.%s", p->module, p->name);
		f = davy_finding_add(findings, check, good ? DAVY_FOUND_OK : DAVY_FOUND_WARNING, 0,
				     about);
		if (good) {
			davy_finding_evidence(f, "'%s', set by %s", p->value, p->origin);
			continue;
		}
		if (p->exists)
			davy_finding_evidence(f, "%s sets '%s', but the kernel has '%s'", p->origin,
					      p->configured, p->value);
		else
			davy_finding_evidence(f,
					      "%s sets it to '%s', and %s has no parameter of "
					      "this name: a typing error, or of another version",
					      p->origin, p->configured, p->module);
		if (p->exists)
			davy_finding_fix(f,
					 "update the initramfs and reboot; if set twice, the last "
					 "value counts");
		else
			davy_finding_fix(f, "compare with 'modinfo -F parm %s'", p->module);
		davy_finding_verify(f, "cat /sys/module/%s/parameters/%s", p->module, p->name);
	}
	if (!looked)
		davy_check_not_needed(findings, check, "no parameter of a GPU driver is set");
}

DAVY_CHECK(denied)
{
	for (size_t i = 0; i < facts->gpu_count; i++) {
		const struct davy_doctor_gpu *g = &facts->gpu[i];
		size_t count = 0;
		struct davy_finding *f;

		for (int b = DAVY_BACKEND_VULKAN; b < DAVY_BACKEND_COUNT; b++) {
			if (!g->policy[b].against)
				continue;
			count++;
			f = davy_finding_add(findings, check, DAVY_FOUND_WARNING, 1u << b,
					     g->device);
			davy_finding_evidence(f, "%s is known to fail here: %s (%s)",
					      davy_doctor_backend_title((uint32_t)b),
					      g->policy[b].why, g->policy[b].origin);
			davy_finding_fix(f, "let 'davylamp exec' choose, or use the backend that "
					    "the rules name");
			davy_finding_verify(f, "davylamp policy explain --device %s", g->device);
		}
		if (count)
			continue;
		f = davy_finding_add(findings, check, DAVY_FOUND_OK,
				     davy_doctor_backends_of(g->subject.vendor), g->device);
		davy_finding_evidence(f, "no rule against %s%s%s on Linux %s",
				      g->subject.gfx[0] ? g->subject.gfx : "this GPU",
				      g->subject.firmware[0] ? " with " : "", g->subject.firmware,
				      facts->kernel);
	}
	if (!facts->gpu_count)
		davy_check_not_needed(findings, check, "no GPU");
}

static size_t used_gpus(const struct davy_doctor_facts *facts)
{
	size_t count = 0;

	for (size_t i = 0; i < facts->gpu_count; i++)
		count += !strcmp(facts->gpu[i].subject.kind, "dgpu") ||
			 facts->gpu[i].subject.kind[0] == 0;
	return count;
}

/* Several GPUs behind a translating IOMMU: page faults and wrong output (ROCm's known issues). */
DAVY_CHECK(iommu)
{
	const struct davy_doctor_gpu *g = davy_doctor_gpu_of(facts, "amd");
	struct davy_finding *f;
	bool translated;

	if (!g) {
		davy_check_not_needed(findings, check, "no AMD GPU");
		return;
	}
	translated = facts->iommu_on && !strncmp(g->iommu_type, "DMA", 3);
	f = davy_finding_add(findings, check,
			     translated && used_gpus(facts) > 1 ? DAVY_FOUND_WARNING
								: DAVY_FOUND_OK,
			     0, g->device);
	davy_finding_evidence(f, "%s%s%s", facts->iommu_on ? "on, group type " : "off or not shown",
			      facts->iommu_on ? (g->iommu_type[0] ? g->iommu_type : "unknown") : "",
			      f->verdict == DAVY_FOUND_WARNING
				      ? ": with several GPUs this caused IO_PAGE_FAULT and wrong "
					"output"
				      : "");
	if (f->verdict == DAVY_FOUND_OK)
		return;
	davy_finding_fix(f, "boot with iommu=pt, or use one GPU per engine");
	davy_finding_verify(f, "cat /sys/bus/pci/devices/%s/iommu_group/type", g->device);
}

DAVY_CHECK(sleep)
{
	size_t looked = 0;

	for (size_t i = 0; i < facts->gpu_count; i++) {
		const struct davy_doctor_gpu *g = &facts->gpu[i];
		struct davy_finding *f;

		if (!g->driver[0] || !strcmp(g->subject.kind, "igpu") ||
		    !strcmp(g->subject.vendor, "nvidia"))
			continue;
		looked++;
		f = davy_finding_add(findings, check,
				     g->may_suspend && !g->connected ? DAVY_FOUND_WARNING
								     : DAVY_FOUND_OK,
				     0, g->device);
		if (f->verdict == DAVY_FOUND_OK) {
			davy_finding_evidence(f, "%s",
					      g->may_suspend ? "it may suspend, but a "
							       "display is connected"
							     : "it does not suspend");
			continue;
		}
		davy_finding_evidence(
			f,
			"no display is connected and runtime PM may suspend it: that moves all its "
			"memory (%" PRIu64 " MiB) to host memory",
			g->vram_bytes >> 20);
		davy_finding_fix(f, "echo on > /sys/bus/pci/devices/%s/power/control", g->device);
		davy_finding_verify(f, "cat /sys/bus/pci/devices/%s/power/control", g->device);
	}
	if (!looked)
		davy_check_not_needed(findings, check, "no discrete GPU of AMD or Intel");
}
