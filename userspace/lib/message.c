/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/message.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/json_text.h"

int davy_message_send(int fd, json_t *message)
{
	char *text = message ? davy_json_text(message, JSON_COMPACT) : NULL;
	ssize_t n;
	int err = 0;

	json_decref(message);
	if (!text)
		return -ENOMEM;
	if (strlen(text) > DAVY_MESSAGE_MAX)
		err = -EMSGSIZE;
	if (!err) {
		n = send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
		err = n < 0 ? -errno : 0;
	}
	free(text);
	return err;
}

int davy_message_receive(int fd, json_t **ret_message)
{
	static char packet[DAVY_MESSAGE_MAX]; /* single-threaded; parsed before the next call */
	ssize_t n = recv(fd, packet, sizeof(packet), MSG_DONTWAIT);
	json_t *message;

	/*
	 * A peer that dies with unread data resets the socket. Its own data can still be received.
	 */
	if (n < 0 && errno == ECONNRESET)
		n = recv(fd, packet, sizeof(packet), MSG_DONTWAIT);
	if (n < 0)
		return errno == EINTR || errno == EWOULDBLOCK ? -EAGAIN : -ECONNRESET;
	if (n == 0)
		return -ECONNRESET;
	message = json_loadb(packet, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(message) || !json_is_string(json_object_get(message, "op"))) {
		json_decref(message);
		return -EBADMSG;
	}
	*ret_message = message;
	return 0;
}

int davy_message_ask(int fd, json_t *question, int patience_ms, json_t **ret_answer)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	json_t *answer;
	int err = davy_message_send(fd, question);

	if (err && err != -EPIPE) /* a refusal may be waiting to be read */
		return err;
	if (poll(&wait, 1, patience_ms) != 1)
		return -ETIMEDOUT;
	err = davy_message_receive(fd, &answer);
	if (err)
		return err;
	if (!strcmp(davy_message_text(answer, "op"), "busy") ||
	    !strcmp(davy_message_text(answer, "op"), "error")) {
		json_decref(answer);
		return -EBUSY;
	}
	*ret_answer = answer;
	return 0;
}

int davy_message_root_path(const char *path, char ret_path[DAVY_SOCKET_PATH_MAX])
{
	int n = snprintf(ret_path, DAVY_SOCKET_PATH_MAX, "%s.root", path);

	return n < 0 || n >= DAVY_SOCKET_PATH_MAX ? -ENAMETOOLONG : 0;
}

/* The send timeout limits connect() in the kernel. Reads and writes never block. */
static int message_connect_to(const char *path, unsigned int limit_ms)
{
	struct timeval limit = { .tv_sec = limit_ms / 1000,
				 .tv_usec = (suseconds_t)(limit_ms % 1000) * 1000 };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, err;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | (limit_ms ? 0 : SOCK_NONBLOCK), 0);
	if (fd < 0)
		return -errno;
	if (!setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) &&
	    !connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	err = -errno;
	close(fd);
	return err == -EINTR ? -EAGAIN : err;
}

/* A container may have the common socket but not root's socket. */
int davy_message_connect(const char *path, unsigned int limit_ms)
{
	char root[DAVY_SOCKET_PATH_MAX];
	int fd = -ENOENT;

	if (!geteuid() && !davy_message_root_path(path, root))
		fd = message_connect_to(root, limit_ms);
	return fd == -ENOENT || fd == -EACCES ? message_connect_to(path, limit_ms) : fd;
}

bool davy_message_no_agent(int err)
{
	return err == -ENOENT || err == -ECONNREFUSED;
}

const char *davy_message_text(const json_t *message, const char *key)
{
	const char *text = json_string_value(json_object_get(message, key));

	return text ? text : "";
}

json_int_t davy_message_number(const json_t *message, const char *key, json_int_t fallback)
{
	const json_t *value = json_object_get(message, key);

	return json_is_integer(value) ? json_integer_value(value) : fallback;
}
