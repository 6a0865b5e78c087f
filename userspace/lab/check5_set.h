/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fifth held-out set, by a fifth author, who knew no detector, and of the earlier sets the
 * names and the beginning of two files as an example of form. Each failure has a documented sign,
 * at least 200 ms before it; failures without any sign are not its subject. Classes are in the
 * proportions of INCIDENTS.md. Frozen: a scenario that a detector misses stays as it is.
 * 'davylamp trace synth check5' writes them.
 */
#ifndef DAVY_CHECK5_SET_H
#define DAVY_CHECK5_SET_H

#include "lab/synth.h"

/* Half of them fail; the benign ones last more than 230 h together. */
extern const struct davy_scenario davy_check5_scenarios[];
extern const size_t davy_check5_scenario_count;

#endif
