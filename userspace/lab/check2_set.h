/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second held-out set, by another author, who knew neither the predictor nor its thresholds.
 * Written from the incidents, the drivers and the engines alone, and frozen: a scenario that a
 * detector misses stays as it is. 'davylamp trace synth check2' writes them.
 */
#ifndef DAVY_CHECK2_SET_H
#define DAVY_CHECK2_SET_H

#include "lab/synth.h"

/* Half of them fail; the benign ones last more than 300 h together. */
extern const struct davy_scenario davy_check2_scenarios[];
extern const size_t davy_check2_scenario_count;

#endif
