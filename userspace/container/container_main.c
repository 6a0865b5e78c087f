/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * davylamp-container: one request of the agent about an adopted container, which it passes to
 * the container's runtime. Prints one line of JSON, like davylamp-probe: "ok", "why" and "error"
 * of a failure, "note" for an operator, and the container's "state". Ended at any instant it
 * leaves a state that its next run completes or takes back.
 */
#include <curl/curl.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "act/container_unit.h"
#include "container/container.h"
#include "container/container_confine.h"
#include "container/pod.h"
#include "lib/file.h"
#include "lib/file_lock.h"
#include "lib/log.h"
#include "lib/options.h"
#include "lib/standard_fds.h"
#include "store/generated.h"

#define BUSY_MS 100

static const char usage[] =
	"usage: davylamp-container OPERATION RUNTIME:NAME [OPTIONS]\n"
	"       davylamp-container OPERATION pod:NAMESPACE/POD[/CONTAINER] [OPTIONS]\n"
	"\n"
	"Used by the agent. RUNTIME is docker or podman (root's). A pod can only be described;\n"
	"for restart, its cluster is asked by an annotation.\n"
	"\n"
	"  state          describe the container; complete or take back what was interrupted\n"
	"  label          describe it, found by its id, and what its label says\n"
	"  adopt          remember its image, so that no other container is mistaken for it\n"
	"  release        forget that; the container that was adopted runs again\n"
	"  start, stop    as the runtime does it\n"
	"  restart        with the environment of DIR/RUNTIME:NAME.env; without that file as\n"
	"                 its owner made it\n"
	"  apply          the same, but nothing is done if it runs so already\n"
	"\n"
	"  --dir DIR      for definitions and environments (/var/lib/davylamp/units)\n"
	"  --socket PATH  of the runtime\n"
	"  --access DIR   with server, token and ca.crt of a cluster (/etc/davylamp/kubernetes)\n"
	"  --stages       accepted for the agent\n"
	"  -h, --help     print this text\n";

static const struct runtime {
	const char *prefix, *name, *socket;
} runtimes[] = {
	{ "docker:", "Docker", "/run/docker.sock" },
	{ "podman:", "Podman", "/run/podman/podman.sock" },
	{ "pod:", "the cluster", NULL },
};

struct request {
	struct davy_container c;
	char env_text[DAVY_GENERATED_MAX];
	struct davy_definition_change change;
};

/* Lines NAME=VALUE; the marker for the CPU is a variable, too. */
static int read_change(struct request *q)
{
	char path[PATH_MAX], name[DAVY_UNIT_LEN], *line, *rest = q->env_text;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s.env", q->c.dir,
		 davy_container_file_name(q->c.full_name, name));
	n = davy_read_whole(path, q->env_text, sizeof(q->env_text));
	if (n == -ENOENT)
		return 0;
	if (n < 0)
		return (int)n;
	while ((line = strsep(&rest, "\n"))) {
		if (line[0] == '#' || !strchr(line, '=') || line[0] == '=')
			continue;
		if (!strcmp(line, DAVY_CONTAINER_CPU_ONLY))
			q->change.cpu_only = true;
		if (q->change.env_count == DAVY_DEFINITION_ENV_MAX)
			return -E2BIG;
		q->change.env[q->change.env_count++] = line;
	}
	return 0;
}

/* "registry/name:tag@digest" without tag and digest. */
static size_t repository_length(const char *image)
{
	const char *slash = strrchr(image, '/');
	const char *name = slash ? slash + 1 : image;

	return (size_t)(name - image) + strcspn(name, ":@");
}

static int identity_path(const struct davy_container *c, char *path, size_t size)
{
	return snprintf(path, size, "%s/%s.image", c->dir, c->full_name) < (int)size
		       ? 0
		       : -ENAMETOOLONG;
}

static const char *image_name(const struct davy_container *c)
{
	return davy_definition_text(json_object_get(davy_container_original(c), "Config"), "Image");
}

static int remember_image(struct davy_container *c)
{
	const char *image = image_name(c);
	char path[PATH_MAX];
	int err = identity_path(c, path, sizeof(path));

	if (!err)
		err = davy_replace_file(path, image, strlen(image), 0600);
	if (err)
		snprintf(c->api->why, sizeof(c->api->why), "'%s/%s.image': %s", c->dir,
			 c->full_name, strerror(-err));
	return err;
}

/* The name may be another container's today. */
static int check_image(struct davy_container *c)
{
	char path[PATH_MAX], was[512];
	const char *is = image_name(c);
	ssize_t n;

	if (!davy_container_original(c) || identity_path(c, path, sizeof(path)))
		return 0;
	n = davy_read_whole(path, was, sizeof(was));
	if (n < 0)
		return n == -ENOENT ? 0 : (int)n;
	if (repository_length(was) == repository_length(is) &&
	    !strncmp(was, is, repository_length(is)))
		return 0;
	snprintf(c->api->why, sizeof(c->api->why),
		 "the name is another container's: its image is '%.120s', that of the adopted one "
		 "was '%.120s'; release it and adopt this one",
		 is, was);
	return -ESTALE;
}

