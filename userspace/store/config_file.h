/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threshold files for people: [hazard] sections, "key = value unit"; "[hazard driver=NAME]",
 * "device=" and "model=" for those only. Every key is known, every value has its unit and range,
 * and what must be in order is; the first line that is wrong is reported with what was expected,
 * and nothing of the file is taken.
 */
#ifndef DAVY_CONFIG_FILE_H
#define DAVY_CONFIG_FILE_H

#include "core/event/config.h"

#define DAVY_CONFIG_ERROR_LEN 512

/*
 * Reads "path" over *config. 0; -ENOENT: no such file; -EBADMSG: "error" says file, line, and what
 * was expected, fit to be shown, and *config is as before.
 */
int davy_config_file_read(const char *path, struct davy_config *config,
			  char error[DAVY_CONFIG_ERROR_LEN]);

/*
 * The shipped hazards.conf of "data_dir", the tuned one of "state_dir" and the host's of
 * "config_dir" over the defaults; each may be missing. A tuned one that is wrong, or with which the
 * host's is not in order, is left out: "error" says why, else it is "". Errors as above; others
 * than -EBADMSG are told in "error" too.
 */
int davy_config_dirs_read(const char *data_dir, const char *state_dir, const char *config_dir,
			  struct davy_config *ret_config, char error[DAVY_CONFIG_ERROR_LEN]);

#endif
