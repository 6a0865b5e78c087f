/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's places: two sockets, who may connect to them and for how long, and the locks that
 * keep a second agent out. Root has a socket (mode 0600, PATH.root) with a queue that strangers
 * cannot fill, and half of all places. Others share the rest: DAVY_LINKS_UID for each user, and a
 * client that says nothing loses its place. Only agent/ includes this.
 */
#ifndef DAVY_LINKS_H
#define DAVY_LINKS_H

#include <jansson.h>
#include <sys/stat.h>
#include <systemd/sd-event.h>

#include "lib/message.h"

#define DAVY_LINKS_MAX	     64
#define DAVY_LINKS_USERS     32 /* of them for others than root, who may only look */
#define DAVY_LINKS_UID	     4	/* of these for one user */
#define DAVY_LINKS_SILENT_NS (10 * DAVY_NS_PER_S)

/* Of clients that are not root's, in one tick; the rest waits for the next tick. */
#define DAVY_LINKS_CONNECTS 16
#define DAVY_LINKS_MESSAGES 4 /* of one connection */

#define DAVY_LINKS_LOCKS 2

enum davy_link_refusal {
	DAVY_LINK_UID_FULL = 0, /* the user has all its places */
	DAVY_LINK_USERS_FULL = 1,
	DAVY_LINK_ALL_FULL = 2,
	DAVY_LINK_SILENT = 3, /* had a place and said nothing */
	DAVY_LINK_REFUSALS
};

struct davy_agent_socket {
	sd_event_source *source; /* NULL: closed; owns the descriptor */
	char path[DAVY_SOCKET_PATH_MAX];
	dev_t dev; /* of the file that bind made, and its inode */
	ino_t ino;
	unsigned int connects; /* in this tick */
};

struct davy_sockets {
	struct davy_agent_socket root, all;
	int lock_fd[DAVY_LINKS_LOCKS]; /* of state directory and socket path; -1: not taken */
	uint64_t refused[DAVY_LINK_REFUSALS];
};

struct davy_agent;
struct davy_link;

/*
 * Before anything is changed. -EADDRINUSE: another agent has the state directory or the socket
 * path; who it is has been said.
 */
int davy_links_lock(struct davy_agent *a);

/* -EADDRINUSE: somebody else answers on the path. */
int davy_links_open(struct davy_agent *a);
void davy_links_close(struct davy_agent *a);
/* The very last: nothing is changed after it. Removes the sockets, if they are its own. */
void davy_links_unlock(struct davy_agent *a);
void davy_links_tick(struct davy_agent *a, uint64_t now_ns);

json_t *davy_links_status(const struct davy_agent *a);

/* The supervisor's; NULL: none has it. */
struct davy_link *davy_link_of_workload(struct davy_agent *a, uint32_t workload);

/* groups.c: an engine's cgroup is removed when its supervisor was killed. */
#define DAVY_LEFT_GROUPS 16

struct davy_left_groups {
	struct davy_left_group {
		uint32_t supervisor; /* 0: empty */
		char path[512];
	} group[DAVY_LEFT_GROUPS];
	uint64_t looked_ns;
};

void davy_groups_left(struct davy_agent *a, const struct davy_link *link);
void davy_groups_tick(struct davy_agent *a, uint64_t now_ns);

#endif
