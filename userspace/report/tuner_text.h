/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reason of the tuner's decision, as text. */
#ifndef DAVY_TUNER_TEXT_H
#define DAVY_TUNER_TEXT_H

#include "core/event/event.h"

#define DAVY_TUNER_TEXT_SIZE 160

/* "ubatch 512 -> 256: ring_timeout at 5000 tokens". One line, always terminated. */
void davy_tuner_text(const struct davy_tuner_reason *reason, char text[DAVY_TUNER_TEXT_SIZE]);

/* "256", "q8_0"; the size of a setting. */
void davy_tuner_size_text(uint32_t setting, uint32_t size, char *text, size_t text_size);

#endif
