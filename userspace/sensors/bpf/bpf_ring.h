/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads one ring buffer of the kernel. libbpf's reader maps all of its data, twice, and each mapped
 * page counts as resident: 2.5 MiB for the agent's two rings. This one maps a small window.
 */
#ifndef DAVY_BPF_RING_H
#define DAVY_BPF_RING_H

#include <stddef.h>
#include <stdint.h>

struct davy_ring {
	int fd; /* of the map; not owned */
	size_t size;
	uint64_t read_to;      /* behind the last record that was taken */
	uint64_t *consumer;    /* NULL: closed */
	const uint64_t *head;  /* the kernel's page: it writes up to here */
	const uint8_t *window; /* NULL: none is mapped */
	size_t window_at;      /* its offset in the data */
};

/* One record; below 0: the reading ends here, and goes on with the next one. */
typedef int (*davy_ring_take)(void *arg, void *data, size_t size);

int davy_ring_open(struct davy_ring *r, int map_fd);
void davy_ring_close(struct davy_ring *r);

/* Takes what there is. 0, what "take" has returned, or -errno. */
int davy_ring_read(struct davy_ring *r, davy_ring_take take, void *arg);

#endif
