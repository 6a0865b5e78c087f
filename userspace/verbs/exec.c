/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../act/slots.h"
#include "../act/steer.h"
#include "../engines/gguf.h"
#include "../lib/file.h"
#include "../lib/message.h"
#include "../store/learned.h"
#include "exec_policy.h"
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
	"  --slots DIR     where the engine saves its slots for a planned migration: as\n"
	"                  it sees that folder (one is made for the time it runs)\n"
	"  --reserve MIB   of memory to be left free when two engines run for that (512)\n"
	"  --dry-run       say what would be started, start nothing\n"
	"  --socket PATH   the agent's socket (/run/davylamp/agent.sock)\n"
	"  --state DIR     what was learned (/var/lib/davylamp)\n"
	"  --config DIR    people's rules, backend.conf (/etc/davylamp)\n"
	"  -h, --help      this text\n"
	"\n"
	"Signals go to the engine; the exit status is the engine's own.\n";

struct options {
	const char *backend;
	const char *socket_path;
	const char *state_dir;
	const char *config_dir;
	const char *slot_dir; /* NULL: one of our own */
	uint64_t reserve_mib;
	bool dry_run;
};

static const struct option names[] = {
	{ "backend", required_argument, NULL, 'b' },
	{ "socket", required_argument, NULL, 's' },
	{ "state", required_argument, NULL, 'd' },
	{ "dry-run", no_argument, NULL, 'n' },
	{ "config", required_argument, NULL, 'c' },
	{ "slots", required_argument, NULL, 'S' },
	{ "reserve", required_argument, NULL, 'r' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* UINT64_MAX when it is no number of them. */
static uint64_t mebibytes(const char *text)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	return errno || !isdigit((unsigned char)text[0]) || *end || value > UINT32_MAX ? UINT64_MAX
										       : value;
}

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
		else if (c == 'c')
			o->config_dir = optarg;
		else if (c == 'S')
			o->slot_dir = optarg;
		else if (c == 'r')
			o->reserve_mib = mebibytes(optarg);
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
	if (o->reserve_mib == UINT64_MAX) {
		dl_log("--reserve: expected a number of MiB");
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

static int print_plan(const struct dl_launch *l, const struct dl_engine_wish *wish)
{
	struct dl_args args;

	if (dl_engine_command(&l->facts, l->argv, wish, &args)) {
		dl_log("'%s' cannot be moved to the CPU", l->argv[0]);
		return DL_EXIT_NOTHING;
	}
	printf("would start:");
	for (size_t i = 0; i < args.count; i++)
		printf(" %s", args.at[i]);
	putchar('\n');
	dl_args_done(&args);
	return DL_EXIT_DONE;
}

/* Where somebody listens already the engine is to fail as it always did, and not to share. */
static void prepare_handover(struct dl_launch *l, const struct options *o, char *ret_made)
{
	enum dl_engine engine = l->facts.engine;

	ret_made[0] = 0;
	if (!l->facts.port || !dl_engine_share_port(engine) ||
	    dl_listener_count(getpid(), l->facts.port) > 0)
		return;
	l->shares_port = true;
	if (!dl_engine_save_slots(engine) || l->facts.slot_dir)
		return;
	if (!o->slot_dir && !dl_slots_make_dir(o->state_dir, ret_made, PATH_MAX))
		dl_copy_name(l->slot_dir, sizeof(l->slot_dir), ret_made);
	else if (o->slot_dir)
		dl_copy_name(l->slot_dir, sizeof(l->slot_dir), o->slot_dir);
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

static int start(struct dl_launch *l, const struct dl_engine_wish *wish, const struct options *o)
{
	static const struct dl_knobs as_told;
	bool tuned = memcmp(&wish->knobs, &as_told, sizeof(as_told)) != 0;
	const struct dl_supervise_options options = { .socket_path = o->socket_path,
						      .reserve_bytes = o->reserve_mib << 20,
						      .tuned_for = tuned ? "runner_crash" : NULL };
	char made[PATH_MAX];
	int status;

	make_cgroup(l);
	prepare_handover(l, o, made);
	status = dl_supervise(l, wish, &options);
	if (made[0])
		rmdir(made);
	dl_launch_done(l);
	return status;
}

/* Of the model, where its file can be read; 0: not known. */
static uint32_t layers_of(const struct dl_engine_facts *facts)
{
	struct dl_gguf head;
	struct stat st;
	DL_FD fd =
		facts->model_path ? open(facts->model_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    dl_gguf_read(fd, (uint64_t)st.st_size, &head))
		return 0;
	return head.block_count;
}

int dl_verb_exec(int argc, char **argv)
{
	struct options o = { .backend = "auto",
			     .socket_path = DL_SOCKET_DEFAULT,
			     .state_dir = DL_STATE_DIR,
			     .config_dir = DL_CONFIG_DIR,
			     .reserve_mib = 512 };
	struct dl_engine_look look = { .envp = environ, .exe = "", .parent = "" };
	struct dl_launch launch = { 0 };
	struct dl_engine_wish wish = { 0 };
	struct dl_exec_policy_dirs dirs;
	struct dl_args base = { 0 };
	bool forced;
	int err = parse(argc, argv, &o);

	if (err)
		return err < 0 ? DL_EXIT_DONE : err;
	launch.argv = argv + optind;
	look.argv = launch.argv;
	dl_engine_identify(&look, &launch.facts);
	wish.layers = layers_of(&launch.facts);
	launch.asked = choose(&o, &launch.facts);
	dirs = (struct dl_exec_policy_dirs){ DL_DATA_DIR "/policies", o.config_dir, o.state_dir,
					     o.socket_path };
	forced = strcmp(o.backend, "auto") != 0 || launch.facts.backend != DL_BACKEND_UNKNOWN;
	launch.asked = dl_exec_policy(&dirs, launch.asked, forced, &launch, &base, &wish);
	look.argv = launch.argv;
	dl_engine_identify(&look, &launch.facts);
	if (launch.asked == DL_BACKEND_CPU)
		wish.backend = DL_BACKEND_CPU;
	if (launch.facts.engine == DL_ENGINE_NONE)
		dl_log("'%s' is no engine davylamp knows: it is watched, but cannot be moved to "
		       "the CPU",
		       launch.argv[0]);
	err = o.dry_run ? print_plan(&launch, &wish) : start(&launch, &wish, &o);
	dl_args_done(&base);
	return err;
}
