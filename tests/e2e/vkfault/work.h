/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many workgroups are recorded in each command buffer. */
#ifndef VKFAULT_WORK_H
#define VKFAULT_WORK_H

#include <stdint.h>

/* Recording begins: nothing is in it yet. */
void work_begin(const void *buffer);
void work_add(const void *buffer, uint64_t groups);
uint64_t work_of(const void *buffer);

#endif
