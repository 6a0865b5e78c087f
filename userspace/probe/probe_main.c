/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/api_key.h"
#include "lib/log.h"
#include "lib/options.h"
#include "lib/standard_fds.h"
#include "probe/answer.h"
#include "probe/engine_api.h"
#include "probe/probe.h"

#define HOUR_MS UINT64_C(3600000)

static const char usage[] =
	"usage: davylamp-probe engine --port N [--wait-ms N] [--timeout-ms N] [--brief]\n"
	"       davylamp-probe engine --port N --slots save|restore --prefix NAME\n"
	"       davylamp-probe models --port N --api NAME --act unload|derive|restore\n"
	"                      [--model NAME] [--num-batch N] [--num-ctx N]\n"
	"       davylamp-probe vulkan [--device INDEX|BDF] [--list] [--timeout SECONDS]\n"
	"       davylamp-probe rocm|levelzero|nvml [--timeout SECONDS]\n"
	"       davylamp-probe nvml --follow\n"
	"       davylamp-probe runner [OPTIONS] -- COMMAND [ARGUMENT...]\n"
	"       davylamp-probe confined\n"
	"\n"
	"Runs without privileges in a sandbox, prints one JSON line, and exits after one\n"
	"test. Started by davylamp; users run 'davylamp probe'.\n"
	"engine     requests one token from the engine on 127.0.0.1; prints the HTTP\n"
	"           status of /health and of the completion (0: no answer in time),\n"
	"           tokens, ms, models, slots and props.\n"
	"models     unloads models of a daemon, or makes Ollama run one with smaller\n"
	"           parameters from its next load on, until it is restored.\n"
	"vulkan     prints devices, drivers and heaps; each fills 1 MiB within 2 s.\n"
	"rocm, levelzero, nvml\n"
	"           test whether the runtime finds a GPU, in the stages load,\n"
	"           symbols, init, count, query.\n"
	"runner     runs a command in the same sandbox.\n"
	"confined   tries the operations that the sandbox forbids.\n"
	"\n"
	"  --port N           port of the engine\n"
	"  --wait-ms N        time for /health to return 200 (default 0)\n"
	"  --timeout-ms N     time limit of the completion (default 10000)\n"
	"  --brief            omit models, props and slots\n"
	"  --api NAME         llama (default), ollama, openai, or none: the engine generates\n"
	"                     no token, its port must stay open\n"
	"  --health PATH      path of the health check (default /health)\n"
	"  --models PATH      path of the list of loaded models (default /v1/models)\n"
	"  --alive-ms N       with --api none: how long the port must stay open\n"
	"  --model NAME       model for a daemon that has none loaded\n"
	"  --host ADDRESS     numeric address of the engine (default 127.0.0.1)\n"
	"  --from-port N      source port at that address\n"
	"  --slots WHAT       make llama-server save or restore its slots instead\n"
	"  --prefix NAME      prefix of the slots' files: letters, digits and '-'\n"
	"  --slot-set N       a bit for each slot (default: all)\n"
	"  --device X         one device: index or PCI address\n"
	"  --list             list devices, submit no work\n"
	"  --follow           answer the agent's requests on descriptor 3 until it exits\n"
	"  --timeout SECONDS  time limit of the whole probe, by SIGALRM (vulkan: 10)\n"
	"  --uid N, --gid N   run as these (default: davylamp-probe, or an unused uid)\n"
	"  --groups N,N...    with these groups (vulkan: those of the GPUs' device files)\n"
	"  --memory MIB       limit of the address space (engine: 512, vulkan: 262144)\n"
	"  --stages           print a line for each stage before the answer\n"
	"  -h, --help         print this text\n";

#define NOT_GIVEN UINT32_MAX

/* Options of the command line, completed by the kind of probe. */
struct given {
	struct davy_probe_options options;
	uint32_t uid, gid; /* NOT_GIVEN: those that the probe has */
	bool groups;
	uint32_t memory_mib;
};

/* Where an option's number goes. */
struct number {
	const char *option;
	void *at;
	size_t size;
	uint64_t max;
};

static bool probe_main_number(const char *text, uint64_t max, uint64_t *ret_value)
{
	char *end;

	errno = 0;
	*ret_value = strtoull(text, &end, 10);
	if (!errno && end != text && !*end && *text != '-' && *ret_value <= max)
		return true;
	davy_log("'%s' is not a number from 0 to %llu", text, (unsigned long long)max);
	return false;
}

