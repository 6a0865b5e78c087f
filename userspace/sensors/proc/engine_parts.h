/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which backends an engine was installed with, from the libraries that lie where ggml looks. */
#ifndef DAVY_ENGINE_PARTS_H
#define DAVY_ENGINE_PARTS_H

#include "core/event/types.h"

/*
 * Bits 1 << enum davy_backend, the CPU among them; 0: not known, since none of ggml's libraries
 * lies beside it (a static build, a script, another root), or the engine has its backends
 * otherwise. "program" is found as execvp would.
 */
uint32_t davy_engine_parts(enum davy_engine engine, const char *program);

#endif
