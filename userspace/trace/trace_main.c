/* SPDX-License-Identifier: GPL-2.0-or-later */
/* davylamp-trace, the program of 'davylamp trace discovery': options, loop, output. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/text.h"
#include "lib/hash.h"
#include "trace/start_command.h"
#include "trace/follow.h"
#include "trace/show.h"
#include "engines/engine.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/message.h"
#include "lib/number.h"
#include "lib/options.h"
#include "lib/standard_fds.h"
#include "sensors/bpf/bpf_refusal.h"
#include "store/config_value.h"
#include "verb/start_finding.h"
#include "verb/verb.h"

#define OUT_BUFFER   65536
#define LOOK_MS	     20
#define DAY_MS	     86400000
#define ALL_GONE_MS  1000 /* another program of a unit or process may start shortly after */
#define FIRST_PID_NS "pid:[4026531836]"

static const char usage[] =
	"usage: davylamp trace discovery [OPTIONS] -- COMMAND [ARGUMENT...]\n"
	"       davylamp trace discovery [OPTIONS] --pid PID\n"
	"       davylamp trace discovery [OPTIONS] --unit UNIT\n"
	"\n"
	"Follows an engine's start with all its children. Prints programs with their\n"
	"environment, each directory that is searched for a library, messages of the\n"
	"dynamic linker, calls into NVML, CUDA, HSA, HIP, Vulkan and Level Zero with\n"
	"their results, device nodes opened or refused, and how each process ended. Then\n"
	"prints the stage that was reached (exec, library load, runtime init, device\n"
	"query, memory, first graph), where the start stopped, and why. Ends with the\n"
	"first graph. Needs root.\n"
	"\n"
	"  --pid PID      a running process and its future children\n"
	"  --unit UNIT    a systemd unit (or the name of a cgroup), from its next start\n"
	"  --timeout T    end after this time (seconds, or '2 min'); a command continues\n"
	"  --out FILE     output file (default: stdout, which the command uses too)\n"
	"  --socket PATH  socket of the agent, to report a crash to it\n"
	"                 (/run/davylamp/agent.sock)\n"
	"  --json         one JSON object per line: every step, then the outcome\n"
	"  -h, --help     print this text\n"
	"\n"
	"Signals go to the command. The exit status is that of the command; with --pid\n"
	"and --unit it is 0 if the start succeeded, 1 if it stopped.\n";

struct trace {
	/* options */
	uint32_t pid;
	char unit[NAME_MAX + 1];
	uint32_t timeout_ms; /* 0: none */
	const char *out_path;
	bool json;
	/* state */
	struct davy_follow *follow; /* NULL: following has ended */
	pthread_t closer;	    /* removes the probes */
	bool closing;
	struct davy_stages *stages;
	FILE *out;
	const char *socket; /* of the agent that gets a crash report */
	int signals;
	pid_t child; /* 0: none or ended */
	int status;
	bool graph; /* the first one was computed */
	bool asked_to_end;
	uint64_t gone_ms; /* when the last followed process ended; 0: one still runs */
	struct davy_start_outcome outcome;
	uint64_t shown[512]; /* hashes of opened paths */
	size_t shown_next;
};

static void trace_main_print_json(const struct trace *t, json_t *json)
{
	char *line = json ? json_dumps(json, JSON_COMPACT) : NULL;

	if (line)
		fprintf(t->out, "%s\n", line);
	free(line);
	json_decref(json);
}

/* Drivers' manifests are read repeatedly: print each once for each process. */
static bool is_again(struct trace *t, const struct davy_start_step *step)
{
	uint64_t hash = step->pid;

	if (step->kind != DAVY_STEP_OPEN)
		return false;
	hash = davy_fnv_text(hash, step->path);
	for (size_t i = 0; i < sizeof(t->shown) / sizeof(t->shown[0]); i++)
		if (t->shown[i] == hash)
			return true;
	if (step->code >= 0)
		t->shown[t->shown_next++ % (sizeof(t->shown) / sizeof(t->shown[0]))] = hash;
	return false;
}

static void trace_main_show(struct trace *t, const struct davy_start_step *step)
{
	if (!davy_show_matters(step) || (!t->json && is_again(t, step)))
		return;
	if (t->json)
		trace_main_print_json(t, davy_show_step_json(t->stages, step));
	else
		davy_show_step(t->out, t->stages, step);
}

