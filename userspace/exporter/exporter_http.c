/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTTP side, by libmicrohttpd in this thread. A request costs one question to the agent, for
 * whose answer it waits 3 s at most. Connections, their memory and their time are limited.
 */
#include "exporter/exporter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/number.h"
#include "verb/verb.h"

#define CONNECTIONS_MAX	    16
#define CONNECTION_BYTES    16384
#define CONNECTION_LIMIT_S  10
#define CONNECTIONS_BACKLOG 16
#define LIMIT_MS	    10000

#define OPEN_TYPE  "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define PLAIN_TYPE "text/plain; version=0.0.4; charset=utf-8"

#define INDEX                                                                                      \
	"davylamp-exporter " DAVY_VERSION                                                          \
	": the metrics are at /metrics, see davylamp-exporter(8).\n"

union http_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* The size of the address; 0: invalid. */
static socklen_t http_parse(const char *text, union http_address *ret_address)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN] = "";
	size_t length = colon ? (size_t)(colon - text) : 0;
	bool brackets = length > 2 && text[0] == '[' && text[length - 1] == ']';
	uint64_t port;

	memset(ret_address, 0, sizeof(*ret_address));
	if (brackets) {
		text++;
		length -= 2;
	}
	if (!length || length >= sizeof(host) || !davy_number(colon + 1, UINT16_MAX, &port) ||
	    !port)
		return 0;
	memcpy(host, text, length);
	if (brackets && inet_pton(AF_INET6, host, &ret_address->v6.sin6_addr) == 1) {
		ret_address->v6.sin6_family = AF_INET6;
		ret_address->v6.sin6_port = htons((uint16_t)port);
		return sizeof(ret_address->v6);
	}
	if (brackets || inet_pton(AF_INET, host, &ret_address->v4.sin_addr) != 1)
		return 0;
	ret_address->v4.sin_family = AF_INET;
	ret_address->v4.sin_port = htons((uint16_t)port);
	return sizeof(ret_address->v4);
}

int davy_exporter_listen(const char *text)
{
	union http_address address;
	socklen_t size = http_parse(text, &address);
	int fd, err, on = 1;

	if (!size)
		return -EINVAL;
	fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) &&
	    !bind(fd, &address.any, size) && !listen(fd, CONNECTIONS_BACKLOG))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Takes "text" if it is to be freed. */
static enum MHD_Result http_answer(struct MHD_Connection *connection, unsigned int status,
				   const char *type, char *text, size_t size,
				   enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(size, text, mode);
	enum MHD_Result done;

	if (!response) {
		if (mode == MHD_RESPMEM_MUST_FREE)
			free(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	done = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return done;
}

static enum MHD_Result http_say(struct MHD_Connection *connection, unsigned int status,
				const char *text)
{
	return http_answer(connection, status, "text/plain", (char *)text, strlen(text),
			   MHD_RESPMEM_PERSISTENT);
}

/* OpenMetrics unless the client accepts only the older format. */
static enum davy_metrics_format http_format(struct MHD_Connection *connection)
{
	const char *accept =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);

	return accept && strstr(accept, "text/plain") &&
			       !strstr(accept, "application/openmetrics-text")
		       ? DAVY_METRICS_PLAIN
		       : DAVY_METRICS_OPEN;
}

static enum MHD_Result http_metrics(struct davy_exporter *x, struct MHD_Connection *connection)
{
	enum davy_metrics_format format = http_format(connection);
	size_t size;
	char *text = davy_exporter_text(x, format, &size);

	if (!text)
		return http_say(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "no memory\n");
	return http_answer(connection, MHD_HTTP_OK,
			   format == DAVY_METRICS_OPEN ? OPEN_TYPE : PLAIN_TYPE, text, size,
			   MHD_RESPMEM_MUST_FREE);
}

/* The first call for a request has only its head; a body is read and dropped. */
static enum MHD_Result http_handle(void *arg, struct MHD_Connection *connection, const char *path,
				   const char *method, const char *version, const char *body,
				   size_t *body_size, void **state)
{
	(void)version;
	(void)body;
	if (!*state) {
		*state = arg;
		return MHD_YES;
	}
	if (*body_size) {
		*body_size = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return http_say(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
	if (!strcmp(path, "/metrics"))
		return http_metrics(arg, connection);
	if (!strcmp(path, "/"))
		return http_say(connection, MHD_HTTP_OK, INDEX);
	return http_say(connection, MHD_HTTP_NOT_FOUND, "not found; see /metrics\n");
}

static int http_loop(struct MHD_Daemon *daemon)
{
	struct pollfd wait = {
		.fd = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
		.events = POLLIN
	};

	for (;;) {
		MHD_UNSIGNED_LONG_LONG limit_ms = 0;
		bool limited = MHD_get_timeout(daemon, &limit_ms) == MHD_YES;
		int timeout_ms = limited && limit_ms < LIMIT_MS ? (int)limit_ms : LIMIT_MS;

		if (poll(&wait, 1, timeout_ms) < 0 && errno != EINTR)
			return -errno;
		if (MHD_run(daemon) == MHD_NO)
			return -EIO;
	}
}

int davy_exporter_serve(struct davy_exporter *x, int fd)
{
	struct MHD_Daemon *daemon = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, http_handle, x, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)CONNECTION_LIMIT_S, MHD_OPTION_END);
	int err;

	if (!daemon) {
		close(fd);
		davy_log("libmicrohttpd cannot start");
		return DAVY_EXIT_FAILED;
	}
	err = davy_exporter_confine(false);
	if (err)
		davy_log("the rights cannot be dropped: %s; giving up", strerror(-err));
	else
		err = http_loop(daemon);
	MHD_stop_daemon(daemon);
	return err ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}