static int adopt(struct davy_container *c)
{
	char why[DAVY_RUNTIME_WHY_LEN];

	if (!c->now) {
		snprintf(c->api->why, sizeof(c->api->why),
			 "%s of root has no container of that name; containers of other users "
			 "cannot be adopted",
			 c->api->name);
		return -ENOENT;
	}
	if (davy_definition_refusal(c->now, c->api->fixed_policy, why, sizeof(why))) {
		memcpy(c->api->why, why, sizeof(why));
		return -ENOTSUP;
	}
	return remember_image(c);
}

static int release(struct davy_container *c)
{
	char path[PATH_MAX];
	int err = davy_container_back(c);

	if (!err && !identity_path(c, path, sizeof(path)))
		unlink(path);
	if (!err && !davy_compose_path(c, path, sizeof(path)))
		davy_generated_remove(path);
	return err;
}

/* "apply": nothing is done to a container that is as it should be. */
static int restart(struct request *q, bool apply)
{
	struct davy_container *c = &q->c;
	int err = read_change(q);

	if (err) {
		snprintf(c->api->why, sizeof(c->api->why), "'%s/%s.env': %s", c->dir,
			 q->c.full_name, strerror(-err));
		return err;
	}
	q->change.apply = apply;
	if (q->change.env_count)
		return davy_container_change(c, &q->change);
	if (davy_container_replaced(c)) {
		err = davy_container_back(c);
		if (!err && c->now && !davy_container_runs(c->now))
			err = davy_container_start(c, c->now);
		return err ? err : davy_container_look(c);
	}
	if (!c->now) {
		snprintf(c->api->why, sizeof(c->api->why), "there is no such container");
		return -ENOENT;
	}
	if (!apply)
		err = davy_container_restart(c, c->now);
	else if (!davy_container_runs(c->now))
		err = davy_container_start(c, c->now);
	return err ? err : davy_container_look(c);
}

static int start_or_stop(struct davy_container *c, bool start)
{
	int err = -ENOENT;

	if (c->now)
		err = start ? davy_container_start(c, c->now) : davy_container_stop(c, c->now);
	else
		snprintf(c->api->why, sizeof(c->api->why), "there is no such container");
	return err ? err : davy_container_look(c);
}

static int operate(struct request *q, const char *operation)
{
	struct davy_container *c = &q->c;
	int err = check_image(c);

	if (!strcmp(operation, "adopt"))
		return adopt(c); /* again: with the image of today */
	if (!strcmp(operation, "release"))
		return release(c);
	if (err || !strcmp(operation, "state"))
		return err;
	if (!strcmp(operation, "restart") || !strcmp(operation, "apply"))
		return restart(q, !strcmp(operation, "apply"));
	return start_or_stop(c, !strcmp(operation, "start"));
}

/* Another run changes it now: only "state" answers, with what it finds. */
static int run(struct request *q, const char *operation)
{
	bool state = !strcmp(operation, "state");
	char path[PATH_MAX];
	DAVY_FILE_LOCK lock = { .fd = -1 };
	int err, busy;

	if (!strcmp(operation, "label")) {
		err = davy_runtime_open(q->c.api);
		return err ? err : davy_container_look(&q->c);
	}
	snprintf(path, sizeof(path), "%s/%s", q->c.dir, q->c.name);
	busy = davy_file_lock_take(&lock, path, state ? BUSY_MS : DAVY_LOCK_COMMAND_MS);
	if (busy && (!state || busy != -EBUSY)) {
		snprintf(q->c.api->why, sizeof(q->c.api->why), "'%.200s': %s", path,
			 strerror(-busy));
		return busy;
	}
	err = davy_runtime_open(q->c.api);
	if (!err)
		err = davy_container_look(&q->c);
	if (!err && !busy)
		err = davy_container_recover(&q->c);
	return err ? err : operate(q, operation);
}

