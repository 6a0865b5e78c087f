/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's places: two sockets, who may connect to them and for how long, and the locks that
 * keep a second agent out. Root has a socket (mode 0600, PATH.root) with a queue that strangers
 * cannot fill, and half of all places. Others share the rest: DL_LINKS_UID for each user, and a
 * client that says nothing loses its place. Only agent/ includes this.
 */
#ifndef DL_AGENT_LINKS_H
#define DL_AGENT_LINKS_H

#include <jansson.h>
#include <sys/stat.h>
#include <systemd/sd-event.h>

#include "lib/message.h"

#define DL_LINKS_MAX	   64
#define DL_LINKS_USERS	   32 /* of them for others than root, who may only look */
#define DL_LINKS_UID	   4  /* of these for one user */
#define DL_LINKS_SILENT_NS (10 * DL_NS_PER_S)

/* Of clients that are not root's, in one tick; the rest waits for the next tick. */
#define DL_LINKS_CONNECTS 16
#define DL_LINKS_MESSAGES 4 /* of one connection */

#define DL_LINKS_LOCKS 2

enum dl_link_refusal {
	DL_LINK_UID_FULL = 0, /* the user has all its places */
	DL_LINK_USERS_FULL = 1,
	DL_LINK_ALL_FULL = 2,
	DL_LINK_SILENT = 3, /* had a place and said nothing */
	DL_LINK_REFUSALS
};

struct dl_agent_socket {
	sd_event_source *source; /* NULL: closed; owns the descriptor */
	char path[DL_SOCKET_PATH_MAX];
	dev_t dev; /* of the file that bind made, and its inode */
	ino_t ino;
	unsigned int connects; /* in this tick */
};

struct dl_sockets {
	struct dl_agent_socket root, all;
	int lock_fd[DL_LINKS_LOCKS]; /* of state directory and socket path; -1: not taken */
	uint64_t refused[DL_LINK_REFUSALS];
};

struct dl_agent;
struct dl_link;

/*
 * Before anything is changed. -EADDRINUSE: another agent has the state directory or the socket
 * path; who it is has been said.
 */
int dl_links_lock(struct dl_agent *a);

/* -EADDRINUSE: somebody else answers on the path. */
int dl_links_open(struct dl_agent *a);
void dl_links_close(struct dl_agent *a);
/* The very last: nothing is changed after it. Removes the sockets, if they are its own. */
void dl_links_unlock(struct dl_agent *a);
void dl_links_tick(struct dl_agent *a, uint64_t now_ns);

json_t *dl_links_status(const struct dl_agent *a);

/* control.c: a message has come, -ECONNRESET: the client has gone; the place is given up. */
int dl_control_take(struct dl_link *link);
void dl_control_gone(struct dl_link *link);

/* groups.c: an engine's cgroup is removed when its supervisor was killed. */
#define DL_LEFT_GROUPS 16

struct dl_left_groups {
	struct dl_left_group {
		uint32_t supervisor; /* 0: empty */
		char path[512];
	} group[DL_LEFT_GROUPS];
	uint64_t looked_ns;
};

void dl_groups_left(struct dl_agent *a, const struct dl_link *link);
void dl_groups_tick(struct dl_agent *a, uint64_t now_ns);

#endif
