/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/gpu/firmware.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/hash.h"
#include "lib/rights.h"

#define PARTS_MAX 64
#define TEXT_MAX  16384 /* of guc_info; registers follow the versions */

struct part {
	char name[24]; /* "mes" */
	uint64_t version;
};

/* Firmware for scheduling, computing and clocks. */
static const char *const shown[] = { "mes", "mec", "smc", "sdma" };

static int firmware_by_name(const void *a, const void *b)
{
	return strcmp(((const struct part *)a)->name, ((const struct part *)b)->name);
}

/* amdgpu_ucode.c: fw_attrs, "mes_fw_version" contains "0x00000083"; 0 if the GPU lacks it. */
static size_t firmware_read_parts(const struct davy_gpu *gpu, struct part *parts)
{
	static const char end[] = "_fw_version";
	char path[PATH_MAX], name[64];
	struct dirent *entry;
	size_t count = 0;
	DIR *dir;

	if (davy_gpu_path(gpu, "fw_version", path, sizeof(path)))
		return 0;
	dir = opendir(path);
	while (dir && count < PARTS_MAX && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name), at = len - (sizeof(end) - 1);
		struct part *p = &parts[count];

		if (len < sizeof(end) || at >= sizeof(p->name) ||
		    strcmp(entry->d_name + at, end) != 0)
			continue;
		snprintf(name, sizeof(name), "fw_version/%.40s", entry->d_name);
		if (davy_gpu_attribute(gpu, name, &p->version) || !p->version)
			continue;
		memcpy(p->name, entry->d_name, at);
		p->name[at] = 0;
		count++;
	}
	if (dir)
		closedir(dir);
	qsort(parts, count, sizeof(*parts), firmware_by_name);
	return count;
}

static size_t firmware_print_part(const struct part *parts, size_t count, const char *name,
				  char *text, size_t used)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(parts[i].name, name))
			used += (size_t)snprintf(text + used, DAVY_VERSION_TEXT_LEN - used,
						 "%s 0x%" PRIx32 ", ", name,
						 (uint32_t)parts[i].version);
	return used;
}

void davy_firmware_read(const struct davy_gpu *gpu, char ret_text[DAVY_VERSION_TEXT_LEN])
{
	struct part parts[PARTS_MAX];
	size_t used = 0, count = firmware_read_parts(gpu, parts);
	uint64_t sum = DAVY_FNV_START;

	ret_text[0] = 0;
	if (!count)
		return;
	for (size_t i = 0; i < count; i++) {
		sum = davy_fnv(sum, parts[i].name, strlen(parts[i].name) + 1);
		sum = davy_fnv(sum, &parts[i].version, sizeof(parts[i].version));
	}
	/* at most four of 20 characters: they fit */
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		used = firmware_print_part(parts, count, shown[i], ret_text, used);
	snprintf(ret_text + used, DAVY_VERSION_TEXT_LEN - used, "all %08" PRIx32,
		 (uint32_t)(sum ^ sum >> 32));
}

bool davy_firmware_waits(const struct davy_gpu *gpu)
{
	return !strcmp(gpu->driver, "i915") || !strcmp(gpu->driver, "xe");
}

/*
 * "version: wanted 70.5.1, found 70.13.1" and "version: found 70.13.1" (i915, intel_uc_fw_dump),
 * "found release version 70.36.0" (xe, xe_uc_fw_print).
 */
bool davy_firmware_intel(const char *text, char *ret_version, size_t size)
{
	const char *at = strstr(text, "found "), *end = at ? at + strcspn(at, "\n") : NULL;
	size_t len;

	while (at && at < end && !isdigit((unsigned char)*at))
		at++;
	len = at ? strspn(at, "0123456789.") : 0;
	if (!len || len >= size || !strncmp(at, "0.0.0", 5))
		return false;
	memcpy(ret_version, at, len);
	ret_version[len] = 0;
	return true;
}

static void firmware_read_intel(const struct davy_gpu *gpu, char ret_text[DAVY_VERSION_TEXT_LEN])
{
	static const char *const names[] = { "guc", "huc" };
	char path[PATH_MAX], text[TEXT_MAX], version[32];
	size_t used = 0;

	memset(ret_text, 0, DAVY_VERSION_TEXT_LEN);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (davy_root_path(path, sizeof(path), "/sys/kernel/debug/dri/%d/gt0/uc/%s_info",
				   gpu->card, names[i]) ||
		    davy_read_file(path, text, sizeof(text)) <= 0 ||
		    !davy_firmware_intel(text, version, sizeof(version)))
			continue;
		used += (size_t)snprintf(ret_text + used, DAVY_VERSION_TEXT_LEN - used, "%s%s %s",
					 used ? ", " : "", names[i], version);
	}
}

/* Only root can read debugfs. */
static int firmware_answer(void *arg)
{
	const struct davy_rights rights = { .capabilities = 1ULL << CAP_DAC_READ_SEARCH };
	char text[DAVY_VERSION_TEXT_LEN];

	_Static_assert(sizeof(text) <= PIPE_BUF, "an answer is written whole");
	if (davy_rights_keep(&rights, getppid()))
		return 1;
	firmware_read_intel(arg, text);
	return write(STDOUT_FILENO, text, sizeof(text)) < 0;
}

/* A driver may block the child forever: it holds no descriptor of the agent. */
int davy_firmware_ask(const struct davy_gpu *gpu, struct davy_child *ret_child)
{
	const struct davy_child_spec spec = { .run = firmware_answer,
					      .arg = (void *)gpu,
					      .death_signal = SIGKILL,
					      .name = "davylamp-fwinfo" };

	return davy_child_start_piped(&spec, O_NONBLOCK, ret_child);
}

int davy_firmware_take(int fd, char ret_text[DAVY_VERSION_TEXT_LEN])
{
	char text[DAVY_VERSION_TEXT_LEN];
	ssize_t n = read(fd, text, sizeof(text));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	if (n != sizeof(text))
		return -ENOENT;
	text[sizeof(text) - 1] = 0;
	memcpy(ret_text, text, sizeof(text));
	return 0;
}
