/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threshold files: [hazard] sections, "key = value unit"; "[hazard driver=NAME]", "device=" and
 * "model=" for one scope. Every key must be known, every value needs its unit and range, and
 * related values must be consistent. The first invalid line is reported with what was expected, and
 * no value of that file is used.
 */
#ifndef DAVY_CONFIG_FILE_H
#define DAVY_CONFIG_FILE_H

#include "core/event/config.h"

#define DAVY_CONFIG_ERROR_LEN 512

/*
 * Reads "path" over *config. 0; -ENOENT: no such file; -EBADMSG: "error" has file, line, and what
 * was expected, printable, and *config is unchanged.
 */
int davy_config_file_read(const char *path, struct davy_config *config,
			  char error[DAVY_CONFIG_ERROR_LEN]);

/*
 * The shipped hazards.conf of "data_dir", the tuned one of "state_dir" and the host's of
 * "config_dir" over the defaults; each may be missing. A tuned file that is invalid, or
 * inconsistent with the host's, is ignored: "error" says why, otherwise it is "". Errors as above;
 * those other than -EBADMSG are described in "error" too.
 */
int davy_config_dirs_read(const char *data_dir, const char *state_dir, const char *config_dir,
			  struct davy_config *ret_config, char error[DAVY_CONFIG_ERROR_LEN]);

#endif
