/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/caps.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/event/event.h"
#include "lib/file.h"
#include "act/cgroup.h"

#define TEXT_MAX      4096
#define CPU_PERIOD_US 100000 /* the kernel's own default */
#define NO_DMEM	      "no dmem controller (6.14, CONFIG_CGROUP_DMEM): VRAM cannot be "
#define CPU_LEAST_US  1000 /* it takes no less */

static const struct {
	const char *file;
	const char *controller;
	const char *absent; /* what to say where no cgroup has it */
} caps[DL_CAP_COUNT] = {
	[DL_CAP_DMEM_MAX] = { "dmem.max", "dmem", NO_DMEM "limited" },
	[DL_CAP_DMEM_LOW] = { "dmem.low", "dmem", NO_DMEM "protected" },
	[DL_CAP_MEMORY_HIGH] = { "memory.high", "memory",
				 "the memory controller is not on the cgroup v2 tree" },
	[DL_CAP_CPU_MAX] = { "cpu.max", "cpu", "the cpu controller is not on the cgroup v2 tree" },
};

/* Only what the kernel shows as files; a database that others wrote could name anything. */
static int path_of(char *path, size_t size, const char *file)
{
	if (strncmp(file, "/sys/", 5) != 0 || strstr(file, "/../"))
		return -EINVAL;
	return dl_root_path(path, size, "%s", file);
}

int dl_value_read(const char *file, const char *key, char ret_value[DL_INTENT_VALUE])
{
	char path[PATH_MAX], text[TEXT_MAX] = "";
	size_t key_len = strlen(key), len;
	int err = path_of(path, sizeof(path), file);
	const char *at = text;
	ssize_t n = err ? err : dl_read_file(path, text, sizeof(text));

	if (n < 0)
		return (int)n;
	while (key_len && *at && (strncmp(at, key, key_len) != 0 || at[key_len] != ' ')) {
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	if (key_len && !*at)
		return -ENODATA;
	at += key_len ? key_len + 1 : 0;
	len = strcspn(at, "\n");
	if (!len || len >= DL_INTENT_VALUE)
		return -EBADMSG;
	memcpy(ret_value, at, len);
	ret_value[len] = 0;
	return 0;
}

static int write_value(const struct dl_intent *intent, const char *value)
{
	char path[PATH_MAX], text[DL_INTENT_KEY + DL_INTENT_VALUE + 2];
	int err = path_of(path, sizeof(path), intent->file);

	snprintf(text, sizeof(text), "%s%s%s", intent->key, intent->key[0] ? " " : "", value);
	return err ? err : dl_write_file(path, text);
}

int dl_value_set(const struct dl_intent *intent)
{
	char now[DL_INTENT_VALUE] = "";
	int err = write_value(intent, intent->new_value);

	if (!err)
		err = dl_value_read(intent->file, intent->key, now);
	return !err && strcmp(now, intent->new_value) != 0 ? -EIO : err;
}

int dl_value_undo(const struct dl_intent *intent)
{
	char now[DL_INTENT_VALUE] = "";
	int err = dl_value_read(intent->file, intent->key, now);

	if (err == -ENOENT || err == -ENODEV || err == -ENODATA)
		return 1;
	if (!err && strcmp(now, intent->new_value) != 0)
		return 1;
	if (!err)
		err = write_value(intent, intent->old_value);
	if (err == -ENODEV) /* the cgroup went meanwhile */
		return 1;
	if (!err)
		err = dl_value_read(intent->file, intent->key, now);
	return !err && strcmp(now, intent->old_value) != 0 ? -EIO : err;
}

/* Whether a space-separated list has the word. */
static bool lists(const char *dir, const char *file, const char *word)
{
	char path[PATH_MAX], text[512], *at, *rest = text;

	if (dl_root_path(path, sizeof(path), "%s/%s", dir, file) ||
	    dl_read_file(path, text, sizeof(text)) < 0)
		return false;
	while ((at = strsep(&rest, " \n")))
		if (!strcmp(at, word))
			return true;
	return false;
}

/* Why there is no such file in the cgroup. */
static int absent(const char *mount, const char *dir, enum dl_cap cap, char why[DL_REASON_LEN])
{
	char path[PATH_MAX];

	if (dl_root_path(path, sizeof(path), "%s", dir) || access(path, F_OK))
		return -ENOENT;
	if (lists(mount, "cgroup.controllers", caps[cap].controller))
		snprintf(why, DL_REASON_LEN,
			 "the %s controller is not handed down to this cgroup "
			 "(cgroup.subtree_control above it)",
			 caps[cap].controller);
	else
		snprintf(why, DL_REASON_LEN, "%s", caps[cap].absent);
	return -ENOTSUP;
}

static void write_amount(enum dl_cap cap, uint64_t amount, char value[DL_INTENT_VALUE])
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), us;

	if (cap == DL_CAP_CPU_MAX) {
		us = amount * (CPU_PERIOD_US / 1000);
		snprintf(value, DL_INTENT_VALUE, "%" PRIu64 " %d",
			 us < CPU_LEAST_US ? CPU_LEAST_US : us, CPU_PERIOD_US);
	} else {
		if (cap == DL_CAP_MEMORY_HIGH) /* the kernel counts pages */
			amount -= amount % page;
		snprintf(value, DL_INTENT_VALUE, "%" PRIu64, amount);
	}
}

