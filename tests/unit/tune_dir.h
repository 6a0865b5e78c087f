/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of tune: a folder of their own. */
#ifndef DAVY_TESTS_TUNE_DIR_H
#define DAVY_TESTS_TUNE_DIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/core.h"
#include "lib/file.h"
#include "store/config_file.h"
#include "store/config_value.h"
#include "store/trace.h"
#include "lab/apply.h"
#include "lab/synth.h"

#define S     DAVY_NS_PER_S
#define GPU   "0000:03:00.0"
#define OTHER "0000:81:00.0"

static char dir[64], path[128];

static inline int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/davylamp-unit-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static inline int remove_dir(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	return system(command);
}

static inline const char *in_dir(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static inline void write_text(const char *name, const char *text, size_t size)
{
	FILE *file = fopen(in_dir(name), "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* job_headroom foresees before job_stall does. */
static inline void without_headroom(struct davy_config *config)
{
	davy_config_defaults(config);
	for (int key = DAVY_CFG_HEADROOM_LEVEL1; key <= DAVY_CFG_HEADROOM_AHEAD_MS; key++)
		config->value[key] = 1000;
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

#endif
