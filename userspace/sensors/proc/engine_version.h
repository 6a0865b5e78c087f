/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which build of an engine a process runs: the build ids of its executable and of llama.cpp's
 * libraries, and their versions where the files' names have them. Nothing is started to be asked.
 */
#ifndef DAVY_ENGINE_VERSION_H
#define DAVY_ENGINE_VERSION_H

#include "sensors/proc/process_info.h"

/*
 * "llama-server, llama 0.0.8681, ggml 0.9.11, build 0123456789abcdef"; "" when nothing of it can be
 * told, as of an engine that an interpreter runs. A file without an id, or that is not read because
 * its file system may wait, counts by its size and the time of its last change.
 */
void davy_engine_version_read(const struct davy_process_info *info,
			      char ret_text[DAVY_VERSION_TEXT_LEN]);

#endif
