/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A probe's finding (dl_probe_finding_json) for people. The texts of its answer are outside input;
 * "kind" and "text" are not, dl_probe_judge made them.
 */
#ifndef DL_VERBS_PROBE_PRINT_H
#define DL_VERBS_PROBE_PRINT_H

#include <jansson.h>

void dl_print_finding(const json_t *finding);

#endif
