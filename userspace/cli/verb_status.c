/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/message.h"
#include "lib/options.h"
#include "report/foresight_text.h"
#include "verb/client.h"
#include "cli/status_sensors.h"
#include "cli/verbs.h"

static const char usage[] =
	"usage: davylamp status [--sensors | --programs] [--json] [--socket PATH]\n"
	"\n"
	"Prints the state of the running agent: sensors, with the reason if one is off;\n"
	"engines with backend, device and model; breakers; counters of foreseen failures,\n"
	"and how well the stated probabilities held, since the start of the agent and in\n"
	"total.\n"
	"\n"
	"  --sensors      for each fact: the hook in use, why better hooks are not used,\n"
	"                 number of events, and what is not observed; the source of each\n"
	"                 GPU's memory\n"
	"  --programs     each BPF program, its hook, its state, and why it is not live\n"
	"  --json         one JSON object\n"
	"  --socket PATH  the agent's socket (/run/davylamp/agent.sock)\n"
	"  -h, --help     print this text\n";

static void print_sensors(const json_t *list)
{
	const json_t *s;
	size_t i;

	printf("sensors\n");
	json_array_foreach(list, i, s)
		printf("  %-12s %-9s %2d programs  %s\n", davy_message_text(s, "name"),
		       davy_message_text(s, "state"), (int)davy_message_number(s, "programs", 0),
		       davy_message_text(s, "reason"));
}

static void print_bar(const char *name, const json_t *gpu, const char *used, const char *total)
{
	double all = (double)davy_message_number(gpu, total, 0);

	if (all > 0)
		printf("  %s %.0f of %.0f MiB", name,
		       (double)davy_message_number(gpu, used, 0) / 1048576, all / 1048576);
}

/* "lockup gfx 2 s (default), compute never (parameter), kfd none" */
static void print_lockups(const json_t *list)
{
	const json_t *l;
	size_t i;

	json_array_foreach(list, i, l)
	{
		const char *origin = davy_message_text(l, "origin");
		long long ms = (long long)davy_message_number(l, "timeout_ms", 0);

		printf("%s %s", i ? "," : "    lockup", davy_message_text(l, "queue"));
		if (!strcmp(origin, "none") || !strcmp(origin, "unknown"))
			printf(" %s", origin);
		else if (!ms)
			printf(" never (%s)", origin);
		else if (ms % 1000)
			printf(" %lld ms (%s)", ms, origin);
		else
			printf(" %lld s (%s)", ms / 1000, origin);
	}
	if (json_array_size(list))
		putchar('\n');
}

/* For a device that uses host memory, shows what is available. */
static void print_memory(const json_t *gpu)
{
	if (*davy_message_text(gpu, "unreadable")) {
		printf("  memory unknown: %s\n", davy_message_text(gpu, "unreadable"));
		return;
	}
	print_bar("VRAM", gpu, "vram_used", "vram_total");
	print_bar("GTT", gpu, "gtt_used", "gtt_total");
	if (json_is_true(json_object_get(gpu, "shared_memory")))
		printf("  shares the host's %lld MiB, %lld MiB left",
		       (long long)davy_message_number(gpu, "host_total", 0) >> 20,
		       (long long)davy_message_number(gpu, "host_available", 0) >> 20);
	putchar('\n');
}

static void print_gpus(const json_t *list)
{
	const json_t *gpu, *c;
	size_t i, j;

	printf("gpus%s\n", json_array_size(list) ? "" : ": none with a driver");
	json_array_foreach(list, i, gpu)
	{
		printf("  %-14s %-8s", davy_message_text(gpu, "device"),
		       davy_message_text(gpu, "driver"));
		print_memory(gpu);
		print_lockups(json_object_get(gpu, "lockup"));
		json_array_foreach(json_object_get(gpu, "clients"), j, c)
			printf("    pid %-8d VRAM %lld MiB, GTT %lld MiB, evicted %lld MiB\n",
			       (int)davy_message_number(c, "pid", 0),
			       (long long)davy_message_number(c, "vram", 0) >> 20,
			       (long long)davy_message_number(c, "gtt", 0) >> 20,
			       (long long)davy_message_number(c, "evicted", 0) >> 20);
	}
}

