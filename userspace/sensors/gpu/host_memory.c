/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/gpu/host_memory.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"

/* "MemTotal:       24684488 kB", at the start of a line. */
static void host_memory_take_kib(const char *text, const char *name, uint64_t *ret_bytes)
{
	unsigned long long kib;
	size_t len = strlen(name);
	char *end;

	while (*text && strncmp(text, name, len) != 0) {
		text += strcspn(text, "\n");
		text += *text != 0;
	}
	if (!*text)
		return;
	text += len;
	text += strspn(text, " \t");
	if (!isdigit((unsigned char)*text))
		return;
	errno = 0;
	kib = strtoull(text, &end, 10);
	if (!errno && kib <= UINT64_MAX / 1024 && !strncmp(end, " kB", 3))
		*ret_bytes = kib * 1024;
}

void davy_meminfo_parse(const char *text, struct davy_ev_memory *memory)
{
	host_memory_take_kib(text, "MemTotal:", &memory->host_total);
	host_memory_take_kib(text, "MemAvailable:", &memory->host_available);
}

/* "12.34": percent with two decimals, the first of which is used. Independent of the locale. */
uint32_t davy_pressure_parse(const char *text)
{
	const char *at = strstr(text, "full avg10=");
	uint32_t permille = 0;

	if (!at)
		return 0;
	for (at += 11; isdigit((unsigned char)*at); at++) {
		permille = permille * 10 + (uint32_t)(*at - '0') * 10;
		if (permille > 1000)
			return 1000;
	}
	if (*at == '.' && isdigit((unsigned char)at[1]))
		permille += (uint32_t)(at[1] - '0');
	return permille < 1000 ? permille : 1000;
}

void davy_host_memory_read(struct davy_ev_memory *ret_memory)
{
	char path[PATH_MAX], text[4096] = "";

	ret_memory->pressure_permille = 0;
	ret_memory->host_total = ret_memory->host_available = 0;
	if (!davy_root_path(path, sizeof(path), "/proc/pressure/memory") &&
	    davy_read_file(path, text, sizeof(text)) > 0)
		ret_memory->pressure_permille = davy_pressure_parse(text);
	if (!davy_root_path(path, sizeof(path), "/proc/meminfo") &&
	    davy_read_file(path, text, sizeof(text)) > 0)
		davy_meminfo_parse(text, ret_memory);
}
