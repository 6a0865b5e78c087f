/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Format strings of the drivers and of the kernel: Debian's linux-source 6.1.192, 6.12.117 and
 * 7.2.13, and the open NVIDIA module 580.142 and 595.45.04. What a line means was read in the
 * function that writes it, not in our parser. Each is filled with arguments and written after
 * each prefix that its macro can put before it.
 */
#ifndef DAVY_TESTS_KMSG_SOURCES_H
#define DAVY_TESTS_KMSG_SOURCES_H

#include "sensors/kmsg/kmsg_table.h"

enum from {
	FROM_AMD,  /* dev_err(adev->dev) */
	FROM_DRM,  /* DRM_ERROR(), DRM_INFO(), drm_err(adev_to_drm()) */
	FROM_KFD,  /* pr_err() of amdkfd, dev_err(kfd_device) */
	FROM_RAS,  /* RAS_EVENT_LOG(), RAS_DEV_INFO(): the number of the event, if it has one */
	FROM_I915, /* drm_err(), gt_err() since 6.12 */
	FROM_GUC,  /* guc_err() since 6.12 */
	FROM_XE,   /* xe_gt_err(), xe_tile_err() */
	FROM_CORE, /* DRM's core for a device of any driver */
	FROM_TTM,
	FROM_NV, /* NV_PRINTF() */
	FROM_UVM,
	FROM_HOST,
	FROM_COUNT,
};

#define AMD_AT	"0000:03:00.0"
#define AMD2_AT "0001:c3:00.0"
#define I915_AT "0000:00:02.0"
#define NV_AT	"0000:65:00.0"

static const struct prefix {
	const char *text; /* NULL: the last one was before */
	const char *device;
} source_prefixes[FROM_COUNT][6] = {
	[FROM_AMD] = { { "amdgpu " AMD_AT ": amdgpu: ", AMD_AT },
		       { "amdgpu " AMD_AT ": ", AMD_AT },
		       { "amdgpu " AMD2_AT ": amdgpu: ", AMD2_AT } },
	[FROM_DRM] = { { "[drm:amdgpu_function [amdgpu]] *ERROR* ", "" },
		       { "[drm] *ERROR* ", "" },
		       { "[drm] ", "" },
		       { "amdgpu " AMD_AT ": [drm] *ERROR* ", AMD_AT },
		       { "amdgpu " AMD2_AT ": [drm] ", AMD2_AT },
		       { "amdgpu " AMD_AT ": [drm:amdgpu_function [amdgpu]] *ERROR* ", AMD_AT } },
	[FROM_KFD] = { { "amdgpu: ", "" },
		       { "kfd kfd: amdgpu: ", "" },
		       { "amdgpu " AMD_AT ": amdgpu: ", AMD_AT },
		       { "amdgpu " AMD2_AT ": ", AMD2_AT } },
	[FROM_RAS] = { { "amdgpu " AMD_AT ": amdgpu: ", AMD_AT },
		       { "amdgpu " AMD_AT ": amdgpu: {17}", AMD_AT },
		       { "amdgpu " AMD2_AT ": {18446744073709551615} ", AMD2_AT } },
	[FROM_I915] = { { "i915 " I915_AT ": [drm] ", I915_AT },
			{ "i915 " I915_AT ": [drm] *ERROR* ", I915_AT },
			{ "i915 " I915_AT ": [drm] *ERROR* GT1: ", I915_AT },
			{ "i915 " AMD_AT ": [drm] GT0: ", AMD_AT } },
	[FROM_GUC] = { { "i915 " I915_AT ": [drm] *ERROR* GT0: GUC: ", I915_AT },
		       { "i915 " AMD_AT ": [drm] GT1: GUC: ", AMD_AT } },
	[FROM_XE] = { { "xe " AMD_AT ": [drm] GT0: ", AMD_AT },
		      { "xe " AMD_AT ": [drm] *ERROR* GT1: ", AMD_AT },
		      { "xe " AMD_AT ": [drm] *ERROR* Tile0: GT0: ", AMD_AT },
		      { "xe " AMD2_AT ": [drm] Tile1: GT2: ", AMD2_AT },
		      { "xe " AMD_AT ": [drm] *ERROR* ", AMD_AT },
		      { "xe " AMD_AT ": [drm] Tile0: ", AMD_AT } },
	[FROM_CORE] = { { "amdgpu " AMD_AT ": [drm] *ERROR* ", AMD_AT },
			{ "xe " AMD2_AT ": [drm] *ERROR* ", AMD2_AT },
			{ "i915 " I915_AT ": [drm] ", I915_AT },
			{ "[drm:drm_function [drm_kms_helper]] *ERROR* ", "" } },
	[FROM_TTM] = { { "[TTM] ", "" } },
	[FROM_NV] = { { "NVRM: function: ", "" }, { "NVRM: GPU0 function: ", "" } },
	[FROM_UVM] = { { "nvidia-uvm: uvm_file.c:429 function[pid:4711] ", "" } },
	[FROM_HOST] = { { "", "" } },
};

