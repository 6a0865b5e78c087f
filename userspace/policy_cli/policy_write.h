/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp policy write'. */
#ifndef DAVY_POLICY_WRITE_H
#define DAVY_POLICY_WRITE_H

int davy_policy_write(int argc, char **argv);

#endif
