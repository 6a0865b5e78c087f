/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The doctor's report: text, or one JSON object per line, the conclusion last. */
#ifndef DAVY_PRINT_H
#define DAVY_PRINT_H

#include <stdio.h>

#include "doctor/doctor_judge.h"

/* "all": also prints checks that do not apply to this host. */
void davy_doctor_print(FILE *to, const struct davy_doctor_facts *facts,
		       const struct davy_findings *findings,
		       const struct davy_conclusion *conclusion, bool all);
void davy_doctor_print_json(FILE *to, const struct davy_doctor_facts *facts,
			    const struct davy_findings *findings,
			    const struct davy_conclusion *conclusion);

const char *davy_conclusion_name(enum davy_conclusion_kind kind); /* "cause" */

/* Exit status by the worst finding; 4 without a GPU. */
int davy_doctor_exit(const struct davy_findings *findings,
		     const struct davy_conclusion *conclusion);

#define DAVY_EXIT_WARNING   5
#define DAVY_EXIT_UNCHECKED 6

#endif
