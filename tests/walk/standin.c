/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that looks and answers like an inference engine: its name is the engine's (a link), its
 * row STANDIN. It reads port and GPU from its arguments and variables as the engine does, holds
 * what the agent sees of that GPU, starts the child that holds it in the real engine, and answers
 * HTTP from its row. The file STANDIN_STATE says how ("ok", "wedged"; "closed": its port is not
 * opened at the next start). STANDIN_LIBS has the libraries and a device node. Each request is
 * appended to STANDIN_LOG.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/walk/standin.h"

static bool standin_has(char *const argv[], const char *words)
{
	char first[32];
	size_t len = strcspn(words, " ");
	const char *second = words[len] ? words + len + 1 : NULL;

	snprintf(first, sizeof(first), "%.*s", (int)len, words);
	for (; *argv; argv++)
		if (!strcmp(*argv, first) && (!second || (argv[1] && !strcmp(argv[1], second))))
			return true;
	return false;
}

/* The Vulkan loader, ggml's Vulkan backend and the CUDA runtime read these. */
static bool standin_gpu_is_hidden(const struct standin_row *row)
{
	const char *drivers = getenv("VK_LOADER_DRIVERS_SELECT");
	const char *vulkan = getenv("GGML_VK_VISIBLE_DEVICES");
	const char *cuda = getenv("CUDA_VISIBLE_DEVICES");

	if (row->gpu == STANDIN_CUDA)
		return cuda && (!cuda[0] || cuda[0] == '-');
	return (drivers && fnmatch(drivers, "lvp_icd.json", 0)) || (vulkan && vulkan[0] == '-');
}

static bool standin_on_gpu(const struct standin_row *row, char *const argv[])
{
	const char *library = getenv("OLLAMA_LLM_LIBRARY");

	if (row->gpu == STANDIN_NO_GPU || (row->cpu_option && standin_has(argv, row->cpu_option)))
		return false;
	if (!strncmp(row->name, "ollama", 6) && library && !strcmp(library, "cpu"))
		return false; /* the daemon gives the runner no directory of a backend */
	return !standin_gpu_is_hidden(row);
}

static void standin_map(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", getenv("STANDIN_LIBS"), name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		_exit(3);
	close(fd);
}

static void *standin_worker(void *arg)
{
	prctl(PR_SET_NAME, "llvmpipe-0");
	for (;;)
		pause();
	return arg;
}

/* Lavapipe's threads, or NVIDIA's device file: opened as a path, because no driver is behind it. */
static void standin_take_gpu(const struct standin_row *row)
{
	char path[256];
	pthread_t thread;

	for (size_t i = 0; i < STANDIN_LIBRARIES && row->libraries[i]; i++)
		standin_map(row->libraries[i]);
	snprintf(path, sizeof(path), "%s/nvidia0", getenv("STANDIN_LIBS"));
	if (row->gpu == STANDIN_VULKAN ? pthread_create(&thread, NULL, standin_worker, NULL)
				       : open(path, O_PATH) < 0)
		_exit(3);
}

/* "--port 80", "-listen :80", a variable "HOST=127.0.0.1:80" */
static const char *standin_port(const struct standin_row *row, char *const argv[])
{
	const char *value = row->port_variable ? getenv(row->port_variable) : NULL, *colon;

	for (; row->port_option && *argv; argv++)
		if (!strcmp(*argv, row->port_option) && argv[1])
			value = argv[1];
	colon = value ? strrchr(value, ':') : NULL;
	return colon ? colon + 1 : value;
}

static void standin_state(char *text, size_t size)
{
	FILE *file = fopen(getenv("STANDIN_STATE"), "re");

	text[0] = 0;
	if (file && fgets(text, (int)size, file))
		text[strcspn(text, "\n")] = 0;
	if (file)
		fclose(file);
}

static void standin_note(const struct standin_row *row, const char *request)
{
	FILE *file = fopen(getenv("STANDIN_LOG"), "ae");

	if (!file)
		_exit(3);
	fprintf(file, "%s %.*s\n", row->name, (int)strcspn(request, "\r\n"), request);
	fclose(file);
}

