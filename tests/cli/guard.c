/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard PROGRAM CHECK: the agent's side of the installed davylamp-guard, for behaviour that is
 * visible only from outside: low limits, failing system calls, a killed agent. Exit status 0: the
 * check holds; otherwise it prints the reason. Started as "davylamp-guard" it sets the limits that
 * its environment names and executes the real guard.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mntent.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "act/guard_order.h"
#include "lib/file.h"

#define GONE_MS		 1000  /* the documented limit */
#define LONG_MS		 20000 /* limit for events that follow at once on any machine */
#define KERNELS_KIB	 16    /* vdso and vvar belong to the kernel and are not locked */
#define RSS_KIB		 1024
#define CAP_SYS_RESOURCE 24

#define MUST(what)                                                                                 \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			printf("%s:%d: %s\n", __func__, __LINE__, #what);                          \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

static char self[PATH_MAX];
static char cgroup[PATH_MAX]; /* "": no cgroup can be created here */

/* The agent's process sends this to the test. */
struct report {
	pid_t guard;
	int fd; /* number of the agent's end of the socket */
	struct davy_guard_answer answer;
};

struct lab {
	pid_t agent, worker;
	int worker_pidfd;
	struct davy_guard guard; /* fd: a copy of the agent's end */
	int guard_pidfd;
	pid_t standby;
	int standby_pidfd;
	struct davy_guard_answer answer;
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int open_pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static bool ended_within(int pidfd, uint64_t until_ms)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };
	uint64_t now = now_ms();

	return poll(&end, 1, until_ms > now ? (int)(until_ms - now) : 0) == 1;
}

/* The fields of /proc/PID/stat, starting with the state. */
static const char *stat_of(pid_t pid, char *buf, size_t size)
{
	char path[64], *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (davy_read_file(path, buf, size) < 0)
		return NULL;
	at = strrchr(buf, ')');
	return at ? at + 2 : NULL;
}

static char state_of(pid_t pid)
{
	char buf[1024];
	const char *at = stat_of(pid, buf, sizeof(buf));

	return at ? *at : 0;
}

/* CPU time of the process so far, in ns. */
static uint64_t cpu_ns(pid_t pid)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	return davy_read_file(path, text, sizeof(text)) < 0 ? 0 : strtoull(text, NULL, 10);
}

/* A line of /proc/PID/status, in KiB; -1: the line does not exist. */
static long status_kib(pid_t pid, const char *name)
{
	char path[64], text[4096], *at;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (davy_read_file(path, text, sizeof(text)) < 0)
		return -1;
	at = strstr(text, name);
	return at ? strtol(at + strlen(name), NULL, 10) : -1;
}

static pid_t child_of(pid_t parent)
{
	char path[96], text[128];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
	return davy_read_file(path, text, sizeof(text)) > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
}

/* A child other than "not" within the limit; 0: none. */
static pid_t wait_for_child(pid_t parent, pid_t not, uint64_t limit_ms)
{
	uint64_t end = now_ms() + limit_ms;
	pid_t child = 0;

	while (now_ms() < end && (!(child = child_of(parent)) || child == not ))
		usleep(1000);
	return child == not ? 0 : child;
}

/*
 * Acts as the guard's launcher: LAB_NOFILE and no right to raise it, LAB_DENY "number:errno
 * ...", LAB_LATE (wait until the agent is gone), then LAB_GUARD with LAB_VERB.
 */
static void deny(const char *list)
{
	struct sock_filter code[128] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						  offsetof(struct seccomp_data, nr)) };
	struct sock_fprog program = { .len = 1, .filter = code };
	char *at = (char *)list;

	while (*at && program.len + 3u < 128) {
		unsigned int nr = (unsigned int)strtoul(at, &at, 10);
		unsigned int err = (unsigned int)strtoul(at + 1, &at, 10);

		code[program.len++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1);
		code[program.len++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err);
		at += strspn(at, " ");
	}
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(126);
}

