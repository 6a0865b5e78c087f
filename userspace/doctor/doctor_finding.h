/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one check of the doctor came to, and all of them together. Texts were made fit to be shown
 * where they were written: dl_finding_say does it for what is handed to it.
 */
#ifndef DL_DOCTOR_FINDING_H
#define DL_DOCTOR_FINDING_H

#include "core/event/types.h"

#define DL_FINDINGS_MAX	      192
#define DL_FINDING_ABOUT_LEN  96
#define DL_FINDING_TEXT_LEN   512
#define DL_FINDING_VERIFY_LEN 320

/* Append-only: part of --json. The larger one is the worse one, but for NOT_NEEDED. */
enum dl_diagnosis {
	DL_FOUND_NOT_NEEDED = 0, /* there is nothing here that it could be about */
	DL_FOUND_OK = 1,
	DL_FOUND_UNCHECKED = 2, /* the evidence says why */
	DL_FOUND_WARNING = 3,
	DL_FOUND_FAILURE = 4,
	DL_FOUND_COUNT = 5,
};

/*
 * From the machine up to the model. What fails in one layer may be why something above it fails,
 * and never the other way round.
 */
enum dl_doctor_layer {
	DL_AT_SELF = 0, /* davylamp's own needs: no cause of what an engine meets */
	DL_AT_DRIVER = 1,
	DL_AT_NODES = 2,   /* device files are there */
	DL_AT_ACCESS = 3,  /* and the service's user may open them */
	DL_AT_CONFIG = 4,  /* what the service's environment says */
	DL_AT_RUNTIME = 5, /* ROCm, Vulkan, Level Zero, NVML */
	DL_AT_BUNDLE = 6,  /* the engine's own libraries */
	DL_AT_ENGINE = 7,  /* the engine's own discovery */
	DL_AT_MODEL = 8,
	DL_DOCTOR_LAYERS = 9,
};

struct dl_doctor_facts;
struct dl_findings;

/* One row of the catalogue. */
struct dl_check {
	const char *id;	   /* "access.kfd": part of --json, never changed */
	const char *title; /* when all is well */
	const char *fault; /* when it is not, as a cause: "a variable hides the GPU" */
	enum dl_doctor_layer layer;
	/* What was found out by a child of the service's kind: something below may be why. */
	bool runs;
	void (*look)(const struct dl_doctor_facts *facts, const struct dl_check *check,
		     struct dl_findings *findings);
};

struct dl_finding {
	const struct dl_check *check;
	enum dl_diagnosis verdict;
	uint32_t backends; /* bit 1 << enum dl_backend on which it bears; 0: on none */
	bool mend;	   /* of what was run: to be mended, and not lived with */
	char about[DL_FINDING_ABOUT_LEN];
	char evidence[DL_FINDING_TEXT_LEN];
	char fix[DL_FINDING_TEXT_LEN];
	char verify[DL_FINDING_VERIFY_LEN]; /* a command; "" where there is nothing to be mended */
};

struct dl_findings {
	size_t count;
	size_t left_out; /* that found no room */
	struct dl_finding at[DL_FINDINGS_MAX];
};

/* A new one; never NULL: beyond the last it is one that is thrown away. "about" may be hostile. */
struct dl_finding *dl_finding_add(struct dl_findings *f, const struct dl_check *check,
				  enum dl_diagnosis verdict, uint32_t backends, const char *about);

/* Each makes what it is given safe to be shown; line ends and escapes of names are \xNN then. */
void dl_finding_evidence(struct dl_finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void dl_finding_fix(struct dl_finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void dl_finding_verify(struct dl_finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

const char *dl_diagnosis_name(enum dl_diagnosis verdict);	  /* "could-not-check" */
const char *dl_doctor_layer_name(enum dl_doctor_layer layer);	  /* "device files" */
enum dl_diagnosis dl_findings_worst(const struct dl_findings *f); /* OK when there is nothing */

#endif
