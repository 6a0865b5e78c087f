/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the programs with verbs: exit statuses of log.h and the default paths. */
#ifndef DAVY_VERB_H
#define DAVY_VERB_H

#include "lib/log.h"

#ifndef DAVY_VERSION
#define DAVY_VERSION "0.1"
#endif
#ifndef DAVY_DATA_DIR
#define DAVY_DATA_DIR "/usr/share/davylamp"
#endif
#define DAVY_CONFIG_DIR "/etc/davylamp"

#endif
