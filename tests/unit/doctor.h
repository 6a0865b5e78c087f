/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A healthy host for tests of the doctor: seed 002's MI50 with Ollama. */
#ifndef TESTS_UNIT_DOCTOR_H
#define TESTS_UNIT_DOCTOR_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "doctor/checks.h"
#include "doctor/doctor_judge.h"

#define BIT(b) (1u << DAVY_BACKEND_##b)

static struct davy_doctor_facts facts;
static struct davy_findings findings;
static struct davy_conclusion conclusion;

static void add_node(const char *path, enum davy_doctor_node_kind kind, uint32_t backends)
{
	struct davy_doctor_node *n = &facts.node[facts.node_count++];

	snprintf(n->path, sizeof(n->path), "%s", path);
	n->kind = kind;
	n->backends = backends;
	n->exists = n->is_device = n->tested = true;
	n->mode = 0660;
	n->gid = 109;
	snprintf(n->group, sizeof(n->group), "render");
}

static void add_run(enum davy_backend backend, enum davy_doctor_end end,
		    enum davy_doctor_stage stage)
{
	struct davy_doctor_run *r = &facts.run[facts.run_count++];

	memset(r, 0, sizeof(*r));
	r->backend = backend;
	r->end = end;
	r->stage = stage;
	snprintf(r->devices, sizeof(r->devices), "%s", end == DAVY_END_GOOD ? "X0: a device" : "");
	r->code = end == DAVY_END_SIGNAL ? 6 : end == DAVY_END_EXIT ? 3 : 0;
}

static void healthy_runtime(enum davy_doctor_runtime runtime, const char *name)
{
	struct davy_doctor_probe *p = &facts.probe[runtime];

	p->wanted = p->ran = p->healthy = true;
	p->gpu_count = 1;
	snprintf(p->names, sizeof(p->names), "%s", name);
}

static int make_host(void **state)
{
	struct davy_doctor_gpu *g = &facts.gpu[0];

	(void)state;
	memset(&facts, 0, sizeof(facts));
	snprintf(facts.kernel, sizeof(facts.kernel), "6.12.1");
	facts.gpu_count = 1;
	snprintf(g->device, sizeof(g->device), "0000:04:00.0");
	snprintf(g->driver, sizeof(g->driver), "amdgpu");
	snprintf(g->wanted, sizeof(g->wanted), "amdgpu");
	g->pci_vendor = 0x1002;
	g->has_kfd_node = facts.kfd_class = true;
	g->kfd_gfx = 90006;
	g->vram_bytes = (uint64_t)16 << 30;
	davy_subject_driver(&g->subject, "amdgpu");
	davy_subject_kfd(&g->subject, 90006, 240);
	g->subject.lockup_ns[DAVY_BACKEND_VULKAN] = 10000 * DAVY_NS_PER_MS;
	add_node("/dev/dri/renderD128", DAVY_NODE_RENDER, BIT(VULKAN) | BIT(ROCM));
	add_node("/dev/kfd", DAVY_NODE_KFD, BIT(ROCM));
	facts.service.known = facts.service.environment_known = true;
	facts.service.uid = 998;
	snprintf(facts.service.user, sizeof(facts.service.user), "ollama");
	snprintf(facts.service.unit, sizeof(facts.service.unit), "ollama.service");
	facts.icds_looked = true;
	facts.icd_count = 1;
	snprintf(facts.icds_from, sizeof(facts.icds_from), "the loader's folders");
	snprintf(facts.icd[0].library, sizeof(facts.icd[0].library), "libvulkan_radeon.so");
	healthy_runtime(DAVY_DISCOVERY_ROCM, "gfx906");
	healthy_runtime(DAVY_DISCOVERY_VULKAN, "AMD Instinct MI50 (RADV VEGA20)");
	facts.engine.engine = DAVY_ENGINE_OLLAMA;
	snprintf(facts.engine.name, sizeof(facts.engine.name), "ollama");
	facts.self.root = facts.self.btf = true;
	facts.self.capabilities = UINT64_MAX;
	add_run(DAVY_BACKEND_VULKAN, DAVY_END_GOOD, DAVY_STAGE_DONE);
	add_run(DAVY_BACKEND_ROCM, DAVY_END_GOOD, DAVY_STAGE_DONE);
	return 0;
}

static void examine(void)
{
	davy_checks_run(&facts, &findings);
	davy_doctor_judge(&facts, &findings, &conclusion);
}

/* The worst finding of a check. */
static const struct davy_finding *worst_of(const char *id)
{
	const struct davy_finding *worst = NULL;

	for (size_t i = 0; i < findings.count; i++)
		if (!strcmp(findings.at[i].check->id, id) &&
		    (!worst || findings.at[i].verdict > worst->verdict))
			worst = &findings.at[i];
	assert_non_null(worst);
	return worst;
}

static void assert_found(const char *id, enum davy_diagnosis verdict)
{
	if (worst_of(id)->verdict != verdict)
		fail_msg("%s: %s: %s", id, davy_diagnosis_name(worst_of(id)->verdict),
			 worst_of(id)->evidence);
}

static void set_variable(enum davy_doctor_variable_id id, const char *value)
{
	facts.variable[id].set = value != NULL;
	snprintf(facts.variable[id].value, sizeof(facts.variable[id].value), "%s",
		 value ? value : "");
}

#endif
