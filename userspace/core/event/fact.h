/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The catalogue of what the kernel programs can say (enum dl_fact of the contract), by name. */
#ifndef DL_CORE_FACT_H
#define DL_CORE_FACT_H

#include "core/event/types.h"

/* "ring_reset"; "unknown" for a number that is none. */
const char *dl_fact_name(uint32_t fact);

/* What it says, as a short sentence without its subject: "a ring was reset". */
const char *dl_fact_text(uint32_t fact);

bool dl_fact_known(uint32_t fact);

#endif
