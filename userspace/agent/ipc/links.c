/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "act/watch.h"
#include "lib/file.h"
#include "lib/lock.h"
#include "lib/log.h"

#define ROOT_MASK    0177 /* umask at bind: the socket has mode 0600 from its creation */
#define ALL_MASK     0111 /* 0666: the agent checks the sender of each request */
#define ROOT_BACKLOG 64
#define ALL_BACKLOG  32

#define LOCK_NAME "agent.lock"

static int links_lock_one(int *ret_fd, const char *path, const char *what, const char *name)
{
	pid_t holder = 0;
	char who[32] = "its pid is unknown";
	int fd = davy_lock_take(path, &holder);

	if (fd >= 0) {
		*ret_fd = fd;
		return 0;
	}
	if (fd != -EWOULDBLOCK)
		return fd;
	if (holder)
		snprintf(who, sizeof(who), "pid %d", (int)holder);
	davy_log("another agent (%s) has the %s '%s'; this one changes nothing and exits. Stop the "
		 "other agent first",
		 who, what, name);
	return -EADDRINUSE;
}

/* The agent also runs without its state directory. */
static int links_lock_state(struct davy_agent *a)
{
	const char *dir = a->options.state_dir;
	char path[PATH_MAX];
	int err = davy_root_path(path, sizeof(path), "%s", dir);

	if (!err)
		err = davy_make_dirs(path);
	if (!err)
		err = davy_root_path(path, sizeof(path), "%s/%s", dir, LOCK_NAME);
	if (!err)
		err = links_lock_one(&a->sockets.lock_fd[0], path, "state directory", dir);
	if (!err || err == -EADDRINUSE)
		return err;
	davy_log("cannot lock the state directory '%s' (%s): a second agent there would not "
		 "be detected",
		 dir, strerror(-err));
	return 0;
}

static int links_lock_socket(struct davy_agent *a)
{
	const char *socket_path = a->options.socket_path;
	const char *slash = strrchr(socket_path, '/');
	char path[PATH_MAX];
	int err = 0;

	if (slash && slash != socket_path) {
		snprintf(path, sizeof(path), "%.*s", (int)(slash - socket_path), socket_path);
		err = davy_make_dirs(path);
	}
	if (!err && snprintf(path, sizeof(path), "%s.lock", socket_path) >= PATH_MAX)
		err = -ENAMETOOLONG;
	if (!err)
		err = links_lock_one(&a->sockets.lock_fd[1], path, "socket", socket_path);
	if (err && err != -EADDRINUSE)
		davy_log("socket '%s': %s", socket_path, strerror(-err));
	return err;
}

int davy_links_lock(struct davy_agent *a)
{
	int err = links_lock_state(a);

	return err ? err : links_lock_socket(a);
}

/* A child of a killed agent may keep its socket open: then the listening process is dead. */
static bool socket_is_orphan(int fd)
{
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.pid > 0 &&
	       kill(peer.pid, 0) && errno == ESRCH;
}

/* Removes the socket of a killed agent, and nothing else. The lock must be held. */
static int socket_remove_stale(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct stat st;
	DAVY_FD fd = -1;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	memcpy(addr.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		if (!socket_is_orphan(fd))
			return -EADDRINUSE;
	} else if (errno == EAGAIN || errno == EPROTOTYPE) {
		return -EADDRINUSE; /* a full queue or another socket type: the socket is in use */
	} else if (errno != ECONNREFUSED) {
		return -errno;
	}
	return unlink(path) && errno != ENOENT ? -errno : 0;
}

static int socket_bind(int fd, struct davy_agent_socket *s, mode_t mask)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	mode_t before;
	struct stat st;
	int err;

	memcpy(addr.sun_path, s->path, sizeof(addr.sun_path));
	before = umask(mask);
	err = bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ? -errno : 0;
	umask(before);
	if (err)
		return err;
	if (lstat(s->path, &st))
		return -errno;
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	return 0;
}

