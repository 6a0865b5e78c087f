/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRAM_CLIENT_H
#define VRAM_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

/* An ioctl, until no signal interrupts it. -errno. */
int call(int fd, unsigned long request, void *arg);
/* The render node, opened by the first call; -1: it cannot be. */
int device(void);
/* Creates and keeps an object; "mapped": for the GPU, too. -errno. */
int object_new(uint64_t size, uint64_t domain, bool mapped);
/* The handle of the newest one. */
uint32_t object_last(void);

/* What an attacker tries (vram-attack.c); each prints one line. */
int do_command(uint64_t size);
int do_compat(uint64_t size);
int do_race(uint64_t size, uint64_t big);
int do_race_domain(uint64_t size);
int do_race_op(uint64_t size);
int do_placement(uint64_t size);
int do_dumb(uint64_t width, uint64_t height);
int do_master(uint64_t size);
int do_clone(const char *dir);

#endif
