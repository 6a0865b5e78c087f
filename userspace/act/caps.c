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
#define CPU_PERIOD_US 100000 /* the kernel's default */
#define NO_DMEM	      "no dmem controller (6.14, CONFIG_CGROUP_DMEM): VRAM cannot be "
#define CPU_LEAST_US  1000 /* the kernel's minimum */

static const struct {
	const char *file;
	const char *controller;
	const char *absent; /* message if no cgroup has the file */
} caps[DAVY_CAP_COUNT] = {
	[DAVY_CAP_DMEM_MAX] = { "dmem.max", "dmem", NO_DMEM "limited" },
	[DAVY_CAP_DMEM_LOW] = { "dmem.low", "dmem", NO_DMEM "protected" },
	[DAVY_CAP_MEMORY_HIGH] = { "memory.high", "memory",
				   "the memory controller is not available in cgroup v2" },
	[DAVY_CAP_CPU_MAX] = { "cpu.max", "cpu",
			       "the cpu controller is not available in cgroup v2" },
};

/* Accepts only kernel files: the path may come from a manipulated database. */
static int caps_path_of(char *path, size_t size, const char *file)
{
	if (strncmp(file, "/sys/", 5) != 0 || strstr(file, "/../"))
		return -EINVAL;
	return davy_root_path(path, size, "%s", file);
}

int davy_value_read(const char *file, const char *key, char ret_value[DAVY_INTENT_VALUE])
{
	char path[PATH_MAX], text[TEXT_MAX] = "";
	size_t key_len = strlen(key), len;
	int err = caps_path_of(path, sizeof(path), file);
	const char *at = text;
	ssize_t n = err ? err : davy_read_file(path, text, sizeof(text));

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
	if (!len || len >= DAVY_INTENT_VALUE)
		return -EBADMSG;
	memcpy(ret_value, at, len);
	ret_value[len] = 0;
	return 0;
}

static int write_value(const struct davy_intent *intent, const char *value)
{
	char path[PATH_MAX], text[DAVY_INTENT_KEY + DAVY_INTENT_VALUE + 2];
	int err = caps_path_of(path, sizeof(path), intent->file);

	snprintf(text, sizeof(text), "%s%s%s", intent->key, intent->key[0] ? " " : "", value);
	return err ? err : davy_write_file(path, text);
}

int davy_value_set(const struct davy_intent *intent)
{
	char now[DAVY_INTENT_VALUE] = "";
	int err = write_value(intent, intent->new_value);

	if (!err)
		err = davy_value_read(intent->file, intent->key, now);
	return !err && strcmp(now, intent->new_value) != 0 ? -EIO : err;
}

int davy_value_undo(const struct davy_intent *intent)
{
	char now[DAVY_INTENT_VALUE] = "";
	int err = davy_value_read(intent->file, intent->key, now);

	if (err == -ENOENT || err == -ENODEV || err == -ENODATA)
		return 1;
	if (!err && strcmp(now, intent->new_value) != 0)
		return 1;
	if (!err)
		err = write_value(intent, intent->old_value);
	if (err == -ENODEV) /* the cgroup was removed meanwhile */
		return 1;
	if (!err)
		err = davy_value_read(intent->file, intent->key, now);
	return !err && strcmp(now, intent->old_value) != 0 ? -EIO : err;
}

/* Whether a space-separated list has the word. */
static bool caps_lists(const char *dir, const char *file, const char *word)
{
	char path[PATH_MAX], text[512], *at, *rest = text;

	if (davy_root_path(path, sizeof(path), "%s/%s", dir, file) ||
	    davy_read_file(path, text, sizeof(text)) < 0)
		return false;
	while ((at = strsep(&rest, " \n")))
		if (!strcmp(at, word))
			return true;
	return false;
}

/*
 * Enables the controller in the groups above "dir". systemd does not know it and leaves it alone
 * (CGROUP_MASK_V2 in src/basic/cgroup-util.h), and without limits it only counts.
 */
static int caps_enable_dmem(const char *mount, const char *dir)
{
	char above[PATH_MAX], path[PATH_MAX];

	if (!caps_lists(mount, "cgroup.controllers", "dmem"))
		return -ENOTSUP;
	for (const char *end = dir + strlen(mount); end; end = strchr(end + 1, '/')) {
		int err;

		snprintf(above, sizeof(above), "%.*s", (int)(end - dir), dir);
		if (caps_lists(above, "cgroup.subtree_control", "dmem"))
			continue;
		err = davy_root_path(path, sizeof(path), "%s/cgroup.subtree_control", above);
		if (!err)
			err = davy_write_file(path, "+dmem");
		if (err)
			return err;
	}
	return 0;
}

/* The controller, and a device that it counts. */
static bool caps_has_dmem(const char *mount)
{
	char path[PATH_MAX], text[TEXT_MAX] = "";

	return caps_lists(mount, "cgroup.controllers", "dmem") &&
	       !davy_root_path(path, sizeof(path), "%s/dmem.capacity", mount) &&
	       davy_read_file(path, text, sizeof(text)) > 0;
}

