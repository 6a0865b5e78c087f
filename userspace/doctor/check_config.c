/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables of the service's environment that affect runtimes and the engine. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/checks.h"

bool davy_doctor_override_of(const struct davy_doctor_facts *facts, const struct davy_doctor_gpu *g,
			     struct davy_doctor_override *ret_override)
{
	const struct davy_doctor_variable *all = &facts->variable[DAVY_VAR_HSA_OVERRIDE];
	const char *name = davy_doctor_variable_name(DAVY_VAR_HSA_OVERRIDE);
	struct davy_doctor_override *o = ret_override;
	char rest;

	if (!g->has_kfd_node || (!g->has_override && !all->set))
		return false;
	memset(o, 0, sizeof(*o));
	if (g->has_override)
		snprintf(o->name, sizeof(o->name), "%s_%u", name, g->kfd_node);
	else
		snprintf(o->name, sizeof(o->name), "%s", name);
	o->value = g->has_override ? g->override : all->value;
	o->valid =
		isdigit((unsigned char)o->value[0]) &&
		sscanf(o->value, "%4u.%4u.%4u%c", &o->major, &o->minor, &o->stepping, &rest) == 3 &&
		o->major <= 63 && o->minor <= 255 && o->stepping <= 255;
	return true;
}

static void look_at_override(const struct davy_doctor_facts *facts, const struct davy_check *check,
			     struct davy_findings *findings, const struct davy_doctor_gpu *g,
			     const struct davy_doctor_override *o)
{
	unsigned int own = g->kfd_gfx / 10000;
	bool good = o->valid && o->major == own;
	struct davy_finding *f =
		davy_finding_add(findings, check, good ? DAVY_FOUND_OK : DAVY_FOUND_FAILURE,
				 DAVY_BIT(ROCM), g->device);

	if (good) {
		davy_finding_evidence(f, "%s for %s: same major version", o->value, g->subject.gfx);
		return;
	}
	if (o->valid)
		davy_finding_evidence(f,
				      "%s=%s, but the GPU is %s: code for another major version "
				      "faults, or crashes in discovery",
				      o->name, o->value, g->subject.gfx);
	else
		davy_finding_evidence(f,
				      "%s='%s' is not a version such as 11.0.0: ROCm's init fails",
				      o->name, o->value);
	davy_finding_fix(f, "remove %s from the service's environment, or use major version %u",
			 o->name, own);
	davy_finding_verify(f, "systemctl show -p Environment %s | grep HSA_OVERRIDE",
			    facts->service.unit[0] ? facts->service.unit : "UNIT");
}

DAVY_CHECK(override)
{
	struct davy_doctor_override o;
	size_t looked = 0;

	for (size_t i = 0; i < facts->gpu_count; i++) {
		if (!davy_doctor_override_of(facts, &facts->gpu[i], &o))
			continue;
		looked++;
		look_at_override(facts, check, findings, &facts->gpu[i], &o);
	}
	if (!looked)
		davy_check_not_needed(findings, check,
				      facts->variable[DAVY_VAR_HSA_OVERRIDE].set ? "no GPU with KFD"
										 : "not set");
}

/* Variables that select devices. */
static const struct {
	enum davy_doctor_variable_id id;
	uint32_t backends;
	const char *vendor; /* NULL: any */
} hiding[] = {
	{ DAVY_VAR_ROCR_VISIBLE, DAVY_BIT(ROCM), "amd" },
	{ DAVY_VAR_HIP_VISIBLE, DAVY_BIT(ROCM), "amd" },
	{ DAVY_VAR_GPU_ORDINAL, DAVY_BIT(ROCM), "amd" },
	{ DAVY_VAR_CUDA_VISIBLE, DAVY_BIT(CUDA), "nvidia" },
	{ DAVY_VAR_CUDA_VISIBLE, DAVY_BIT(ROCM), "amd" }, /* HIP also reads it */
	{ DAVY_VAR_NVIDIA_VISIBLE, DAVY_BIT(CUDA), "nvidia" },
	{ DAVY_VAR_VK_VISIBLE, DAVY_BIT(VULKAN), NULL },
	{ DAVY_VAR_ZE_AFFINITY, DAVY_BIT(SYCL), "intel" },
};

static size_t gpus_of(const struct davy_doctor_facts *facts, const char *vendor)
{
	size_t count = 0;

	for (size_t i = 0; i < facts->gpu_count; i++)
		count += !vendor || !strcmp(facts->gpu[i].subject.vendor, vendor);
	return count;
}

/*
 * An empty value, an unknown name, and an index beyond the last GPU hide all GPUs. UUIDs, and lists
 * that begin with a valid index, are accepted.
 */
