/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's connections: two sockets, limits for clients, and the locks that keep a second agent
 * out. Root has its own socket (mode 0600, PATH.root), whose queue other users cannot fill, and
 * half of all connections. The other users share the rest: DAVY_LINKS_UID for each user, and an
 * idle client is disconnected. Only agent/ includes this.
 */
#ifndef DAVY_LINKS_H
#define DAVY_LINKS_H

#include <jansson.h>
#include <sys/stat.h>
#include <systemd/sd-event.h>

#include "lib/message.h"

#define DAVY_LINKS_MAX	     64
#define DAVY_LINKS_USERS     32 /* connections of users other than root, who may only read */
#define DAVY_LINKS_UID	     4	/* connections of one such user */
#define DAVY_LINKS_SILENT_NS (10 * DAVY_NS_PER_S)

/* Messages of all clients of users in one tick; the rest waits for the next tick. */
#define DAVY_LINKS_CONNECTS 16
#define DAVY_LINKS_MESSAGES 4 /* of one connection */

#define DAVY_LINKS_LOCKS 2

enum davy_link_refusal {
	DAVY_LINK_UID_FULL = 0, /* the user has too many connections */
	DAVY_LINK_USERS_FULL = 1,
	DAVY_LINK_ALL_FULL = 2,
	DAVY_LINK_SILENT = 3, /* was connected and idle */
	DAVY_LINK_REFUSALS
};

struct davy_agent_socket {
	sd_event_source *source; /* NULL: closed; owns the descriptor */
	char path[DAVY_SOCKET_PATH_MAX];
	dev_t dev; /* of the socket file that bind created */
	ino_t ino;
	unsigned int connects; /* in this tick */
};

struct davy_sockets {
	struct davy_agent_socket root, all;
	int lock_fd[DAVY_LINKS_LOCKS]; /* of state directory and socket path; -1: none */
	uint64_t refused[DAVY_LINK_REFUSALS];
};

struct davy_agent;
struct davy_link;

/*
 * Call it before anything is changed. -EADDRINUSE: another agent has the state directory or the
 * socket path; it was logged.
 */
int davy_links_lock(struct davy_agent *a);

/* -EADDRINUSE: another program listens on the path. */
int davy_links_open(struct davy_agent *a);
void davy_links_close(struct davy_agent *a);
/* The last step: nothing may change after it. Removes the sockets if they are the agent's own. */
void davy_links_unlock(struct davy_agent *a);
void davy_links_tick(struct davy_agent *a, uint64_t now_ns);

json_t *davy_links_status(const struct davy_agent *a);

/* The link of the workload's supervisor; NULL: none. */
struct davy_link *davy_link_of_workload(struct davy_agent *a, uint32_t workload);

/* groups.c: removes an engine's cgroup after its supervisor was killed. */
#define DAVY_ORPHAN_GROUPS 16

struct davy_orphan_groups {
	struct davy_orphan_group {
		uint32_t supervisor; /* 0: empty */
		char path[512];
	} group[DAVY_ORPHAN_GROUPS];
	uint64_t looked_ns;
};

void davy_groups_orphaned(struct davy_agent *a, const struct davy_link *link);
void davy_groups_tick(struct davy_agent *a, uint64_t now_ns);

#endif
