/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/gpu/fdinfo.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_LEN 256
#define KEY_MAX	     64

enum place {
	PLACE_NONE,
	PLACE_VRAM,
	PLACE_GTT,
	PLACE_SYSTEM
};

/* Region names of amdgpu, i915 and xe; "stolen" and the small heaps are ignored. */
static enum place fdinfo_place_of(const char *region)
{
	if (!strncmp(region, "vram", 4) || !strncmp(region, "local", 5))
		return PLACE_VRAM;
	if (!strcmp(region, "gtt"))
		return PLACE_GTT;
	if (!strncmp(region, "system", 6) || !strcmp(region, "cpu"))
		return PLACE_SYSTEM;
	return PLACE_NONE;
}

/* "123 KiB", "4 MiB", "17"; false if it is no number or overflows. */
static bool fdinfo_parse_bytes(const char *value, uint64_t *ret_bytes)
{
	uint64_t unit = 1, n;
	char *end;

	if (!isdigit((unsigned char)*value))
		return false;
	errno = 0;
	n = strtoull(value, &end, 10);
	while (*end == ' ')
		end++;
	if (!strncmp(end, "KiB", 3))
		unit = 1ULL << 10;
	else if (!strncmp(end, "MiB", 3))
		unit = 1ULL << 20;
	else if (!strncmp(end, "GiB", 3))
		unit = 1ULL << 30;
	if (errno || n > UINT64_MAX / unit)
		return false;
	*ret_bytes = n * unit;
	return true;
}

static void fdinfo_see_memory(struct davy_fdinfo *info, const char *region, const char *value)
{
	uint64_t bytes;

	if (!fdinfo_parse_bytes(value, &bytes))
		return;
	info->has_memory = true;
	switch (fdinfo_place_of(region)) {
	case PLACE_VRAM:
		info->vram += bytes;
		break;
	case PLACE_GTT:
		info->gtt += bytes;
		break;
	case PLACE_SYSTEM:
		info->system += bytes;
		break;
	default:
		break;
	}
}

/* "has_resident": newer kernels print the same value under two names. */
static void fdinfo_see(struct davy_fdinfo *info, const char *key, const char *value,
		       bool has_resident)
{
	uint64_t n;

	if (!strcmp(key, "drm-driver"))
		davy_copy_name(info->driver, sizeof(info->driver), value);
	else if (!strcmp(key, "drm-pdev"))
		davy_copy_name(info->device, sizeof(info->device), value);
	else if (!strcmp(key, "drm-client-id"))
		info->client_id = strtoull(value, NULL, 10);
	else if (!strcmp(key, "pasid"))
		info->pasid = (uint32_t)strtoul(value, NULL, 10);
	else if (!strcmp(key, "amd-evicted-vram") && fdinfo_parse_bytes(value, &n))
		info->evicted = n;
	else if (has_resident && !strncmp(key, "drm-resident-", 13))
		fdinfo_see_memory(info, key + 13, value);
	else if (!has_resident && !strncmp(key, "drm-memory-", 11))
		fdinfo_see_memory(info, key + 11, value);
	else if (!strncmp(key, "drm-total-", 10) && strncmp(key + 10, "cycles-", 7) != 0 &&
		 fdinfo_parse_bytes(value, &n))
		info->total += n;
	else if (!strncmp(key, "drm-engine-", 11) && strncmp(key + 11, "capacity-", 9) != 0 &&
		 fdinfo_parse_bytes(value, &n))
		info->busy_ns += n;
}

/* Splits the next "key: value" line; NULL at the end. */
static const char *fdinfo_next_line(const char *text, char *ret_key, char *ret_value)
{
	size_t len = strcspn(text, "\n"), key;

	*ret_key = *ret_value = 0;
	if (!*text)
		return NULL;
	key = strcspn(text, ":\n");
	if (key < len && key < KEY_MAX && len < LINE_MAX_LEN) {
		const char *value = text + key + 1;
		size_t rest;

		value += strspn(value, " \t");
		rest = value < text + len ? (size_t)(text + len - value) : 0;
		memcpy(ret_key, text, key);
		ret_key[key] = 0;
		memcpy(ret_value, value, rest);
		ret_value[rest] = 0;
	}
	return text + len + (text[len] == '\n');
}

bool davy_fdinfo_parse(const char *text, struct davy_fdinfo *ret_info)
{
	bool has_resident = strstr(text, "drm-resident-") != NULL;
	char key[KEY_MAX], value[LINE_MAX_LEN];

	memset(ret_info, 0, sizeof(*ret_info));
	while ((text = fdinfo_next_line(text, key, value)))
		fdinfo_see(ret_info, key, value, has_resident);
	return ret_info->driver[0] != 0;
}