static bool probe_main_take_number(void *arg, const char *text)
{
	const struct number *n = arg;
	uint64_t value;

	if (!probe_main_number(text, n->max, &value))
		return false;
	if (n->size == sizeof(uint16_t))
		*(uint16_t *)n->at = (uint16_t)value;
	else if (n->size == sizeof(uint32_t))
		*(uint32_t *)n->at = (uint32_t)value;
	else
		*(uint64_t *)n->at = value;
	return true;
}

static bool probe_main_take_api(void *arg, const char *name)
{
	struct davy_probe_options *o = arg;

	o->api = name;
	if (!davy_api_known(name))
		davy_log("unknown API '%s'; expected llama, ollama, openai or none", name);
	return davy_api_known(name);
}

static bool probe_main_take_groups(void *arg, const char *text)
{
	struct given *g = arg;
	struct davy_confine *c = &g->options.confine;
	char *list = strdup(text), *save = NULL;
	bool good = list != NULL;
	uint64_t value;

	g->groups = true;
	for (char *at = list ? strtok_r(list, ",", &save) : NULL; good && at;
	     at = strtok_r(NULL, ",", &save)) {
		good = probe_main_number(at, UINT32_MAX - 1, &value);
		if (good && c->group_count < DAVY_GROUPS_MAX)
			c->groups[c->group_count++] = (gid_t)value;
	}
	free(list);
	return good;
}

/* Accepts only text that needs no quoting in a URL or in JSON. */
static bool probe_main_plain(const char **at, const char *text, const char *allowed)
{
	*at = text;
	if (*text && strlen(text) <= 64 && !text[strspn(text, allowed)])
		return true;
	davy_log("'%s' has characters that are not allowed; see --help", text);
	return false;
}

static bool probe_main_take_host(void *at, const char *text)
{
	return probe_main_plain(at, text, "0123456789abcdefABCDEF.:");
}

