/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FIRST_TERM_MS  400
#define SECOND_TERM_MS 1500
#define KILL_MS	       10000 /* a process in D state may take long, or for ever */
#define STEP_MS	       5

static void set_environment(const struct dl_launch *l)
{
	const char *const *unset = dl_engine_cpu_unset(l->facts.engine);

	/* Without it ggml forks gdb at a crash, which delays the end by half a second and more. */
	setenv("GGML_NO_BACKTRACE", "1", 0);
	for (size_t i = 0; l->backend == DL_BACKEND_CPU && unset[i]; i++)
		unsetenv(unset[i]);
}

static __attribute__((noreturn)) void be_the_engine(const struct dl_launch *l, char *const argv[],
						    pid_t supervisor, int tell_fd)
{
	sigset_t none;
	int err;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	dl_cgroup_enter(&l->cgroup); /* without it the engine still runs, told apart by its pid */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != supervisor)
		_exit(127); /* it died before the line above */
	set_environment(l);
	execvp(argv[0], argv);
	err = errno;
	if (write(tell_fd, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

static int spawn(struct dl_launch *l, char *const argv[])
{
	pid_t supervisor = getpid();
	int tell[2], err = 0;
	pid_t pid;

	if (pipe2(tell, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0) {
		err = -errno;
		close(tell[0]);
		close(tell[1]);
		return err;
	}
	if (!pid)
		be_the_engine(l, argv, supervisor, tell[1]);
	close(tell[1]);
	if (read(tell[0], &err, sizeof(err)) ==
	    sizeof(err)) /* the pipe closes when exec succeeds */
		waitpid(pid, NULL, 0);
	close(tell[0]);
	if (err)
		return -err;
	l->pid = pid;
	return 0;
}

int dl_launch_possible(const struct dl_launch *l, enum dl_backend backend)
{
	struct dl_args args = { 0 };
	int err;

	if (backend != DL_BACKEND_CPU)
		return 0;
	err = dl_engine_to_cpu(l->facts.engine, l->argv, &args);
	dl_args_done(&args);
	return err;
}

int dl_launch_start(struct dl_launch *l)
{
	struct dl_args args = { 0 };
	int err;

	if (l->backend != DL_BACKEND_CPU)
		return spawn(l, l->argv);
	err = dl_engine_to_cpu(l->facts.engine, l->argv, &args);
	if (!err)
		err = spawn(l, args.at);
	dl_args_done(&args);
	return err;
}

/* 1: gone, 0: not within "ms". */
static int wait_for(struct dl_launch *l, int ms, int *ret_status)
{
	for (int waited = 0;; waited += STEP_MS) {
		pid_t pid = waitpid(l->pid, ret_status, WNOHANG);

		if (pid == l->pid || (pid < 0 && errno == ECHILD))
			return 1;
		if (waited >= ms)
			return 0;
		nanosleep(&(struct timespec){ .tv_nsec = STEP_MS * 1000000L }, NULL);
	}
}

int dl_launch_stop(struct dl_launch *l, int *ret_status)
{
	static const struct {
		int sig;
		int wait_ms;
	} steps[] = { { SIGTERM, FIRST_TERM_MS },
		      { SIGTERM, SECOND_TERM_MS },
		      { SIGKILL, KILL_MS } };

	*ret_status = 0;
	for (size_t i = 0; l->pid && i < sizeof(steps) / sizeof(steps[0]); i++) {
		kill(l->pid,
		     steps[i].sig); /* our child, not waited for yet: nobody else has its pid */
		if (wait_for(l, steps[i].wait_ms, ret_status))
			l->pid = 0;
	}
	dl_cgroup_kill(&l->cgroup); /* a shell's engine would go on without its shell */
	return l->pid ? -ETIMEDOUT : 0;
}
