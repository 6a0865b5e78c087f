/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 'davylamp probe'. Prints a probe's finding (davy_probe_finding_json) as text. The strings of its
 * "answer" are untrusted; "kind" and "text" are davy_probe_judge's own.
 */
#ifndef DAVY_PROBE_PRINT_H
#define DAVY_PROBE_PRINT_H

#include <jansson.h>

void davy_print_finding(const json_t *finding);

/* Exit status. */
int davy_doctor_probe(int argc, char **argv);

#endif
