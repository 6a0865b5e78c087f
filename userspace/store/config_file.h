/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threshold files for people: [hazard] sections, "key = value unit". Every key is known, every
 * value has its unit and range; the first line that is wrong is reported with what was expected,
 * and nothing of the file is taken.
 */
#ifndef DL_STORE_CONFIG_FILE_H
#define DL_STORE_CONFIG_FILE_H

#include "../core/config.h"

#define DL_CONFIG_ERROR_LEN 256

/*
 * Reads "path" over *config. 0; -ENOENT: no such file; -EBADMSG: "error" says file, line, and what
 * was expected, and *config is as before.
 */
int dl_config_file_read(const char *path, struct dl_config *config,
			char error[DL_CONFIG_ERROR_LEN]);

/* "300 ms", "10 s", "256 MiB", "25 %", "8": true and the value in the key's own unit. */
bool dl_config_value(enum dl_unit unit, const char *text, int64_t *ret_value);

#endif