struct source {
	const char *where; /* versions and file */
	enum from from;
	const char *format;
	const char *args; /* "|" between them; for those that are missing, any */
	uint8_t role;	  /* DAVY_PART_NONE: not of interest */
	uint8_t class;	  /* of a detail not compared */
	uint8_t hazard;
	uint32_t pid;
	const char *comm;
	const char *device; /* in the text itself */
};

#define IS(r, c, h)    .role = DAVY_PART_##r, .class = DAVY_CLASS_##c, .hazard = DAVY_LOG_HZ_##h
#define FAILURE(class) IS(FAILURE, class, NONE)
#define AFTER(class)   IS(AFTERMATH, class, NONE)
#define BEFORE(c, h)   IS(PRECURSOR, c, h)
#define DETAIL	       IS(DETAIL, NONE, NONE)
#define NOTHING	       IS(NONE, NONE, NONE)

#include "kmsg_sources_amdgpu.h"
#include "kmsg_sources_other.h"

/* The one at "at" of both tables; NULL at their end. */
static inline const struct source *source_at(size_t at)
{
	size_t first = sizeof(amdgpu_sources) / sizeof(amdgpu_sources[0]);
	size_t others = sizeof(other_sources) / sizeof(other_sources[0]);

	if (at < first)
		return &amdgpu_sources[at];
	return at - first < others ? &other_sources[at - first] : NULL;
}

/* A value that fits the conversion; returns its length. */
static inline const char *source_value(char what, bool error)
{
	switch (what) {
	case 's':
		return "word";
	case 'p':
		return error ? "-ETIMEDOUT" : "00000000d1f0a6a2";
	case 'x':
	case 'X':
		return "1f";
	default:
		return "7";
	}
}

/* The line that "source" makes of its arguments, without the last newline; false if too long. */
static inline bool source_fill(const struct source *source, const char *prefix, char *line,
			       size_t size)
{
	const char *f = source->format, *arg = source->args ? source->args : "";
	size_t used = strlen(prefix);

	memcpy(line, prefix, used);
	for (; *f && !(*f == '\n' && !f[1]); f++) {
		const char *from = f;
		size_t length = 1;

		if (*f == '%' && *++f != '%') {
			f += strspn(f, "#-0123456789.lhz");
			length = strcspn(arg, "|");
			from = arg;
			if (!*arg) {
				from = source_value(*f, *f == 'p' && f[1] == 'e');
				length = strlen(from);
			}
			arg += *arg ? length + (arg[length] == '|') : 0;
			f += *f == 'p' && f[1] && strchr("es", f[1]);
		}
		if (used + length >= size)
			return false;
		memcpy(line + used, from, length);
		used += length;
	}
	line[used] = 0;
	return !*arg;
}

#endif
