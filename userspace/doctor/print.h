/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The doctor's report, for people and for programs (a JSON object a line; the last concludes). */
#ifndef DL_DOCTOR_PRINT_H
#define DL_DOCTOR_PRINT_H

#include <stdio.h>

#include "doctor/doctor_judge.h"

/* "all": checks that nothing here needs, too. */
void dl_doctor_print(FILE *to, const struct dl_doctor_facts *facts,
		     const struct dl_findings *findings, const struct dl_conclusion *conclusion,
		     bool all);
void dl_doctor_print_json(FILE *to, const struct dl_doctor_facts *facts,
			  const struct dl_findings *findings,
			  const struct dl_conclusion *conclusion);

const char *dl_conclusion_name(enum dl_conclusion_kind kind); /* "cause" */

/* Exit status by the worst finding; 4 without a GPU. */
int dl_doctor_exit(const struct dl_findings *findings, const struct dl_conclusion *conclusion);

#define DL_EXIT_WARNING	  5
#define DL_EXIT_UNCHECKED 6

#endif
