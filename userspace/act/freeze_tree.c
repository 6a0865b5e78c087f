/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/freeze.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/file.h"

#define PASSES	 8 /* a tree that forks faster cannot be stopped */
#define DIR_SIZE 32768

struct stat_line {
	char state;
	uint32_t ppid;
	uint64_t start_ticks;
};

struct entry64 {
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

/* The name in parentheses may contain anything: parse after the last ')'. */
static int read_stat(const char *path, struct stat_line *ret_line)
{
	char text[1024], *at, *save = NULL;
	ssize_t n = davy_read_file(path, text, sizeof(text));

	if (n < 0)
		return n == -ENOENT ? -ESRCH : (int)n;
	at = strrchr(text, ')');
	if (!at || at[1] != ' ' || !at[2])
		return -EBADMSG;
	ret_line->state = at[2];
	at = strtok_r(at + 3, " ", &save);
	for (int field = 4; at; field++, at = strtok_r(NULL, " ", &save)) {
		if (field == 4)
			ret_line->ppid = (uint32_t)strtoul(at, NULL, 10);
		if (field == 22) {
			ret_line->start_ticks = strtoull(at, NULL, 10);
			return 0;
		}
	}
	return -EBADMSG;
}

static int stat_of(uint32_t pid, struct stat_line *ret_line)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	return read_stat(path, ret_line);
}

static bool freeze_tree_ended(const struct stat_line *line)
{
	return line->state == 'Z' || line->state == 'X';
}

static bool freeze_tree_halted(const struct stat_line *line)
{
	return line->state == 'T' || line->state == 't';
}

/* Opens the pidfd first, then compares the identity: no reuse in between. */
static int freeze_tree_take(struct davy_tree *tree, uint32_t pid, uint64_t start_ticks)
{
	struct davy_tree_process *p = &tree->process[tree->count];
	struct stat_line line;
	int err, fd;

	if (tree->count == DAVY_TREE_MAX)
		return -E2BIG;
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		return errno == EINVAL ? -ESRCH : -errno;
	err = stat_of(pid, &line);
	if (!err && (freeze_tree_ended(&line) || line.start_ticks != start_ticks))
		err = -ESRCH;
	if (err) {
		close(fd);
		return err;
	}
	*p = (struct davy_tree_process){ fd, pid, start_ticks };
	tree->count++;
	return 0;
}

int davy_tree_open(struct davy_tree *tree, uint32_t pid, uint64_t start_ticks)
{
	tree->count = 0;
	return freeze_tree_take(tree, pid, start_ticks);
}

static int freeze_tree_send(const struct davy_tree_process *p, int sig)
{
	return syscall(SYS_pidfd_send_signal, p->pidfd, sig, NULL, 0) ? -errno : 0;
}

