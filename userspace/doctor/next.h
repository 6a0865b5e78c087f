/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The overview of 'davylamp' without arguments: what is here, what is missing, and the next
 * command. The doctor's report ends with the same command.
 */
#ifndef DAVY_NEXT_H
#define DAVY_NEXT_H

#include <stdio.h>

#include "doctor/facts.h"

struct davy_next {
	char missing[160]; /* "nothing" if all is set up */
	char command[160];
};

/* Pure. */
void davy_doctor_next(const struct davy_doctor_facts *facts, struct davy_next *ret_next);

void davy_overview_print(FILE *to, const struct davy_doctor_facts *facts);
void davy_overview_print_json(FILE *to, const struct davy_doctor_facts *facts);

#endif
