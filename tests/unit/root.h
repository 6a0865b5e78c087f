/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A separate root for tests that read /proc and /sys: davy_root_set() points at it.
 */
#ifndef TESTS_UNIT_ROOT_H
#define TESTS_UNIT_ROOT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"

static char root[64];

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/davylamp-unit-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	davy_root_set(root);
	return 0;
}

static int remove_root(void **state)
{
	char command[128];

	(void)state;
	davy_root_set("");
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command); /* a test's own folder */
}

/* A file with its folders; "name" begins with a slash. */
static void put(const char *name, const char *text, size_t size)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", root, name);
	*strrchr(path, '/') = 0;
	davy_make_dirs(path);
	path[strlen(path)] = '/';
	file = fopen(path, "w");
	assert_non_null(file);
	fwrite(text, 1, size, file);
	fclose(file);
}

#define PUT(name, text) put(name, text, sizeof(text) - 1)

#endif
