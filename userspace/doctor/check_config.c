/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the service's environment says to runtimes and to its engine. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/checks.h"

bool dl_doctor_override_of(const struct dl_doctor_facts *facts, const struct dl_doctor_gpu *g,
			   struct dl_doctor_override *ret_override)
{
	const struct dl_doctor_variable *all = &facts->variable[DL_VAR_HSA_OVERRIDE];
	const char *name = dl_doctor_variable_name(DL_VAR_HSA_OVERRIDE);
	struct dl_doctor_override *o = ret_override;
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

static void look_at_override(const struct dl_doctor_facts *facts, const struct dl_check *check,
			     struct dl_findings *findings, const struct dl_doctor_gpu *g,
			     const struct dl_doctor_override *o)
{
	unsigned int own = g->kfd_gfx / 10000;
	bool good = o->valid && o->major == own;
	struct dl_finding *f = dl_finding_add(
		findings, check, good ? DL_FOUND_OK : DL_FOUND_FAILURE, DL_BIT(ROCM), g->device);

	if (good) {
		dl_finding_evidence(f, "%s for %s: the same family", o->value, g->subject.gfx);
		return;
	}
	if (o->valid)
		dl_finding_evidence(f,
				    "%s=%s, and the GPU is %s: code of another major version "
				    "faults or dies in discovery",
				    o->name, o->value, g->subject.gfx);
	else
		dl_finding_evidence(f, "%s='%s' is no version such as 11.0.0: ROCm ends its init",
				    o->name, o->value);
	dl_finding_fix(f, "take %s out of the service's environment, or use one of major %u",
		       o->name, own);
	dl_finding_verify(f, "systemctl show -p Environment %s | grep HSA_OVERRIDE",
			  facts->service.unit[0] ? facts->service.unit : "UNIT");
}

DL_CHECK(override)
{
	struct dl_doctor_override o;
	size_t looked = 0;

	for (size_t i = 0; i < facts->gpu_count; i++) {
		if (!dl_doctor_override_of(facts, &facts->gpu[i], &o))
			continue;
		looked++;
		look_at_override(facts, check, findings, &facts->gpu[i], &o);
	}
	if (!looked)
		dl_check_not_needed(findings, check,
				    facts->variable[DL_VAR_HSA_OVERRIDE].set ? "no GPU of KFD"
									     : "it is not set");
}

/* Variables that choose devices, and for whom. */
static const struct {
	enum dl_doctor_variable_id id;
	uint32_t backends;
	const char *vendor; /* NULL: of any */
} hiding[] = {
	{ DL_VAR_ROCR_VISIBLE, DL_BIT(ROCM), "amd" },
	{ DL_VAR_HIP_VISIBLE, DL_BIT(ROCM), "amd" },
	{ DL_VAR_GPU_ORDINAL, DL_BIT(ROCM), "amd" },
	{ DL_VAR_CUDA_VISIBLE, DL_BIT(CUDA), "nvidia" },
	{ DL_VAR_CUDA_VISIBLE, DL_BIT(ROCM), "amd" }, /* HIP reads it, too */
	{ DL_VAR_NVIDIA_VISIBLE, DL_BIT(CUDA), "nvidia" },
	{ DL_VAR_VK_VISIBLE, DL_BIT(VULKAN), NULL },
	{ DL_VAR_ZE_AFFINITY, DL_BIT(SYCL), "intel" },
};

static size_t gpus_of(const struct dl_doctor_facts *facts, const char *vendor)
{
	size_t count = 0;

	for (size_t i = 0; i < facts->gpu_count; i++)
		count += !vendor || !strcmp(facts->gpu[i].subject.vendor, vendor);
	return count;
}

/*
 * Nothing, or what is no device's name, hides all; so does a number when none is that large. UUIDs
 * and lists that begin with a good one are taken to be right.
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

static void look_at_visible(const struct dl_doctor_facts *facts, const struct dl_check *check,
			    struct dl_findings *findings, size_t row)
{
	const struct dl_doctor_variable *v = &facts->variable[hiding[row].id];
	size_t count = gpus_of(facts, hiding[row].vendor);
	const char *name = dl_doctor_variable_name(hiding[row].id);
	bool hides = hides_all(v->value, count);
	struct dl_finding *f =
		dl_finding_add(findings, check, hides ? DL_FOUND_FAILURE : DL_FOUND_OK,
			       hiding[row].backends, name);

	dl_finding_evidence(f, "%s='%s' with %zu GPU%s%s", name, v->value, count,
			    count == 1 ? "" : "s",
			    hides ? ": it hides every one of them" : " here");
	if (!hides)
		return;
	dl_finding_fix(f,
		       "take %s out of the service's environment (unit, drop-ins, "
		       "EnvironmentFile), and restart it",
		       name);
	dl_finding_verify(f, "systemctl show -p Environment %s | grep %s",
			  facts->service.unit[0] ? facts->service.unit : "UNIT", name);
}

DL_CHECK(hidden)
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
		dl_finding_evidence(dl_finding_add(findings, check, DL_FOUND_OK, 0, ""),
				    "none of them is set");
	else if (facts->gpu_count)
		dl_finding_evidence(dl_finding_add(findings, check, DL_FOUND_UNCHECKED, 0, ""),
				    "the service's environment is not known");
	else
		dl_check_not_needed(findings, check, "no GPU");
}

static bool says_yes(const struct dl_doctor_variable *v)
{
	return v->set && (!strcmp(v->value, "1") || !strcasecmp(v->value, "true") ||
			  !strcasecmp(v->value, "yes"));
}

/* Ollama since 0.30; gfx1151 with ROCm is taken all the same (discover/runner.go). */
DL_CHECK(dropped)
{
	bool ollama = facts->engine.engine == DL_ENGINE_OLLAMA ||
		      facts->engine.engine == DL_ENGINE_OLLAMA_RUNNER;
	size_t looked = 0;

	for (size_t i = 0; ollama && i < facts->gpu_count; i++) {
		const struct dl_doctor_gpu *g = &facts->gpu[i];
		bool kept = says_yes(&facts->variable[DL_VAR_OLLAMA_IGPU]);
		struct dl_finding *f;

		if (strcmp(g->subject.kind, "igpu") != 0)
			continue;
		looked++;
		f = dl_finding_add(findings, check, kept ? DL_FOUND_OK : DL_FOUND_FAILURE,
				   dl_doctor_backends_of(g->subject.vendor), g->device);
		if (!kept && !strcmp(g->subject.gfx, "gfx1151"))
			f->backends = DL_BIT(VULKAN);
		dl_finding_evidence(f, kept ? "OLLAMA_IGPU_ENABLE is set"
					    : "Ollama drops an integrated GPU unless "
					      "OLLAMA_IGPU_ENABLE=1 (since 0.30)");
		if (kept)
			continue;
		dl_finding_fix(f, "Environment=OLLAMA_IGPU_ENABLE=1 in a drop-in of the service");
		dl_finding_verify(f, "systemctl show -p Environment %s | grep OLLAMA_IGPU",
				  facts->service.unit[0] ? facts->service.unit : "ollama.service");
	}
	if (!looked)
		dl_check_not_needed(findings, check,
				    ollama ? "no integrated GPU" : "only Ollama drops it");
}

/* Whether the value leaves a backend out; vendor's runtimes and engines, as their manuals say. */
static bool turns_off(const struct dl_doctor_facts *facts, enum dl_doctor_variable_id id)
{
	const struct dl_doctor_variable *v = &facts->variable[id];

	if (!v->set)
		return false;
	if (id == DL_VAR_OLLAMA_VULKAN)
		return facts->engine.engine == DL_ENGINE_OLLAMA && !says_yes(v);
	if (id == DL_VAR_ONEAPI_SELECTOR) /* "level_zero:0", "*:gpu"; "opencl:cpu" */
		return !strstr(v->value, "level_zero") && !strstr(v->value, "gpu") &&
		       !strstr(v->value, "*:*");
	return v->value[0] || id == DL_VAR_DISABLE_VULKAN;
}

DL_CHECK(switched_off)
{
	static const struct {
		enum dl_doctor_variable_id id;
		uint32_t backends;
		const char *what;
	} rows[] = {
		{ DL_VAR_DISABLE_VULKAN, DL_BIT(VULKAN), "turns Vulkan off" },
		{ DL_VAR_OLLAMA_VULKAN, DL_BIT(VULKAN), "turns Vulkan off" },
		{ DL_VAR_VK_DRIVERS_DISABLE, DL_BIT(VULKAN), "leaves drivers of Vulkan out" },
		{ DL_VAR_VK_DRIVERS_SELECT, DL_BIT(VULKAN), "leaves other drivers of Vulkan out" },
		{ DL_VAR_ONEAPI_SELECTOR, DL_BIT(SYCL), "leaves Level Zero's GPUs out" },
	};
	const struct dl_doctor_variable *library = &facts->variable[DL_VAR_OLLAMA_LIBRARY];
	size_t found = 0;
	struct dl_finding *f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *name = dl_doctor_variable_name(rows[i].id);

		if (!turns_off(facts, rows[i].id))
			continue;
		found++;
		f = dl_finding_add(findings, check, DL_FOUND_WARNING, rows[i].backends, name);
		dl_finding_evidence(f, "%s='%s' %s", name, facts->variable[rows[i].id].value,
				    rows[i].what);
		dl_finding_fix(f, "take it out of the service's environment");
		dl_finding_verify(f, "davylamp doctor %s", facts->service.as);
	}
	if (facts->engine.engine == DL_ENGINE_OLLAMA && library->set && library->value[0]) {
		f = dl_finding_add(findings, check, DL_FOUND_OK, 0, "OLLAMA_LLM_LIBRARY");
		dl_finding_evidence(f, "'%s': only that folder of libraries is looked into",
				    library->value);
	} else if (!found) {
		f = dl_finding_add(
			findings, check,
			facts->service.environment_known ? DL_FOUND_OK : DL_FOUND_UNCHECKED, 0, "");
		dl_finding_evidence(f, facts->service.environment_known
					       ? "none does"
					       : "the service's environment is not known");
	}
}

