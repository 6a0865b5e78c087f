/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text from outside made fit to be shown: names of processes, models and files may hold newlines,
 * terminal escapes and invalid UTF-8.
 */
#ifndef DL_LIB_TEXT_H
#define DL_LIB_TEXT_H

#include <stddef.h>

/*
 * Copies "src" with every control byte and every byte that is not part of valid UTF-8 written as
 * \xNN, and backslash doubled. Always terminated; what does not fit is cut between characters.
 */
char *dl_text_safe(char *dst, size_t size, const char *src);

/* Length of the valid UTF-8 sequence at "at", 0 when it is none. Reads no further than the NUL. */
size_t dl_utf8_length(const char *at);

#endif
