/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detects a silent hang for engine_wedged: a process has work and its device is busy, but there is
 * no result. Only core/ includes this.
 */
#ifndef DAVY_SILENCE_H
#define DAVY_SILENCE_H

#include "core/hazard/hazards.h"

/* Time for which "p" has worked without a result; 0 if it has no work or its device is idle. */
uint64_t davy_silent_ns(const struct davy_step *s, const struct davy_process *p);

/* The limit for that time. */
uint64_t davy_silent_limit_ns(const struct davy_step *s, const struct davy_process *p);

/* True if a pause by davylamp stops the process. */
bool davy_is_paused(const struct davy_step *s, const struct davy_process *p);

/* Factor by which an active throttle may slow the process down; 1 without a throttle. */
uint64_t davy_throttle_factor(const struct davy_step *s, const struct davy_process *p);

#endif
