/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kmsg/kmsg_host_block.h"

#include <string.h>

#include "engines/engine.h"

static bool names_gpu_module(const char *text)
{
	/* modules as a stack names them, and what their own functions and workers are called */
	/* clang-format off */
	static const char *const words[] = {
		"[amdgpu", "[amdkfd", "[amdttm", "[amddrm", "[amd_sched", "[radeon", "[i915",
		"[xe]", "[nvidia", "[nouveau", "[ttm]", "[gpu_sched", "drm_sched_", "amdgpu_",
		"amdgpu-reset", "+kfd_",
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool engine_named(const struct dl_kmsg_match *match)
{
	return dl_engine_of_comm(match->comm) != DL_ENGINE_NONE;
}

static bool about_memory(uint16_t kind)
{
	return kind == DL_LOG_OOM_INVOKED || kind == DL_LOG_PAGE_ALLOC_FAILED ||
	       kind == DL_LOG_MEMORY_REPORT;
}

/* A container that is out of its own memory is the host's trouble only if an engine dies of it. */
static bool of_a_cgroup(const struct dl_kmsg_line *line)
{
	return begins(line->text, "Memory cgroup out of memory") ||
	       begins(line->text, "oom-kill:constraint=CONSTRAINT_MEMCG");
}

/* The end of a report about memory, or all that there is of it. */
static void take_kill(struct dl_log_blocks *b, const struct dl_kmsg_line *line,
		      const struct dl_kmsg_match *match)
{
	struct dl_log_slot *host = &b->host;

	if (!host->open || !about_memory(host->ev.kind))
		dl_log_begin_block(b, host, DL_LOG_OOM_KILL, line, match);
	dl_log_set_meaning(&host->ev, DL_LOG_OOM_KILL);
	host->ev.pid = match->pid;
	memcpy(host->ev.comm, match->comm, sizeof(host->ev.comm));
	host->silent = of_a_cgroup(line) && !engine_named(match);
	dl_log_close_block(b, host);
}

/* One event, of the first line; "oom-kill:" comes after the report of memory. */
static bool of_memory_report(struct dl_log_blocks *b, const struct dl_kmsg_line *line,
			     const struct dl_kmsg_match *match)
{
	struct dl_log_slot *host = &b->host;

	switch (match->kind) {
	case DL_LOG_OOM_INVOKED:
		if (!begins(line->text, "oom-kill:constraint="))
			return false; /* another one */
		dl_log_set_meaning(&host->ev, DL_LOG_OOM_INVOKED);
		host->silent = of_a_cgroup(line);
		break;
	case DL_LOG_NOTHING:
	case DL_LOG_TRACE:
	case DL_LOG_MEMORY_REPORT:
		break;
	default:
		return false; /* what others say meanwhile */
	}
	if (dl_log_elapsed(host->ev.at_ns, line->at_ns, line->clock) >= DL_LOG_REPORT_NS) {
		dl_log_close_block(b, host);
		return false;
	}
	dl_log_touch(b, host, line);
	return true;
}

/* Lines below a hung task: its stack. It counts with a GPU's driver on it. */
static bool of_hung_task(struct dl_log_blocks *b, const struct dl_kmsg_line *line, uint16_t kind)
{
	struct dl_log_slot *host = &b->host;

	if (kind != DL_LOG_NOTHING && kind != DL_LOG_TRACE && kind != DL_LOG_RESTORE_WORKER_STACK &&
	    kind != DL_LOG_MEMORY_REPORT) {
		dl_log_close_block(b, host);
		return false;
	}
	if (names_gpu_module(line->text))
		host->silent = false;
	dl_log_touch(b, host, line);
	if (++host->line_count >= DL_LOG_BLOCK_LINES)
		dl_log_close_block(b, host);
	return true;
}

bool dl_log_host_follows(struct dl_log_blocks *b, const struct dl_kmsg_line *line,
			 const struct dl_kmsg_match *match)
{
	if (!b->host.open)
		return false;
	if (b->host.ev.kind == DL_LOG_HUNG_TASK)
		return of_hung_task(b, line, match->kind);
	return of_memory_report(b, line, match);
}

void dl_log_host_take(struct dl_log_blocks *b, const struct dl_kmsg_line *line,
		      const struct dl_kmsg_match *match)
{
	struct dl_log_event ev;

	if (match->kind == DL_LOG_OOM_KILL) {
		take_kill(b, line, match);
	} else if (match->kind == DL_LOG_HUNG_TASK || about_memory(match->kind)) {
		dl_log_begin_block(b, &b->host, match->kind, line, match);
		b->host.silent = match->kind == DL_LOG_HUNG_TASK
					 ? !names_gpu_module(line->text) && !engine_named(match)
					 : of_a_cgroup(line);
	} else {
		ev = dl_log_make_event(b, match->kind, match->device, line, match);
		b->sink(b->arg, &ev);
	}
}