/* "max" is more than any number; of cpu.max it is the share, in millionths. */
static uint64_t amount_of(enum dl_cap cap, const char *value)
{
	uint64_t first, period;
	char *end;

	if (!isdigit((unsigned char)*value))
		return UINT64_MAX;
	first = strtoull(value, &end, 10);
	if (cap != DL_CAP_CPU_MAX)
		return first;
	period = strtoull(end, NULL, 10);
	return period && first < UINT32_MAX ? first * 1000000 / period : UINT64_MAX;
}

static bool is_stricter(enum dl_cap cap, const struct dl_intent *intent)
{
	uint64_t before = amount_of(cap, intent->old_value);
	uint64_t after = amount_of(cap, intent->new_value);

	return cap == DL_CAP_DMEM_LOW ? before >= after : before <= after;
}

/* A dmem file need not list a region that is at its default; dmem.capacity lists all there are. */
static int read_old(const char *mount, enum dl_cap cap, struct dl_intent *intent)
{
	char file[PATH_MAX + 16], capacity[DL_INTENT_VALUE];
	int err = dl_value_read(intent->file, intent->key, intent->old_value);

	if (err != -ENODATA)
		return err;
	snprintf(file, sizeof(file), "%s/dmem.capacity", mount);
	err = dl_value_read(file, intent->key, capacity);
	if (!err)
		snprintf(intent->old_value, DL_INTENT_VALUE, "%s",
			 cap == DL_CAP_DMEM_LOW ? "0" : "max");
	return err == -ENODATA ? -ENOENT : err;
}

static uint64_t memory_now(const char *dir)
{
	char path[PATH_MAX];
	uint64_t bytes = 0;

	if (!dl_root_path(path, sizeof(path), "%s/memory.current", dir))
		dl_read_number(path, &bytes);
	return bytes;
}

static bool has_file(const char *file)
{
	char path[PATH_MAX];

	return !path_of(path, sizeof(path), file) && !access(path, W_OK);
}

int dl_cap_plan(const char *cgroup, enum dl_cap cap, const char *region, uint64_t amount,
		struct dl_intent *intent, char why[DL_REASON_LEN])
{
	bool keyed = cap == DL_CAP_DMEM_MAX || cap == DL_CAP_DMEM_LOW;
	char mount[PATH_MAX], dir[PATH_MAX];
	int err = dl_cgroup_mount(mount, sizeof(mount));

	why[0] = 0;
	if (!err)
		err = dl_cgroup_dir(cgroup, dir, sizeof(dir));
	if (err)
		return err;
	if (!amount && cap == DL_CAP_MEMORY_HIGH)
		amount = memory_now(dir);
	if (amount > INT64_MAX / 1000 || keyed != (region[0] != 0) ||
	    strlen(region) >= DL_INTENT_KEY || region[strcspn(region, " \n")])
		return -EINVAL;
	if (snprintf(intent->file, DL_INTENT_PATH, "%s/%s", dir, caps[cap].file) >= DL_INTENT_PATH)
		return -ENAMETOOLONG;
	memcpy(intent->key, region, strlen(region) + 1);
	if (!has_file(intent->file))
		return absent(mount, dir, cap, why);
	if (!amount)
		return -EINVAL;
	err = read_old(mount, cap, intent);
	if (err)
		return err;
	write_amount(cap, amount, intent->new_value);
	return is_stricter(cap, intent) ? -EALREADY : 0;
}

uint8_t dl_caps_possible(const char *cgroup)
{
	char dir[PATH_MAX], file[PATH_MAX + 16];

	if (dl_cgroup_dir(cgroup, dir, sizeof(dir)))
		return 0;
	for (size_t i = 0; i < DL_CAP_COUNT; i++) {
		snprintf(file, sizeof(file), "%s/%s", dir, caps[i].file);
		if (has_file(file))
			return DL_CAN_CAP;
	}
	return 0;
}
