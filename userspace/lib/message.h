/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between the agent and its clients: one JSON object per packet of a unix SOCK_SEQPACKET
 * socket, at most DAVY_MESSAGE_MAX bytes. Both ends treat what they receive as outside input.
 */
#ifndef DAVY_MESSAGE_H
#define DAVY_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define DAVY_MESSAGE_MAX    65536
#define DAVY_SOCKET_DEFAULT "/run/davylamp/agent.sock"

/* Takes the reference to "message" in every case. */
int davy_message_send(int fd, json_t *message);

/*
 * 0 and a new reference; -EAGAIN: nothing there; -ECONNRESET: the other end is gone; -EBADMSG: not
 * an object with a text "op" (the connection can go on).
 */
int davy_message_receive(int fd, json_t **ret_message);

/*
 * Root's clients have a socket beside the one for all, with a queue that others cannot fill. Writes
 * its path; -ENAMETOOLONG.
 */
#define DAVY_SOCKET_PATH_MAX 108 /* sun_path of unix(7) */
int davy_message_root_path(const char *path, char ret_path[DAVY_SOCKET_PATH_MAX]);

#define DAVY_CONNECT_MS 2000 /* a usual limit */

/*
 * Connected socket, or -errno. -EAGAIN: the queue of the agent stayed full for "limit_ms"; the
 * agent is there, and busy or stopped.
 */
int davy_message_connect(const char *path, unsigned int limit_ms);

/* Whether that error of davy_message_connect means that no agent listens there. */
bool davy_message_nobody(int err);

/* Values of a message; "" and the fallback when absent or of another type. */
const char *davy_message_text(const json_t *message, const char *key);
json_int_t davy_message_number(const json_t *message, const char *key, json_int_t fallback);

#endif
