/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "verb/thresholds.h"

#include <errno.h>
#include <string.h>

#include "lib/log.h"
#include "store/config_file.h"

int davy_thresholds_file_read(const char *path, struct davy_config *config)
{
	char error[DAVY_CONFIG_ERROR_LEN];
	int err = davy_config_file_read(path, config, error);

	if (err == -EBADMSG)
		davy_log("%s", error);
	else if (err)
		davy_log("'%s': %s", path, strerror(-err));
	return err;
}
