/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent believes of a reader's reply: checks only, no system call. */
#include <string.h>

#include "sensors/proc/look.h"

#define OFFSET_MAX ((uint64_t)1 << 40) /* in a file */

const char *dl_site_name(enum dl_site site)
{
	static const char *const names[DL_SITE_COUNT] = {
		[DL_SITE_THROW] = "throw",     [DL_SITE_SYNCHRONIZE] = "synchronize",
		[DL_SITE_COMPUTE] = "compute", [DL_SITE_SET] = "set",
		[DL_SITE_GET] = "get",	       [DL_SITE_UBATCH] = "ubatch",
		[DL_SITE_DECODE] = "decode",
	};

	return names[site];
}

#define TERMINATED(text) (memchr(text, 0, sizeof(text)) != NULL)

static bool strings_end(const struct dl_ev_process *p)
{
	for (size_t i = 0; i < DL_DEVICES_MAX - 1; i++)
		if (!TERMINATED(p->more_devices[i]))
			return false;
	return TERMINATED(p->comm) && TERMINATED(p->device) && TERMINATED(p->model) &&
	       TERMINATED(p->architecture) && TERMINATED(p->quantisation) &&
	       TERMINATED(p->cache_k) && TERMINATED(p->cache_v) && TERMINATED(p->unit) &&
	       TERMINATED(p->container) && TERMINATED(p->pod);
}

static bool process_valid(const struct dl_ev_process *p, uint64_t start_ticks)
{
	const unsigned int flags = DL_PROCESS_CONTEXT_ASSUMED | DL_PROCESS_USER_UNIT |
				   DL_PROCESS_PARTIAL | DL_PROCESS_PORT_ASSUMED;

	return p->start_ticks == start_ticks && !p->workload && p->engine < DL_ENGINE_COUNT &&
	       p->backend < DL_BACKEND_COUNT && p->role < DL_ROLE_COUNT &&
	       p->runtime < DL_RUNTIME_COUNT && !(p->flags & ~flags) && strings_end(p);
}

bool dl_look_reply_valid(const struct dl_look_reply *r, const struct dl_look_request *q,
			 size_t file_count)
{
	if (r->serial != q->serial || r->pid != q->pid || r->error > 0 || r->error < -4095)
		return false;
	if (r->file_count != file_count || file_count > DL_LOOK_FILES)
		return false;
	if (r->error)
		return !file_count;
	if (r->site_count > DL_LOOK_SITES || r->has_command > 1 || r->no_gpu > 1 ||
	    r->opens_gpu > 1 || r->device_used > 1 || r->version_read > 1 ||
	    r->loaded_backends >= 1U << DL_BACKEND_COUNT || !TERMINATED(r->engine))
		return false;
	for (size_t i = 0; i < r->site_count; i++)
		if (r->site[i].site >= DL_SITE_COUNT || r->site[i].file >= file_count ||
		    r->site[i].offset >= OFFSET_MAX)
			return false;
	return process_valid(&r->ev, q->start_ticks);
}

/* Texts end with a NUL within their size: dl_process_start_take() walks over them. */
bool dl_look_start_valid(const struct dl_look_start *r, const struct dl_look_request *q)
{
	if (r->serial != q->serial || r->pid != q->pid || r->error > 0 || r->error < -4095)
		return false;
	if (r->error)
		return true;
	return r->command_size && r->command_size < sizeof(r->command) &&
	       r->environment_size < sizeof(r->environment) && !r->command[r->command_size] &&
	       !r->environment[r->environment_size] && TERMINATED(r->exe);
}
