// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rules.h"

#define RULE_FILE_ENV "DAVYLAMP_VKFAULT"
/* If set: one line per injected fault is appended to this file. */
#define LOG_FILE_ENV "DAVYLAMP_VKFAULT_LOG"

/* Everything below is guarded by "lock"; the state belongs to the rule and starts anew with it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fault_rule rule = { .min_bytes = 1 };
static struct stat rule_stat;
static uint64_t submit_count;
static enum fault_state state;
static uint64_t hang_boot_ns;

static uint64_t boot_ns_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/*
 * One line: CLOCK_BOOTTIME in ns, pid, tid, what, the call in which it happened and the number of
 * submits under the rule in force. Written by a single write(2), so that lines do not mix.
 */
static void log_fault(const char *what, const char *call)
{
	const char *path = getenv(LOG_FILE_ENV);
	uint64_t now_ns = boot_ns_now();
	char line[160];
	int fd, len;

	if (!path)
		return;
	len = snprintf(line, sizeof(line), "%" PRIu64 " %d %ld %s %s %" PRIu64 "\n", now_ns,
		       (int)getpid(), syscall(SYS_gettid), what, call, submit_count);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	if (write(fd, line, (size_t)len) != len)
		fprintf(stderr, "vkfault: cannot write '%s': %s\n", path, strerror(errno));
	close(fd);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Returns false if the file cannot be read; "text" is then empty. */
static bool read_text(const char *path, char *text, size_t size)
{
	ssize_t len = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		len = read(fd, text, size - 1);
		close(fd);
	}
	text[len < 0 ? 0 : len] = '\0';
	return len >= 0;
}

/* Takes over the rule file if it has changed. A file that makes no sense leaves the old rule. */
static void refresh(void)
{
	const char *path = getenv(RULE_FILE_ENV);
	struct stat now;
	char text[1024];

	if (!path)
		return;
	if (stat(path, &now) != 0)
		memset(&now, 0, sizeof(now));
	if (same_file(&now, &rule_stat))
		return;
	rule_stat = now;
	read_text(path, text, sizeof(text));
	if (fault_rule_parse(text, &rule) != 0) {
		fprintf(stderr, "vkfault: no rule in '%s': \"%s\", ignoring it\n", path, text);
		log_fault("badrule", "-");
		return;
	}
	submit_count = 0;
	state = STATE_FINE;
	log_fault("rule", "-");
}

/* A hang with a limit ends in a lost device. */
static void update_state(const char *call)
{
	if (state != STATE_HUNG || rule.ms == 0)
		return;
	if (boot_ns_now() - hang_boot_ns >= rule.ms * 1000000u) {
		state = STATE_LOST;
		log_fault("lost", call);
	}
}

struct fault_rule fault_rule_now(void)
{
	struct fault_rule copy;

	pthread_mutex_lock(&lock);
	refresh();
	copy = rule;
	pthread_mutex_unlock(&lock);
	return copy;
}

enum fault_state fault_state_now(const char *call)
{
	enum fault_state now;

	pthread_mutex_lock(&lock);
	refresh();
	update_state(call);
	now = state;
	pthread_mutex_unlock(&lock);
	return now;
}

/* Returns true when this submit is the first one that the rule is about. */
static bool count_submit(uint64_t groups)
{
	bool is_due = submit_count >= rule.after_count && state == STATE_FINE;

	if (rule.wide && groups <= rule.wide)
		return false;
	submit_count++;
	return is_due;
}

static void crash(void)
{
	volatile uintptr_t nowhere = 0;

	*(volatile int *)nowhere = 1;
}

static void spin(void)
{
	volatile bool returns = false;

	while (!returns)
		;
}

static void print(int fd)
{
	static const char line[] = "vkfault: a driver that prints\n";

	if (write(fd, line, sizeof(line) - 1) < 0)
		errno = 0; /* the error is ignored */
}

/* Acts like a driver that has overwritten its own descriptor numbers. */
static void write_to_pipes(void)
{
	struct stat st;
	int fd;

	for (fd = 0; fd < 256; fd++)
		if (fd != STDERR_FILENO && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
			print(fd);
}

enum fault_state fault_on_submit(const char *call, uint64_t groups)
{
	enum fault_state now;
	uint64_t delay_ms = 0;

	pthread_mutex_lock(&lock);
	refresh();
	update_state(call);
	if (count_submit(groups)) {
		switch (rule.kind) {
		case FAULT_LOST:
			state = STATE_LOST;
			log_fault("lost", call);
			break;
		case FAULT_HANG:
			state = STATE_HUNG;
			hang_boot_ns = boot_ns_now();
			log_fault("hang", call);
			break;
		case FAULT_CRASH:
			log_fault("crash", call);
			crash();
			break;
		case FAULT_SLOW:
			delay_ms = rule.ms;
			break;
		case FAULT_PRINT:
			print(STDOUT_FILENO);
			break;
		case FAULT_NOISE:
			write_to_pipes();
			break;
		case FAULT_SPIN:
			spin();
			break;
		case FAULT_OK:
		case FAULT_OOM:
			break;
		}
	}
	now = state;
	pthread_mutex_unlock(&lock);
	if (delay_ms) {
		struct timespec ts = { .tv_sec = (time_t)(delay_ms / 1000),
				       .tv_nsec = (long)(delay_ms % 1000) * 1000000 };

		nanosleep(&ts, NULL);
	}
	return now;
}

bool fault_on_allocate(uint64_t bytes, uint64_t used_bytes)
{
	bool fails;

	pthread_mutex_lock(&lock);
	refresh();
	fails = rule.kind == FAULT_OOM && bytes >= rule.min_bytes;
	if (rule.heap_bytes && (bytes > rule.heap_bytes || used_bytes > rule.heap_bytes - bytes))
		fails = true;
	if (fails)
		log_fault("oom", "vkAllocateMemory");
	pthread_mutex_unlock(&lock);
	return fails;
}