/* Prints nothing while the account is off and nothing is protected. */
static void print_vram(const json_t *vram)
{
	const json_t *list = json_object_get(vram, "cgroups"), *c;
	size_t i;

	json_array_foreach(json_object_get(vram, "protected"), i, c)
	{
		printf("%s  %-32s %-32s %lld KiB evicted last (dmem.low)\n",
		       i ? "" : "protected VRAM\n", davy_message_text(c, "region"),
		       davy_message_text(c, "cgroup"),
		       (long long)davy_message_number(c, "bytes", 0) >> 10);
	}
	if (json_array_size(json_object_get(vram, "devices")))
		printf("VRAM by cgroup\n");
	json_array_foreach(list, i, c)
	{
		printf("  %-14s %-32s %lld KiB", davy_message_text(c, "device"),
		       davy_message_text(c, "cgroup"),
		       (long long)davy_message_number(c, "bytes", 0) >> 10);
		if (davy_message_number(c, "max", -1) >= 0)
			printf(" of %lld KiB", (long long)davy_message_number(c, "max", 0) >> 10);
		if (davy_message_number(c, "refused", 0) || davy_message_number(c, "raced", 0))
			printf(", refused %lld times, exceeded %lld times by a race",
			       (long long)davy_message_number(c, "refused", 0),
			       (long long)davy_message_number(c, "raced", 0));
		putchar('\n');
	}
}

/* Prints nothing without KFD (only amdgpu has it). */
static void print_kfd(const json_t *list)
{
	const json_t *gpu, *p;
	size_t i, j;

	if (json_array_size(list))
		printf("kfd\n");
	json_array_foreach(list, i, gpu)
	{
		if (davy_message_number(gpu, "gpu_id", 0))
			printf("  %-14s gpu_id %-6d gfx version %d, SMI events %s\n",
			       davy_message_text(gpu, "device"),
			       (int)davy_message_number(gpu, "gpu_id", 0),
			       (int)davy_message_number(gpu, "gfx_target_version", 0),
			       json_is_true(json_object_get(gpu, "smi_events")) ? "heard" : "off");
		else
			printf("  no GPU in use\n");
		json_array_foreach(json_object_get(gpu, "processes"), j, p)
			printf("    pid %-8d VRAM %lld MiB, %d queues, evicted for %lld ms\n",
			       (int)davy_message_number(p, "pid", 0),
			       (long long)davy_message_number(p, "vram", 0) >> 20,
			       (int)davy_message_number(p, "queues", 0),
			       (long long)davy_message_number(p, "evicted_ms", 0));
	}
}

static void print_more(const json_t *p)
{
	const char *unit = davy_message_text(p, "unit"), *box = davy_message_text(p, "container");
	const char *quantisation = davy_message_text(p, "quantisation");

	if (davy_message_number(p, "context", 0))
		printf("           context %d, ubatch %d",
		       (int)davy_message_number(p, "context", 0),
		       (int)davy_message_number(p, "ubatch", 0));
	if (quantisation[0])
		printf(", %s %s, %lld MB", davy_message_text(p, "architecture"), quantisation,
		       (long long)davy_message_number(p, "model_bytes", 0) / 1000000);
	if (unit[0])
		printf("%sunit %s", davy_message_number(p, "context", 0) ? ", " : "           ",
		       unit);
	if (box[0])
		printf("%s%s %.12s", davy_message_number(p, "context", 0) ? ", " : "           ",
		       davy_message_text(p, "runtime"), box);
	if (davy_message_number(p, "context", 0) || unit[0] || box[0])
		putchar('\n');
}

static void print_workload(const json_t *p)
{
	int number = (int)davy_message_number(p, "workload", 0);
	int runs = (int)davy_message_number(p, "runs_permille", -1);

	if (number)
		printf("workload %d", number);
	else
		printf("observed");
	if (runs > 0)
		printf(", throttled to %d %%", runs / 10);
	printf("%s\n", runs ? "" : ", paused");
}

static void print_process(const json_t *p)
{
	printf("  %-8d %-14s %-9s %-8s %-14s %-24s port %d, ",
	       (int)davy_message_number(p, "pid", 0), davy_message_text(p, "engine"),
	       davy_message_text(p, "role"), davy_message_text(p, "backend"),
	       davy_message_text(p, "device"), davy_message_text(p, "model"),
	       (int)davy_message_number(p, "port", 0));
	print_workload(p);
	print_more(p);
	if (json_is_true(json_object_get(p, "probes_lost")))
		printf("           not all events are seen: uprobe limit of its user reached\n");
}

static void print_processes(const json_t *list)
{
	const json_t *p;
	size_t i;

	printf("engines%s\n", json_array_size(list) ? "" : ": none");
	json_array_foreach(list, i, p) print_process(p);
}

