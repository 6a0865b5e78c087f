// SPDX-License-Identifier: GPL-2.0
/* Fires a tracepoint or calls a function, from one CPU or from several at once. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fire.h"

struct shot {
	pthread_t thread;
	pthread_barrier_t *start;
	int fd, cpu, err;
	const char *line;
	struct timespec began, ended;
};

/* The injector's command for all of a hook's calls. */
static void format_line(struct fire_session *s, const struct fire_hook *h, char *line, size_t size)
{
	int len = snprintf(line, size, "%s %" PRIu64 " %s %s",
			   h->kind == FIRE_TRACEPOINT ? "fire" : "call", h->count,
			   h->in_irq ? "irq" : "task", h->symbol);

	for (int i = 0; i < s->root_count && (size_t)len < size; i++)
		len += snprintf(line + len, size - (size_t)len, " %s", s->roots[i].value);
	if ((size_t)len >= size)
		fire_fail(s, -E2BIG, "the command is longer than %zu bytes", size);
}

static void *shoot(void *data)
{
	struct shot *shot = data;
	size_t len = strlen(shot->line);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)shot->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		shot->err = errno;
	pthread_barrier_wait(shot->start);
	clock_gettime(CLOCK_MONOTONIC, &shot->began);
	if (!shot->err && write(shot->fd, shot->line, len) != (ssize_t)len)
		shot->err = errno;
	clock_gettime(CLOCK_MONOTONIC, &shot->ended);
	return NULL;
}

static int64_t ns_of(struct timespec t)
{
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* From the first start to the last end. */
static int64_t wall_ns(const struct shot *shots, int count)
{
	int64_t began = INT64_MAX, ended = 0;

	for (int i = 0; i < count; i++) {
		if (ns_of(shots[i].began) < began)
			began = ns_of(shots[i].began);
		if (ns_of(shots[i].ended) > ended)
			ended = ns_of(shots[i].ended);
	}
	return ended - began;
}

static int parse_cpus(struct fire_session *s, const char *text, int *ret_cpus)
{
	int count = 0;
	char *end;

	do {
		ret_cpus[count++] = (int)strtol(text, &end, 10);
		if (end == text || (*end && *end != ',') || count == FIRE_CPUS_MAX) {
			fire_fail(s, -EINVAL, "'--cpus' wants numbers parted by ','");
			return 0;
		}
		text = end + 1;
	} while (*end);
	return count;
}

static void storm(struct fire_session *s, const struct fire_hook *h, const char *line)
{
	struct shot shots[FIRE_CPUS_MAX] = { 0 };
	int cpus[FIRE_CPUS_MAX], count = parse_cpus(s, h->cpus, cpus);
	pthread_barrier_t start;

	if (s->err)
		return;
	pthread_barrier_init(&start, NULL, (unsigned int)count);
	for (int i = 0; i < count; i++) {
		shots[i] =
			(struct shot){ .start = &start, .fd = s->fd, .cpu = cpus[i], .line = line };
		if (pthread_create(&shots[i].thread, NULL, shoot, &shots[i])) {
			fputs("fire: no thread can be made, giving up\n", stderr);
			exit(1); /* the other threads wait for it */
		}
	}
	for (int i = 0; i < count; i++) {
		pthread_join(shots[i].thread, NULL);
		if (shots[i].err)
			fire_fail(s, -shots[i].err, "'%s' failed on CPU %d: %s", line, shots[i].cpu,
				  strerror(shots[i].err));
	}
	pthread_barrier_destroy(&start);
	if (!s->err)
		printf("storm=%s cpus=%d count=%" PRIu64 " wall_ns=%" PRId64 " by=%d\n", h->symbol,
		       count, h->count, wall_ns(shots, count), getpid());
}

static void shoot_here(struct fire_session *s, const struct fire_hook *h, const char *line)
{
	uint64_t result;

	fire_send(s, "%s", line);
	result = fire_result(s);
	if (s->err)
		return;
	if (h->kind == FIRE_TRACEPOINT)
		printf("fired=%s count=%" PRIu64 " probe_calls=%" PRIu64 " by=%d\n", h->symbol,
		       h->count, result, getpid());
	else
		printf("called=%s count=%" PRIu64 " result=0x%" PRIx64 " by=%d\n", h->symbol,
		       h->count, result, getpid());
}

/* A body that is already skipped stays skipped and keeps its return value. */
static bool skip_body(struct fire_session *s, const struct fire_hook *h)
{
	char line[256];
	int len = snprintf(line, sizeof(line), "skip %s %" PRId64, h->symbol, h->ret);

	if (write(s->fd, line, (size_t)len) == len)
		return true;
	if (errno != EEXIST)
		fire_fail(s, -errno, "'%s' failed: %s", line, strerror(errno));
	return false;
}

/* The hook must have been found. Builds its arguments, and fires or calls. */
void fire_hook_run(struct fire_session *s, struct fire_hook *h, char **args, int count)
{
	char line[1024];
	bool skipped = false;

	for (int i = 0; i < count; i++)
		fire_assign(s, args[i]);
	format_line(s, h, line, sizeof(line));
	if (s->err)
		return;
	if (h->kind == FIRE_FUNCTION)
		skipped = skip_body(s, h);
	if (s->err)
		return;
	if (h->cpus)
		storm(s, h, line);
	else
		shoot_here(s, h, line);
	if (skipped)
		fire_send(s, "unskip %s", h->symbol);
}
