/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between the agent and its clients: one JSON object per packet of a unix SOCK_SEQPACKET
 * socket, at most DL_MESSAGE_MAX bytes. Both ends treat what they receive as outside input.
 */
#ifndef DL_LIB_MESSAGE_H
#define DL_LIB_MESSAGE_H

#include <jansson.h>
#include <stddef.h>

#define DL_MESSAGE_MAX	  65536
#define DL_SOCKET_DEFAULT "/run/davylamp/agent.sock"

/* Takes the reference to "message" in every case. */
int dl_message_send(int fd, json_t *message);

/*
 * 0 and a new reference; -EAGAIN: nothing there; -ECONNRESET: the other end is gone; -EBADMSG: not
 * an object with a text "op" (the connection can go on).
 */
int dl_message_receive(int fd, json_t **ret_message);

/* Connected socket, or -errno. */
int dl_message_connect(const char *path);

/* Values of a message; "" and the fallback when absent or of another type. */
const char *dl_message_text(const json_t *message, const char *key);
json_int_t dl_message_number(const json_t *message, const char *key, json_int_t fallback);

#endif
