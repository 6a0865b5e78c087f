/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A reader's answers to the agent's requests: see look.h for the records. */
#ifndef DAVY_READER_LOOK_H
#define DAVY_READER_LOOK_H

#include "sensors/proc/look.h"

/* "ret_files" holds ret_reply->file_count descriptors, which are the caller's to close. */
void davy_look_answer(const struct davy_look_request *q, struct davy_look_reply *ret_reply,
		      int ret_files[DAVY_LOOK_FILES]);
void davy_look_answer_start(const struct davy_look_request *q, struct davy_look_start *ret_start);

/*
 * Where to probe the library "path", as davy_process_traces has it. Adds its sites to the reply,
 * with its descriptor if it has any. A library that is not local gets none.
 */
enum davy_library {
	DAVY_LIBRARY_CXX = 0,
	DAVY_LIBRARY_GGML = 1,
	DAVY_LIBRARY_LLAMA = 2
};
void davy_library_sites(uint32_t pid, enum davy_library library, const char *path,
			struct davy_look_reply *r, int files[DAVY_LOOK_FILES]);

#endif
