/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Alarms that were false again and again: the same hazard of the same program on the same device. A
 * further one is level 1, which is no prediction and asks for no action, until a day has passed
 * without a false one, or one came true. An alarm of level 3 needs twice as many. An alarm that
 * states a failure is never doubted, nor one that "repeats" for hours before it (emit.h).
 */
#ifndef DAVY_DOUBT_H
#define DAVY_DOUBT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/event/plan.h"

#define DAVY_DOUBTS 32

struct davy_step;
struct davy_prediction;

struct davy_doubt {
	char device[DAVY_DEVICE_LEN];
	char comm[DAVY_COMM_LEN];
	uint64_t last_ns; /* the last false alarm; 0: the slot is free */
	uint32_t count;
	uint8_t hazard;
	bool stranger; /* an ordinary user's program, which may have any name */
	uint8_t pad[2];
};

/* A prediction has its result. */
void davy_doubt_result(struct davy_step *s, const struct davy_prediction *prediction,
		       bool confirmed);

bool davy_doubted(const struct davy_step *s, const struct davy_plan *note);

#endif
