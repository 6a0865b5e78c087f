/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a search found: for people on stdout, or as one JSON object. */
#ifndef DL_TUNE_REPORT_H
#define DL_TUNE_REPORT_H

#include "lab/search.h"

void dl_tune_print(const struct dl_search *search, const struct dl_cases *cases);

/* 0 or -ENOMEM, -EIO. */
int dl_tune_print_json(const struct dl_search *search, const struct dl_cases *cases);

#endif
