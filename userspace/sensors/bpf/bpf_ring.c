/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The layout of the mapping: kernel/bpf/ringbuf.c, "struct bpf_ringbuf". */
#include "sensors/bpf/bpf_ring.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WINDOW ((size_t)32 << 10) /* a power of two, and longer than two records */

_Static_assert(sizeof(unsigned long) == sizeof(uint64_t), "positions of the kernel");

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int davy_ring_open(struct davy_ring *r, int map_fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info);
	size_t page = page_size();
	void *consumer, *head;

	if (bpf_obj_get_info_by_fd(map_fd, &info, &size))
		return -errno;
	consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (consumer == MAP_FAILED)
		return -errno;
	head = mmap(NULL, page, PROT_READ, MAP_SHARED, map_fd, (off_t)page);
	if (head == MAP_FAILED) {
		munmap(consumer, page);
		return -errno;
	}
	memset(r, 0, sizeof(*r));
	r->fd = map_fd;
	r->size = info.max_entries;
	r->consumer = consumer;
	r->head = head;
	r->read_to = *r->consumer;
	return 0;
}

void davy_ring_close(struct davy_ring *r)
{
	if (!r->consumer)
		return;
	if (r->window)
		munmap((void *)r->window, WINDOW);
	munmap(r->consumer, page_size());
	munmap((void *)r->head, page_size());
	memset(r, 0, sizeof(*r));
}

/* Where the data is that begins at "at" and has "size" bytes; NULL with errno. */
static const uint8_t *ring_at(struct davy_ring *r, uint64_t at, size_t size)
{
	size_t offset = at & (r->size - 1), page = page_size(), begin = offset & ~(page - 1);
	void *window;

	if (r->window && offset >= r->window_at && offset + size <= r->window_at + WINDOW)
		return r->window + (offset - r->window_at);
	/* The kernel has the data twice, one behind the other: no record is split. */
	window = mmap((void *)r->window, WINDOW, PROT_READ,
		      MAP_SHARED | (r->window ? MAP_FIXED : 0), r->fd, (off_t)(2 * page + begin));
	if (window == MAP_FAILED)
		return NULL;
	r->window = window;
	r->window_at = begin;
	return r->window + (offset - begin);
}

static void ring_release(struct davy_ring *r, uint32_t size)
{
	r->read_to += (BPF_RINGBUF_HDR_SZ + size + 7) & ~(uint64_t)7;
	__atomic_store_n(r->consumer, r->read_to, __ATOMIC_RELEASE);
}

/* 1: one record was taken; 0: the next one is not complete yet. */
static int ring_take(struct davy_ring *r, davy_ring_take take, void *arg)
{
	const uint8_t *record = ring_at(r, r->read_to, BPF_RINGBUF_HDR_SZ);
	uint32_t header, size;
	int err = 0;

	if (!record)
		return -errno;
	header = __atomic_load_n((const uint32_t *)record, __ATOMIC_ACQUIRE);
	if (header & BPF_RINGBUF_BUSY_BIT)
		return 0;
	size = header & ~(uint32_t)BPF_RINGBUF_DISCARD_BIT;
	if (!(header & BPF_RINGBUF_DISCARD_BIT) && size <= WINDOW / 2) {
		record = ring_at(r, r->read_to, BPF_RINGBUF_HDR_SZ + size);
		if (!record)
			return -errno;
		err = take(arg, (void *)(record + BPF_RINGBUF_HDR_SZ), size);
	}
	ring_release(r, size);
	return err < 0 ? err : 1;
}

int davy_ring_read(struct davy_ring *r, davy_ring_take take, void *arg)
{
	uint64_t head = __atomic_load_n(r->head, __ATOMIC_ACQUIRE);
	int taken = 1;

	while (taken > 0 && r->read_to < head) {
		taken = ring_take(r, take, arg);
		if (r->read_to == head)
			head = __atomic_load_n(r->head, __ATOMIC_ACQUIRE);
	}
	return taken < 0 ? taken : 0;
}
