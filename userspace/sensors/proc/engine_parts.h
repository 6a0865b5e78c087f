/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The backends of an installed engine, from the libraries in the places of the engine's row. */
#ifndef DAVY_ENGINE_PARTS_H
#define DAVY_ENGINE_PARTS_H

#include "core/event/types.h"

/*
 * Bits 1 << enum davy_backend, including the CPU. 0: unknown, because no ggml library is next to
 * the engine (a static build, a script, another root), or the engine has its backends elsewhere.
 * "program" is searched as by execvp.
 */
uint32_t davy_engine_parts(enum davy_engine engine, const char *program);

#endif