static void socket_remove_own(struct davy_agent_socket *s)
{
	struct stat st;

	if (s->ino && !lstat(s->path, &st) && S_ISSOCK(st.st_mode) && st.st_dev == s->dev &&
	    st.st_ino == s->ino)
		unlink(s->path);
	s->ino = 0;
}

static const char *const refusals[DAVY_LINK_REFUSALS] = {
	[DAVY_LINK_UID_FULL] = "too many connections of this user; close one",
	[DAVY_LINK_USERS_FULL] = "too many connections of users; try again later",
	[DAVY_LINK_ALL_FULL] = "too many connections; try again later",
	[DAVY_LINK_SILENT] = "no request for 10 s; connect again to send one",
};

static void link_refuse(struct davy_agent *a, int fd, enum davy_link_refusal why)
{
	a->sockets.refused[why]++;
	davy_message_send(fd, json_pack("{s:s, s:s}", "op", "busy", "why", refusals[why]));
}

/* Chooses a link for the client; NULL: *ret_why. */
static struct davy_link *link_place(struct davy_agent *a, uint32_t uid,
				    enum davy_link_refusal *ret_why)
{
	struct davy_link *link = NULL;
	size_t users = 0, own = 0;

	for (size_t i = 0; i < DAVY_LINKS_MAX; i++) {
		const struct davy_link *other = &a->links[i];

		users += other->source && other->uid;
		own += other->source && other->uid == uid;
		if (!other->source)
			link = &a->links[i];
	}
	*ret_why = DAVY_LINK_ALL_FULL;
	if (!uid)
		return link;
	*ret_why = own >= DAVY_LINKS_UID ? DAVY_LINK_UID_FULL : DAVY_LINK_USERS_FULL;
	return own >= DAVY_LINKS_UID || users >= DAVY_LINKS_USERS ? NULL : link;
}

struct davy_link *davy_link_of_workload(struct davy_agent *a, uint32_t workload)
{
	for (size_t i = 0; workload && i < DAVY_LINKS_MAX; i++)
		if (a->links[i].source && a->links[i].workload == workload)
			return &a->links[i];
	return NULL;
}

static void link_close(struct davy_link *link)
{
	if (link->agent->hooks)
		link->agent->hooks->link_gone(link);
	sd_event_source_disable_unref(link->source);
	json_decref(link->ordered);
	json_decref(link->early);
	memset(link, 0, sizeof(*link));
}

/* Defers the requests of a user who sends too many to the next tick. */
static int link_on_message(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct davy_link *link = arg;
	const struct davy_agent_hooks *hooks = link->agent->hooks;

	(void)source;
	(void)fd;
	(void)events;
	link->heard_ns = davy_boot_ns();
	if (!hooks || hooks->link_message(link) == -ECONNRESET)
		link_close(link);
	else if (link->uid && ++link->messages >= DAVY_LINKS_MESSAGES)
		sd_event_source_set_enabled(link->source, SD_EVENT_OFF);
	return 0;
}

/* Takes ownership of the descriptor. */
static void link_begin(struct davy_agent *a, struct davy_link *link, int fd,
		       const struct ucred *peer)
{
	memset(link, 0, sizeof(*link));
	link->agent = a;
	link->fd = fd;
	link->uid = peer->uid;
	link->peer_pid = (uint32_t)peer->pid;
	link->heard_ns = davy_boot_ns();
	if (davy_watch(a->loop, &link->source, fd, link_on_message, link) < 0)
		memset(link, 0, sizeof(*link));
}

static int link_on_connect(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct davy_agent *a = arg;
	bool of_all = source == a->sockets.all.source;
	int conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	bool no_room = conn < 0 && (errno == EMFILE || errno == ENFILE);
	enum davy_link_refusal why;
	struct davy_link *link;
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);

	(void)events;
	/* Stops accepting until the next tick: without a free descriptor the loop would spin. */
	if (no_room || (of_all && ++a->sockets.all.connects >= DAVY_LINKS_CONNECTS))
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
	if (conn < 0)
		return 0;
	if (getsockopt(conn, SOL_SOCKET, SO_PEERCRED, &peer, &size)) {
		close(conn);
		return 0;
	}
	link = link_place(a, peer.uid, &why);
	if (link) {
		link_begin(a, link, conn, &peer);
	} else {
		link_refuse(a, conn, why);
		close(conn);
	}
	return 0;
}