/* Explains why the cgroup does not have the file. */
static int caps_absent(const char *mount, const char *dir, enum davy_cap cap, int enable_error,
		       char why[DAVY_REASON_LEN])
{
	char path[PATH_MAX];

	if (davy_root_path(path, sizeof(path), "%s", dir) || access(path, F_OK))
		return -ENOENT;
	if (caps_lists(mount, "cgroup.controllers", caps[cap].controller))
		snprintf(why, DAVY_REASON_LEN,
			 "the %s controller is not enabled for this cgroup "
			 "(cgroup.subtree_control above it%s%s)",
			 caps[cap].controller, enable_error ? ": " : "",
			 enable_error ? strerror(-enable_error) : "");
	else
		snprintf(why, DAVY_REASON_LEN, "%s", caps[cap].absent);
	return -ENOTSUP;
}

static void write_amount(enum davy_cap cap, uint64_t amount, char value[DAVY_INTENT_VALUE])
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), us;

	if (cap == DAVY_CAP_CPU_MAX) {
		us = amount * (CPU_PERIOD_US / 1000);
		snprintf(value, DAVY_INTENT_VALUE, "%" PRIu64 " %d",
			 us < CPU_LEAST_US ? CPU_LEAST_US : us, CPU_PERIOD_US);
	} else {
		if (cap == DAVY_CAP_MEMORY_HIGH) /* the kernel counts pages */
			amount -= amount % page;
		snprintf(value, DAVY_INTENT_VALUE, "%" PRIu64, amount);
	}
}

/* "max" is the largest number. For cpu.max: quota / period, in millionths. */
static uint64_t amount_of(enum davy_cap cap, const char *value)
{
	uint64_t first, period;
	char *end;

	if (!isdigit((unsigned char)*value))
		return UINT64_MAX;
	first = strtoull(value, &end, 10);
	if (cap != DAVY_CAP_CPU_MAX)
		return first;
	period = strtoull(end, NULL, 10);
	return period && first < UINT32_MAX ? first * 1000000 / period : UINT64_MAX;
}

static bool is_stricter(enum davy_cap cap, const struct davy_intent *intent)
{
	uint64_t before = amount_of(cap, intent->old_value);
	uint64_t after = amount_of(cap, intent->new_value);

	return cap == DAVY_CAP_DMEM_LOW ? before >= after : before <= after;
}

/* A dmem file may omit a region with the default value; dmem.capacity lists all regions. */
static int read_old(const char *mount, enum davy_cap cap, struct davy_intent *intent)
{
	char file[PATH_MAX + 16], capacity[DAVY_INTENT_VALUE];
	int err = davy_value_read(intent->file, intent->key, intent->old_value);

	if (err != -ENODATA)
		return err;
	snprintf(file, sizeof(file), "%s/dmem.capacity", mount);
	err = davy_value_read(file, intent->key, capacity);
	if (!err)
		snprintf(intent->old_value, DAVY_INTENT_VALUE, "%s",
			 cap == DAVY_CAP_DMEM_LOW ? "0" : "max");
	return err == -ENODATA ? -ENOENT : err;
}

static uint64_t memory_now(const char *dir)
{
	char path[PATH_MAX];
	uint64_t bytes = 0;

	if (!davy_root_path(path, sizeof(path), "%s/memory.current", dir))
		davy_read_number(path, &bytes);
	return bytes;
}

static bool has_file(const char *file)
{
	char path[PATH_MAX];

	return !caps_path_of(path, sizeof(path), file) && !access(path, W_OK);
}

int davy_cap_plan(const char *cgroup, enum davy_cap cap, const char *region, uint64_t amount,
		  struct davy_intent *intent, char why[DAVY_REASON_LEN])
{
	bool keyed = cap == DAVY_CAP_DMEM_MAX || cap == DAVY_CAP_DMEM_LOW;
	char mount[PATH_MAX], dir[PATH_MAX];
	int enable_error = 0, err = davy_cgroup_mount(mount, sizeof(mount));

	why[0] = 0;
	if (!err)
		err = davy_cgroup_dir(cgroup, dir, sizeof(dir));
	if (err)
		return err;
	if (!amount && cap == DAVY_CAP_MEMORY_HIGH)
		amount = memory_now(dir);
	if (amount > INT64_MAX / 1000 || keyed != (region[0] != 0) ||
	    strlen(region) >= DAVY_INTENT_KEY || region[strcspn(region, " \n")])
		return -EINVAL;
	if (snprintf(intent->file, DAVY_INTENT_PATH, "%s/%s", dir, caps[cap].file) >=
	    DAVY_INTENT_PATH)
		return -ENAMETOOLONG;
	memcpy(intent->key, region, strlen(region) + 1);
	if (keyed && !has_file(intent->file))
		enable_error = caps_enable_dmem(mount, dir);
	if (!has_file(intent->file))
		return caps_absent(mount, dir, cap, enable_error, why);
	if (!amount)
		return -EINVAL;
	err = read_old(mount, cap, intent);
	if (err)
		return err;
	write_amount(cap, amount, intent->new_value);
	return is_stricter(cap, intent) ? -EALREADY : 0;
}

uint8_t davy_caps_possible(const char *cgroup)
{
	char mount[PATH_MAX], dir[PATH_MAX], file[PATH_MAX + 16];

	if (davy_cgroup_dir(cgroup, dir, sizeof(dir)))
		return 0;
	if (!davy_cgroup_mount(mount, sizeof(mount)) && caps_has_dmem(mount))
		return DAVY_CAN_CAP; /* it can be enabled */
	for (size_t i = 0; i < DAVY_CAP_COUNT; i++) {
		snprintf(file, sizeof(file), "%s/%s", dir, caps[i].file);
		if (has_file(file))
			return DAVY_CAN_CAP;
	}
	return 0;
}
