/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/exec_options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/message.h"
#include "lib/text.h"
#include "store/learned.h"
#include "cli/verbs.h"

#define RESERVE_MIB 512

static const char usage[] =
	"usage: davylamp exec [OPTIONS] -- COMMAND [ARGUMENT...]\n"
	"\n"
	"Starts an inference engine as an adopted workload: in a cgroup of its own, on a\n"
	"backend that is not known to fail, and replaced when the agent says so.\n"
	"\n"
	"  --model NAME         what it will serve, where the command does not say it\n"
	"  --backend NAME       auto (default): by the rules and what was learned;\n"
	"                       vulkan, rocm, cuda, sycl: that one, with a warning of\n"
	"                       what is known against it; cpu: strictly the CPU\n"
	"  --force-cpu          strictly the CPU, even if it cannot fit\n"
	"  --force-gpu BACKEND  that backend, even if it cannot fit\n"
	"  --prefer-gpu         of what the rules allow a GPU first, the CPU last\n"
	"  --gpu-only           fail rather than fall back to the CPU\n"
	"  --device PCI|N       that GPU alone, by address or by its number in --explain\n"
	"  --memory-max SIZE    of the engine's own memory (a cgroup's memory.max): '16G'\n"
	"  --explain            print how it was decided, and by what; start nothing\n"
	"  --dry-run            print what would be started, start nothing\n"
	"  --json               either of them as one JSON object\n"
	"  --slots DIR          where the engine saves its slots for a planned migration:\n"
	"                       as it sees that folder (one is made while it runs)\n"
	"  --reserve MIB        of memory to be left free when two engines run (512)\n"
	"  --socket PATH        the agent's socket (/run/davylamp/agent.sock)\n"
	"  --state DIR          what was learned (/var/lib/davylamp)\n"
	"  --config DIR         people's rules, backend.conf (/etc/davylamp)\n"
	"  --policies DIR       shipped rules (" DAVY_DATA_DIR "/policies)\n"
	"  -h, --help           this text\n"
	"\n"
	"Signals go to the engine; the exit status is the engine's own, 128 + N when\n"
	"signal N ended it, 126 or 127 when it cannot be started, 4 when it is refused.\n";

enum option_id {
	OPT_MODEL = 1000,
	OPT_BACKEND,
	OPT_FORCE_CPU,
	OPT_FORCE_GPU,
	OPT_PREFER_GPU,
	OPT_GPU_ONLY,
	OPT_DEVICE,
	OPT_MEMORY_MAX,
	OPT_EXPLAIN,
	OPT_DRY_RUN,
	OPT_JSON,
	OPT_SLOTS,
	OPT_RESERVE,
	OPT_SOCKET,
	OPT_STATE,
	OPT_CONFIG,
	OPT_POLICIES,
};

static const struct option names[] = {
	{ "model", required_argument, NULL, OPT_MODEL },
	{ "backend", required_argument, NULL, OPT_BACKEND },
	{ "force-cpu", no_argument, NULL, OPT_FORCE_CPU },
	{ "force-gpu", required_argument, NULL, OPT_FORCE_GPU },
	{ "prefer-gpu", no_argument, NULL, OPT_PREFER_GPU },
	{ "gpu-only", no_argument, NULL, OPT_GPU_ONLY },
	{ "device", required_argument, NULL, OPT_DEVICE },
	{ "memory-max", required_argument, NULL, OPT_MEMORY_MAX },
	{ "explain", no_argument, NULL, OPT_EXPLAIN },
	{ "dry-run", no_argument, NULL, OPT_DRY_RUN },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "slots", required_argument, NULL, OPT_SLOTS },
	{ "reserve", required_argument, NULL, OPT_RESERVE },
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "state", required_argument, NULL, OPT_STATE },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "policies", required_argument, NULL, OPT_POLICIES },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* What was given of those that exclude each other. */
struct given {
	const char *backend;
	const char *force_gpu;
	bool force_cpu;
};

/* A number, and with "unit" one of K, M, G, T behind it. False when it is none. */
static bool number(const char *text, bool unit, uint64_t most, uint64_t *ret_value)
{
	static const char units[] = "KMGT";
	unsigned long long value;
	const char *at;
	char *end;
	int shift = 0;

	errno = 0;
	value = strtoull(text, &end, 10);
	at = unit && *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (at) {
		shift = 10 * (int)(at - units + 1);
		end++;
	}
	if (errno || !isdigit((unsigned char)text[0]) || *end || value > most >> shift)
		return false;
	*ret_value = (uint64_t)value << shift;
	return true;
}

static int wrong(const char *option, const char *text, const char *expected)
{
	char safe[256];

	davy_log("%s '%s': expected %s", option, davy_text_safe(safe, sizeof(safe), text),
		 expected);
	return DAVY_EXIT_USAGE;
}

