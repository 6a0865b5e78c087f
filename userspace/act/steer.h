/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One port, two processes: sockets that listen with SO_REUSEPORT form a group. A classic BPF
 * program of the group selects the socket of a connection by its index, the order in which they
 * began to listen (net/core/sock_reuseport.c, Linux 6.12: the last one takes the index of one that
 * closes; an index without a socket falls back to the hash). The program is set through a duplicate
 * of the socket (pidfd_getfd). The duplicate is closed at once; otherwise it would listen for a
 * process that has ended. Never waits.
 */
#ifndef DAVY_STEER_H
#define DAVY_STEER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DAVY_ADDRESS_LEN 48

/* Where a process listens. */
struct davy_listener {
	char address[DAVY_ADDRESS_LEN]; /* numeric, for connections from this host */
	uint16_t port;
	uint32_t waiting; /* connections not accepted yet */
	uint32_t clients; /* accepted and open connections */
};

/*
 * Reads the socket of "pid" on "port". -ENOENT: it does not listen there; -ENOTSUP: without
 * SO_REUSEPORT; -EPERM: its sockets are not visible to us.
 */
int davy_listener_look(pid_t pid, uint16_t port, struct davy_listener *ret_listener);

/* The lowest TCP port on which "pid" listens; 0: none, or not visible. */
uint16_t davy_listening_port(pid_t pid);

/* How many sockets listen on "port" in the network namespace of "pid". */
int davy_listener_count(pid_t pid, uint16_t port);

/*
 * Steers new connections of the group of the socket on which "pid" listens: those from source port
 * "from_port" to index "for_probe", all others to "for_others".
 */
int davy_steer(pid_t pid, uint16_t port, uint16_t from_port, uint32_t for_probe,
	       uint32_t for_others);

/* Removes the program: the kernel distributes connections by hash again. */
int davy_steer_end(pid_t pid, uint16_t port);

/*
 * Reserves a source port of "address" while the descriptor is open; davylamp-probe shares it
 * (SO_REUSEADDR). Returns the descriptor, or -errno.
 */
int davy_reserve_port(const char *address, uint16_t *ret_port);

#endif
