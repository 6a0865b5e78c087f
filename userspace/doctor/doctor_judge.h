/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Concludes the root cause from all findings: which layer fails, what is proven healthy, and which
 * policy follows. Pure.
 *
 * A failure of a program that was run (runtime, engine) is not a cause if a lower layer that its
 * backend needs has failed, too. All other failures are causes.
 */
#ifndef DAVY_DOCTOR_JUDGE_H
#define DAVY_DOCTOR_JUDGE_H

#include "doctor/facts.h"
#include "doctor/doctor_finding.h"

#define DAVY_CAUSES_MAX	    8
#define DAVY_CONCLUSION_LEN 2048
#define DAVY_HEALTHY_LEN    320

enum davy_conclusion_kind {
	DAVY_CONCLUDES_HEALTHY = 0,
	DAVY_CONCLUDES_NO_GPU = 1,  /* no GPU to judge */
	DAVY_CONCLUDES_CAUSE = 2,   /* the causes are named */
	DAVY_CONCLUDES_UNKNOWN = 3, /* no failure, but too few checks could be made */
};

/* Failures of the same check for the same backends. */
struct davy_cause {
	const struct davy_finding *finding; /* the first of them */
	size_t count;
	uint32_t backends; /* of all of them */
};

struct davy_conclusion {
	enum davy_conclusion_kind kind;
	size_t cause_count;
	struct davy_cause cause[DAVY_CAUSES_MAX];
	uint32_t broken;  /* backends affected by a cause: bits */
	uint32_t usable;  /* proven by the runtime, and by the engine if it was run */
	uint32_t healthy; /* layers with a proof and without a failure: bits */
	/* The policy; empty if a cause must be repaired instead. */
	size_t policy_count;
	enum davy_backend policy[DAVY_BACKEND_COUNT];
	const struct davy_doctor_gpu *gpu; /* its GPU; NULL: several */
	const char *vendor;		   /* of these GPUs; NULL: any, or see "gpu" */
	char proven[DAVY_HEALTHY_LEN];	   /* "driver, device files, permissions, Vulkan" */
	char text[DAVY_CONCLUSION_LEN];	   /* the conclusion, one line */
};

void davy_doctor_judge(const struct davy_doctor_facts *facts, const struct davy_findings *findings,
		       struct davy_conclusion *ret_conclusion);

/* "vulkan,cpu" as in a rule; "": no policy. */
void davy_conclusion_backends(const struct davy_conclusion *c, char *buf, size_t size);

#endif
