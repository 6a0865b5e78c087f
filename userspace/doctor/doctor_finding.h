/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one check of the doctor came to, and all of them together. Texts were made fit to be shown
 * where they were written: davy_finding_say does it for what is handed to it.
 */
#ifndef DAVY_DOCTOR_FINDING_H
#define DAVY_DOCTOR_FINDING_H

#include "core/event/types.h"

#define DAVY_FINDINGS_MAX	192
#define DAVY_FINDING_ABOUT_LEN	96
#define DAVY_FINDING_TEXT_LEN	512
#define DAVY_FINDING_VERIFY_LEN 320

/* Append-only: part of --json. The larger one is the worse one, but for NOT_NEEDED. */
enum davy_diagnosis {
	DAVY_FOUND_NOT_NEEDED = 0, /* there is nothing here that it could be about */
	DAVY_FOUND_OK = 1,
	DAVY_FOUND_UNCHECKED = 2, /* the evidence says why */
	DAVY_FOUND_WARNING = 3,
	DAVY_FOUND_FAILURE = 4,
	DAVY_FOUND_COUNT = 5,
};

/*
 * From the machine up to the model. What fails in one layer may be why something above it fails,
 * and never the other way round.
 */
enum davy_doctor_layer {
	DAVY_AT_SELF = 0, /* davylamp's own needs: no cause of what an engine meets */
	DAVY_AT_DRIVER = 1,
	DAVY_AT_NODES = 2,   /* device files are there */
	DAVY_AT_ACCESS = 3,  /* and the service's user may open them */
	DAVY_AT_CONFIG = 4,  /* what the service's environment says */
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
	const char *title; /* when all is well */
	const char *fault; /* when it is not, as a cause: "a variable hides the GPU" */
	enum davy_doctor_layer layer;
	/* What was found out by a child of the service's kind: something below may be why. */
	bool runs;
	void (*look)(const struct davy_doctor_facts *facts, const struct davy_check *check,
		     struct davy_findings *findings);
};

struct davy_finding {
	const struct davy_check *check;
	enum davy_diagnosis verdict;
	uint32_t backends; /* bit 1 << enum davy_backend on which it bears; 0: on none */
	bool mend;	   /* of what was run: to be mended, and not lived with */
	char about[DAVY_FINDING_ABOUT_LEN];
	char evidence[DAVY_FINDING_TEXT_LEN];
	char fix[DAVY_FINDING_TEXT_LEN];
	char verify
		[DAVY_FINDING_VERIFY_LEN]; /* a command; "" where there is nothing to be mended */
};

struct davy_findings {
	size_t count;
	size_t left_out; /* that found no room */
	struct davy_finding at[DAVY_FINDINGS_MAX];
};

/* A new one; never NULL: beyond the last it is one that is thrown away. "about" may be hostile. */
struct davy_finding *davy_finding_add(struct davy_findings *f, const struct davy_check *check,
				      enum davy_diagnosis verdict, uint32_t backends,
				      const char *about);

/* Each makes what it is given safe to be shown; line ends and escapes of names are \xNN then. */
void davy_finding_evidence(struct davy_finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void davy_finding_fix(struct davy_finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void davy_finding_verify(struct davy_finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* One finding that nothing here needs the check. */
void davy_check_not_needed(struct davy_findings *findings, const struct davy_check *check,
			   const char *why);

const char *davy_diagnosis_name(enum davy_diagnosis verdict);	  /* "could-not-check" */
const char *davy_doctor_layer_name(enum davy_doctor_layer layer); /* "device files" */
enum davy_diagnosis davy_findings_worst(
	const struct davy_findings *f); /* OK when there is nothing */

#endif
