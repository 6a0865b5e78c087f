/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The catalogue of the kernel programs' facts (enum davy_fact of the contract), by name. */
#ifndef DAVY_FACT_H
#define DAVY_FACT_H

#include "core/event/types.h"

/* "ring_reset"; "unknown" for an unknown number. */
const char *davy_fact_name(uint32_t fact);

/* A description as a short sentence: "a ring was reset". */
const char *davy_fact_text(uint32_t fact);

bool davy_fact_known(uint32_t fact);

#endif