static void trace_main_on_step(void *arg, const struct davy_start_step *step)
{
	struct trace *t = arg;
	const struct davy_start_process *p;

	if (t->graph)
		return; /* steps from before the end */
	if (step->kind == DAVY_STEP_RETURN)
		trace_main_show(t, step); /* before davy_stages_step forgets what is being loaded */
	davy_stages_step(t->stages, step);
	if (step->kind != DAVY_STEP_RETURN)
		trace_main_show(t, step);
	p = davy_stages_process(t->stages, step->pid);
	t->graph = p && p->stage == DAVY_STAGE_GRAPH;
}

static uint64_t boot_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void print_losses(const struct trace *t, const struct davy_follow_losses *l)
{
	if (t->json) {
		trace_main_print_json(t, json_pack("{s:s, s:I, s:I, s:I}", "type", "losses",
						   "steps", (json_int_t)l->steps, "children",
						   (json_int_t)l->children, "late",
						   (json_int_t)l->late));
		return;
	}
	if (l->steps)
		fprintf(t->out, "%" PRIu64 " steps were lost: the ring was full\n", l->steps);
	if (l->children)
		fprintf(t->out, "%" PRIu64 " processes were not followed: the table was full\n",
			l->children);
	if (l->late)
		fprintf(t->out, "%" PRIu64 " calls may have been missed: their probes were late\n",
			l->late);
}

static enum davy_backend trace_main_backend_of(enum davy_family family)
{
	static const enum davy_backend backends[DAVY_FAMILY_COUNT] = {
		[DAVY_FAMILY_NVML] = DAVY_BACKEND_CUDA,
		[DAVY_FAMILY_CUDA] = DAVY_BACKEND_CUDA,
		[DAVY_FAMILY_HSA] = DAVY_BACKEND_ROCM,
		[DAVY_FAMILY_HIP] = DAVY_BACKEND_ROCM,
		[DAVY_FAMILY_VULKAN] = DAVY_BACKEND_VULKAN,
		[DAVY_FAMILY_LEVEL_ZERO] = DAVY_BACKEND_SYCL,
	};

	return family < DAVY_FAMILY_COUNT ? backends[family] : DAVY_BACKEND_UNKNOWN;
}

/* Reports a crash in a GPU runtime. Missing or refused files are no fault of a backend. */
static void trace_main_tell_agent(const struct trace *t)
{
	const struct davy_cause *c = &t->outcome.cause;
	const struct davy_start_process *p = davy_stages_process(t->stages, c->pid);
	char where[DAVY_DETAIL_LEN];
	struct davy_start_finding f = { .backend = trace_main_backend_of(c->family),
					.engine = davy_engine_name(p ? davy_engine_of_comm(p->name)
								     : DAVY_ENGINE_NONE),
					.unit = t->unit,
					.where = where,
					.status = c->code & 0x7f };

	if (c->kind != DAVY_CAUSE_CRASHED || f.backend == DAVY_BACKEND_UNKNOWN)
		return;
	snprintf(where, sizeof(where), "%s%s%s", davy_stage_name(c->stage),
		 c->what[0] ? " in " : "", davy_base_name(c->what));
	if (davy_finding_tell(t->socket, &f))
		davy_log("trace discovery: reported to the agent: %s crashes at %s",
			 davy_backend_name(f.backend), where);
}

static void *close_follow(void *follow)
{
	davy_follow_close(follow);
	return NULL;
}

/* Prints the outcome, then removes the probes in a thread: the main loop must pass on signals. */
static void trace_main_finish(struct trace *t)
{
	struct davy_follow_losses losses;

	if (!t->follow)
		return;
	davy_follow_stop(t->follow);
	losses = davy_follow_lost(t->follow);
	davy_stages_judge(t->stages, boot_ns(), losses.steps + losses.children + losses.late,
			  &t->outcome);
	if (t->json)
		trace_main_print_json(t, davy_show_outcome_json(t->stages, &t->outcome));
	else
		davy_show_outcome(t->out, t->stages, &t->outcome);
	print_losses(t, &losses);
	fflush(t->out);
	trace_main_tell_agent(t);
	t->closing = !pthread_create(&t->closer, NULL, close_follow, t->follow);
	if (!t->closing)
		davy_follow_close(t->follow);
	t->follow = NULL;
}

