/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One root cause out of all findings: which layer fails, what is proven healthy, and the policy
 * that follows. Pure.
 *
 * A failure is a cause unless it is of something that was run (a runtime, an engine) and anything
 * below it that the same backend needs has failed, too: then that is why. Failures that explain
 * none of each other are causes of their own.
 */
#ifndef DL_DOCTOR_JUDGE_H
#define DL_DOCTOR_JUDGE_H

#include "doctor/facts.h"
#include "doctor/doctor_finding.h"

#define DL_CAUSES_MAX	  8
#define DL_CONCLUSION_LEN 2048
#define DL_HEALTHY_LEN	  320

enum dl_conclusion_kind {
	DL_CONCLUDES_HEALTHY = 0,
	DL_CONCLUDES_NO_GPU = 1,  /* nothing here to be judged */
	DL_CONCLUDES_CAUSE = 2,	  /* the causes are named */
	DL_CONCLUDES_UNKNOWN = 3, /* nothing fails, and too little could be checked to be sure */
};

/* All that fails alike in one layer: of the same check and for the same backends. */
struct dl_cause {
	const struct dl_finding *finding; /* the first of them */
	size_t count;
	uint32_t backends; /* of all of them */
};

struct dl_conclusion {
	enum dl_conclusion_kind kind;
	size_t cause_count;
	struct dl_cause cause[DL_CAUSES_MAX];
	uint32_t broken;  /* backends that a cause bears on: bits */
	uint32_t usable;  /* proven by a runtime, and by the engine where that was run */
	uint32_t healthy; /* layers in which something was proven, and nothing failed: bits */
	/* The policy that follows; none where a cause is to be mended instead. */
	size_t policy_count;
	enum dl_backend policy[DL_BACKEND_COUNT];
	const struct dl_doctor_gpu *gpu; /* on which; NULL: on several */
	const char *vendor;		 /* of all of them; NULL: of any, or of "gpu" */
	char proven[DL_HEALTHY_LEN];	 /* "driver, device files, permissions, Vulkan" */
	char text[DL_CONCLUSION_LEN];	 /* the statement, one line */
};

void dl_doctor_judge(const struct dl_doctor_facts *facts, const struct dl_findings *findings,
		     struct dl_conclusion *ret_conclusion);

/* "vulkan,cpu", as a rule has it; "" when there is none. */
void dl_conclusion_backends(const struct dl_conclusion *c, char *buf, size_t size);

#endif
