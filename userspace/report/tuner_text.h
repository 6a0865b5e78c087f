/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why the tuner answers what it answers, for people. */
#ifndef DAVY_TUNER_TEXT_H
#define DAVY_TUNER_TEXT_H

#include "core/event/event.h"

#define DAVY_TUNER_TEXT_SIZE 160

/* "ubatch 512 -> 256: ring_timeout at 5000 tokens". One line, always terminated. */
void davy_tuner_text(const struct davy_tuner_reason *reason, char text[DAVY_TUNER_TEXT_SIZE]);

/* "256", "q8_0"; of a knob's size. */
void davy_tuner_size_text(uint32_t knob, uint32_t size, char *text, size_t text_size);

#endif
