/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/reader_look.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "sensors/proc/engine_version.h"

static void look_version(const struct davy_look_request *q, const struct davy_process_info *info,
			 struct davy_look_reply *r)
{
	/* Without all libraries mapped the version would differ. */
	bool mapped = info->llama_library[0] && info->ggml_library[0];

	if (!(q->wants & DAVY_WANT_VERSION_NOW) && (!(q->wants & DAVY_WANT_VERSION) || !mapped))
		return;
	davy_engine_version_read(info, r->engine);
	r->version_read = 1;
}

static void look_libraries(const struct davy_look_request *q, const struct davy_process_info *info,
			   struct davy_look_reply *r, int files[DAVY_LOOK_FILES])
{
	if (q->wants & DAVY_WANT_CXX)
		davy_library_sites(q->pid, DAVY_LIBRARY_CXX, info->cxx_library, r, files);
	if (q->wants & DAVY_WANT_GGML)
		davy_library_sites(q->pid, DAVY_LIBRARY_GGML, info->ggml_library, r, files);
	if (q->wants & DAVY_WANT_LLAMA)
		davy_library_sites(q->pid, DAVY_LIBRARY_LLAMA, info->llama_library, r, files);
}

void davy_look_answer(const struct davy_look_request *q, struct davy_look_reply *ret_reply,
		      int ret_files[DAVY_LOOK_FILES])
{
	static struct davy_process_info info; /* one thread */
	struct davy_look_reply *r = ret_reply;

	memset(r, 0, sizeof(*r));
	r->serial = q->serial;
	r->pid = q->pid;
	r->error = davy_process_info_look(q->pid, (enum davy_look)q->look, &q->used, &info);
	if (r->error)
		return;
	r->ev = info.ev;
	r->has_command = info.has_command;
	r->no_gpu = info.no_gpu;
	r->opens_gpu = info.opens_gpu;
	r->device_used = info.device_used;
	r->loaded_backends = info.loaded_backends;
	if (info.ev.engine != DAVY_ENGINE_NONE) {
		look_version(q, &info, r);
		look_libraries(q, &info, r, ret_files);
	}
	/* Verifies that the pid was not reused while it was read. */
	if (info.ev.start_ticks == q->start_ticks && davy_process_start(q->pid) == q->start_ticks)
		return;
	for (size_t i = 0; i < r->file_count; i++)
		close(ret_files[i]);
	r->file_count = 0;
	r->error = -ESRCH;
}

void davy_look_answer_start(const struct davy_look_request *q, struct davy_look_start *ret_start)
{
	struct davy_look_start *r = ret_start;
	size_t command = 0, environment = 0;

	memset(r, 0, offsetof(struct davy_look_start, exe));
	r->serial = q->serial;
	r->pid = q->pid;
	r->exe[0] = 0;
	r->error = davy_process_start_texts(q->pid, r->command, &command, r->environment,
					    &environment, r->exe);
	if (!r->error && davy_process_start(q->pid) != q->start_ticks)
		r->error = -ESRCH;
	r->command_size = (uint32_t)command;
	r->environment_size = (uint32_t)environment;
}
