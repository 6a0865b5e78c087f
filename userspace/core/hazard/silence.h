/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The silent hang, one of engine_wedged's signs: a process has work and a device is busy with it,
 * and nothing comes of it. Only core/ includes this.
 */
#ifndef DAVY_SILENCE_H
#define DAVY_SILENCE_H

#include "core/hazard/hazards.h"

/* For how long nothing has come of the work of "p"; 0 when it has none or is not busy. */
uint64_t davy_silent_ns(const struct davy_step *s, const struct davy_process *p);

/* How long that may be. */
uint64_t davy_silent_limit_ns(const struct davy_step *s, const struct davy_process *p);

/* Whether a pause of ours keeps it from going on. */
bool davy_is_paused(const struct davy_step *s, const struct davy_process *p);

/* How many times longer all it does may take while a throttle of ours is in force; else 1. */
uint64_t davy_throttle_factor(const struct davy_step *s, const struct davy_process *p);

#endif