static int become_guard(void)
{
	const char *files = getenv("LAB_NOFILE"), *list = getenv("LAB_DENY");
	const char *verb = getenv("LAB_VERB"), *program = getenv("LAB_GUARD");

	if (getenv("LAB_LATE") && !ended_within(DAVY_GUARD_AGENT_FD, now_ms() + LONG_MS))
		return 126;
	if (files) {
		const struct rlimit limit = { strtoul(files, NULL, 10), strtoul(files, NULL, 10) };

		prctl(PR_CAPBSET_DROP, CAP_SYS_RESOURCE, 0, 0, 0);
		if (setrlimit(RLIMIT_NOFILE, &limit))
			return 126;
	}
	if (list)
		deny(list);
	execl(program, program, verb, (char *)NULL);
	return 126;
}

static struct davy_guard_order order_for(const struct lab *l, uint32_t id)
{
	char buf[1024];
	const char *at = stat_of(l->worker, buf, sizeof(buf));
	struct davy_guard_order o = { .op = DAVY_GUARD_FREEZE,
				      .id = id,
				      .plan = id,
				      .pid = (uint32_t)l->worker,
				      .lease_ns = DAVY_GUARD_PAUSE_MAX_NS,
				      .period_ns = DAVY_GUARD_PERIOD_NS };

	for (int field = 3; at && field < 22; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	o.start_ticks = at ? strtoull(at, NULL, 10) : 0;
	return o;
}

static struct davy_guard_answer next_answer(const struct davy_guard *guard)
{
	struct pollfd wait = { .fd = guard->fd, .events = POLLIN };
	struct davy_guard_answer answer = { 0 };

	if (poll(&wait, 1, LONG_MS) == 1 && davy_guard_receive(guard, &answer))
		answer = (struct davy_guard_answer){ 0 };
	return answer;
}

enum freeze {
	NOTHING,
	TREE,
	CGROUP
};

static struct davy_guard_answer freeze(const struct lab *l, enum freeze what, uint32_t id)
{
	const struct davy_guard_order o = order_for(l, id);
	int dir = what == CGROUP ? open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int err = davy_guard_send(&l->guard, &o, dir);

