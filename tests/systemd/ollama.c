/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program called ollama with the behaviour of the real one that davylamp sees, without
 * computation: its API (api/types.go and server/routes.go at fb307609, and 0.24), the arguments and
 * the inherited environment of its runners in both eras, their end by SIGKILL when a model is
 * unloaded. A model is a file of parameters in OLLAMA_MODELS; each loaded one is a runner process.
 *
 *   ollama serve         OLLAMA_HOST, OLLAMA_ERA=0.24 or 0.30
 *   ollama runner ...    (0.24), and "llama-server ..." if the file has that name (0.30): waits
 */
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MODELS	    8
#define REQUEST_MAX 65536

static struct loaded {
	char name[128];
	pid_t pid;
} loaded[MODELS];

static char self[512];

static const char *setting(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

/* "tiny" means tiny:latest. */
static void full_name(char *buf, size_t size, const char *name)
{
	snprintf(buf, size, "%s%s", name, strchr(name, ':') ? "" : ":latest");
}

static void path_of(char *buf, size_t size, const char *name)
{
	snprintf(buf, size, "%s/%s.json", setting("OLLAMA_MODELS", "/var/lib/ollama"), name);
	for (char *at = buf + strlen(setting("OLLAMA_MODELS", "/var/lib/ollama")) + 1; *at; at++)
		if (*at == '/')
			*at = '_';
}

static json_t *read_model(const char *name)
{
	char path[512];

	path_of(path, sizeof(path), name);
	return json_load_file(path, 0, NULL);
}

static struct loaded *find(const char *name)
{
	for (size_t i = 0; i < MODELS; i++)
		if (loaded[i].pid && !strcmp(loaded[i].name, name))
			return &loaded[i];
	return NULL;
}

static void unload(const char *name)
{
	struct loaded *l = find(name);

	if (!l)
		return;
	kill(l->pid, SIGKILL); /* as Ollama's scheduler does */
	waitpid(l->pid, NULL, 0);
	l->pid = 0;
}

static void run(const char *blob, json_t *parameters)
{
	bool old = !strcmp(setting("OLLAMA_ERA", "0.30"), "0.24");
	char batch[16], context[16], program[600];
	const char *slots = setting("OLLAMA_NUM_PARALLEL", "1");
	json_int_t n = json_integer_value(json_object_get(parameters, "num_batch"));
	json_int_t c = json_integer_value(json_object_get(parameters, "num_ctx"));

	snprintf(batch, sizeof(batch), "%d", n ? (int)n : 512);
	snprintf(context, sizeof(context), "%d",
		 (c ? (int)c : atoi(setting("OLLAMA_CONTEXT_LENGTH", "4096"))) * atoi(slots));
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int fd = 3; fd < 64; fd++)
		close(fd);
	if (old) {
		execl(self, self, "runner", "--model", blob, "--ctx-size", context, "--batch-size",
		      batch, "--parallel", slots, "--port", "40001", NULL);
	} else {
		snprintf(program, sizeof(program), "%s", self);
		*strrchr(program, '/') = 0;
		strcat(program, "/llama-server");
		execl(program, program, "--model", blob, "--port", "40001", "--host", "127.0.0.1",
		      "--no-webui", "--offline", "-c", context, "-np", slots, "-b", batch, "-ub",
		      batch, "--flash-attn", "auto", NULL);
	}
	_exit(127);
}

static int load(const char *name)
{
	json_t *model = read_model(name);
	struct loaded *l = find(name);
	char blob[512];

	if (!model)
		return -ENOENT;
	for (size_t i = 0; !l && i < MODELS; i++)
		if (!loaded[i].pid)
			l = &loaded[i];
	if (l && !l->pid) {
		snprintf(blob, sizeof(blob), "%s/blobs/sha256-%064d", setting("OLLAMA_MODELS", ""),
			 7);
		snprintf(l->name, sizeof(l->name), "%s", name);
		l->pid = fork();
		if (!l->pid)
			run(blob, json_object_get(model, "parameters"));
	}
	json_decref(model);
	return l ? 0 : -EAGAIN;
}

static void answer(int fd, int status, json_t *body)
{
	char *text = body ? json_dumps(body, JSON_COMPACT) : strdup("");

	dprintf(fd,
		"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
		"Connection: close\r\n\r\n%s",
		status, strlen(text), text);
	free(text);
	json_decref(body);
}

static void list_loaded(int fd)
{
	json_t *list = json_array();

	for (size_t i = 0; i < MODELS; i++)
		if (loaded[i].pid)
			json_array_append_new(list,
					      json_pack("{s:s, s:s, s:s}", "name", loaded[i].name,
							"model", loaded[i].name, "expires_at",
							"2099-01-01T00:00:00Z"));
	answer(fd, 200, json_pack("{s:o}", "models", list));
}

