/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why the tuner answers what it answers, for people. */
#ifndef DL_REPORT_TUNER_TEXT_H
#define DL_REPORT_TUNER_TEXT_H

#include "core/event/event.h"

#define DL_TUNER_TEXT_SIZE 160

/* "ubatch 512 -> 256: ring_timeout at 5000 tokens". One line, always terminated. */
void dl_tuner_text(const struct dl_tuner_reason *reason, char text[DL_TUNER_TEXT_SIZE]);

/* "256", "q8_0"; of a knob's size. */
void dl_tuner_size_text(uint32_t knob, uint32_t size, char *text, size_t text_size);

#endif
