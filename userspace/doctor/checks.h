/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The catalogue: closed, a row each, a file per family. Checks are functions of the facts alone; a
 * check adds a finding for each thing that it is about, and one NOT_NEEDED where there is none. To
 * add one: what it wants to know in facts.h and a read_*.c, the row in catalogue.c, its function in
 * its family's file, a line in tests/unit/test_doctor_checks.c.
 */
#ifndef DL_DOCTOR_CHECKS_H
#define DL_DOCTOR_CHECKS_H

#include "doctor/facts.h"
#include "doctor/doctor_finding.h"

/* The row at "index", NULL beyond the last. */
const struct dl_check *dl_check_at(size_t index);

/* All of them, in their order. */
void dl_checks_run(const struct dl_doctor_facts *facts, struct dl_findings *ret_findings);

#define DL_CHECK(name)                                                                             \
	void dl_check_##name(const struct dl_doctor_facts *facts, const struct dl_check *check,    \
			     struct dl_findings *findings)

/* check_self.c */
DL_CHECK(btf);
DL_CHECK(tracefs);
DL_CHECK(lockdown);
DL_CHECK(capabilities);

/* check_driver.c */
DL_CHECK(gpus);
DL_CHECK(driver);
DL_CHECK(topology);
DL_CHECK(parameters);
DL_CHECK(denied);
DL_CHECK(iommu);
DL_CHECK(sleep);

/* check_nodes.c */
DL_CHECK(nodes);
DL_CHECK(service);
DL_CHECK(access);
DL_CHECK(container);
DL_CHECK(frozen);

/* check_config.c */
DL_CHECK(override);
DL_CHECK(hidden);
DL_CHECK(dropped);
DL_CHECK(switched_off);
DL_CHECK(icds);

/* check_runtime.c */
DL_CHECK(rocm);
DL_CHECK(vulkan);
DL_CHECK(level_zero);
DL_CHECK(nvml);

/* check_engine.c */
DL_CHECK(bundle);
DL_CHECK(runner);

/* check_model.c */
DL_CHECK(lockup);
DL_CHECK(memory);

/* For the families: the bit of a backend; one finding that nothing here needs the check. */
#define DL_BIT(backend) (1u << DL_BACKEND_##backend)
void dl_check_not_needed(struct dl_findings *findings, const struct dl_check *check,
			 const char *why);

/*
 * As libhsakmt reads it (topology.c of ROCR-Runtime 7): that of the GPU's own node before that of
 * all. An empty one is not valid either, and whatever is not ends the runtime's init.
 */
struct dl_doctor_override {
	char name[48];
	const char *value;
	bool valid; /* "major.minor.stepping" */
	unsigned int major, minor, stepping;
};

bool dl_doctor_override_of(const struct dl_doctor_facts *facts, const struct dl_doctor_gpu *g,
			   struct dl_doctor_override *ret_override);

const struct dl_doctor_gpu *dl_doctor_gpu_of(const struct dl_doctor_facts *facts,
					     const char *vendor);

#endif
