/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/exec_options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/message.h"
#include "lib/number.h"
#include "lib/options.h"
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

/* What was given of those that exclude each other. */
struct given {
	const char *backend;
	const char *force_gpu;
	bool force_cpu;
	const char *reserve, *memory_max;
};

/* A number, and one of K, M, G, T behind it. False when it is none. */
static bool size_number(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "KMGT";
	const char *unit =
		text[0] ? strchr(units, toupper((unsigned char)text[strlen(text) - 1])) : NULL;
	int shift = unit ? 10 * (int)(unit - units + 1) : 0;
	char digits[32];

	if ((size_t)snprintf(digits, sizeof(digits), "%.*s", (int)strlen(text) - (unit != NULL),
			     text) >= sizeof(digits) ||
	    !davy_number(digits, INT64_MAX >> shift, ret_bytes))
		return false;
	*ret_bytes <<= shift;
	return true;
}

static int exec_options_wrong(const char *option, const char *text, const char *expected)
{
	char safe[256];

	davy_log("%s '%s': expected %s", option, davy_text_safe(safe, sizeof(safe), text),
		 expected);
	return DAVY_EXIT_USAGE;
}

static int take_sizes(const struct given *g, struct davy_exec_options *o)
{
	uint64_t mib;

	if (g->reserve && !davy_number(g->reserve, UINT32_MAX, &mib))
		return exec_options_wrong("--reserve", g->reserve, "a number of MiB");
	if (g->reserve)
		o->reserve_bytes = mib << 20;
	if (g->memory_max && (!size_number(g->memory_max, &o->memory_max) || !o->memory_max))
		return exec_options_wrong("--memory-max", g->memory_max,
					  "a size such as '16G' or '800M'");
	return 0;
}

static int take_backend(const struct given *g, struct davy_exec_options *o)
{
	int forced = g->force_gpu ? davy_backend_from_name(g->force_gpu) : 0;
	int asked = g->backend ? davy_backend_from_name(g->backend) : 0;

	if (g->force_gpu && forced <= DAVY_BACKEND_CPU)
		return exec_options_wrong("--force-gpu", g->force_gpu,
					  "vulkan, rocm, cuda or sycl");
	if (g->backend && asked <= 0 && strcmp(g->backend, "auto") != 0)
		return exec_options_wrong("--backend", g->backend,
					  "auto, vulkan, rocm, cuda, sycl or cpu");
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

static int exec_options_check(const struct davy_exec_options *o)
{
	char safe[256];

	if (o->want && o->backend == DAVY_BACKEND_CPU && (o->gpu_only || o->prefer_gpu)) {
		davy_log("the CPU is asked for, and %s: one of them can be obeyed",
			 o->gpu_only ? "--gpu-only" : "--prefer-gpu");
		return DAVY_EXIT_USAGE;
	}
	if (o->model && !o->model[0])
		return exec_options_wrong("--model", "", "a name");
	if (o->json && !o->explain && !o->dry_run) {
		davy_log("--json is for --explain and --dry-run");
		return DAVY_EXIT_USAGE;
	}
	if (!o->command[0]) {
		davy_log("which engine? 'davylamp exec -- llama-server -m MODEL ...'");
		return DAVY_EXIT_USAGE;
	}
	if (o->device && !o->device[0])
		return exec_options_wrong("--device", davy_text_safe(safe, sizeof(safe), o->device),
					  "a PCI address or a number");
	return 0;
}

int davy_exec_options_read(int argc, char **argv, struct davy_exec_options *ret_options)
{
	struct davy_exec_options *o = ret_options;
	struct given g = { 0 };
	const struct davy_option options[] = {
		{ "model", .text = &o->model },
		{ "backend", .text = &g.backend },
		{ "force-cpu", .flag = &g.force_cpu },
		{ "force-gpu", .text = &g.force_gpu },
		{ "prefer-gpu", .flag = &o->prefer_gpu },
		{ "gpu-only", .flag = &o->gpu_only },
		{ "device", .text = &o->device },
		{ "memory-max", .text = &g.memory_max },
		{ "explain", .flag = &o->explain },
		{ "dry-run", .flag = &o->dry_run },
		{ "json", .flag = &o->json },
		{ "slots", .text = &o->slot_dir },
		{ "reserve", .text = &g.reserve },
		{ "socket", .text = &o->socket_path },
		{ "state", .text = &o->state_dir },
		{ "config", .text = &o->config_dir },
		{ "policies", .text = &o->data_dir },
		{ 0 },
	};
	int first, err;

	*o = (struct davy_exec_options){ .socket_path = DAVY_SOCKET_DEFAULT,
					 .state_dir = DAVY_STATE_DIR,
					 .config_dir = DAVY_CONFIG_DIR,
					 .data_dir = DAVY_DATA_DIR "/policies",
					 .reserve_bytes = (uint64_t)RESERVE_MIB << 20,
					 .memory_max = DAVY_FIT_UNKNOWN };
	first = davy_options_read(argc, argv, DAVY_OPTIONS_FIRST, usage, options);
	if (first <= 0)
		return first ? -first : -1;
	o->command = argv + first;
	err = take_sizes(&g, o);
	if (!err)
		err = take_backend(&g, o);
	return err ? err : exec_options_check(o);
}
