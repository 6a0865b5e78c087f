/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The catalogue: one row for each check, one file for each family. Checks are pure functions of the
 * facts. A check adds a finding for each object, or one NOT_NEEDED if there is none. HACKING.md
 * lists what a new check needs.
 */
#ifndef DAVY_CHECKS_H
#define DAVY_CHECKS_H

#include "doctor/facts.h"
#include "doctor/doctor_finding.h"

/* The row at "index", NULL beyond the last. */
const struct davy_check *davy_check_at(size_t index);

/* Runs all checks in the order of the catalogue. */
void davy_checks_run(const struct davy_doctor_facts *facts, struct davy_findings *ret_findings);

#define DAVY_CHECK(name)                                                                           \
	void davy_check_##name(const struct davy_doctor_facts *facts,                              \
			       const struct davy_check *check, struct davy_findings *findings)

/* check_self.c */
DAVY_CHECK(btf);
DAVY_CHECK(ftrace);
DAVY_CHECK(lockdown);
DAVY_CHECK(capabilities);

/* check_driver.c */
DAVY_CHECK(gpus);
DAVY_CHECK(driver);
DAVY_CHECK(topology);
DAVY_CHECK(parameters);
DAVY_CHECK(denied);
DAVY_CHECK(iommu);
DAVY_CHECK(sleep);

/* check_nodes.c */
DAVY_CHECK(nodes);
DAVY_CHECK(service);
DAVY_CHECK(access);
DAVY_CHECK(container);
DAVY_CHECK(frozen);

/* check_config.c */
DAVY_CHECK(override);
DAVY_CHECK(hidden);
DAVY_CHECK(dropped);
DAVY_CHECK(switched_off);
DAVY_CHECK(icds);

/* check_runtime.c */
DAVY_CHECK(rocm);
DAVY_CHECK(vulkan);
DAVY_CHECK(level_zero);
DAVY_CHECK(nvml);

/* check_engine.c */
DAVY_CHECK(bundle);
DAVY_CHECK(runner);

/* check_model.c */
DAVY_CHECK(lockup);
DAVY_CHECK(memory);

/* The bit of a backend. */
#define DAVY_BIT(backend) (1u << DAVY_BACKEND_##backend)

/*
 * As libhsakmt reads it (topology.c of ROCR-Runtime 7): the variable of the GPU's node before the
 * one for all. A value that is not valid, or empty, ends the runtime's init.
 */
struct davy_doctor_override {
	char name[48];
	const char *value;
	bool valid; /* "major.minor.stepping" */
	unsigned int major, minor, stepping;
};

bool davy_doctor_override_of(const struct davy_doctor_facts *facts, const struct davy_doctor_gpu *g,
			     struct davy_doctor_override *ret_override);

#endif
