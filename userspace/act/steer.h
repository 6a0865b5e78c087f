/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One port, two processes: sockets that listen with SO_REUSEPORT are a group, and a classic BPF
 * program of the group chooses who gets a connection by its index, the order in which they began to
 * listen (net/core/sock_reuseport.c, Linux 6.12: the last one moves into the place of one that
 * closes; an index that nobody has falls back to the hash). The program is set through a duplicate
 * of the socket (pidfd_getfd), which is closed again at once: kept, it would go on listening for a
 * process that is gone. Nothing here waits.
 */
#ifndef DAVY_STEER_H
#define DAVY_STEER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DAVY_ADDRESS_LEN 48

/* Where a process listens. */
struct davy_listener {
	char address[DAVY_ADDRESS_LEN]; /* to connect to it from this host, numeric */
	uint16_t port;
	uint32_t waiting; /* connections that nobody has accepted yet */
	uint32_t clients; /* those it has accepted, and not closed */
};

/*
 * What "pid" has on "port". -ENOENT: it does not listen there; -ENOTSUP: not with SO_REUSEPORT;
 * -EPERM: its sockets are not ours to see.
 */
int davy_listener_look(pid_t pid, uint16_t port, struct davy_listener *ret_listener);

/* The lowest port that "pid" listens on with TCP; 0: none, or not to be seen. */
uint16_t davy_listening_port(pid_t pid);

/* How many sockets listen on "port" in the network namespace of "pid". */
int davy_listener_count(pid_t pid, uint16_t port);

/*
 * New connections to the group of the socket with which "pid" listens: those that come from
 * "from_port" of the address they go to get index "for_probe", all others "for_others".
 */
int davy_steer(pid_t pid, uint16_t port, uint16_t from_port, uint32_t for_probe,
	       uint32_t for_others);

/* The kernel spreads connections as it did. */
int davy_steer_end(pid_t pid, uint16_t port);

/*
 * A source port of "address" that is ours as long as the descriptor is open: the kernel gives it to
 * nobody else, and davylamp-probe shares it (SO_REUSEADDR). The descriptor, or -errno.
 */
int davy_reserve_port(const char *address, uint16_t *ret_port);

#endif
