/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A probe's finding (davy_probe_finding_json) for people. The texts of its answer are outside
 * input; "kind" and "text" are not, davy_probe_judge made them.
 */
#ifndef DAVY_PROBE_PRINT_H
#define DAVY_PROBE_PRINT_H

#include <jansson.h>

void davy_print_finding(const json_t *finding);

#endif
