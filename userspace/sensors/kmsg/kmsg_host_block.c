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

static bool kmsg_host_block_begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool kmsg_host_block_engine_named(const struct davy_kmsg_match *match)
{
	return davy_engine_of_comm(match->comm) != DAVY_ENGINE_NONE;
}

static bool about_memory(uint16_t kind)
{
	return kind == DAVY_LOG_OOM_INVOKED || kind == DAVY_LOG_PAGE_ALLOC_FAILED ||
	       kind == DAVY_LOG_MEMORY_REPORT;
}

/* A container that is out of its own memory is the host's trouble only if an engine dies of it. */
static bool of_a_cgroup(const struct davy_kmsg_line *line)
{
	return kmsg_host_block_begins(line->text, "Memory cgroup out of memory") ||
	       kmsg_host_block_begins(line->text, "oom-kill:constraint=CONSTRAINT_MEMCG");
}

/* The end of a report about memory, or all that there is of it. */
static void take_kill(struct davy_log_blocks *b, const struct davy_kmsg_line *line,
		      const struct davy_kmsg_match *match)
{
	struct davy_log_slot *host = &b->host;

	if (!host->open || !about_memory(host->ev.kind))
		davy_log_begin_block(b, host, DAVY_LOG_OOM_KILL, line, match);
	davy_log_set_meaning(&host->ev, DAVY_LOG_OOM_KILL);
	host->ev.pid = match->pid;
	memcpy(host->ev.comm, match->comm, sizeof(host->ev.comm));
	host->silent = of_a_cgroup(line) && !kmsg_host_block_engine_named(match);
	davy_log_close_block(b, host);
}

/* One event, of the first line; "oom-kill:" comes after the report of memory. */
static bool of_memory_report(struct davy_log_blocks *b, const struct davy_kmsg_line *line,
			     const struct davy_kmsg_match *match)
{
	struct davy_log_slot *host = &b->host;

	switch (match->kind) {
	case DAVY_LOG_OOM_INVOKED:
		if (!kmsg_host_block_begins(line->text, "oom-kill:constraint="))
			return false; /* another one */
		davy_log_set_meaning(&host->ev, DAVY_LOG_OOM_INVOKED);
		host->silent = of_a_cgroup(line);
		break;
	case DAVY_LOG_NOTHING:
	case DAVY_LOG_TRACE:
	case DAVY_LOG_MEMORY_REPORT:
		break;
	default:
		return false; /* what others say meanwhile */
	}
	if (davy_log_elapsed(host->ev.at_ns, line->at_ns, line->clock) >= DAVY_LOG_REPORT_NS) {
		davy_log_close_block(b, host);
		return false;
	}
	davy_log_touch(b, host, line);
	return true;
}

/* Lines below a hung task: its stack. It counts with a GPU's driver on it. */
static bool of_hung_task(struct davy_log_blocks *b, const struct davy_kmsg_line *line,
			 uint16_t kind)
{
	struct davy_log_slot *host = &b->host;

	if (kind != DAVY_LOG_NOTHING && kind != DAVY_LOG_TRACE &&
	    kind != DAVY_LOG_RESTORE_WORKER_STACK && kind != DAVY_LOG_MEMORY_REPORT) {
		davy_log_close_block(b, host);
		return false;
	}
	if (names_gpu_module(line->text))
		host->silent = false;
	davy_log_touch(b, host, line);
	if (++host->line_count >= DAVY_LOG_BLOCK_LINES)
		davy_log_close_block(b, host);
	return true;
}

bool davy_log_host_follows(struct davy_log_blocks *b, const struct davy_kmsg_line *line,
			   const struct davy_kmsg_match *match)
{
	if (!b->host.open)
		return false;
	if (b->host.ev.kind == DAVY_LOG_HUNG_TASK)
		return of_hung_task(b, line, match->kind);
	return of_memory_report(b, line, match);
}

void davy_log_host_take(struct davy_log_blocks *b, const struct davy_kmsg_line *line,
			const struct davy_kmsg_match *match)
{
	struct davy_log_event ev;

	if (match->kind == DAVY_LOG_OOM_KILL) {
		take_kill(b, line, match);
	} else if (match->kind == DAVY_LOG_HUNG_TASK || about_memory(match->kind)) {
		davy_log_begin_block(b, &b->host, match->kind, line, match);
		b->host.silent = match->kind == DAVY_LOG_HUNG_TASK
					 ? !names_gpu_module(line->text) &&
						   !kmsg_host_block_engine_named(match)
					 : of_a_cgroup(line);
	} else {
		ev = davy_log_make_event(b, match->kind, match->device, line, match);
		b->sink(b->arg, &ev);
	}
}