static bool probe_main_take_prefix(void *at, const char *text)
{
	return probe_main_plain(at, text,
				"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
}

/* "": the engine has none. */
static bool probe_main_take_path(void *at, const char *text)
{
	if (*text)
		return probe_main_plain(at, text,
					"/-_.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"abcdefghijklmnopqrstuvwxyz");
	*(const char **)at = NULL;
	return true;
}

static bool probe_main_take_slots(void *arg, const char *text)
{
	struct davy_probe_options *o = arg;

	o->slots = text;
	if (!strcmp(text, "save") || !strcmp(text, "restore"))
		return true;
	davy_log("--slots '%s': expected save or restore", text);
	return false;
}

static int probe_engine(struct given *g)
{
	if (!g->options.port) {
		davy_log("expected a port: 'davylamp-probe engine --port N'; see --help");
		return DAVY_EXIT_USAGE;
	}
	if (g->options.slots && !g->options.prefix) {
		davy_log("--slots needs --prefix");
		return DAVY_EXIT_USAGE;
	}
	g->options.confine.tcp_port = g->options.port;
	g->options.confine.from_port = g->options.from_port;
	g->options.confine.memory_bytes = 512ULL << 20;
	g->options.confine.data_bytes = 512ULL << 20;
	g->options.confine.file_count = 64;
	g->options.confine.process_count = 64;
	return 0;
}

static int probe_models(struct given *g)
{
	const char *act = g->options.act;

	if (act && (!strcmp(act, "unload") || !strcmp(act, "derive") || !strcmp(act, "restore")))
		return probe_engine(g);
	davy_log("expected --act unload, derive or restore; see --help");
	return DAVY_EXIT_USAGE;
}

/*
 * Drivers reserve more address space than the memory of a GPU, so this limit is wide. The limit of
 * private writable memory is narrow.
 */
static int probe_vulkan(struct given *g)
{
	if (!g->options.confine.devices)
		g->options.confine.devices = DAVY_DEVICES_ALL;
	g->options.confine.memory_bytes = 256ULL << 30;
	g->options.confine.data_bytes = 8ULL << 30;
	g->options.confine.file_count = 512;
	g->options.confine.process_count = 2048;
	if (!g->groups)
		davy_confine_add_gpu_groups(&g->options.confine);
	if (!g->options.timeout_s)
		g->options.timeout_s = 10;
	return 0;
}

/* Runtimes reserve the whole address space; writable memory is limited as for Vulkan. */
static int probe_any_runtime(struct given *g, enum davy_probe_runtime runtime)
{
	int status = probe_vulkan(g);

	g->options.runtime = runtime;
	g->options.confine.memory_bytes = 1ULL << 47;
	return status;
}

static int probe_rocm(struct given *g)
{
	return probe_any_runtime(g, DAVY_PROBE_ROCM);
}

static int probe_level_zero(struct given *g)
{
	return probe_any_runtime(g, DAVY_PROBE_LEVEL_ZERO);
}

/* The resident worker: the agent has the deadlines, and each request has a limit of CPU time. */
static int probe_nvml(struct given *g)
{
	int status;

	if (!g->options.follow)
		return probe_any_runtime(g, DAVY_PROBE_NVML);
	g->options.confine.devices = DAVY_DEVICES_NVIDIA;
	status = probe_any_runtime(g, DAVY_PROBE_NVML);
	g->options.confine.data_bytes = 2ULL << 30;
	g->options.confine.file_count = 128;
	g->options.confine.cpu_s = UINT32_MAX;
	g->options.timeout_s = 0;
	return status;
}

/* An engine's device discovery; the parent has the time limit. */
static int probe_runner(struct given *g)
{
	int status = probe_any_runtime(g, DAVY_PROBE_ROCM);

	g->options.confine.programs = true;
	g->options.confine.data_bytes = 64ULL << 30;
	g->options.confine.file_count = 4096;
	g->options.confine.process_count = 4096;
	return status;
}

static int probe_nothing(struct given *g)
{
	g->options.confine.tcp_port = g->options.port;
	g->options.confine.memory_bytes = 512ULL << 20;
	g->options.confine.data_bytes = 512ULL << 20;
	g->options.confine.file_count = 64;
	g->options.confine.process_count = 64;
	return 0;
}

static int nvml(const struct davy_probe_options *options)
{
	return options->follow ? davy_probe_nvml_follow(options) : davy_probe_runtime(options);
}

static int engine(const struct davy_probe_options *options)
{
	return options->slots ? davy_probe_slots(options) : davy_probe_engine(options);
}

/* The output is the command's, without an answer of ours. */
static int run_command(const struct davy_probe_options *options)
{
	execvp(options->command[0], options->command);
	davy_log("'%s' cannot be run: %s", options->command[0], strerror(errno));
	return 127;
}

static int confined(const struct davy_probe_options *options)
{
	return davy_probe_confined(options->port != 0);
}

static const struct kind {
	const char *name;
	int (*prepare)(struct given *g);
	int (*run)(const struct davy_probe_options *options);
} kinds[] = {
	{ "engine", probe_engine, engine },
	{ "models", probe_models, davy_probe_models },
	{ "vulkan", probe_vulkan, davy_probe_vulkan },
	{ "rocm", probe_rocm, davy_probe_runtime },
	{ "levelzero", probe_level_zero, davy_probe_runtime },
	{ "nvml", probe_nvml, nvml },
	{ "runner", probe_runner, run_command },
	{ "confined", probe_nothing, confined },
};

/* As davy_options_read returns it. */
static int probe_main_options(int argc, char **argv, struct given *g)
{
	struct davy_probe_options *o = &g->options;
	struct number numbers[] = {
		{ "port", &o->port, sizeof(o->port), UINT16_MAX },
		{ "from-port", &o->from_port, sizeof(o->from_port), UINT16_MAX },
		{ "wait-ms", &o->wait_ms, sizeof(o->wait_ms), HOUR_MS },
		{ "timeout-ms", &o->timeout_ms, sizeof(o->timeout_ms), HOUR_MS },
		{ "alive-ms", &o->alive_ms, sizeof(o->alive_ms), HOUR_MS },
		{ "timeout", &o->timeout_s, sizeof(o->timeout_s), 3600 },
		{ "slot-set", &o->slot_set, sizeof(o->slot_set), UINT64_MAX },
		{ "num-batch", &o->num_batch, sizeof(o->num_batch), INT32_MAX },
		{ "num-ctx", &o->num_ctx, sizeof(o->num_ctx), INT32_MAX },
		{ "uid", &g->uid, sizeof(g->uid), UINT32_MAX - 1 },
		{ "gid", &g->gid, sizeof(g->gid), UINT32_MAX - 1 },
		{ "memory", &g->memory_mib, sizeof(g->memory_mib), 16U << 20 },
	};
	struct davy_option options[DAVY_OPTIONS_MAX + 1] = {
		{ "brief", .flag = &o->brief },
		{ "list", .flag = &o->list },
		{ "stages", .flag = &o->stages },
		{ "follow", .flag = &o->follow },
		{ "device", .text = &o->device },
		{ "model", .text = &o->model },
		{ "act", .text = &o->act },
		{ "api", .take = probe_main_take_api, .arg = o },
		{ "health", .take = probe_main_take_path, .arg = &o->health },
		{ "models", .take = probe_main_take_path, .arg = &o->models },
		{ "slots", .take = probe_main_take_slots, .arg = o },
		{ "host", .take = probe_main_take_host, .arg = &o->host },
		{ "prefix", .take = probe_main_take_prefix, .arg = &o->prefix },
		{ "groups", .take = probe_main_take_groups, .arg = g },
	};
	struct davy_option *at = options;

	while (at->name)
		at++;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		*at++ = (struct davy_option){ numbers[i].option, .take = probe_main_take_number,
					      .arg = &numbers[i] };
	return davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);
}

static const struct kind *probe_main_parse(int argc, char **argv, struct given *g, int *ret_exit)
{
	int first = probe_main_options(argc, argv, g);

	*ret_exit = first <= 0 ? -first : DAVY_EXIT_USAGE;
	if (first <= 0)
		return NULL;
	if (g->uid != NOT_GIVEN)
		g->options.confine.uid = g->uid;
	if (g->gid != NOT_GIVEN)
		g->options.confine.gid = g->gid;
	if (first + 1 < argc && !strcmp(argv[first], "runner")) {
		g->options.command = argv + first + 1;
		argc = first + 1;
	}
	for (size_t i = 0; first + 1 == argc && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[first], kinds[i].name) &&
		    (kinds[i].run != run_command || g->options.command))
			return kinds[i].prepare(g) ? NULL : &kinds[i];
	davy_log("expected what to probe: 'davylamp-probe engine --port N'; see --help");
	return NULL;
}

