/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A probe's finding (dl_probe_finding_json) for people; all texts in it are outside input. */
#ifndef DL_VERBS_PROBE_PRINT_H
#define DL_VERBS_PROBE_PRINT_H

#include <jansson.h>

void dl_print_finding(const json_t *finding);

#endif
