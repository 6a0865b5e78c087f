/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between the agent and its clients: one JSON object per packet of a Unix SOCK_SEQPACKET
 * socket, at most DAVY_MESSAGE_MAX bytes. Both ends treat received data as untrusted.
 */
#ifndef DAVY_MESSAGE_H
#define DAVY_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define DAVY_MESSAGE_MAX    65536
#define DAVY_SOCKET_DEFAULT "/run/davylamp/agent.sock"

/* Always takes the reference to "message". */
int davy_message_send(int fd, json_t *message);

/*
 * 0 and a new reference; -EAGAIN: no packet; -ECONNRESET: the peer closed the connection; -EBADMSG:
 * not an object with a string "op" (the connection stays usable).
 */
int davy_message_receive(int fd, json_t **ret_message);

/*
 * Sends "question" (takes the reference) and waits for one answer. -ETIMEDOUT: none; -EBUSY: the
 * agent refused; else as davy_message_receive().
 */
int davy_message_ask(int fd, json_t *question, int patience_ms, json_t **ret_answer);

/* Path of the socket for root's clients, whose queue other users cannot fill. -ENAMETOOLONG. */
#define DAVY_SOCKET_PATH_MAX 108 /* sun_path of unix(7) */
int davy_message_root_path(const char *path, char ret_path[DAVY_SOCKET_PATH_MAX]);

#define DAVY_CONNECT_MS 2000 /* default limit */

/* A connected socket, or -errno. -EAGAIN: the agent runs but its queue was full for "limit_ms". */
int davy_message_connect(const char *path, unsigned int limit_ms);

/* True if an error of davy_message_connect means that no agent listens. */
bool davy_message_no_agent(int err);

/* Values of a message; "" or the fallback if missing or of another type. */
const char *davy_message_text(const json_t *message, const char *key);
json_int_t davy_message_number(const json_t *message, const char *key, json_int_t fallback);

#endif
