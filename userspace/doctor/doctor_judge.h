/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One root cause out of all findings: which layer fails, what is proven healthy, and the policy
 * that follows. Pure.
 *
 * A failure is a cause unless it is of something that was run (a runtime, an engine) and anything
 * below it that the same backend needs has failed, too: then that is why. Failures that explain
 * none of each other are causes of their own.
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
	DAVY_CONCLUDES_NO_GPU = 1,  /* nothing here to be judged */
	DAVY_CONCLUDES_CAUSE = 2,   /* the causes are named */
	DAVY_CONCLUDES_UNKNOWN = 3, /* nothing fails, and too little could be checked to be sure */
};

/* All that fails alike in one layer: of the same check and for the same backends. */
struct davy_cause {
	const struct davy_finding *finding; /* the first of them */
	size_t count;
	uint32_t backends; /* of all of them */
};

struct davy_conclusion {
	enum davy_conclusion_kind kind;
	size_t cause_count;
	struct davy_cause cause[DAVY_CAUSES_MAX];
	uint32_t broken;  /* backends that a cause bears on: bits */
	uint32_t usable;  /* proven by a runtime, and by the engine where that was run */
	uint32_t healthy; /* layers in which something was proven, and nothing failed: bits */
	/* The policy that follows; none where a cause is to be mended instead. */
	size_t policy_count;
	enum davy_backend policy[DAVY_BACKEND_COUNT];
	const struct davy_doctor_gpu *gpu; /* on which; NULL: on several */
	const char *vendor;		   /* of all of them; NULL: of any, or of "gpu" */
	char proven[DAVY_HEALTHY_LEN];	   /* "driver, device files, permissions, Vulkan" */
	char text[DAVY_CONCLUSION_LEN];	   /* the statement, one line */
};

void davy_doctor_judge(const struct davy_doctor_facts *facts, const struct davy_findings *findings,
		       struct davy_conclusion *ret_conclusion);

/* "vulkan,cpu", as a rule has it; "" when there is none. */
void davy_conclusion_backends(const struct davy_conclusion *c, char *buf, size_t size);

#endif
