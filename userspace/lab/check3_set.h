/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The third held-out set, by a third author, who knew neither the detectors nor the scenarios of
 * the other sets. Written from the incidents, issue threads, the drivers and the engines, and
 * frozen: a scenario that a detector misses stays as it is. 'davylamp trace synth check3' writes
 * them.
 */
#ifndef DAVY_CHECK3_SET_H
#define DAVY_CHECK3_SET_H

#include "lab/synth.h"

/* Half of them fail; the benign ones last more than 400 h together. */
extern const struct davy_scenario davy_check3_scenarios[];
extern const size_t davy_check3_scenario_count;

#endif
