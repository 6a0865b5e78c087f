/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output of a probe: one JSON line by write(2). If the parent wants them, the stages come first
 * as they begin, so that the place of a crash or a hang is known.
 */
#ifndef DAVY_ANSWER_H
#define DAVY_ANSWER_H

#include <jansson.h>
#include <stdbool.h>

/* Keeps stdout for the answer and redirects fd 1 to /dev/null: drivers print. 0 or -errno. */
int davy_answer_open(bool stages);

/* "stage" and "device" (may be NULL) contain nothing that JSON must quote. */
void davy_answer_stage(const char *stage, const char *device);
const char *davy_answer_last_stage(void);

/* Records the parts of the sandbox, for every answer. */
void davy_answer_sandbox(int landlock_abi);

/* Writes the line; takes the reference. Exit status: 0, or 1 if it could not be written. */
int davy_answer_give(json_t *answer);

/* A JSON string of text that may not be valid UTF-8. */
json_t *davy_answer_text(const char *text);

#endif
