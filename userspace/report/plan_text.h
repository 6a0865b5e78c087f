/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan as text and as JSON. Functions of the plan alone: the live agent and replay print the same
 * bytes for the same plan.
 */
#ifndef DAVY_PLAN_TEXT_H
#define DAVY_PLAN_TEXT_H

#include "core/event/plan.h"

#define DAVY_PLAN_TEXT_SIZE 1280

/* One line without newline, safe for a terminal; cut if it does not fit. */
void davy_plan_text(const struct davy_plan *plan, char *buf, size_t size);

/* Why an action failed. ECHILD: the process ended before the action was complete. */
const char *davy_act_error_text(int result);

/* One JSON object without newline; malloc'ed, NULL: out of memory. */
char *davy_plan_json(const struct davy_plan *plan);

/* "vk::DeviceLostError" for "N2vk15DeviceLostErrorE"; other names unchanged, not yet sanitized. */
void davy_type_text(const char *mangled, char *buf, size_t size);

#define DAVY_DURATION_TEXT_SIZE 32

/* "340 ms", "1.2 s", "5 min", "3 h": truncated, not rounded. */
void davy_duration_text(uint64_t ns, char *buf, size_t size);

/* The reason in one clause, sanitized: what was observed against which threshold. */
void davy_reason_text(const struct davy_plan *plan, char *buf, size_t size);

#endif