static bool hides_all(const char *value, size_t gpu_count)
{
	unsigned long index;
	char *end;

	if (!value[0] || value[0] == '-' || !strcmp(value, "none") || !strcmp(value, "void") ||
	    !strcmp(value, "NoDevFiles"))
		return true;
	if (!isdigit((unsigned char)value[0]))
		return false;
	index = strtoul(value, &end, 10);
	return (*end == 0 || *end == ',') && index >= gpu_count;
}

static void look_at_visible(const struct davy_doctor_facts *facts, const struct davy_check *check,
			    struct davy_findings *findings, size_t row)
{
	const struct davy_doctor_variable *v = &facts->variable[hiding[row].id];
	size_t count = gpus_of(facts, hiding[row].vendor);
	const char *name = davy_doctor_variable_name(hiding[row].id);
	bool hides = hides_all(v->value, count);
	struct davy_finding *f =
		davy_finding_add(findings, check, hides ? DAVY_FOUND_FAILURE : DAVY_FOUND_OK,
				 hiding[row].backends, name);

	davy_finding_evidence(f, "%s='%s' with %zu GPU%s%s", name, v->value, count,
			      count == 1 ? "" : "s", hides ? ": it hides all of them" : " here");
	if (!hides)
		return;
	davy_finding_fix(f,
			 "remove %s from the service's environment (unit, drop-ins, "
			 "EnvironmentFile) and restart it",
			 name);
	davy_finding_verify(f, "systemctl show -p Environment %s | grep %s",
			    facts->service.unit[0] ? facts->service.unit : "UNIT", name);
}

DAVY_CHECK(hidden)
{
	size_t looked = 0;

	for (size_t i = 0; i < sizeof(hiding) / sizeof(hiding[0]); i++) {
		if (!facts->variable[hiding[i].id].set || !gpus_of(facts, hiding[i].vendor))
			continue;
		looked++;
		look_at_visible(facts, check, findings, i);
	}
	if (looked)
		return;
	if (facts->gpu_count && facts->service.environment_known)
		davy_finding_evidence(davy_finding_add(findings, check, DAVY_FOUND_OK, 0, ""),
				      "none is set");
	else if (facts->gpu_count)
		davy_finding_evidence(
			davy_finding_add(findings, check, DAVY_FOUND_UNCHECKED, 0, ""),
			"the service's environment is unknown");
	else
		davy_check_not_needed(findings, check, "no GPU");
}

static bool says_yes(const struct davy_doctor_variable *v)
{
	return v->set && (!strcmp(v->value, "1") || !strcasecmp(v->value, "true") ||
			  !strcasecmp(v->value, "yes"));
}

/* Ollama since 0.30, except gfx1151 with ROCm (discover/runner.go). */
DAVY_CHECK(dropped)
{
	bool ollama = facts->engine.engine == DAVY_ENGINE_OLLAMA ||
		      facts->engine.engine == DAVY_ENGINE_OLLAMA_RUNNER;
	size_t looked = 0;

	for (size_t i = 0; ollama && i < facts->gpu_count; i++) {
		const struct davy_doctor_gpu *g = &facts->gpu[i];
		bool kept = says_yes(&facts->variable[DAVY_VAR_OLLAMA_IGPU]);
		struct davy_finding *f;

		if (strcmp(g->subject.kind, "igpu") != 0)
			continue;
		looked++;
		f = davy_finding_add(findings, check, kept ? DAVY_FOUND_OK : DAVY_FOUND_FAILURE,
				     davy_doctor_backends_of(g->subject.vendor), g->device);
		if (!kept && !strcmp(g->subject.gfx, "gfx1151"))
			f->backends = DAVY_BIT(VULKAN);
		davy_finding_evidence(f, kept ? "OLLAMA_IGPU_ENABLE is set"
					      : "Ollama drops an integrated GPU unless "
						"OLLAMA_IGPU_ENABLE=1 (since 0.30)");
		if (kept)
			continue;
		davy_finding_fix(
			f, "set Environment=OLLAMA_IGPU_ENABLE=1 in a drop-in of the service");
		davy_finding_verify(f, "systemctl show -p Environment %s | grep OLLAMA_IGPU",
				    facts->service.unit[0] ? facts->service.unit
							   : "ollama.service");
	}
	if (!looked)
		davy_check_not_needed(findings, check,
				      ollama ? "no integrated GPU"
					     : "only Ollama drops integrated GPUs");
}

/* Whether the value turns a backend off, according to the manuals of runtimes and engines. */
static bool turns_off(const struct davy_doctor_facts *facts, enum davy_doctor_variable_id id)
{
	const struct davy_doctor_variable *v = &facts->variable[id];

	if (!v->set)
		return false;
	if (id == DAVY_VAR_OLLAMA_VULKAN)
		return facts->engine.engine == DAVY_ENGINE_OLLAMA && !says_yes(v);
	if (id == DAVY_VAR_ONEAPI_SELECTOR) /* "level_zero:0", "*:gpu"; "opencl:cpu" */
		return !strstr(v->value, "level_zero") && !strstr(v->value, "gpu") &&
		       !strstr(v->value, "*:*");
	return v->value[0] || id == DAVY_VAR_DISABLE_VULKAN;
}