/* Calls visit for each name of a folder that is a number; stops at its first error. */
static int each_number(const char *path, int (*visit)(void *arg, uint32_t number), void *arg)
{
	static char buf[DIR_SIZE] __attribute__((aligned(8)));
	DAVY_FD fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n;

	if (fd < 0)
		return -errno;
	while ((n = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0) {
		for (long at = 0; at < n;) {
			const struct entry64 *e = (const struct entry64 *)(buf + at);
			unsigned long number = strtoul(e->name, NULL, 10);
			int err = number ? visit(arg, (uint32_t)number) : 0;

			if (err)
				return err;
			at += e->size;
		}
	}
	return n < 0 ? -errno : 0;
}

/*
 * Call after reading a stat line: a living pidfd proves that the line was of that process. The pid
 * of a reaped process may have been reused.
 */
static bool freeze_tree_has(const struct davy_tree *tree, uint32_t pid)
{
	for (uint32_t i = 0; i < tree->count; i++)
		if (tree->process[i].pid == pid && !freeze_tree_send(&tree->process[i], 0))
			return true;
	return false;
}

struct search {
	struct davy_tree *tree;
	bool stop;
	bool found;
};

static int on_process(void *arg, uint32_t pid)
{
	struct search *s = arg;
	struct stat_line line;
	int err = stat_of(pid, &line);

	if (err)
		return err == -ESRCH ? 0 : err;
	if (freeze_tree_ended(&line) || freeze_tree_has(s->tree, pid) ||
	    !freeze_tree_has(s->tree, line.ppid))
		return 0;
	err = freeze_tree_take(s->tree, pid, line.start_ticks);
	if (err)
		return err == -ESRCH ? 0 : err;
	s->found = true;
	if (s->stop)
		freeze_tree_send(&s->tree->process[s->tree->count - 1], SIGSTOP);
	return 0;
}

/* Drops ended processes; keeps the root. */
static void forget_ended(struct davy_tree *tree)
{
	uint32_t kept = 1;

	for (uint32_t i = 1; i < tree->count; i++) {
		if (!freeze_tree_send(&tree->process[i], 0))
			tree->process[kept++] = tree->process[i];
		else
			close(tree->process[i].pidfd);
	}
	tree->count = kept;
}

static int freeze_tree_find(struct davy_tree *tree, bool stop)
{
	struct search s = { .tree = tree, .stop = stop };
	int err = 0;

	for (int pass = 0; pass < PASSES; pass++) {
		s.found = false;
		err = each_number("/proc", on_process, &s);
		if (err || !s.found)
			return err;
	}
	return stop ? -EAGAIN : 0;
}

int davy_tree_find(struct davy_tree *tree)
{
	return freeze_tree_find(tree, false);
}

int davy_tree_stop(struct davy_tree *tree)
{
	int err = freeze_tree_send(&tree->process[0], SIGSTOP);

	if (err)
		return err;
	forget_ended(tree);
	for (uint32_t i = 1; i < tree->count; i++)
		freeze_tree_send(&tree->process[i], SIGSTOP);
	return freeze_tree_find(tree, true);
}

static int on_thread(void *arg, uint32_t tid)
{
	struct stat_line line;
	char path[96];
	int err;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", *(uint32_t *)arg, tid);
	err = read_stat(path, &line);
	if (err)
		return err == -ESRCH ? 0 : err;
	return !freeze_tree_ended(&line) && !freeze_tree_halted(&line) ? -EBUSY : 0;
}

static int freeze_tree_all_stopped(const struct davy_tree *tree)
{
	for (uint32_t i = 0; i < tree->count; i++) {
		uint32_t pid = tree->process[i].pid;
		char path[64];
		int err;

		if (freeze_tree_send(&tree->process[i], 0))
			continue; /* ended */
		snprintf(path, sizeof(path), "/proc/%u/task", pid);
		err = each_number(path, on_thread, &pid);
		if (err && err != -ENOENT)
			return err == -EBUSY ? 0 : err;
	}
	return 1;
}

/*
 * A SIGSTOP that came within fork acted after it (copy_process() ends for a fatal signal only,
 * kernel/fork.c, 6.1): only now that the parents are stopped are there no more children.
 */
int davy_tree_stopped(struct davy_tree *tree)
{
	uint32_t known = tree->count;
	int err, is = freeze_tree_all_stopped(tree);

	if (is != 1)
		return is;
	err = freeze_tree_find(tree, true);
	return err ? err : tree->count == known;
}

int davy_tree_root_stopped(const struct davy_tree *tree)
{
	struct stat_line line;
	int err = stat_of(tree->process[0].pid, &line);

	if (!err)
		err = freeze_tree_ended(&line)
			      ? -ESRCH
			      : freeze_tree_send(
					&tree->process[0],
					0); /* a zombie that was not reaped counts as ended */
	return err ? err : freeze_tree_halted(&line);
}

void davy_tree_continue(const struct davy_tree *tree)
{
	for (uint32_t i = tree->count; i-- > 0;)
		freeze_tree_send(&tree->process[i], SIGCONT);
}

void davy_tree_close(struct davy_tree *tree)
{
	for (uint32_t i = 0; i < tree->count; i++)
		close(tree->process[i].pidfd);
	tree->count = 0;
}
