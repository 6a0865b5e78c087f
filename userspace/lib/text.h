/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sanitizes untrusted text, which may contain newlines, terminal escapes and invalid UTF-8. */
#ifndef DAVY_TEXT_H
#define DAVY_TEXT_H

#include <stddef.h>

/*
 * Copies "src". Writes control bytes and invalid UTF-8 as \xNN and doubles each backslash. The
 * result is always terminated and is truncated between characters.
 */
char *davy_text_safe(char *dst, size_t size, const char *src);

/* Like davy_text_safe, but copies printable text unchanged: it may be sanitized already. */
char *davy_text_shown(char *dst, size_t size, const char *src);

/*
 * Quotes a word for a shell, on one printable line: plain words unchanged, others in '...', words
 * with unprintable bytes in $'...'. The caller frees the result; NULL: no memory.
 */
char *davy_text_shell(const char *word);

/* Length of the valid UTF-8 sequence at "at", 0 if invalid. Never reads past the NUL. */
size_t davy_utf8_length(const char *at);

/* Number of leading bytes that are printable; a backslash is printable. */
size_t davy_text_shown_length(const char *text);

/* Describes "error", 0 or an -errno from outside. Never NULL. */
const char *davy_error_text(int error);

#define DAVY_WORD_MAX 48

/* Edit distance of two words; DAVY_WORD_MAX if one has DAVY_WORD_MAX characters or more. */
size_t davy_text_distance(const char *a, const char *b);

/* True if "typed" may be a misspelling of "word": distance at most 1 plus a third of its length. */
int davy_text_near(const char *typed, const char *word);

/* Last component of a path; empty only if "path" is empty. */
const char *davy_base_name(const char *path);

#endif
