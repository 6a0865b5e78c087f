/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's policy layer, its history and the ledger: 'davylamp policy history', 'diff',
 * 'rollback', 'export', 'import' and 'forget'. What changes something is done by the agent while
 * one runs, else on the state directory.
 */
#ifndef DL_VERBS_POLICY_HISTORY_H
#define DL_VERBS_POLICY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

struct dl_history_options {
	const char *state_dir;
	const char *socket_path;
	const char *model, *device; /* NULL: any */
	bool all;
	bool state_given; /* an agent with another state directory is not meant */
	bool json;
};

/* An exit status, or -1: the word is none of these. */
int dl_policy_history_word(const char *word, char *const *words, size_t count,
			   const struct dl_history_options *o);

/* policy_history.c: those that only look; exit status. */
int dl_policy_history(const struct dl_history_options *o);
int dl_policy_diff(char *const *numbers, size_t count, const struct dl_history_options *o);
int dl_policy_export(const char *path, const struct dl_history_options *o);

/* policy_ledger.c */
int dl_policy_ledger(const struct dl_history_options *o);

/* A version's number; false: it is none, which has been said. */
bool dl_policy_number(const char *text, unsigned int *ret_number);

#endif