static void trace_main_reap(struct trace *t)
{
	if (t->child && waitpid(t->child, &t->status, WNOHANG) == t->child)
		t->child = 0;
}

/* A terminal signals the whole group, the command included. */
static void trace_main_on_signal(struct trace *t)
{
	struct signalfd_siginfo info;

	while (read(t->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			trace_main_reap(t);
		else if (t->child && info.ssi_code != SI_KERNEL)
			kill(t->child, (int)info.ssi_signo);
		else if (!t->child)
			t->asked_to_end = true;
	}
}

/* Whether all followed processes have ended, ALL_GONE_MS ago. */
static bool all_gone(struct trace *t)
{
	bool any = false;

	for (size_t i = 0; i < DAVY_STAGES_PROCESSES; i++) {
		const struct davy_start_process *p = &t->stages->process[i];

		any |= p->pid != 0;
		if (p->pid && !p->ended_ns) {
			t->gone_ms = 0;
			return false;
		}
	}
	if (!any)
		return false;
	if (!t->gone_ms)
		t->gone_ms = davy_now_ms();
	return davy_now_ms() - t->gone_ms >= ALL_GONE_MS;
}

static bool trace_main_over(struct trace *t, bool command, uint64_t began_ms)
{
	if (t->graph || t->asked_to_end)
		return true;
	if (t->timeout_ms && davy_now_ms() - began_ms >= (uint64_t)t->timeout_ms)
		return true;
	return command ? !t->child : all_gone(t);
}

static void trace_main_loop(struct trace *t, bool command)
{
	uint64_t began_ms = davy_now_ms();

	while (t->follow || t->child) {
		struct pollfd signals = { .fd = t->signals, .events = POLLIN };
		bool ended;

		poll(&signals, 1, t->follow ? LOOK_MS : -1);
		trace_main_on_signal(t);
		if (!t->follow)
			continue;
		davy_follow_read(t->follow);
		davy_follow_lock(t->follow);
		fflush(t->out);
		ended = trace_main_over(t, command, began_ms);
		davy_follow_unlock(t->follow);
		if (ended)
			trace_main_finish(t);
	}
}

static int may_trace(void)
{
	char ns[64] = "";

	if (davy_rights_missing()) {
		davy_log("trace discovery: needs root (CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN); "
			 "try 'sudo davylamp trace discovery ...'");
		return DAVY_EXIT_NOT_PERMITTED;
	}
	if (readlink("/proc/self/ns/pid", ns, sizeof(ns) - 1) > 0 &&
	    strcmp(ns, FIRST_PID_NS) != 0) {
		davy_log("trace discovery: pids differ in a container; "
			 "run it on the host, with --pid or --unit");
		return DAVY_EXIT_NOTHING;
	}
	return DAVY_EXIT_DONE;
}

static int open_out(struct trace *t)
{
	t->out = t->out_path ? fopen(t->out_path, "we") : stdout;
	if (!t->out) {
		davy_log("--out '%s': cannot be written: %s", t->out_path, strerror(errno));
		return -1;
	}
	setvbuf(t->out, NULL, _IOFBF, OUT_BUFFER);
	return 0;
}

static int trace_main_open_signals(struct trace *t, sigset_t *ret_before)
{
	static const int passed[] = { SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		sigaddset(&set, passed[i]);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, ret_before);
	t->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return t->signals < 0 ? -errno : 0;
}

static int start_command(struct trace *t, char **argv, const sigset_t *mask)
{
	struct davy_command_start start;
	int err = davy_command_prepare(argv, mask, &start);

	if (err) {
		davy_log("'%s': cannot be started: %s", argv[0], strerror(-err));
		return DAVY_EXIT_FAILED;
	}
	t->child = start.pid;
	err = davy_follow_add(t->follow, (uint32_t)start.pid);
	if (!err)
		err = davy_command_go(&start);
	if (!err)
		return DAVY_EXIT_DONE;
	davy_log("'%s': cannot be started: %s", argv[0], strerror(-err));
	waitpid(t->child, &t->status, 0);
	t->child = 0;
	return WIFEXITED(t->status) ? WEXITSTATUS(t->status) : DAVY_EXIT_FAILED;
}

static int trace_main_start_other(struct trace *t)
{
	int err = 0;

	if (t->unit[0]) {
		davy_log("waiting for the next start of '%s': 'systemctl restart %s'", t->unit,
			 t->unit);
	} else {
		err = davy_follow_running(t->follow, t->pid);
		if (!err && kill((pid_t)t->pid, 0) && errno == ESRCH)
			err = -ESRCH;
	}
	if (err) {
		davy_log("--pid %" PRIu32 ": cannot be followed: %s", t->pid, strerror(-err));
		return DAVY_EXIT_FAILED;
	}
	if (!t->unit[0])
		davy_log("following process %" PRIu32, t->pid);
	return DAVY_EXIT_DONE;
}

static int trace_main_result(const struct trace *t, bool command)
{
	if (ferror(t->out))
		davy_log("'%s': the output is incomplete", t->out_path ? t->out_path : "stdout");
	if (command)
		return WIFSIGNALED(t->status) ? 128 + WTERMSIG(t->status) : WEXITSTATUS(t->status);
	return t->outcome.cause.kind == DAVY_CAUSE_NONE ? DAVY_EXIT_DONE : DAVY_EXIT_FAILED;
}

static int trace(struct trace *t, char **command)
{
	sigset_t before;
	int err, status = may_trace();

	if (status)
		return status;
	if (open_out(t))
		return DAVY_EXIT_FAILED;
	t->stages = davy_stages_new();
	err = t->stages ? trace_main_open_signals(t, &before) : -ENOMEM;
	if (!err)
		err = davy_follow_open(t->unit[0] ? t->unit : NULL, trace_main_on_step, t,
				       &t->follow);
	if (err) {
		davy_log("trace discovery: %s; nothing was started", davy_refusal_text(err));
		return err == -EPERM ? DAVY_EXIT_NOT_PERMITTED : DAVY_EXIT_NOTHING;
	}
	status = command ? start_command(t, command, &before) : trace_main_start_other(t);
	if (!status) {
		trace_main_loop(t, command != NULL);
		if (t->closing)
			pthread_join(t->closer, NULL);
		status = trace_main_result(t, command != NULL);
	}
	return status;
}

static bool trace_main_wrong(const char *text)
{
	davy_log("'%s': expected a pid or the name of a unit; see 'davylamp trace discovery "
		 "--help'",
		 text);
	return false;
}

static bool take_pid(void *arg, const char *text)
{
	struct trace *t = arg;
	uint64_t pid;

	if (!davy_number(text, INT32_MAX, &pid) || !pid)
		return trace_main_wrong(text);
	t->pid = (uint32_t)pid;
	return true;
}

static bool take_unit(void *arg, const char *text)
{
	struct trace *t = arg;

	if (!text[0] || strchr(text, '/') || strlen(text) > NAME_MAX - 8)
		return trace_main_wrong(text);
	snprintf(t->unit, sizeof(t->unit), "%s%s", text, strchr(text, '.') ? "" : ".service");
	return true;
}

static bool trace_main_take_timeout(void *arg, const char *text)
{
	struct trace *t = arg;

	return davy_config_time_limit("--timeout", text, DAY_MS, &t->timeout_ms);
}

int main(int argc, char **argv)
{
	struct trace t = { .signals = -1, .socket = DAVY_SOCKET_DEFAULT };
	const struct davy_option options[] = {
		{ "pid", .take = take_pid, .arg = &t },
		{ "unit", .take = take_unit, .arg = &t },
		{ "timeout", .take = trace_main_take_timeout, .arg = &t },
		{ "out", .text = &t.out_path },
		{ "socket", .text = &t.socket },
		{ "json", .flag = &t.json },
		{ 0 },
	};
	int first, status;

	if (davy_standard_fds_open())
		return DAVY_EXIT_FAILED; /* no stderr for a message */
	first = davy_options_read(argc, argv, DAVY_OPTIONS_FIRST, usage, options);
	if (first <= 0)
		return -first;
	if ((first < argc) + (t.pid != 0) + (t.unit[0] != 0) != 1) {
		davy_log("expected one of '-- COMMAND', '--pid PID' and '--unit UNIT'; see "
			 "'davylamp trace discovery --help'");
		return DAVY_EXIT_USAGE;
	}
	status = trace(&t, first < argc ? argv + first : NULL);
	davy_follow_close(t.follow);
	davy_stages_free(t.stages);
	if (t.out && t.out != stdout)
		fclose(t.out);
	if (t.signals >= 0)
		close(t.signals);
	return status;
}
