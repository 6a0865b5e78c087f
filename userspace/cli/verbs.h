/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: one function and one file per verb; each returns an exit status of log.h.
 */
#ifndef DAVY_VERBS_H
#define DAVY_VERBS_H

#include "lib/log.h"

#ifndef DAVY_VERSION
#define DAVY_VERSION "0.1"
#endif
#ifndef DAVY_DATA_DIR
#define DAVY_DATA_DIR "/usr/share/davylamp"
#endif
#define DAVY_CONFIG_DIR "/etc/davylamp"

int davy_verb_run(int argc, char **argv);
int davy_verb_exec(int argc, char **argv);
int davy_verb_replay(int argc, char **argv);
int davy_verb_trace(int argc, char **argv);
int davy_verb_trace_discovery(int argc, char **argv);
int davy_verb_tune(int argc, char **argv);
int davy_verb_status(int argc, char **argv);
int davy_verb_release(int argc, char **argv);
int davy_verb_log(int argc, char **argv);
int davy_verb_policy(int argc, char **argv);
int davy_verb_doctor(int argc, char **argv);
int davy_verb_probe(int argc, char **argv);
int davy_verb_act(int argc, char **argv);

#endif
