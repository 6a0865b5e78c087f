/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kmsg/kmsg_table.h"

#include <string.h>

#include "engines/engine.h"

static const struct dl_kmsg_group *const groups[DL_KMSG_GROUPS] = {
	/* clang-format off */
	&dl_kmsg_amdgpu, &dl_kmsg_kfd, &dl_kmsg_i915, &dl_kmsg_xe, &dl_kmsg_xe_short,
	&dl_kmsg_drm, &dl_kmsg_nvidia, &dl_kmsg_nvidia_quoted, &dl_kmsg_host, &dl_kmsg_named,
	/* clang-format on */
};

static bool starts_alike(const char *pattern, const char *text)
{
	return *pattern == *text || *pattern == '%' || *pattern == '{' || *pattern == '*';
}

/* A game that dies in libvulkan is none of ours; whoever dies in ggml is an engine. */
static bool engine_died(const struct dl_kmsg_line *line, const struct dl_kmsg_match *match,
			uint16_t kind)
{
	if (dl_engine_of_comm(match->comm) != DL_ENGINE_NONE)
		return true;
	return kind == DL_LOG_ENGINE_SEGFAULT &&
	       (strstr(line->text, " in libggml") || strstr(line->text, " in libllama"));
}

/* IOMMU faults and bus errors of other devices are none of ours. */
static bool about_a_gpu(const struct dl_kmsg_line *line, const struct dl_kmsg_match *match,
			uint16_t kind)
{
	if (kind == DL_LOG_ENGINE_CRASHED || kind == DL_LOG_ENGINE_SEGFAULT)
		return engine_died(line, match, kind);
	if (kind != DL_LOG_IOMMU_FAULT && kind != DL_LOG_AER && kind != DL_LOG_AER_CORRECTED)
		return true;
	return line->driver != DL_KMSG_OTHER && line->driver != DL_KMSG_NPU;
}

static const struct dl_kmsg_row *find(const struct dl_kmsg_group *group,
				      const struct dl_kmsg_line *line, struct dl_kmsg_match *match)
{
	for (size_t i = 0; i < group->count; i++) {
		const struct dl_kmsg_row *row = &group->rows[i];

		if (!starts_alike(row->pattern, line->text))
			continue;
		memset(match, 0, sizeof(*match));
		if (!dl_kmsg_pattern(row->pattern, line->text, match))
			continue;
		if (about_a_gpu(line, match, row->kind))
			return row;
	}
	return NULL;
}

static bool may_say(const struct dl_kmsg_group *group, const struct dl_kmsg_line *line)
{
	if ((group == &dl_kmsg_named) != !!(line->flags & DL_KMSG_NAMED))
		return false;
	if (group == &dl_kmsg_nvidia_quoted && !(line->flags & DL_KMSG_SAVED))
		return false;
	return group->drivers & (1u << line->driver);
}

const struct dl_kmsg_row *dl_kmsg_row_of(const struct dl_kmsg_line *line,
					 struct dl_kmsg_match *ret_match)
{
	const struct dl_kmsg_row *row = NULL;
	struct dl_kmsg_match match;

	for (size_t i = 0; i < DL_KMSG_GROUPS && !row; i++)
		if (may_say(groups[i], line))
			row = find(groups[i], line, &match);
	if (!row)
		return NULL;
	match.kind = row->kind;
	if (!match.device[0])
		memcpy(match.device, line->device, sizeof(match.device));
	*ret_match = match;
	return row;
}

bool dl_kmsg_match(const struct dl_kmsg_line *line, struct dl_kmsg_match *ret_match)
{
	static const struct dl_kmsg_match npu = { .kind = DL_LOG_NPU };

	if (line->driver == DL_KMSG_NPU) {
		*ret_match = npu;
		memcpy(ret_match->device, line->device, sizeof(ret_match->device));
		return true;
	}
	return dl_kmsg_row_of(line, ret_match) != NULL && ret_match->kind != DL_LOG_NOTHING;
}

bool dl_kmsg_names_process(const char *text)
{
	struct dl_kmsg_match match;

	for (size_t i = 0; i < dl_kmsg_named.count; i++) {
		const char *pattern = dl_kmsg_named.rows[i].pattern;

		if (starts_alike(pattern, text) && dl_kmsg_pattern(pattern, text, &match))
			return true;
	}
	return false;
}
