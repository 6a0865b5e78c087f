/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the result of a search to stdout: text, or one JSON object. */
#ifndef DAVY_REPORT_H
#define DAVY_REPORT_H

#include "lab/search.h"

void davy_tune_print(const struct davy_search *search, const struct davy_cases *cases);

/* 0 or -ENOMEM, -EIO. */
int davy_tune_print_json(const struct davy_search *search, const struct davy_cases *cases);

#endif
