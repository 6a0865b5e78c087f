/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends one request to the agent and waits for the answer. */
#ifndef DAVY_CLIENT_H
#define DAVY_CLIENT_H

#include <jansson.h>

/*
 * Sends "question" (takes the reference) and waits up to 10 s. Returns an exit status and logs
 * errors. On DAVY_EXIT_DONE, *ret_answer is a new reference.
 */
int davy_client_ask(const char *socket_path, json_t *question, json_t **ret_answer);

/* The same with another time limit. */
int davy_client_ask_for(const char *socket_path, json_t *question, int patience_ms,
			json_t **ret_answer);

/*
 * Looks for an agent. DAVY_EXIT_DONE: it runs (or is busy). DAVY_EXIT_NOTHING: none runs, nothing
 * is logged. Others: unknown, the error is logged.
 */
int davy_client_find(const char *socket_path);

#endif
