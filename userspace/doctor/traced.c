/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/traced.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/file.h"

#define TICK_MS	    10
#define STUCK_MS    1000
#define PIDS_MAX    64
#define STACK_BYTES 16384

struct tracing {
	struct davy_spawned *spawned;
	struct davy_traced *traced;
	pid_t pids[PIDS_MAX]; /* running processes, no threads */
	size_t pid_count;
	pid_t suspect; /* the process with a fatal signal, and the place */
	char where[DAVY_DOCTOR_PATH];
	bool main_ended;
	int main_status;
	uint64_t killed_ms; /* 0: within the limit */
};

static pid_t process_of(pid_t tid)
{
	char path[64], text[4096];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (davy_read_file(path, text, sizeof(text)) <= 0)
		return tid;
	at = strstr(text, "\nTgid:");
	return at ? (pid_t)strtol(at + 6, NULL, 10) : tid;
}

static void traced_remember(struct tracing *t, pid_t pid)
{
	for (size_t i = 0; i < t->pid_count; i++)
		if (t->pids[i] == pid)
			return;
	if (t->pid_count < PIDS_MAX)
		t->pids[t->pid_count++] = pid;
}

static void traced_forget(struct tracing *t, pid_t pid)
{
	for (size_t i = 0; i < t->pid_count; i++)
		if (t->pids[i] == pid)
			t->pids[i] = t->pids[--t->pid_count];
}

static bool traced_registers(pid_t tid, uint64_t *ret_pc, uint64_t *ret_stack)
{
	struct user_regs_struct regs;
	struct iovec to = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &to))
		return false;
#if defined(__x86_64__)
	*ret_pc = regs.rip;
	*ret_stack = regs.rsp;
#elif defined(__aarch64__)
	*ret_pc = regs.pc;
	*ret_stack = regs.sp;
#else
#error "traced.c: add the registers of this machine"
#endif
	return true;
}

/* The program counter, then words of the stack: some are return addresses. */
static void find_where(struct tracing *t, pid_t tid)
{
	uint64_t *words = malloc(STACK_BYTES + sizeof(*words)), stack;
	struct iovec local, remote;
	ssize_t n;

	t->suspect = tid;
	t->where[0] = 0;
	if (words && traced_registers(tid, &words[0], &stack)) {
		local = (struct iovec){ words + 1, STACK_BYTES };
		remote = (struct iovec){ (void *)(uintptr_t)stack, STACK_BYTES };
		n = process_vm_readv(tid, &local, 1, &remote, 1, 0);
		davy_traced_where(tid, words, 1 + (n > 0 ? (size_t)n / sizeof(*words) : 0),
				  t->where, sizeof(t->where));
	}
	free(words);
}

static bool is_fatal(int signal)
{
	return signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS || signal == SIGILL ||
	       signal == SIGFPE || signal == SIGSYS;
}

/* The process is about to end; its mappings and files still exist. */
static void on_exit_event(struct tracing *t, pid_t tid)
{
	unsigned long status = 0;
	pid_t pid = process_of(tid);

	ptrace(PTRACE_GETEVENTMSG, tid, NULL, &status);
	if (tid == pid || tid == t->suspect)
		davy_traced_look(tid, t->traced);
	if (!WIFSIGNALED((int)status) || t->killed_ms || t->traced->signal ||
	    !is_fatal(WTERMSIG((int)status)))
		return;
	t->traced->signal = WTERMSIG((int)status);
	t->traced->by_child = pid != t->spawned->pid;
	memcpy(t->traced->where, t->where, sizeof(t->where));
}

static void on_stop(struct tracing *t, pid_t tid, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16, pass = 0;

	if (event == PTRACE_EVENT_EXIT) {
		on_exit_event(t, tid);
	} else if (!event) {
		pass = signal;
		if (is_fatal(signal))
			find_where(t, tid);
	}
	if (event == PTRACE_EVENT_STOP && process_of(tid) == tid)
		traced_remember(t, tid);
	ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)pass);
}

static void traced_look_at_all(struct tracing *t)
{
	davy_traced_look(t->spawned->pid, t->traced);
	for (size_t i = 0; i < t->pid_count; i++)
		davy_traced_look(t->pids[i], t->traced);
}

/* False: nothing left to wait for. */
static bool traced_step(struct tracing *t)
{
	int status;
	pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);

	if (tid < 0)
		return errno == EINTR;
	if (tid && WIFSTOPPED(status)) {
		on_stop(t, tid, status);
		return true;
	}
	if (tid) {
		traced_forget(t, tid);
		if (tid == t->spawned->pid) {
			t->main_ended = true;
			t->main_status = status;
			kill(-tid, SIGKILL); /* do not wait for its children */
		}
		return true;
	}
	if (!t->killed_ms && davy_now_ms() - t->spawned->began_ms >= t->spawned->spawn->limit_ms)
		traced_look_at_all(t);
	if (!t->killed_ms && davy_spawn_over(t->spawned))
		t->killed_ms = davy_now_ms();
	if (t->killed_ms && davy_now_ms() - t->killed_ms > STUCK_MS) {
		t->spawned->end.stuck = !t->main_ended;
		return false;
	}
	davy_spawn_listen(t->spawned, TICK_MS);
	if (t->spawned->noise < 0)
		usleep(TICK_MS * 1000);
	return true;
}

int davy_traced_run(struct davy_spawned *s, struct davy_traced *ret_traced)
{
	const uintptr_t options = PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK |
				  PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
	struct tracing t = { .spawned = s, .traced = ret_traced };
	int err = 0;

	memset(ret_traced, 0, sizeof(*ret_traced));
	if (ptrace(PTRACE_SEIZE, s->pid, NULL, (void *)options))
		err = -errno;
	davy_spawn_release(s);
	if (err) {
		davy_spawn_wait(s);
		return err;
	}
	while (traced_step(&t))
		;
	if (t.main_ended)
		davy_spawn_ended(s, t.main_status);
	else
		s->end.ms = (uint32_t)(davy_now_ms() - s->began_ms);
	return 0;
}
