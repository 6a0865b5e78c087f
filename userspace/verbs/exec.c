/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../lib/message.h"
#include "../store/learned.h"
#include "supervise.h"
#include "verbs.h"

static const char usage[] =
	"usage: davylamp exec [OPTIONS] -- COMMAND [ARGUMENT...]\n"
	"\n"
	"Starts an inference engine as an adopted workload: in a cgroup of its own, on a\n"
	"backend that is not known to fail, and replaced when the agent says so.\n"
	"\n"
	"  --backend NAME  auto (default): the CPU when this model's GPU backend is\n"
	"                  open-circuit, else as the command says; vulkan: as the command\n"
	"                  says, whatever is known; cpu: strictly the CPU\n"
	"  --dry-run       say what would be started, start nothing\n"
	"  --socket PATH   the agent's socket (/run/davylamp/agent.sock)\n"
	"  --state DIR     the learned policy (/var/lib/davylamp)\n"
	"  -h, --help      this text\n"
	"\n"
	"Signals go to the engine; the exit status is the engine's own.\n";

struct options {
	const char *backend;
	const char *socket_path;
	const char *state_dir;
	bool dry_run;
};

static const struct option names[] = {
	{ "backend", required_argument, NULL, 'b' }, { "socket", required_argument, NULL, 's' },
	{ "state", required_argument, NULL, 'd' },   { "dry-run", no_argument, NULL, 'n' },
	{ "help", no_argument, NULL, 'h' },	     { 0 },
};

static int parse(int argc, char **argv, struct options *o)
{
	int c;

	while ((c = getopt_long(argc, argv, "+h", names, NULL)) >= 0) {
		if (c == 'b')
			o->backend = optarg;
		else if (c == 's')
			o->socket_path = optarg;
		else if (c == 'd')
			o->state_dir = optarg;
		else if (c == 'n')
			o->dry_run = true;
		else if (c == 'h')
			return fputs(usage, stdout) < 0 ? DL_EXIT_FAILED : -1;
		else
			return DL_EXIT_USAGE;
	}
	if (strcmp(o->backend, "auto") != 0 && strcmp(o->backend, "vulkan") != 0 &&
	    strcmp(o->backend, "cpu") != 0) {
		dl_log("--backend '%s': expected auto, vulkan or cpu", o->backend);
		return DL_EXIT_USAGE;
	}
	if (optind == argc) {
		dl_log("which engine? 'davylamp exec -- llama-server -m MODEL ...'");
		return DL_EXIT_USAGE;
	}
	return 0;
}

static const struct dl_learned_entry *against(const struct options *o, struct dl_learned *learned,
					      const char *model)
{
	int line, err = dl_learned_load(o->state_dir, learned, &line);

	if (err) {
		dl_log("policy '%s/%s': %s in line %d; starting as if nothing was learned",
		       o->state_dir, DL_LEARNED_NAME, strerror(-err), line);
		return NULL;
	}
	return dl_learned_against(learned, DL_BACKEND_VULKAN, model, time(NULL));
}

/* What runs: the CPU when asked for or when the policy stands against the GPU, and why. */
static enum dl_backend choose(const struct options *o, const struct dl_engine_facts *facts)
{
	struct dl_learned learned = { 0 };
	const struct dl_learned_entry *e;

	if (!strcmp(o->backend, "cpu") || facts->backend == DL_BACKEND_CPU)
		return DL_BACKEND_CPU;
	e = against(o, &learned, facts->model);
	if (!e)
		return !strcmp(o->backend, "vulkan") ? DL_BACKEND_VULKAN : DL_BACKEND_UNKNOWN;
	dl_log("%s on %s is open-circuit for model '%s' for another %" PRId64 " s: %s", "vulkan",
	       e->device[0] ? e->device : "any device", e->model, e->until_s - (int64_t)time(NULL),
	       e->because);
	if (!strcmp(o->backend, "vulkan")) {
		dl_log("starting on vulkan all the same, as --backend says");
		return DL_BACKEND_VULKAN;
	}
	dl_log("starting on the CPU");
	return DL_BACKEND_CPU;
}

static int print_plan(const struct dl_launch *l)
{
	struct dl_args args = { 0 };
	char *const *argv = l->argv;

	if (l->backend == DL_BACKEND_CPU && dl_engine_to_cpu(l->facts.engine, l->argv, &args)) {
		dl_log("'%s' cannot be moved to the CPU", l->argv[0]);
		return DL_EXIT_NOTHING;
	}
	if (args.count)
		argv = args.at;
	printf("would start:");
	for (size_t i = 0; argv[i]; i++)
		printf(" %s", argv[i]);
	putchar('\n');
	dl_args_done(&args);
	return DL_EXIT_DONE;
}

static void make_cgroup(struct dl_launch *l)
{
	char name[64];
	int err;

	snprintf(name, sizeof(name), "davylamp-exec-%d", (int)getpid());
	err = dl_cgroup_make(name, &l->cgroup);
	if (err)
		dl_log("no cgroup for the engine (%s): it is told apart by its pid alone",
		       strerror(-err));
}

int dl_verb_exec(int argc, char **argv)
{
	struct options o = { "auto", DL_SOCKET_DEFAULT, DL_STATE_DIR, false };
	struct dl_engine_look look = { .envp = environ, .exe = "", .parent = "" };
	struct dl_launch launch = { 0 };
	int err = parse(argc, argv, &o);

	if (err)
		return err < 0 ? DL_EXIT_DONE : err;
	launch.argv = argv + optind;
	look.argv = launch.argv;
	dl_engine_identify(&look, &launch.facts);
	launch.backend = choose(&o, &launch.facts);
	if (launch.facts.engine == DL_ENGINE_NONE)
		dl_log("'%s' is no engine davylamp knows: it is watched, but cannot be moved to "
		       "the CPU",
		       launch.argv[0]);
	if (o.dry_run)
		return print_plan(&launch);
	make_cgroup(&launch);
	err = dl_supervise(&launch, o.socket_path);
	dl_cgroup_remove(&launch.cgroup);
	return err;
}
