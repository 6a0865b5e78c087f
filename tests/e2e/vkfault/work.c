// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "work.h"

#define BUFFERS_MAX 4096 /* one that finds no place counts as empty */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	const void *buffer;
	uint64_t groups;
} buffers[BUFFERS_MAX];

static uint64_t *find(const void *buffer)
{
	size_t from = ((uintptr_t)buffer >> 4) % BUFFERS_MAX;

	for (size_t i = 0; i < BUFFERS_MAX; i++) {
		size_t at = (from + i) % BUFFERS_MAX;

		if (!buffers[at].buffer)
			buffers[at].buffer = buffer;
		if (buffers[at].buffer == buffer)
			return &buffers[at].groups;
	}
	return NULL;
}

static void put(const void *buffer, uint64_t add, bool anew)
{
	uint64_t *groups;

	pthread_mutex_lock(&lock);
	groups = find(buffer);
	if (groups && anew)
		*groups = 0;
	if (groups)
		*groups += add;
	pthread_mutex_unlock(&lock);
}

void work_begin(const void *buffer)
{
	put(buffer, 0, true);
}

void work_add(const void *buffer, uint64_t groups)
{
	put(buffer, groups, false);
}

uint64_t work_of(const void *buffer)
{
	uint64_t *groups, found;

	pthread_mutex_lock(&lock);
	groups = find(buffer);
	found = groups ? *groups : 0;
	pthread_mutex_unlock(&lock);
	return found;
}
