/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: one function and one file per verb; each returns an exit status of log.h.
 */
#ifndef DL_VERBS_VERBS_H
#define DL_VERBS_VERBS_H

#include "lib/log.h"

#ifndef DL_VERSION
#define DL_VERSION "0.1"
#endif
#ifndef DL_DATA_DIR
#define DL_DATA_DIR "/usr/share/davylamp"
#endif
#define DL_CONFIG_DIR "/etc/davylamp"

int dl_verb_run(int argc, char **argv);
int dl_verb_exec(int argc, char **argv);
int dl_verb_replay(int argc, char **argv);
int dl_verb_trace(int argc, char **argv);
int dl_verb_trace_discovery(int argc, char **argv);
int dl_verb_tune(int argc, char **argv);
int dl_verb_status(int argc, char **argv);
int dl_verb_release(int argc, char **argv);
int dl_verb_log(int argc, char **argv);
int dl_verb_policy(int argc, char **argv);
int dl_verb_doctor(int argc, char **argv);
int dl_verb_probe(int argc, char **argv);
int dl_verb_act(int argc, char **argv);

#endif
