// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
#include <stdlib.h>

#include "memory.h"

struct allocation {
	struct allocation *next;
	uint64_t handle;
	uint64_t bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation *allocations;
static uint64_t used_bytes;

void memory_note(uint64_t handle, uint64_t bytes)
{
	struct allocation *a = malloc(sizeof(*a));

	if (!a)
		return;
	a->handle = handle;
	a->bytes = bytes;
	pthread_mutex_lock(&lock);
	a->next = allocations;
	allocations = a;
	used_bytes += bytes;
	pthread_mutex_unlock(&lock);
}

void memory_forget(uint64_t handle)
{
	struct allocation **link, *a = NULL;

	pthread_mutex_lock(&lock);
	for (link = &allocations; *link; link = &(*link)->next) {
		if ((*link)->handle == handle) {
			a = *link;
			*link = a->next;
			used_bytes -= a->bytes;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
	free(a);
}

uint64_t memory_used_bytes(void)
{
	uint64_t bytes;

	pthread_mutex_lock(&lock);
	bytes = used_bytes;
	pthread_mutex_unlock(&lock);
	return bytes;
}