DAVY_CHECK(switched_off)
{
	static const struct {
		enum davy_doctor_variable_id id;
		uint32_t backends;
		const char *what;
	} rows[] = {
		{ DAVY_VAR_DISABLE_VULKAN, DAVY_BIT(VULKAN), "turns Vulkan off" },
		{ DAVY_VAR_OLLAMA_VULKAN, DAVY_BIT(VULKAN), "turns Vulkan off" },
		{ DAVY_VAR_VK_DRIVERS_DISABLE, DAVY_BIT(VULKAN), "excludes Vulkan drivers" },
		{ DAVY_VAR_VK_DRIVERS_SELECT, DAVY_BIT(VULKAN), "excludes other Vulkan drivers" },
		{ DAVY_VAR_ONEAPI_SELECTOR, DAVY_BIT(SYCL), "excludes Level Zero's GPUs" },
	};
	const struct davy_doctor_variable *library = &facts->variable[DAVY_VAR_OLLAMA_LIBRARY];
	size_t found = 0;
	struct davy_finding *f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *name = davy_doctor_variable_name(rows[i].id);

		if (!turns_off(facts, rows[i].id))
			continue;
		found++;
		f = davy_finding_add(findings, check, DAVY_FOUND_WARNING, rows[i].backends, name);
		davy_finding_evidence(f, "%s='%s' %s", name, facts->variable[rows[i].id].value,
				      rows[i].what);
		davy_finding_fix(f, "remove it from the service's environment");
		davy_finding_verify(f, "davylamp doctor %s", facts->service.as);
	}
	if (facts->engine.engine == DAVY_ENGINE_OLLAMA && library->set && library->value[0]) {
		f = davy_finding_add(findings, check, DAVY_FOUND_OK, 0, "OLLAMA_LLM_LIBRARY");
		davy_finding_evidence(f, "'%s': only this library folder is used", library->value);
	} else if (!found) {
		f = davy_finding_add(findings, check,
				     facts->service.environment_known ? DAVY_FOUND_OK
								      : DAVY_FOUND_UNCHECKED,
				     0, "");
		davy_finding_evidence(f, facts->service.environment_known
						 ? "none"
						 : "the service's environment is unknown");
	}
}

/* Drivers that compute on the CPU. */
static bool is_software(const char *library)
{
	return strstr(library, "lvp") || strstr(library, "swrast") ||
	       strstr(library, "swiftshader");
}

DAVY_CHECK(icds)
{
	size_t good = 0, software = 0;
	struct davy_finding *f;

	if (!facts->gpu_count) {
		davy_check_not_needed(findings, check, "no GPU");
		return;
	}
	if (!facts->icds_looked) {
		f = davy_finding_add(findings, check, DAVY_FOUND_UNCHECKED, DAVY_BIT(VULKAN), "");
		davy_finding_evidence(
			f, "the manifest folders could not be read as the service's user");
		davy_finding_fix(f, "run 'davylamp doctor' as root");
		davy_finding_verify(f, "davylamp probe vulkan");
		return;
	}
	for (size_t i = 0; i < facts->icd_count; i++) {
		const struct davy_doctor_icd *icd = &facts->icd[i];

		if (!icd->why[0]) {
			good++;
			software += is_software(icd->library);
			continue;
		}
		f = davy_finding_add(findings, check, DAVY_FOUND_WARNING, DAVY_BIT(VULKAN),
				     icd->manifest);
		davy_finding_evidence(f, "%s: %s", icd->library, icd->why);
		davy_finding_fix(f, "reinstall the package of this driver, or remove the manifest");
		davy_finding_verify(f, "davylamp probe vulkan");
	}
	f = davy_finding_add(findings, check,
			     !good		? DAVY_FOUND_FAILURE
			     : good == software ? DAVY_FOUND_WARNING
						: DAVY_FOUND_OK,
			     DAVY_BIT(VULKAN), "");
	if (good > software) {
		davy_finding_evidence(f, "%zu by %s, the first is %s", good, facts->icds_from,
				      facts->icd[0].manifest);
		return;
	}
	davy_finding_evidence(f, "%s by %s", good ? "only a CPU driver" : "none", facts->icds_from);
	if (strncmp(facts->icds_from, "VK_", 3) != 0)
		davy_finding_fix(f,
				 "install the GPU's Vulkan driver (mesa-vulkan-drivers, or the one "
				 "of NVIDIA's package)");
	else
		davy_finding_fix(f, "correct or unset %s in the service's environment",
				 facts->icds_from);
	davy_finding_verify(f, "davylamp probe vulkan");
}