static int take_number(int id, const char *text, struct davy_exec_options *o)
{
	uint64_t value;

	if (id == OPT_RESERVE) {
		if (!number(text, false, UINT32_MAX, &value))
			return wrong("--reserve", text, "a number of MiB");
		o->reserve_bytes = value << 20;
		return 0;
	}
	if (!number(text, true, INT64_MAX, &value) || !value)
		return wrong("--memory-max", text, "a size such as '16G' or '800M'");
	o->memory_max = value;
	return 0;
}

static int take(int id, struct given *g, struct davy_exec_options *o)
{
	if (id == OPT_MEMORY_MAX || id == OPT_RESERVE)
		return take_number(id, optarg, o);
	if (id == OPT_MODEL)
		o->model = optarg;
	else if (id == OPT_BACKEND)
		g->backend = optarg;
	else if (id == OPT_FORCE_CPU)
		g->force_cpu = true;
	else if (id == OPT_FORCE_GPU)
		g->force_gpu = optarg;
	else if (id == OPT_PREFER_GPU)
		o->prefer_gpu = true;
	else if (id == OPT_GPU_ONLY)
		o->gpu_only = true;
	else if (id == OPT_DEVICE)
		o->device = optarg;
	else if (id == OPT_EXPLAIN)
		o->explain = true;
	else if (id == OPT_DRY_RUN)
		o->dry_run = true;
	else if (id == OPT_JSON)
		o->json = true;
	else if (id == OPT_SLOTS)
		o->slot_dir = optarg;
	else if (id == OPT_SOCKET)
		o->socket_path = optarg;
	else if (id == OPT_STATE)
		o->state_dir = optarg;
	else if (id == OPT_CONFIG)
		o->config_dir = optarg;
	else
		o->data_dir = optarg;
	return 0;
}

static int take_backend(const struct given *g, struct davy_exec_options *o)
{
	int forced = g->force_gpu ? davy_backend_from_name(g->force_gpu) : 0;
	int asked = g->backend ? davy_backend_from_name(g->backend) : 0;

	if (g->force_gpu && forced <= DAVY_BACKEND_CPU)
		return wrong("--force-gpu", g->force_gpu, "vulkan, rocm, cuda or sycl");
	if (g->backend && asked <= 0 && strcmp(g->backend, "auto") != 0)
		return wrong("--backend", g->backend, "auto, vulkan, rocm, cuda, sycl or cpu");
	if ((g->force_cpu && g->force_gpu) || ((g->force_cpu || g->force_gpu) && asked > 0)) {
		davy_log("--backend, --force-cpu and --force-gpu: one of them can be obeyed");
		return DAVY_EXIT_USAGE;
	}
	o->want = g->force_cpu || g->force_gpu ? DAVY_WANT_FORCE
		  : asked > 0		       ? DAVY_WANT_BACKEND
					       : DAVY_WANT_AUTO;
	o->backend = g->force_cpu ? DAVY_BACKEND_CPU : (enum davy_backend)(forced ? forced : asked);
	return 0;
}

static int check(const struct davy_exec_options *o)
{
	char safe[256];

	if (o->want && o->backend == DAVY_BACKEND_CPU && (o->gpu_only || o->prefer_gpu)) {
		davy_log("the CPU is asked for, and %s: one of them can be obeyed",
			 o->gpu_only ? "--gpu-only" : "--prefer-gpu");
		return DAVY_EXIT_USAGE;
	}
	if (o->model && !o->model[0])
		return wrong("--model", "", "a name");
	if (o->json && !o->explain && !o->dry_run) {
		davy_log("--json is for --explain and --dry-run");
		return DAVY_EXIT_USAGE;
	}
	if (!o->command[0]) {
		davy_log("which engine? 'davylamp exec -- llama-server -m MODEL ...'");
		return DAVY_EXIT_USAGE;
	}
	if (o->device && !o->device[0])
		return wrong("--device", davy_text_safe(safe, sizeof(safe), o->device),
			     "a PCI address or a number");
	return 0;
}

int davy_exec_options_read(int argc, char **argv, struct davy_exec_options *ret_options)
{
	struct davy_exec_options *o = ret_options;
	struct given g = { 0 };
	int c, err = 0;

	*o = (struct davy_exec_options){ .socket_path = DAVY_SOCKET_DEFAULT,
					 .state_dir = DAVY_STATE_DIR,
					 .config_dir = DAVY_CONFIG_DIR,
					 .data_dir = DAVY_DATA_DIR "/policies",
					 .reserve_bytes = (uint64_t)RESERVE_MIB << 20,
					 .memory_max = DAVY_FIT_UNKNOWN };
	while (!err && (c = getopt_long(argc, argv, "+h", names, NULL)) >= 0) {
		if (c == 'h')
			return fputs(usage, stdout) < 0 ? DAVY_EXIT_FAILED : -1;
		err = c == '?' ? DAVY_EXIT_USAGE : take(c, &g, o);
	}
	o->command = argv + optind;
	if (!err)
		err = take_backend(&g, o);
	return err ? err : check(o);
}
