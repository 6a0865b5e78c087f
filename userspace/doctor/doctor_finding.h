/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The result of one check of the doctor, and the list of all results. The texts are sanitized when
 * they are written.
 */
#ifndef DAVY_DOCTOR_FINDING_H
#define DAVY_DOCTOR_FINDING_H

#include "core/event/types.h"

#define DAVY_FINDINGS_MAX	192
#define DAVY_FINDING_ABOUT_LEN	96
#define DAVY_FINDING_TEXT_LEN	512
#define DAVY_FINDING_VERIFY_LEN 320

/* Append-only: part of --json. Larger is worse. */
enum davy_diagnosis {
	DAVY_FOUND_NOT_NEEDED = 0, /* this host has no object for the check */
	DAVY_FOUND_OK = 1,
	DAVY_FOUND_UNCHECKED = 2, /* the evidence has the reason */
	DAVY_FOUND_WARNING = 3,
	DAVY_FOUND_FAILURE = 4,
	DAVY_FOUND_COUNT = 5,
};

/*
 * From the hardware up to the model. A failure in one layer can cause failures in higher layers,
 * but not in lower ones.
 */
enum davy_doctor_layer {
	DAVY_AT_SELF = 0, /* davylamp's own needs: never a cause */
	DAVY_AT_DRIVER = 1,
	DAVY_AT_NODES = 2,   /* device files exist */
	DAVY_AT_ACCESS = 3,  /* the service's user may open them */
	DAVY_AT_CONFIG = 4,  /* the service's environment */
	DAVY_AT_RUNTIME = 5, /* ROCm, Vulkan, Level Zero, NVML */
	DAVY_AT_BUNDLE = 6,  /* the engine's own libraries */
	DAVY_AT_ENGINE = 7,  /* the engine's own discovery */
	DAVY_AT_MODEL = 8,
	DAVY_DOCTOR_LAYERS = 9,
};

struct davy_doctor_facts;
struct davy_findings;

/* One row of the catalogue. */
struct davy_check {
	const char *id;	   /* "access.kfd": part of --json, never changed */
	const char *title; /* text if OK */
	const char *fault; /* text as a cause: "a variable hides the GPU" */
	enum davy_doctor_layer layer;
	/* The result of a program run as the service: a lower layer may be the cause. */
	bool runs;
	void (*look)(const struct davy_doctor_facts *facts, const struct davy_check *check,
		     struct davy_findings *findings);
};

struct davy_finding {
	const struct davy_check *check;
	enum davy_diagnosis verdict;
	uint32_t backends; /* affected ones, bits 1 << enum davy_backend */
	bool mend;	   /* for "runs": must be repaired, another backend is no remedy */
	char about[DAVY_FINDING_ABOUT_LEN];
	char evidence[DAVY_FINDING_TEXT_LEN];
	char fix[DAVY_FINDING_TEXT_LEN];
	char verify[DAVY_FINDING_VERIFY_LEN]; /* a command; "" if nothing is wrong */
};

struct davy_findings {
	size_t count;
	size_t left_out; /* findings that did not fit */
	struct davy_finding at[DAVY_FINDINGS_MAX];
};

/* Adds a finding. Never NULL: if full, it is discarded later. "about" may be untrusted text. */
struct davy_finding *davy_finding_add(struct davy_findings *f, const struct davy_check *check,
				      enum davy_diagnosis verdict, uint32_t backends,
				      const char *about);

/* Each sanitizes its text: control characters become \xNN. */
void davy_finding_evidence(struct davy_finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void davy_finding_fix(struct davy_finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void davy_finding_verify(struct davy_finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds the finding that this host has no object for the check. */
void davy_check_not_needed(struct davy_findings *findings, const struct davy_check *check,
			   const char *why);

const char *davy_diagnosis_name(enum davy_diagnosis verdict);		/* "could-not-check" */
const char *davy_doctor_layer_name(enum davy_doctor_layer layer);	/* "device files" */
enum davy_diagnosis davy_findings_worst(const struct davy_findings *f); /* OK if empty */

#endif