/* Prints nothing while no limit is reached. */
static void print_crowding(const json_t *c)
{
	long long refused = (long long)davy_message_number(c, "probes_refused", 0);
	long long probes = (long long)davy_message_number(c, "probes_evicted", 0);
	long long processes = (long long)davy_message_number(c, "processes_evicted", 0);

	if (refused || probes || processes)
		printf("crowding: %lld probes refused, %lld removed (%lld of %lld in use), %lld "
		       "processes no longer followed\n",
		       refused, probes, (long long)davy_message_number(c, "probes", 0),
		       (long long)davy_message_number(c, "probes_max", 0), processes);
}

static void status_print_breakers(const json_t *list)
{
	const json_t *b;
	size_t i;

	printf("breakers%s\n", json_array_size(list) ? "" : ": none");
	json_array_foreach(list, i, b)
		printf("  %-9s %-8s on %-14s model %-24s %s\n", davy_message_text(b, "state"),
		       davy_message_text(b, "backend"), davy_message_text(b, "device"),
		       davy_message_text(b, "model"), davy_message_text(b, "because"));
}

/* Totals, which include the current run. */
static void print_all_time(const json_t *foresight)
{
	time_t since = (time_t)davy_message_number(foresight, "since", 0);
	char when[64] = "all time";
	struct tm day;

	if (since > 0 && localtime_r(&since, &day))
		strftime(when, sizeof(when), "all time (since %Y-%m-%d)", &day);
	davy_foresight_print(stdout, when, foresight);
}

/* Prints a line only after refusals: a user reached a limit. */
static void print_connections(const json_t *c)
{
	const json_t *refused = json_object_get(c, "refused"), *count;
	const char *why;
	json_int_t sum = 0;

	json_object_foreach((json_t *)refused, why, count) sum += json_integer_value(count);
	if (!sum)
		return;
	printf("connections: %lld of root, %lld of users; refused:",
	       (long long)davy_message_number(c, "root", 0),
	       (long long)davy_message_number(c, "users", 0));
	printf(" %lld (limit of one user), %lld (limit of all users), %lld (limit of all), "
	       "%lld (no request)\n",
	       (long long)davy_message_number(refused, "user_full", 0),
	       (long long)davy_message_number(refused, "users_full", 0),
	       (long long)davy_message_number(refused, "all_full", 0),
	       (long long)davy_message_number(refused, "silent", 0));
}

static void status_print(const json_t *status)
{
	printf("mode %s, %lld events, %lld dropped\n", davy_message_text(status, "mode"),
	       (long long)davy_message_number(status, "events", 0),
	       (long long)davy_message_number(status, "dropped", 0));
	if (davy_message_text(status, "policy_error")[0])
		printf("policy: %s; the previous rules stay in force\n",
		       davy_message_text(status, "policy_error"));
	print_connections(json_object_get(status, "connections"));
	print_sensors(json_object_get(status, "sensors"));
	print_gpus(json_object_get(status, "gpus"));
	print_vram(json_object_get(status, "vram"));
	print_kfd(json_object_get(status, "kfd"));
	print_processes(json_object_get(status, "processes"));
	print_crowding(json_object_get(status, "crowding"));
	status_print_breakers(json_object_get(status, "breakers"));
	davy_foresight_print(stdout, "since start", json_object_get(status, "foresight"));
	print_all_time(json_object_get(status, "foresight_all_time"));
}

int davy_verb_status(int argc, char **argv)
{
	const char *socket_path = DAVY_SOCKET_DEFAULT;
	bool json = false, sensors = false, programs = false;
	const struct davy_option options[] = {
		{ "json", .flag = &json },
		{ "sensors", .flag = &sensors },
		{ "programs", .flag = &programs },
		{ "socket", .text = &socket_path },
		{ 0 },
	};
	int err, first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);
	json_t *answer = NULL;

	if (first <= 0)
		return -first;
	err = davy_client_ask(socket_path,
			      json_pack("{s:s}", "op", sensors || programs ? "sensors" : "status"),
			      &answer);
	if (err)
		return err;
	if (json) {
		json_object_del(answer, "op");
		json_dumpf(answer, stdout, JSON_COMPACT);
		putchar('\n');
	} else if (sensors) {
		davy_print_source_order(answer);
	} else if (programs) {
		davy_print_programs(answer);
	} else {
		status_print(answer);
	}
	json_decref(answer);
	return DAVY_EXIT_DONE;
}