static const char *text(const json_t *in, const char *key)
{
	const char *value = json_string_value(json_object_get(in, key));

	return value ? value : "";
}

static void generate(int fd, const json_t *in)
{
	const json_t *keep = json_object_get(in, "keep_alive");
	bool ends = json_is_integer(keep) && !json_integer_value(keep);
	char name[128];

	full_name(name, sizeof(name), text(in, "model"));
	if (!text(in, "prompt")[0] && ends) {
		unload(name);
		answer(fd, 200,
		       json_pack("{s:s, s:b, s:s}", "model", name, "done", 1, "done_reason",
				 "unload"));
		return;
	}
	if (load(name)) {
		answer(fd, 404, json_pack("{s:s}", "error", "model not found"));
		return;
	}
	answer(fd, 200,
	       json_pack("{s:s, s:s, s:b, s:i}", "model", name, "response", " 4", "done", 1,
			 "eval_count", 1));
}

static void create(int fd, const json_t *in)
{
	char name[128], from[128], path[512];
	json_t *model;

	full_name(name, sizeof(name), text(in, "model"));
	full_name(from, sizeof(from), text(in, "from"));
	model = read_model(from);
	if (!model) {
		answer(fd, 404, json_pack("{s:s}", "error", "model not found"));
		return;
	}
	if (!json_object_get(model, "parameters"))
		json_object_set_new(model, "parameters", json_object());
	json_object_update(json_object_get(model, "parameters"), json_object_get(in, "parameters"));
	path_of(path, sizeof(path), name);
	json_dump_file(model, path, JSON_COMPACT);
	json_decref(model);
	answer(fd, 200, json_pack("{s:s}", "status", "success"));
}

static void copy(int fd, const json_t *in)
{
	char from[128], to[128], path[512];
	json_t *model;

	full_name(from, sizeof(from), text(in, "source"));
	full_name(to, sizeof(to), text(in, "destination"));
	model = read_model(from);
	path_of(path, sizeof(path), to);
	if (model)
		json_dump_file(model, path, JSON_COMPACT);
	answer(fd, model ? 200 : 404, NULL);
	json_decref(model);
}

static void show(int fd, const json_t *in)
{
	char name[128];
	json_t *model;

	full_name(name, sizeof(name), text(in, "model"));
	model = read_model(name);
	answer(fd, model ? 200 : 404, model);
}

static void delete (int fd, const json_t *in)
{
	char name[128], path[512];

	full_name(name, sizeof(name), text(in, "model"));
	path_of(path, sizeof(path), name);
	answer(fd, unlink(path) ? 404 : 200, NULL);
}

static void serve(int fd, char *request)
{
	char method[16] = "", path[128] = "", *body = strstr(request, "\r\n\r\n");
	json_t *in = body ? json_loads(body + 4, 0, NULL) : NULL;

	sscanf(request, "%15s %127s", method, path);
	if (!strcmp(path, "/api/version"))
		answer(fd, 200, json_pack("{s:s}", "version", setting("OLLAMA_ERA", "0.30")));
	else if (!strcmp(path, "/api/ps"))
		list_loaded(fd);
	else if (!strcmp(path, "/api/generate"))
		generate(fd, in);
	else if (!strcmp(path, "/api/create"))
		create(fd, in);
	else if (!strcmp(path, "/api/copy"))
		copy(fd, in);
	else if (!strcmp(path, "/api/show"))
		show(fd, in);
	else if (!strcmp(path, "/api/delete") && !strcmp(method, "DELETE"))
		delete (fd, in);
	else
		answer(fd, 404, NULL);
	json_decref(in);
}

/* Reads head and body; false when the client has closed the connection. */
static bool receive(int fd, char *request)
{
	size_t used = 0, want = 0;
	ssize_t n;

	while (used < REQUEST_MAX - 1 &&
	       (n = read(fd, request + used, REQUEST_MAX - 1 - used)) > 0) {
		const char *end, *length;

		used += (size_t)n;
		request[used] = 0;
		end = strstr(request, "\r\n\r\n");
		length = strcasestr(request, "content-length:");
		if (end)
			want = (size_t)(end + 4 - request) +
			       (length ? strtoul(length + 15, NULL, 10) : 0);
		if (end && used >= want)
			return true;
	}
	return false;
}

static int daemon_main(void)
{
	static char request[REQUEST_MAX];
	const char *host = setting("OLLAMA_HOST", "127.0.0.1:11434");
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				    .sin_port = htons((uint16_t)atoi(strrchr(host, ':') + 1)) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 16))
		return 1;
	for (;;) {
		int conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

		if (conn >= 0 && receive(conn, request))
			serve(conn, request);
		close(conn);
	}
}

int main(int argc, char **argv)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = 0;
	if (n > 0 && !strcmp(strrchr(self, '/'), "/ollama") && argc > 1 &&
	    !strcmp(argv[1], "serve"))
		return daemon_main();
	for (;;)
		pause();
}
