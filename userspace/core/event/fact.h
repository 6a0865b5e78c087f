/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The catalogue of what the kernel programs can say (enum davy_fact of the contract), by name. */
#ifndef DAVY_FACT_H
#define DAVY_FACT_H

#include "core/event/types.h"

/* "ring_reset"; "unknown" for a number that is none. */
const char *davy_fact_name(uint32_t fact);

/* What it says, as a short sentence without its subject: "a ring was reset". */
const char *davy_fact_text(uint32_t fact);

bool davy_fact_known(uint32_t fact);

#endif
