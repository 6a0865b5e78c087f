/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kmsg/kmsg_table.h"

#include <string.h>

#include "engines/engine.h"

static const struct davy_kmsg_group *const groups[DAVY_KMSG_GROUPS] = {
	/* clang-format off */
	&davy_kmsg_amdgpu, &davy_kmsg_kfd, &davy_kmsg_i915, &davy_kmsg_xe, &davy_kmsg_xe_short,
	&davy_kmsg_drm, &davy_kmsg_nvidia, &davy_kmsg_nvidia_bare, &davy_kmsg_nvidia_quoted,
	&davy_kmsg_host, &davy_kmsg_named,
	/* clang-format on */
};

static bool kmsg_table_alike(const char *pattern, const char *text)
{
	return *pattern == *text || *pattern == '%' || *pattern == '{' || *pattern == '*';
}

/* A crash in ggml is an engine's. A crash in libvulkan may be a game's and does not count. */
static bool kmsg_table_is_engine_crash(const struct davy_kmsg_line *line,
				       const struct davy_kmsg_match *match, uint16_t kind)
{
	if (davy_engine_of_comm(match->comm) != DAVY_ENGINE_NONE)
		return true;
	return kind == DAVY_LOG_ENGINE_SEGFAULT &&
	       (strstr(line->text, " in libggml") || strstr(line->text, " in libllama"));
}

/* Ignore IOMMU faults and bus errors of other devices. */
static bool kmsg_table_about_gpu(const struct davy_kmsg_line *line,
				 const struct davy_kmsg_match *match, uint16_t kind)
{
	if (kind == DAVY_LOG_ENGINE_CRASHED || kind == DAVY_LOG_ENGINE_SEGFAULT)
		return kmsg_table_is_engine_crash(line, match, kind);
	if (kind == DAVY_LOG_AER && match->device[0])
		return true; /* of a port: the message names the device */
	if (kind != DAVY_LOG_IOMMU_FAULT && kind != DAVY_LOG_AER && kind != DAVY_LOG_AER_CORRECTED)
		return true;
	return line->driver != DAVY_KMSG_OTHER && line->driver != DAVY_KMSG_NPU;
}

static const struct davy_kmsg_row *kmsg_table_find(const struct davy_kmsg_group *group,
						   const struct davy_kmsg_line *line,
						   struct davy_kmsg_match *match)
{
	for (size_t i = 0; i < group->count; i++) {
		const struct davy_kmsg_row *row = &group->rows[i];

		if (!kmsg_table_alike(row->pattern, line->text))
			continue;
		memset(match, 0, sizeof(*match));
		if (!davy_kmsg_pattern(row->pattern, line->text, match))
			continue;
		if (kmsg_table_about_gpu(line, match, row->kind))
			return row;
	}
	return NULL;
}

static bool kmsg_table_may(const struct davy_kmsg_group *group, const struct davy_kmsg_line *line)
{
	if ((group == &davy_kmsg_named) != !!(line->flags & DAVY_KMSG_NAMED))
		return false;
	if (group == &davy_kmsg_nvidia_quoted && !(line->flags & DAVY_KMSG_SAVED))
		return false;
	return group->drivers & (1u << line->driver);
}

const struct davy_kmsg_row *davy_kmsg_row_of(const struct davy_kmsg_line *line,
					     struct davy_kmsg_match *ret_match)
{
	const struct davy_kmsg_row *row = NULL;
	struct davy_kmsg_match match;

	for (size_t i = 0; i < DAVY_KMSG_GROUPS && !row; i++)
		if (kmsg_table_may(groups[i], line))
			row = kmsg_table_find(groups[i], line, &match);
	if (!row)
		return NULL;
	match.kind = row->kind;
	if (!match.device[0])
		memcpy(match.device, line->device, sizeof(match.device));
	*ret_match = match;
	return row;
}

bool davy_kmsg_match(const struct davy_kmsg_line *line, struct davy_kmsg_match *ret_match)
{
	static const struct davy_kmsg_match npu = { .kind = DAVY_LOG_NPU };

	if (line->driver == DAVY_KMSG_NPU) {
		*ret_match = npu;
		memcpy(ret_match->device, line->device, sizeof(ret_match->device));
		return true;
	}
	return davy_kmsg_row_of(line, ret_match) != NULL && ret_match->kind != DAVY_LOG_NOTHING;
}

bool davy_kmsg_names_process(const char *text)
{
	struct davy_kmsg_match match;

	for (size_t i = 0; i < davy_kmsg_named.count; i++) {
		const char *pattern = davy_kmsg_named.rows[i].pattern;

		if (kmsg_table_alike(pattern, text) && davy_kmsg_pattern(pattern, text, &match))
			return true;
	}
	return false;
}
