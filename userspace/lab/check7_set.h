/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seventh held-out set, by a seventh author, who knew no detector, and of the earlier sets the
 * names, their parts and the beginning of one file as an example of form. Each failure has a
 * documented sign, at least 200 ms before it. Classes are in the proportions of INCIDENTS.md.
 * Frozen: a scenario that a detector misses stays as it is. 'davylamp trace synth check7' writes
 * them.
 */
#ifndef DAVY_CHECK7_SET_H
#define DAVY_CHECK7_SET_H

#include "lab/synth.h"

/* Half of them fail; the benign ones last more than 205 h together. */
extern const struct davy_scenario davy_check7_scenarios[];
extern const size_t davy_check7_scenario_count;

#endif