void davy_links_tick(struct davy_agent *a, uint64_t now_ns)
{
	a->sockets.all.connects = 0;
	if (a->sockets.all.source)
		sd_event_source_set_enabled(a->sockets.all.source, SD_EVENT_ON);
	if (a->sockets.root.source)
		sd_event_source_set_enabled(a->sockets.root.source, SD_EVENT_ON);
	for (size_t i = 0; i < DAVY_LINKS_MAX; i++) {
		struct davy_link *link = &a->links[i];

		if (!link->source || !link->uid)
			continue;
		link->messages = 0;
		sd_event_source_set_enabled(link->source, SD_EVENT_ON);
		if (now_ns <= link->heard_ns || now_ns - link->heard_ns < DAVY_LINKS_SILENT_NS)
			continue;
		link_refuse(a, link->fd, DAVY_LINK_SILENT);
		link_close(link);
	}
}

static int socket_open(struct davy_agent *a, struct davy_agent_socket *s, mode_t mask, int backlog)
{
	int err, fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	err = socket_remove_stale(s->path);
	if (!err)
		err = socket_bind(fd, s, mask);
	if (!err && listen(fd, backlog))
		err = -errno;
	if (err)
		close(fd);
	else
		err = davy_watch(a->loop, &s->source, fd, link_on_connect, a);
	if (err < 0)
		socket_remove_own(s);
	return err;
}

/* Root's socket first: a root client that finds the public one can then use its own. */
int davy_links_open(struct davy_agent *a)
{
	struct davy_sockets *s = &a->sockets;
	int err = davy_message_root_path(a->options.socket_path, s->root.path);

	if (err)
		return err;
	snprintf(s->all.path, sizeof(s->all.path), "%s", a->options.socket_path);
	err = socket_open(a, &s->root, ROOT_MASK, ROOT_BACKLOG);
	return err < 0 ? err : socket_open(a, &s->all, ALL_MASK, ALL_BACKLOG);
}

void davy_links_close(struct davy_agent *a)
{
	for (size_t i = 0; i < DAVY_LINKS_MAX; i++)
		if (a->links[i].source)
			link_close(&a->links[i]);
	a->sockets.all.source = sd_event_source_disable_unref(a->sockets.all.source);
	a->sockets.root.source = sd_event_source_disable_unref(a->sockets.root.source);
}

/* Removes the sockets: their absence tells the next agent that it can start. */
void davy_links_unlock(struct davy_agent *a)
{
	socket_remove_own(&a->sockets.all);
	socket_remove_own(&a->sockets.root);
	for (size_t i = 0; i < DAVY_LINKS_LOCKS; i++) {
		if (a->sockets.lock_fd[i] >= 0)
			close(a->sockets.lock_fd[i]);
		a->sockets.lock_fd[i] = -1;
	}
}

json_t *davy_links_status(const struct davy_agent *a)
{
	const uint64_t *refused = a->sockets.refused;
	json_int_t root = 0, users = 0;

	for (size_t i = 0; i < DAVY_LINKS_MAX; i++) {
		users += a->links[i].source && a->links[i].uid;
		root += a->links[i].source && !a->links[i].uid;
	}
	return json_pack("{s:I, s:I, s:{s:I, s:I, s:I, s:I}}", "root", root, "users", users,
			 "refused", "user_full", (json_int_t)refused[DAVY_LINK_UID_FULL],
			 "users_full", (json_int_t)refused[DAVY_LINK_USERS_FULL], "all_full",
			 (json_int_t)refused[DAVY_LINK_ALL_FULL], "silent",
			 (json_int_t)refused[DAVY_LINK_SILENT]);
}
