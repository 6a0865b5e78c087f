/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kmsg/kmsg_host_block.h"

#include <string.h>

#include "engines/engine.h"

static bool kmsg_host_block_names_gpu(const char *text)
{
	/* modules in a stack, and names of their functions and workers */
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

static bool kmsg_host_block_about_memory(uint16_t kind)
{
	return kind == DAVY_LOG_OOM_INVOKED || kind == DAVY_LOG_PAGE_ALLOC_FAILED ||
	       kind == DAVY_LOG_MEMORY_REPORT;
}

/* A memory cgroup's limit concerns the host only if an engine dies of it. */
static bool kmsg_host_block_of_cgroup(const struct davy_kmsg_line *line)
{
	return kmsg_host_block_begins(line->text, "Memory cgroup out of memory") ||
	       kmsg_host_block_begins(line->text, "oom-kill:constraint=CONSTRAINT_MEMCG");
}

/* The end of a memory report, or the only line of it. */
static void kmsg_host_block_take_kill(struct davy_log_blocks *b, const struct davy_kmsg_line *line,
				      const struct davy_kmsg_match *match)
{
	struct davy_log_slot *host = &b->host;

	if (!host->open || !kmsg_host_block_about_memory(host->ev.kind))
		davy_log_begin_block(b, host, DAVY_LOG_OOM_KILL, line, match);
	davy_log_set_meaning(&host->ev, DAVY_LOG_OOM_KILL);
	davy_log_name_process(b, &host->ev, match);
	host->silent = kmsg_host_block_of_cgroup(line) && !kmsg_host_block_engine_named(match);
	davy_log_close_block(b, host);
}

/* The report is one event, of its first line. "oom-kill:" follows the report. */
static bool kmsg_host_block_of_report(struct davy_log_blocks *b, const struct davy_kmsg_line *line,
				      const struct davy_kmsg_match *match)
{
	struct davy_log_slot *host = &b->host;

	switch (match->kind) {
	case DAVY_LOG_OOM_INVOKED:
		if (!kmsg_host_block_begins(line->text, "oom-kill:constraint="))
			return false; /* a new report */
		davy_log_set_meaning(&host->ev, DAVY_LOG_OOM_INVOKED);
		host->silent = kmsg_host_block_of_cgroup(line);
		break;
	case DAVY_LOG_NOTHING:
	case DAVY_LOG_TRACE:
	case DAVY_LOG_MEMORY_REPORT:
		break;
	default:
		return false; /* unrelated lines in between */
	}
	if (davy_log_elapsed(host->ev.at_ns, line->at_ns, line->clock) >= DAVY_LOG_REPORT_NS) {
		davy_log_close_block(b, host);
		return false;
	}
	davy_log_touch(b, host, line);
	return true;
}

/* The lines after a hung task are its stack. The event counts if a GPU driver is on it. */
static bool kmsg_host_block_of_hung_task(struct davy_log_blocks *b,
					 const struct davy_kmsg_line *line, uint16_t kind)
{
	struct davy_log_slot *host = &b->host;

	if (kind != DAVY_LOG_NOTHING && kind != DAVY_LOG_TRACE &&
	    kind != DAVY_LOG_RESTORE_WORKER_STACK && kind != DAVY_LOG_MEMORY_REPORT) {
		davy_log_close_block(b, host);
		return false;
	}
	if (kmsg_host_block_names_gpu(line->text))
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
		return kmsg_host_block_of_hung_task(b, line, match->kind);
	return kmsg_host_block_of_report(b, line, match);
}

void davy_log_host_take(struct davy_log_blocks *b, const struct davy_kmsg_line *line,
			const struct davy_kmsg_match *match)
{
	struct davy_log_event ev;

	if (match->kind == DAVY_LOG_OOM_KILL) {
		kmsg_host_block_take_kill(b, line, match);
	} else if (match->kind == DAVY_LOG_HUNG_TASK || kmsg_host_block_about_memory(match->kind)) {
		davy_log_begin_block(b, &b->host, match->kind, line, match);
		b->host.silent = match->kind == DAVY_LOG_HUNG_TASK
					 ? !kmsg_host_block_names_gpu(line->text) &&
						   !kmsg_host_block_engine_named(match)
					 : kmsg_host_block_of_cgroup(line);
	} else {
		ev = davy_log_make_event(b, match->kind, match->device, line, match);
		b->sink(b->arg, &ev);
	}
}