	if (dir >= 0)
		close(dir);
	return err ? (struct davy_guard_answer){ .result = err } : next_answer(&l->guard);
}

/* Whether the guard receives and answers: it refuses an invalid order. */
static bool hears(const struct lab *l)
{
	const struct davy_guard_order o = { .op = DAVY_GUARD_FREEZE, .id = 77 };
	struct davy_guard_answer a;

	if (davy_guard_send(&l->guard, &o, -1))
		return false;
	a = next_answer(&l->guard);
	return a.stage == DAVY_GUARD_FAILED && a.id == 77 && a.result == -EINVAL;
}

static _Noreturn void live_as_agent(int out)
{
	struct davy_guard guard = { -1, -1, 0 };
	struct report r = { 0 };

	if (!davy_guard_start(&guard, self)) {
		r.guard = guard.pid;
		r.fd = guard.fd;
	}
	if (write(out, &r, sizeof(r)) != sizeof(r))
		_exit(1);
	for (;;)
		pause();
}

static pid_t start_worker(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

static int move_worker(pid_t pid)
{
	char path[PATH_MAX + 32], text[32];

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	snprintf(text, sizeof(text), "%d", (int)pid);
	return davy_write_file(path, text);
}

/* An agent with its guard, a worker, and a copy of the agent's end of the socket. */
static int lab_start(struct lab *l)
{
	struct report r = { 0 };
	int out[2];

	memset(l, 0, sizeof(*l));
	l->guard_pidfd = l->standby_pidfd = -1;
	l->worker = start_worker();
	l->worker_pidfd = open_pidfd(l->worker);
	MUST(!pipe2(out, O_CLOEXEC));
	l->agent = fork();
	if (!l->agent) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		live_as_agent(out[1]);
	}
	close(out[1]);
	MUST(read(out[0], &r, sizeof(r)) == sizeof(r) && r.guard > 0);
	close(out[0]);
	l->guard = (struct davy_guard){ .pid = r.guard, .pidfd = -1, .fd = -1 };
	l->guard_pidfd = open_pidfd(r.guard);
	MUST(l->guard_pidfd >= 0);
	int agent = open_pidfd(l->agent);

	l->guard.fd = (int)syscall(SYS_pidfd_getfd, agent, r.fd, 0);
	close(agent);
	MUST(l->guard.fd >= 0);
	return 0;
}

static int find_standby(struct lab *l)
{
	l->standby = wait_for_child(l->guard.pid, 0, LONG_MS);
	MUST(l->standby > 0);
	l->standby_pidfd = open_pidfd(l->standby);
	MUST(l->standby_pidfd >= 0);
	return 0;
}

/* Kills the agent: all its processes end within a second, and the worker is not frozen. */
static int lab_end(struct lab *l)
{
	uint64_t end;

	MUST(!kill(l->agent, SIGKILL));
	end = now_ms() + GONE_MS;
	MUST(ended_within(l->guard_pidfd, end));
	MUST(l->standby_pidfd < 0 || ended_within(l->standby_pidfd, end));
	MUST(state_of(l->worker) != 'T');
	if (cgroup[0]) {
		char path[PATH_MAX + 32], text[128] = "";

		snprintf(path, sizeof(path), "%s/cgroup.freeze", cgroup);
		davy_read_file(path, text, sizeof(text));
		MUST(text[0] == '0');
	}
	MUST(!kill(l->worker, SIGKILL));
	MUST(ended_within(l->worker_pidfd, now_ms() + LONG_MS));
	close(l->guard.fd);
	close(l->guard_pidfd);
	close(l->worker_pidfd);
	if (l->standby_pidfd >= 0)
		close(l->standby_pidfd);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return 0;
}

static void make_cgroup(void)
{
	char path[PATH_MAX + 32];
	const struct mntent *entry;
	FILE *mounts = setmntent("/proc/mounts", "r");

	while (mounts && (entry = getmntent(mounts)))
		if (!strcmp(entry->mnt_type, "cgroup2")) {
			snprintf(cgroup, sizeof(cgroup), "%s/davylamp-guard-%d", entry->mnt_dir,
				 (int)getpid());
			break;
		}
	if (mounts)
		endmntent(mounts);
	snprintf(path, sizeof(path), "%s/cgroup.freeze", cgroup);
	if (cgroup[0] && (mkdir(cgroup, 0755) || access(path, W_OK)))
		cgroup[0] = 0;
}

/* After a failed check: end every process, also a spinning guard. */
static void end_all(void)
{
	pid_t child;

	for (int i = 0; i < 1000 && (child = child_of(getpid())); i++) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
}

static int round_with_limit(unsigned int files, enum freeze what)
{
	struct davy_guard_answer a = { 0 };
	char text[16];
	struct lab l;

	snprintf(text, sizeof(text), "%u", files);
	setenv("LAB_NOFILE", text, 1);
	if (lab_start(&l) || find_standby(&l))
		return 1;
	if (what == CGROUP)
		MUST(!move_worker(l.worker));
	if (what != NOTHING)
		a = freeze(&l, what, 1);
	if (what != NOTHING && files > 9)
		MUST(a.stage == DAVY_GUARD_FROZEN);
	if (what != NOTHING && files == 8)
		MUST(a.stage == DAVY_GUARD_FAILED && a.result == -EMFILE);
	MUST(hears(&l));
	return lab_end(&l);
}

static int check_limits(void)
{
	for (unsigned int files = 8; files <= 70; files++)
		for (enum freeze what = NOTHING; what <= (cgroup[0] ? CGROUP : TREE); what++)
			if (round_with_limit(files, what)) {
				printf("with %u descriptors, freeze %d\n", files, what);
				return 1;
			}
	return 0;
}

/* Limits fall while a process is frozen: poll() fails, no descriptor can be opened. */
static int check_lowered(void)
{
	const struct rlimit none = { 1, 1 };
	struct davy_guard_order release = { .op = DAVY_GUARD_RELEASE, .id = 1 };
	struct davy_guard_answer a;
	struct lab l;

	if (lab_start(&l) || find_standby(&l))
		return 1;
	MUST(freeze(&l, TREE, 1).stage == DAVY_GUARD_FROZEN);
	MUST(!prlimit(l.guard.pid, RLIMIT_NOFILE, &none, NULL));
	MUST(!prlimit(l.standby, RLIMIT_NOFILE, &none, NULL));
	a = freeze(&l, TREE, 2);
	MUST(a.id == 2 && a.stage == DAVY_GUARD_FAILED);
	if (cgroup[0]) { /* a descriptor lost in transit: no other target is frozen instead */
		a = freeze(&l, CGROUP, 3);
		MUST(a.id == 3 && a.stage == DAVY_GUARD_FAILED && a.result == -EMFILE);
	}
	MUST(!davy_guard_send(&l.guard, &release, -1));
	do
		a = next_answer(&l.guard);
	while (a.id && a.id != 1);
	MUST(a.stage == DAVY_GUARD_RELEASED);
	MUST(state_of(l.worker) == 'S');
	return lab_end(&l);
}

static int check_idle(void)
{
	uint64_t guard = 0, standby = 0;
	long guard_kib, standby_kib;
	struct lab l;

	if (lab_start(&l) || find_standby(&l))
		return 1;
	MUST(freeze(&l, TREE, 1).stage == DAVY_GUARD_FROZEN);
	guard_kib = status_kib(l.guard.pid, "VmRSS:");
	standby_kib = status_kib(l.standby, "VmRSS:");
	printf("resident: guard %ld KiB, standby %ld KiB\n", guard_kib, standby_kib);
	MUST(guard_kib > 0 && standby_kib > 0 && guard_kib + standby_kib < RSS_KIB);
	MUST(status_kib(l.guard.pid, "VmLck:") + KERNELS_KIB >= guard_kib);
	MUST(status_kib(l.standby, "VmLck:") + KERNELS_KIB >= standby_kib);
	MUST(!davy_guard_send(&l.guard,
			      &(struct davy_guard_order){ .op = DAVY_GUARD_RELEASE, .id = 1 }, -1));
	MUST(next_answer(&l.guard).stage == DAVY_GUARD_RELEASED);
	for (int i = 0; i < 20; i++) { /* the standby checks within 500 ms, and then sleeps */
		guard = cpu_ns(l.guard.pid);
		standby = cpu_ns(l.standby);
		sleep(1);
		if (guard == cpu_ns(l.guard.pid) && standby == cpu_ns(l.standby))
			break;
	}
	MUST(guard && standby);
	sleep(2);
	MUST(guard == cpu_ns(l.guard.pid));
	MUST(standby == cpu_ns(l.standby));
	MUST(hears(&l));
	return lab_end(&l);
}

static int check_late(void)
{
	struct lab l;

	setenv("LAB_LATE", "1", 1);
	return lab_start(&l) || lab_end(&l);
}

static int check_stopped(void)
{
	struct lab l;

	if (lab_start(&l) || find_standby(&l))
		return 1;
	MUST(freeze(&l, TREE, 1).stage == DAVY_GUARD_FROZEN);
	MUST(state_of(l.worker) == 'T');
	MUST(!kill(l.guard.pid, SIGSTOP));
	return lab_end(&l);
}

/*
 * A guard that computes for a second without waiting (RLIMIT_RTTIME) loses its priority to
 * the host's work.
 */
static int check_spin(void)
{
	struct rlimit cpu = { RLIM_INFINITY, RLIM_INFINITY };
	struct lab l;

	if (lab_start(&l) || find_standby(&l))
		return 1;
	MUST(hears(&l));
	MUST(!prlimit(l.guard.pid, RLIMIT_RTTIME, NULL, &cpu));
	MUST(cpu.rlim_cur <= 1000000 && cpu.rlim_max <= 2000000);
	MUST(geteuid() || sched_getscheduler(l.guard.pid) == SCHED_FIFO);
	MUST(!kill(l.guard.pid, SIGXCPU));
	MUST(hears(&l));
	MUST(sched_getscheduler(l.guard.pid) == SCHED_OTHER);
	return lab_end(&l);
}

/* Each standby is killed at once: at most one exists during the growing pause. */
static int check_standby(void)
{
	struct davy_guard_answer a;
	uint64_t began = now_ms();
	struct lab l;
	pid_t last = 0;

	if (lab_start(&l))
		return 1;
	for (int i = 0; i < 8; i++) {
		last = wait_for_child(l.guard.pid, last, LONG_MS);
		MUST(last > 0);
		MUST(!kill(last, SIGKILL));
	}
	MUST(now_ms() - began >= 10 + 20 + 40 + 80 + 160 + 320);
	for (int i = 0; i < 2000 && child_of(l.guard.pid) == last; i++)
		usleep(1000); /* it is not reaped yet */
	a = freeze(&l, TREE, 1);
	MUST(a.stage == DAVY_GUARD_FAILED && a.result == -EAGAIN);
	if (find_standby(&l))
		return 1;
	MUST(freeze(&l, TREE, 2).stage == DAVY_GUARD_FROZEN);
	return lab_end(&l);
}

/* Failing system calls, alone and together: the guard may refuse work, but not spin or survive. */
static const struct {
	const char *what;
	int nr[5];
	int err;
} denied[] = {
	{ "poll: EINVAL", { SYS_poll, SYS_ppoll }, EINVAL },
	{ "poll: ENOMEM", { SYS_poll, SYS_ppoll }, ENOMEM },
	{ "all waits", { SYS_poll, SYS_ppoll, SYS_nanosleep, SYS_clock_nanosleep }, ENOSYS },
	{ "poll and getppid", { SYS_poll, SYS_ppoll, SYS_getppid }, EPERM },
	{ "poll, prctl and pidfd_open", { SYS_poll, SYS_ppoll, SYS_prctl, SYS_pidfd_open }, EPERM },
	{ "poll and rt_sigprocmask", { SYS_poll, SYS_ppoll, SYS_rt_sigprocmask }, EINVAL },
	{ "pidfd_open", { SYS_pidfd_open }, EMFILE },
	{ "pidfd_send_signal", { SYS_pidfd_send_signal }, EPERM },
	{ "rt_sigaction", { SYS_rt_sigaction }, EINVAL },
	{ "getppid", { SYS_getppid }, EPERM },
	{ "prctl", { SYS_prctl }, EINVAL },
	{ "clone", { SYS_clone }, EAGAIN },
	{ "kill", { SYS_kill }, EPERM },
	{ "wait4", { SYS_wait4 }, ECHILD },
	{ "recvmsg", { SYS_recvmsg }, EAGAIN },
	{ "recvmsg: ENOMEM", { SYS_recvmsg }, ENOMEM },
	{ "mmap", { SYS_mmap }, ENOMEM },
	{ "mlockall", { SYS_mlockall }, EPERM },
	{ "limits",
	  { SYS_prlimit64, SYS_setrlimit, SYS_sched_setscheduler, SYS_setpriority },
	  EPERM },
};

static int round_denied(size_t n)
{
	uint64_t cpu, cpu_standby = 0, from;
	char list[128] = "";
	struct lab l;

	for (int i = 0; i < 5 && denied[n].nr[i]; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%d:%d ",
			 denied[n].nr[i], denied[n].err);
	setenv("LAB_DENY", list, 1);
	if (lab_start(&l))
		return 1;
	l.standby = wait_for_child(l.guard.pid, 0, 200);
	l.standby_pidfd = l.standby ? open_pidfd(l.standby) : -1;
	davy_guard_send(&l.guard, &(struct davy_guard_order){ .op = DAVY_GUARD_RELEASE, .id = 1 },
			-1);
	cpu = cpu_ns(l.guard.pid);
	cpu_standby = l.standby ? cpu_ns(l.standby) : 0;
	from = now_ms();
	usleep(250000);
	cpu = cpu_ns(l.guard.pid) - cpu; /* 0: the guard has ended */
	cpu_standby = l.standby ? cpu_ns(l.standby) - cpu_standby : 0;
	MUST((int64_t)cpu < (int64_t)(now_ms() - from) * 1000000 / 10);
	MUST((int64_t)cpu_standby < (int64_t)(now_ms() - from) * 1000000 / 10);
	return lab_end(&l);
}

static int check_denied(void)
{
	for (size_t n = 0; n < sizeof(denied) / sizeof(denied[0]); n++)
		if (round_denied(n)) {
			printf("with a failing %s\n", denied[n].what);
			return 1;
		}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} checks[] = { { "limits", check_limits },   { "lowered", check_lowered },
		       { "idle", check_idle },	     { "late", check_late },
		       { "stopped", check_stopped }, { "standby", check_standby },
		       { "denied", check_denied },   { "spin", check_spin } };
	int status = 2;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc && !strcmp(argv[0], DAVY_GUARD_PROGRAM))
		return become_guard();
	if (argc != 3 || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 2;
	setenv("LAB_GUARD", argv[1], 1);
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* the guards of killed agents become our children */
	make_cgroup();
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (!strcmp(argv[2], checks[i].name))
			status = checks[i].run();
	end_all();
	if (cgroup[0])
		rmdir(cgroup);
	return status;
}
