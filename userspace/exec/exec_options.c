/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exec/exec_options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/message.h"
#include "lib/number.h"
#include "lib/options.h"
#include "lib/text.h"
#include "store/learned.h"
#include "verb/verb.h"

#define RESERVE_MIB 512

static const char usage[] =
	"usage: davylamp exec [OPTIONS] -- COMMAND [ARGUMENT...]\n"
	"\n"
	"Starts an inference engine as an adopted workload: in its own cgroup, on a\n"
	"backend that is not known to fail. The agent may order its replacement.\n"
	"\n"
	"  --model NAME         model name, if the command does not contain it\n"
	"  --backend NAME       auto (default): selected by rules and learned data;\n"
	"                       vulkan, rocm, cuda, sycl: this backend, with a warning if\n"
	"                       it is known to fail; cpu: the CPU only\n"
	"  --force-cpu          the CPU only, even if the model cannot fit\n"
	"  --force-gpu BACKEND  this backend, even if the model cannot fit\n"
	"  --prefer-gpu         if the rules allow several backends, try GPUs first\n"
	"  --gpu-only           fail instead of falling back to the CPU\n"
	"  --device PCI|N       only this GPU; PCI address, or number shown by --explain\n"
	"  --memory-max SIZE    memory limit of the engine (cgroup memory.max): '16G'\n"
	"  --vram-max SIZE      quota of VRAM per device, enforced by the agent: '12G'\n"
	"  --explain            print the decision and its reasons; start nothing\n"
	"  --dry-run            print the command and its environment; start nothing\n"
	"  --json               print --explain or --dry-run as one JSON object\n"
	"  --slots DIR          folder for saved slots during a planned migration: a path\n"
	"                       inside the engine's root (default: a temporary folder)\n"
	"  --reserve MIB        memory to keep free while two engines run (512)\n"
	"  --socket PATH        the agent's socket (/run/davylamp/agent.sock)\n"
	"  --state DIR          learned rules and data (/var/lib/davylamp)\n"
	"  --config DIR         the administrator's backend.conf (/etc/davylamp)\n"
	"  --policies DIR       shipped rules (" DAVY_DATA_DIR "/policies)\n"
	"  -h, --help           print this text\n"
	"\n"
	"Signals are forwarded to the engine. Exit status: the engine's; 128 + N after\n"
	"signal N; 126 or 127 if the engine cannot be started; 4 if the start is refused.\n";

/* Options that exclude each other, or that are converted. */
struct given {
	const char *backend;
	const char *force_gpu;
	bool force_cpu;
	const char *reserve, *memory_max, *vram_max;
};

/* Parses a number with an optional suffix K, M, G or T. */
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
	if (g->vram_max && (!size_number(g->vram_max, &o->vram_max) || !o->vram_max))
		return exec_options_wrong("--vram-max", g->vram_max,
					  "a size such as '12G' or '800M'");
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
		davy_log("--backend, --force-cpu and --force-gpu exclude each other");
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
		davy_log("the CPU is selected, which excludes %s",
			 o->gpu_only ? "--gpu-only" : "--prefer-gpu");
		return DAVY_EXIT_USAGE;
	}
	if (o->model && !o->model[0])
		return exec_options_wrong("--model", "", "a name");
	if (o->json && !o->explain && !o->dry_run) {
		davy_log("--json needs --explain or --dry-run");
		return DAVY_EXIT_USAGE;
	}
	if (!o->command[0]) {
		davy_log("expected a command: 'davylamp exec -- llama-server -m MODEL ...'");
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
		{ "vram-max", .text = &g.vram_max },
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
