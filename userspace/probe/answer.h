/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What leaves a probe: one JSON line by write(2), and before it, where the parent wants them, the
 * stages as they begin, so that a crash or a hang is known by where it was.
 */
#ifndef DAVY_ANSWER_H
#define DAVY_ANSWER_H

#include <jansson.h>
#include <stdbool.h>

/* Keeps stdout for the answer and gives fd 1 to /dev/null: drivers print. 0 or -errno. */
int davy_answer_open(bool stages);

/* "stage" and "device" (may be NULL) need no quoting in JSON. */
void davy_answer_stage(const char *stage, const char *device);
const char *davy_answer_last_stage(void);

/* What the sandbox is made of; part of every answer. */
void davy_answer_sandbox(int landlock_abi);

/* Writes the line, takes the reference. Exit status: 0, or 1 when it could not be written. */
int davy_answer_give(json_t *answer);

/* A JSON text of what may be no valid UTF-8. */
json_t *davy_answer_text(const char *text);

#endif
