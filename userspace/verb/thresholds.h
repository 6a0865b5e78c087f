/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAVY_THRESHOLDS_H
#define DAVY_THRESHOLDS_H

#include "core/event/config.h"

/* Reads the thresholds of "--policy FILE" into config. -errno, logged. */
int davy_thresholds_file_read(const char *path, struct davy_config *config);

#endif
