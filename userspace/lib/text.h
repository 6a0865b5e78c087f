/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text from outside made fit to be shown: names of processes, models and files may hold newlines,
 * terminal escapes and invalid UTF-8.
 */
#ifndef DAVY_TEXT_H
#define DAVY_TEXT_H

#include <stddef.h>

/*
 * Copies "src" with every control byte and every byte that is not part of valid UTF-8 written as
 * \xNN, and backslash doubled. Always terminated; what does not fit is cut between characters.
 */
char *davy_text_safe(char *dst, size_t size, const char *src);

/* The same, but a text of which everything can be shown stays as it is: it may be safe already. */
char *davy_text_shown(char *dst, size_t size, const char *src);

/*
 * A word as a shell takes it, on one line of what can be shown: plain words as they are, others in
 * '...', and in $'...' where something is not to be shown. To be freed; NULL: no memory.
 */
char *davy_text_shell(const char *word);

/* Length of the valid UTF-8 sequence at "at", 0 when it is none. Reads no further than the NUL. */
size_t davy_utf8_length(const char *at);

/* How many bytes of it, from its beginning on, can be shown as they are; a backslash can. */
size_t davy_text_shown_length(const char *text);

/* What "error", 0 or -errno as somebody else told it, means; never NULL. */
const char *davy_error_text(int error);

#define DAVY_WORD_MAX 48

/*
 * How many letters must be put in, left out or changed to make one word of the other; words of
 * DAVY_WORD_MAX letters and more are DAVY_WORD_MAX apart.
 */
size_t davy_text_distance(const char *a, const char *b);

/* Whether "word" may be meant by "typed": a third of its letters and one may be wrong. */
int davy_text_near(const char *typed, const char *word);

/* Last path component, never empty unless "path" is. */
const char *davy_base_name(const char *path);

#endif
