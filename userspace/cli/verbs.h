/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verbs that davylamp runs itself: one function and one file each. Each returns an exit status
 * of log.h.
 */
#ifndef DAVY_VERBS_H
#define DAVY_VERBS_H

#include "verb/verb.h"

int davy_verb_run(int argc, char **argv);
int davy_verb_trace(int argc, char **argv);
int davy_verb_status(int argc, char **argv);
int davy_verb_release(int argc, char **argv);
int davy_verb_act(int argc, char **argv);

#endif
