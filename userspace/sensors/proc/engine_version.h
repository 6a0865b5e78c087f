/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The build of the engine that a process runs: build ids of its executable and of llama.cpp's
 * libraries, and the versions in the names of these files. Starts no program.
 */
#ifndef DAVY_ENGINE_VERSION_H
#define DAVY_ENGINE_VERSION_H

#include "sensors/proc/process_info.h"

/*
 * "llama-server, llama 0.0.8681, ggml 0.9.11, build 0123456789abcdef"; "" if unknown, for example
 * for an engine in an interpreter. For a file without an id, or on a file system that may block,
 * its size and modification time are used instead.
 */
void davy_engine_version_read(const struct davy_process_info *info,
			      char ret_text[DAVY_VERSION_TEXT_LEN]);

#endif
