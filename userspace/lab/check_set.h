/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The held-out set: scenarios that no threshold was chosen by. Written from the reports, the
 * drivers and the engines, not from the predictor, and frozen: a scenario that a detector misses
 * stays as it is. 'davylamp trace synth check' writes them.
 */
#ifndef DAVY_CHECK_SET_H
#define DAVY_CHECK_SET_H

#include "lab/synth.h"

/* Half of them fail; the benign ones last more than 200 h together. */
extern const struct davy_scenario davy_check_scenarios[];
extern const size_t davy_check_scenario_count;

#endif
