/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A reader's answers to the agent's requests: see look.h for the records. */
#ifndef DL_READER_LOOK_H
#define DL_READER_LOOK_H

#include "sensors/proc/look.h"

/* "ret_files" holds ret_reply->file_count descriptors, which are the caller's to close. */
void dl_look_answer(const struct dl_look_request *q, struct dl_look_reply *ret_reply,
		    int ret_files[DL_LOOK_FILES]);
void dl_look_answer_start(const struct dl_look_request *q, struct dl_look_start *ret_start);

/*
 * Where to probe the library "path", as dl_process_traces has it. Adds its sites to the reply, with
 * its descriptor if it has any. A library that is not local gets none.
 */
enum dl_library {
	DL_LIBRARY_CXX = 0,
	DL_LIBRARY_GGML = 1,
	DL_LIBRARY_LLAMA = 2
};
void dl_library_sites(uint32_t pid, enum dl_library library, const char *path,
		      struct dl_look_reply *r, int files[DL_LOOK_FILES]);

#endif
