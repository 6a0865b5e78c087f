/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/gpu/dmem.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "sensors/proc/cgroup_name.h"

#define TREE	   "/sys/fs/cgroup"
#define TEXT_MAX   4096
#define LEVELS_MAX 64

static bool dmem_parse_bytes(const char *text, size_t len, uint64_t *ret_bytes)
{
	char *end;

	if (len == 3 && !strncmp(text, "max", 3)) {
		*ret_bytes = UINT64_MAX;
		return true;
	}
	if (!len || !isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*ret_bytes = strtoull(text, &end, 10);
	return !errno && end == text + len;
}

/* False if a part is empty or too long. */
static bool dmem_take(char *ret_part, size_t size, const char *text, size_t len)
{
	if (!len || len >= size || memchr(text, 0, len))
		return false;
	memcpy(ret_part, text, len);
	memset(ret_part + len, 0, size - len);
	return true;
}

static bool dmem_parse_line(const char *line, size_t len, struct davy_dmem_line *ret_line)
{
	const char *end = line + len, *slash, *blank;

	if (len < 4 || strncmp(line, "drm/", 4) != 0)
		return false;
	line += 4;
	blank = memchr(line, ' ', (size_t)(end - line));
	slash = blank ? memchr(line, '/', (size_t)(blank - line)) : NULL;
	return slash &&
	       dmem_take(ret_line->device, sizeof(ret_line->device), line,
			 (size_t)(slash - line)) &&
	       dmem_take(ret_line->region, sizeof(ret_line->region), slash + 1,
			 (size_t)(blank - slash - 1)) &&
	       dmem_parse_bytes(blank + 1, (size_t)(end - blank - 1), &ret_line->bytes);
}

size_t davy_dmem_parse(const char *text, struct davy_dmem_line *list, size_t max)
{
	size_t count = 0;

	while (*text && count < max) {
		size_t len = strcspn(text, "\n");

		count += dmem_parse_line(text, len, &list[count]);
		text += len + (text[len] == '\n');
	}
	return count;
}

bool davy_dmem_present(void)
{
	char path[PATH_MAX], text[512] = " ", *at = text;

	if (davy_root_path(path, sizeof(path), TREE "/cgroup.controllers") ||
	    davy_read_file(path, text + 1, sizeof(text) - 1) <= 0)
		return false;
	while ((at = strstr(at, " dmem"))) {
		at += 5;
		if (!*at || isspace((unsigned char)*at))
			return true;
	}
	return false;
}

/* For a process outside the agent's cgroup namespace, the path contains "/..". */
static bool dmem_read_path(uint32_t pid, char ret_path[DAVY_DMEM_PATH])
{
	char path[PATH_MAX], text[8192] = "\n", *at;
	size_t len;

	if (davy_root_path(path, sizeof(path), "/proc/%u/cgroup", pid) ||
	    davy_read_file(path, text + 1, sizeof(text) - 1) <= 0)
		return false;
	at = strstr(text, "\n0::/");
	if (!at)
		return false;
	at += 4;
	len = strcspn(at, "\n");
	if (len >= DAVY_DMEM_PATH)
		return false;
	memcpy(ret_path, at, len);
	ret_path[len] = 0;
	return !strstr(ret_path, "/..");
}

static bool dmem_is_charged(const char *cgroup)
{
	char path[PATH_MAX];

	return !davy_root_path(path, sizeof(path), TREE "%s/dmem.current", cgroup) &&
	       !access(path, R_OK);
}

int davy_dmem_cgroup_of(uint32_t pid, char ret_path[DAVY_DMEM_PATH])
{
	char path[DAVY_DMEM_PATH], *slash;

	if (!dmem_read_path(pid, path))
		return -ENOENT;
	for (int i = 0; i < LEVELS_MAX && path[0] && strcmp(path, "/") != 0; i++) {
		if (dmem_is_charged(path)) {
			memcpy(ret_path, path, sizeof(path));
			return 0;
		}
		slash = strrchr(path, '/');
		*slash = 0;
	}
	return -ENOENT;
}

static size_t dmem_read_lines(const char *cgroup, const char *file, struct davy_dmem_line *list)
{
	char path[PATH_MAX], text[TEXT_MAX] = "";

	if (davy_root_path(path, sizeof(path), TREE "%s/%s", cgroup, file) ||
	    davy_read_file(path, text, sizeof(text)) <= 0)
		return 0;
	return davy_dmem_parse(text, list, DAVY_DMEM_REGIONS);
}

static const struct davy_dmem_line *dmem_line_of(const struct davy_ev_dmem *d,
						 const struct davy_dmem_line *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].device, d->device) && !strcmp(list[i].region, d->region))
			return &list[i];
	return NULL;
}

/* Reads one file of the cgroup into one field of all regions. */
static void dmem_join(const char *cgroup, const char *file, struct davy_ev_dmem *list, size_t count,
		      size_t field)
{
	struct davy_dmem_line lines[DAVY_DMEM_REGIONS];
	size_t line_count = dmem_read_lines(cgroup, file, lines);

	for (size_t i = 0; i < count; i++) {
		const struct davy_dmem_line *l = dmem_line_of(&list[i], lines, line_count);

		if (l)
			memcpy((char *)&list[i] + field, &l->bytes, sizeof(l->bytes));
	}
}

static void dmem_name_unit(const char *cgroup, struct davy_ev_dmem *d)
{
	const char *last = strrchr(cgroup, '/');
	struct davy_cgroup_name name;

	davy_cgroup_name_of(cgroup, &name);
	davy_copy_name(d->unit, sizeof(d->unit),
		       name.unit[0]	   ? name.unit
		       : name.container[0] ? name.container
		       : last		   ? last + 1
					   : cgroup);
}

size_t davy_dmem_read(const char *cgroup, struct davy_ev_dmem *list, size_t max)
{
	struct davy_dmem_line regions[DAVY_DMEM_REGIONS];
	size_t count = dmem_read_lines("", "dmem.capacity", regions);

	count = count < max ? count : max;
	for (size_t i = 0; i < count; i++) {
		memset(&list[i], 0, sizeof(list[i]));
		memcpy(list[i].device, regions[i].device, sizeof(list[i].device));
		memcpy(list[i].region, regions[i].region, sizeof(list[i].region));
		dmem_name_unit(cgroup, &list[i]);
		list[i].capacity = regions[i].bytes;
		list[i].max = UINT64_MAX;
	}
	dmem_join(cgroup, "dmem.current", list, count, offsetof(struct davy_ev_dmem, current));
	dmem_join(cgroup, "dmem.max", list, count, offsetof(struct davy_ev_dmem, max));
	dmem_join(cgroup, "dmem.low", list, count, offsetof(struct davy_ev_dmem, low));
	return count;
}
