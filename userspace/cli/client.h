/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One question to the agent and its answer, for the verbs that ask it something. */
#ifndef DAVY_CLIENT_H
#define DAVY_CLIENT_H

#include <jansson.h>

/*
 * Sends "question" (takes the reference) and waits up to 10 s. Exit status; on DAVY_EXIT_DONE
 * *ret_answer is a new reference. What went wrong has been said.
 */
int davy_client_ask(const char *socket_path, json_t *question, json_t **ret_answer);

/* The same with a patience of one's own. */
int davy_client_ask_for(const char *socket_path, json_t *question, int patience_ms,
			json_t **ret_answer);

/*
 * Whether an agent is there: DAVY_EXIT_DONE, DAVY_EXIT_NOTHING (none, nothing was said), or another
 * exit status: it cannot be told, and why has been said. One that is busy is there.
 */
int davy_client_find(const char *socket_path);

#endif
