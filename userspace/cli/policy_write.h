/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp policy write'. */
#ifndef DL_VERBS_POLICY_WRITE_H
#define DL_VERBS_POLICY_WRITE_H

int dl_policy_write(int argc, char **argv);

#endif
