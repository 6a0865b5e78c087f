/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Validates a reader's reply. Makes no system call. */
#include <string.h>

#include "sensors/proc/look.h"

#define OFFSET_MAX ((uint64_t)1 << 40) /* in a file */

const char *davy_site_name(enum davy_site site)
{
	static const char *const names[DAVY_SITE_COUNT] = {
		[DAVY_SITE_THROW] = "throw",	 [DAVY_SITE_SYNCHRONIZE] = "synchronize",
		[DAVY_SITE_COMPUTE] = "compute", [DAVY_SITE_SET] = "set",
		[DAVY_SITE_GET] = "get",	 [DAVY_SITE_UBATCH] = "ubatch",
		[DAVY_SITE_DECODE] = "decode",	 [DAVY_SITE_RESULT] = "result",
	};

	return names[site];
}

#define TERMINATED(text) (memchr(text, 0, sizeof(text)) != NULL)

static bool look_valid_strings(const struct davy_ev_process *p)
{
	for (size_t i = 0; i < DAVY_DEVICES_MAX - 1; i++)
		if (!TERMINATED(p->more_devices[i]))
			return false;
	return TERMINATED(p->comm) && TERMINATED(p->device) && TERMINATED(p->model) &&
	       TERMINATED(p->architecture) && TERMINATED(p->quantisation) &&
	       TERMINATED(p->cache_k) && TERMINATED(p->cache_v) && TERMINATED(p->unit) &&
	       TERMINATED(p->container) && TERMINATED(p->pod);
}

static bool look_valid_process(const struct davy_ev_process *p, uint64_t start_ticks)
{
	const unsigned int flags = DAVY_PROCESS_CONTEXT_ASSUMED | DAVY_PROCESS_USER_UNIT |
				   DAVY_PROCESS_PARTIAL | DAVY_PROCESS_PORT_ASSUMED;

	return p->start_ticks == start_ticks && !p->workload && p->engine < DAVY_ENGINE_COUNT &&
	       p->backend < DAVY_BACKEND_COUNT && p->role < DAVY_ROLE_COUNT &&
	       p->runtime < DAVY_RUNTIME_COUNT && !(p->flags & ~flags) && look_valid_strings(p);
}

bool davy_look_reply_valid(const struct davy_look_reply *r, const struct davy_look_request *q,
			   size_t file_count)
{
	if (r->serial != q->serial || r->pid != q->pid || r->error > 0 || r->error < -4095)
		return false;
	if (r->file_count != file_count || file_count > DAVY_LOOK_FILES)
		return false;
	if (r->error)
		return !file_count;
	if (r->site_count > DAVY_LOOK_SITES || r->has_command > 1 || r->no_gpu > 1 ||
	    r->opens_gpu > 1 || r->device_used > 1 || r->version_read > 1 ||
	    r->loaded_backends >= 1U << DAVY_BACKEND_COUNT || !TERMINATED(r->engine))
		return false;
	for (size_t i = 0; i < r->site_count; i++)
		if (r->site[i].site >= DAVY_SITE_COUNT || r->site[i].file >= file_count ||
		    r->site[i].offset >= OFFSET_MAX)
			return false;
	return look_valid_process(&r->ev, q->start_ticks);
}

/* Each text ends with a NUL within its size: davy_process_start_take() relies on that. */
bool davy_look_start_valid(const struct davy_look_start *r, const struct davy_look_request *q)
{
	if (r->serial != q->serial || r->pid != q->pid || r->error > 0 || r->error < -4095)
		return false;
	if (r->error)
		return true;
	return r->command_size && r->command_size < sizeof(r->command) &&
	       r->environment_size < sizeof(r->environment) && !r->command[r->command_size] &&
	       !r->environment[r->environment_size] && TERMINATED(r->exe);
}
