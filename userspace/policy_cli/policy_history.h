/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's policy layer, its history and the ledger: 'davylamp policy history', 'diff',
 * 'rollback', 'export', 'import' and 'forget'. The running agent makes the changes; without one
 * they are made in the state directory.
 */
#ifndef DAVY_POLICY_HISTORY_H
#define DAVY_POLICY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

struct davy_history_options {
	const char *state_dir;
	const char *socket_path;
	const char *model, *device; /* NULL: any */
	bool all;
	bool state_given; /* --state: do not ask an agent with another directory */
	bool json;
};

/* Exit status; -1: another word. */
int davy_policy_history_word(const char *word, char *const *words, size_t count,
			     const struct davy_history_options *o);

/* policy_history.c: read-only; exit status. */
int davy_policy_history(const struct davy_history_options *o);
int davy_policy_diff(char *const *numbers, size_t count, const struct davy_history_options *o);
int davy_policy_export(const char *path, const struct davy_history_options *o);

/* policy_ledger.c */
int davy_policy_ledger(const struct davy_history_options *o);

/* Parses a version's number; false: not a number (logged). */
bool davy_policy_number(const char *text, unsigned int *ret_number);

#endif