/* Out of the environment: children and libraries do not need it. */
static const char *probe_main_key(void)
{
	static char key[DAVY_API_KEY_LEN];

	davy_api_key_take(key, getenv(DAVY_API_KEY_ENV));
	unsetenv(DAVY_API_KEY_ENV);
	return key[0] ? key : NULL;
}

static int give_up_privileges(struct given *g, pid_t parent)
{
	int err, abi;

	if ((g->uid != NOT_GIVEN || g->gid != NOT_GIVEN || g->groups) && geteuid())
		return -EPERM; /* only root can change its uid */
	g->options.confine.process_count +=
		davy_confine_threads_of(geteuid() ? geteuid() : g->options.confine.uid);
	if (g->memory_mib)
		g->options.confine.memory_bytes = (uint64_t)g->memory_mib << 20;
	err = g->options.command ? 0 : davy_answer_open(g->options.stages);
	if (!err)
		err = davy_confine(&g->options.confine, parent, &abi);
	if (!err)
		davy_answer_sandbox(abi);
	return err;
}

int main(int argc, char **argv)
{
	pid_t parent = getppid();
	struct given g = { .uid = NOT_GIVEN,
			   .gid = NOT_GIVEN,
			   .options = { .timeout_ms = 10000,
					.host = "127.0.0.1",
					.health = "/health",
					.models = "/v1/models",
					.api_key = probe_main_key(),
					.confine = { .cpu_s = 60 } } };
	const struct kind *kind;
	int status;

	if (davy_standard_fds_open())
		return DAVY_EXIT_FAILED; /* no stderr for a message */
	davy_confine_own_user(&g.options.confine);
	kind = probe_main_parse(argc, argv, &g, &status);
	if (!kind)
		return status;
	alarm(g.options.command ? 0 : g.options.timeout_s);
	status = give_up_privileges(&g, parent);
	if (status) {
		davy_log("cannot drop privileges: %s; exiting", strerror(-status));
		return DAVY_EXIT_NOT_PERMITTED;
	}
	_exit(kind->run(&g.options)); /* run no exit handlers of drivers */
}