/* The whole request: the header and the announced body. */
static void standin_read(int fd, char *buf, size_t size)
{
	size_t used = 0, whole = size - 1;
	const char *end = NULL, *length;
	ssize_t n;

	while (used < whole && (n = read(fd, buf + used, whole - used)) > 0) {
		used += (size_t)n;
		buf[used] = 0;
		end = end ? end : strstr(buf, "\r\n\r\n");
		if (!end)
			continue;
		length = strcasestr(buf, "\r\nContent-Length:");
		whole = (size_t)(end + 4 - buf) + (length ? strtoul(length + 17, NULL, 10) : 0);
		whole = whole < size ? whole : size - 1;
	}
	buf[used] = 0;
}

static const struct standin_route *standin_route_of(const struct standin_row *row,
						    const char *request)
{
	for (size_t i = 0; i < STANDIN_ROUTES && row->routes[i].request; i++) {
		const struct standin_route *r = &row->routes[i];
		size_t len = strlen(r->request);

		if (!strncmp(request, r->request, len) && request[len] == ' ' &&
		    (!r->asks || strstr(request, r->asks)))
			return r;
	}
	return NULL;
}

static void *standin_leave(void *arg)
{
	pause();
	return arg;
}

static void standin_answer(const struct standin_row *row, int fd)
{
	char request[8192], reply[2048], state[16];
	const struct standin_route *r;
	const char *body = "{\"error\":\"not found\"}";
	int status = 404;

	standin_read(fd, request, sizeof(request));
	if (!request[0])
		return; /* only the port was tried */
	standin_note(row, request);
	standin_state(state, sizeof(state));
	r = standin_route_of(row, request);
	if (r) {
		bool wedged = !strcmp(state, "wedged") && r->wedged;

		status = wedged ? r->wedged : 200;
		body = wedged ? r->wedged_body : r->body;
	}
	if (status == STANDIN_HANGS)
		standin_leave(NULL);
	snprintf(reply, sizeof(reply),
		 "HTTP/1.1 %d X\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s", status,
		 strlen(body), body);
	if (write(fd, reply, strlen(reply)) < 0)
		_exit(3);
}

struct standin_connection {
	const struct standin_row *row;
	int fd;
};

static void *standin_serve(void *arg)
{
	struct standin_connection *c = arg;

	standin_answer(c->row, c->fd);
	shutdown(c->fd, SHUT_WR);
	close(c->fd);
	free(c);
	return NULL;
}

static int standin_listen(const char *port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_port = htons((uint16_t)strtoul(port, NULL, 10)) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (getenv("LLAMA_ARG_REUSE_PORT")) /* llama-server only */
		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &(int){ 1 }, sizeof(int));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 64)) {
		perror(port);
		_exit(3);
	}
	return fd;
}

static void standin_run(const struct standin_row *row, const char *port)
{
	int fd = standin_listen(port);
	pthread_t thread;

	for (;;) {
		struct standin_connection *c = malloc(sizeof(*c));

		if (!c)
			_exit(3);
		*c = (struct standin_connection){ row, accept(fd, NULL, NULL) };
		if (c->fd < 0 || pthread_create(&thread, NULL, standin_serve, c))
			_exit(3);
		pthread_detach(thread);
	}
}

/* The process of the engine that holds the model: it ends with its parent. */
static void standin_start_child(const struct standin_row *row)
{
	char *argv[STANDIN_WORDS + 1] = { NULL };
	char path[256];

	if (!row->child[0] || fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setenv("STANDIN", row->child_row, 1);
	for (size_t i = 0; i < STANDIN_WORDS && row->child[i]; i++)
		argv[i] = (char *)row->child[i];
	snprintf(path, sizeof(path), "%s/%s", getenv("STANDIN_BIN"), row->child_program);
	execv(path, argv);
	_exit(3);
}

static const struct standin_row *standin_row_of(const char *name)
{
	for (size_t i = 0; i < standin_row_count; i++)
		if (name && !strcmp(standin_rows[i].name, name))
			return &standin_rows[i];
	return NULL;
}

int main(int argc, char *argv[])
{
	const struct standin_row *row = standin_row_of(getenv("STANDIN"));
	const char *port;
	char state[16];

	(void)argc;
	if (!row)
		return 3;
	if (standin_on_gpu(row, argv))
		standin_take_gpu(row);
	standin_start_child(row);
	port = standin_port(row, argv);
	standin_state(state, sizeof(state));
	if (port && strcmp(state, "closed") != 0)
		standin_run(row, port);
	for (;;)
		pause();
}
