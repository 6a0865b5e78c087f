/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs of davylamp-lab; each returns an exit status of log.h. */
#ifndef DAVY_LAB_VERBS_H
#define DAVY_LAB_VERBS_H

int davy_verb_tune(int argc, char **argv);
int davy_verb_month(int argc, char **argv);

/* argv[1] is "scenarios" or "synth". */
int davy_verb_synth(int argc, char **argv);

#endif
