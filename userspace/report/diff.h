/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The difference of two texts in the unified format, as diff -u prints it and patch takes it. */
#ifndef DAVY_DIFF_H
#define DAVY_DIFF_H

#include <stdio.h>

struct davy_diff_side {
	const char *name;
	const char *text;
};

/*
 * 1: they differ, and "out" has it; 0: they do not, and nothing was written; -ENOMEM. It is the
 * shortest one unless thousands of lines differ in both.
 */
int davy_diff(FILE *out, const struct davy_diff_side *from, const struct davy_diff_side *to);

#endif
