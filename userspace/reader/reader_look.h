/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader's answers to the agent; see look.h for the records. */
#ifndef DAVY_READER_LOOK_H
#define DAVY_READER_LOOK_H

#include "sensors/proc/look.h"

/* The caller closes the ret_reply->file_count descriptors in "ret_files". */
void davy_look_answer(const struct davy_look_request *q, struct davy_look_reply *ret_reply,
		      int ret_files[DAVY_LOOK_FILES]);
void davy_look_answer_start(const struct davy_look_request *q, struct davy_look_start *ret_start);

/*
 * Adds the probe sites of library "path" (as from davy_process_traces) and its descriptor to the
 * reply. A library that is not on a local file system gets none.
 */
enum davy_library {
	DAVY_LIBRARY_CXX = 0,
	DAVY_LIBRARY_GGML = 1,
	DAVY_LIBRARY_LLAMA = 2
};
void davy_library_sites(uint32_t pid, enum davy_library library, const char *path,
			struct davy_look_reply *r, int files[DAVY_LOOK_FILES]);

#endif