/* Only the cluster may change a pod. "apply" ends a refused action: what was asked for stays. */
static int operate_on_pod(struct request *q, struct davy_pod *pod, const char *operation)
{
	bool restart = !strcmp(operation, "restart");
	char wants[DAVY_RUNTIME_WHY_LEN / 2];
	int err = davy_pod_look(pod);

	if (!err && !pod->uid[0] && !strcmp(operation, "adopt")) {
		snprintf(pod->api->why, sizeof(pod->api->why),
			 "no pod of that name runs on this node (none in /var/log/pods)");
		return -ENOENT;
	}
	if (!strcmp(operation, "release")) {
		if (davy_pod_ask(pod, NULL, 0)) /* nothing is wanted any more */
			snprintf(q->c.note, sizeof(q->c.note), "%s", pod->api->why);
		return 0;
	}
	if (err || !strcmp(operation, "state") || !strcmp(operation, "adopt") ||
	    !strcmp(operation, "apply"))
		return err;
	if (!restart) {
		snprintf(pod->api->why, sizeof(pod->api->why),
			 "only the cluster may start or stop a pod");
		return -ENOTSUP;
	}
	err = read_change(q);
	if (err)
		return err;
	if (!q->change.env_count)
		q->change.env[q->change.env_count++] = "a restart";
	davy_pod_wants(q->change.env, q->change.env_count, wants, sizeof(wants));
	err = davy_pod_ask(pod, q->change.env, q->change.env_count);
	if (!err)
		snprintf(pod->api->why, sizeof(pod->api->why),
			 "only the cluster may change a pod; its annotation " DAVY_POD_ANNOTATION
			 " asks for: %s",
			 wants);
	else if (err == -ENOKEY)
		snprintf(pod->api->why, sizeof(pod->api->why),
			 "only the cluster may change a pod; it needs: %s (to let davylamp ask for "
			 "it, see '%.60s' in davylamp.8)",
			 wants, pod->access);
	return -ENOTSUP;
}

static int print(const struct request *q, int err, json_t *state)
{
	json_t *answer =
		json_pack("{s:b, s:s, s:i, s:s, s:o}", "ok", !err, "why", err ? q->c.api->why : "",
			  "error", err, "note", q->c.note, "state", state);
	bool good = answer && !json_dumpf(answer, stdout, JSON_COMPACT) && putchar('\n') != EOF &&
		    !fflush(stdout);

	json_decref(answer);
	return good ? DAVY_EXIT_DONE : DAVY_EXIT_FAILED;
}

static const struct runtime *find_runtime(const char *full_name)
{
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
		if (!strncmp(full_name, runtimes[i].prefix, strlen(runtimes[i].prefix)))
			return &runtimes[i];
	return NULL;
}

static bool is_name(const struct runtime *runtime, const char *name, struct davy_pod *pod)
{
	return runtime->socket ? davy_container_name_valid(name) : davy_pod_parse(pod, name);
}

static bool is_operation(const char *word)
{
	static const char *const words[] = { "state", "label", "adopt", "release",
					     "start", "stop",  "apply", "restart" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i], word))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	const char *dir = "/var/lib/davylamp/units", *socket = NULL;
	struct davy_pod pod = { .access = "/etc/davylamp/kubernetes" };
	const struct runtime *runtime;
	struct davy_runtime_api api = { 0 };
	static struct request q;
	bool stages = false;
	const struct davy_option options[] = {
		{ "dir", .text = &dir },
		{ "socket", .text = &socket },
		{ "access", .text = &pod.access },
		{ "stages", .flag = &stages },
		{ 0 },
	};
	int first, err, status;

	if (davy_standard_fds_open())
		return DAVY_EXIT_FAILED;
	first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);
	if (first <= 0)
		return -first;
	if (first + 2 != argc || !is_operation(argv[first])) {
		davy_log("an operation and a container are expected; see --help");
		return DAVY_EXIT_USAGE;
	}
	runtime = find_runtime(argv[first + 1]);
	if (!runtime || !is_name(runtime, argv[first + 1] + strlen(runtime->prefix), &pod)) {
		davy_log("'%s' names no container; examples are docker:ollama and "
			 "pod:llm/vllm-0/server",
			 argv[first + 1]);
		return DAVY_EXIT_USAGE;
	}
	api.name = runtime->name;
	api.fixed_policy = !strcmp(runtime->name, "Podman");
	api.socket = socket ? socket : runtime->socket;
	pod.api = &api;
	q.c = (struct davy_container){ .api = &api,
				       .full_name = argv[first + 1],
				       .name = argv[first + 1] + strlen(runtime->prefix),
				       .dir = dir };
	q.c.by_id = !strcmp(argv[first], "label");
	q.c.with_size = strcmp(argv[first], "state") != 0;
	signal(SIGTERM, SIG_IGN); /* a stop of the agent's unit shall not interrupt a change */
	curl_global_init(CURL_GLOBAL_NOTHING);
	err = davy_container_confine(!runtime->socket);
	if (err)
		snprintf(api.why, sizeof(api.why), "its confinement fails: %s", strerror(-err));
	else if (!runtime->socket)
		err = operate_on_pod(&q, &pod, argv[first]);
	else
		err = run(&q, argv[first]);
	status =
		print(&q, err, runtime->socket ? davy_container_state(&q.c) : davy_pod_state(&pod));
	davy_container_free(&q.c);
	curl_global_cleanup();
	return status;
}