/* Those that compute on the CPU do not count for a GPU. */
static bool is_software(const char *library)
{
	return strstr(library, "lvp") || strstr(library, "swrast") ||
	       strstr(library, "swiftshader");
}

DL_CHECK(icds)
{
	size_t good = 0, software = 0;
	struct dl_finding *f;

	if (!facts->gpu_count) {
		dl_check_not_needed(findings, check, "no GPU");
		return;
	}
	if (!facts->icds_looked) {
		f = dl_finding_add(findings, check, DL_FOUND_UNCHECKED, DL_BIT(VULKAN), "");
		dl_finding_evidence(f, "the folders of manifests could not be read as that user");
		dl_finding_fix(f, "run 'davylamp doctor' as root");
		dl_finding_verify(f, "davylamp probe vulkan");
		return;
	}
	for (size_t i = 0; i < facts->icd_count; i++) {
		const struct dl_doctor_icd *icd = &facts->icd[i];

		if (!icd->why[0]) {
			good++;
			software += is_software(icd->library);
			continue;
		}
		f = dl_finding_add(findings, check, DL_FOUND_WARNING, DL_BIT(VULKAN),
				   icd->manifest);
		dl_finding_evidence(f, "%s: %s", icd->library, icd->why);
		dl_finding_fix(f, "install the package of that driver again, or take the manifest "
				  "away");
		dl_finding_verify(f, "davylamp probe vulkan");
	}
	f = dl_finding_add(findings, check,
			   !good	      ? DL_FOUND_FAILURE
			   : good == software ? DL_FOUND_WARNING
					      : DL_FOUND_OK,
			   DL_BIT(VULKAN), "");
	if (good > software) {
		dl_finding_evidence(f, "%zu by %s, the first is %s", good, facts->icds_from,
				    facts->icd[0].manifest);
		return;
	}
	dl_finding_evidence(f, "%s by %s", good ? "only one that computes on the CPU" : "none",
			    facts->icds_from);
	if (strncmp(facts->icds_from, "VK_", 3) != 0)
		dl_finding_fix(f, "install the GPU's Vulkan driver (mesa-vulkan-drivers, or that "
				  "of NVIDIA's package)");
	else
		dl_finding_fix(f, "mend or unset %s in the service's environment",
			       facts->icds_from);
	dl_finding_verify(f, "davylamp probe vulkan");
}
