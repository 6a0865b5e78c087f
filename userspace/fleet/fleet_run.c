/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The network half: a member of the fleet, and its messages to and from the keeper. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fleet/fleet.h"
#include "fleet/keeper.h"
#include "lib/child.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/json_text.h"
#include "lib/log.h"
#include "verb/fleet_status.h"

#define STATUS_MS 10000

struct fleet_run {
	struct davy_fleet_config config;
	int fd;
	int64_t seen;
	struct davy_keeper_inbox in;
	uint64_t told_stamp, told_ms;
	int err;
};

static void fleet_run_layer(void *arg, const char *text)
{
	struct fleet_run *r = arg;
	int err = davy_keeper_send(r->fd, DAVY_KEEPER_LAYER, text, strlen(text));

	r->err = err ? err : r->err;
}

static void fleet_run_log(void *arg, const char *text)
{
	(void)arg;
	davy_log("fleet: %s", text);
}

static void fleet_run_tell(struct fleet_run *r, const struct davy_member *m, uint64_t now_ms)
{
	json_t *status;
	char *text;

	if (r->told_ms && (davy_member_stamp(m) == r->told_stamp || now_ms - r->told_ms < 1000) &&
	    now_ms - r->told_ms < STATUS_MS)
		return;
	status = davy_member_status(m);
	text = status ? davy_json_text(status, JSON_COMPACT) : NULL;
	if (text)
		r->err = davy_keeper_send(r->fd, DAVY_KEEPER_STATUS, text, strlen(text));
	free(text);
	json_decref(status);
	r->told_stamp = davy_member_stamp(m);
	r->told_ms = now_ms;
}

/* The keeper is root's, but a wrong size would be read beyond the end. */
static int fleet_run_take(struct fleet_run *r, struct davy_member *m)
{
	const struct davy_keeper_head *h = &r->in.head;
	const size_t device = sizeof(struct davy_fleet_device), row = sizeof(struct davy_own_row);
	int got = davy_keeper_receive(r->fd, &r->in);

	if (got != 1)
		return got;
	if (h->kind != DAVY_KEEPER_ROWS || h->devices > DAVY_FLEET_DEVICES_MAX ||
	    h->rows > DAVY_FLEET_OWN_MAX || h->size != h->devices * device + h->rows * row)
		return -EBADMSG;
	davy_member_devices(m, (const void *)r->in.body, h->devices);
	davy_member_rows(m, (const void *)(r->in.body + h->devices * device), h->rows);
	return 0;
}

static int fleet_run_loop(struct fleet_run *r, struct davy_member *m, CURLM *multi)
{
	while (!r->err) {
		uint64_t now_ms = davy_now_ms(), due_ms;
		struct curl_waitfd wait = { .fd = r->fd, .events = CURL_WAIT_POLLIN };

		davy_etcd_step(multi);
		due_ms = davy_member_step(m, now_ms);
		fleet_run_tell(r, m, now_ms);
		if (r->err)
			break;
		if (curl_multi_poll(multi, &wait, 1, due_ms > now_ms ? (int)(due_ms - now_ms) : 0,
				    NULL))
			r->err = -EIO;
		if (wait.revents)
			r->err = fleet_run_take(r, m) < 0 ? -EPIPE : 0;
	}
	return r->err;
}

static int fleet_run_network(void *arg)
{
	struct fleet_run *r = arg;
	const struct davy_member_ops ops = { fleet_run_layer, fleet_run_log, r };
	struct davy_member *m;
	CURLM *multi;
	int err;

	signal(SIGPIPE, SIG_IGN);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	multi = curl_multi_init();
	m = multi ? davy_member_new(&r->config.member, &r->config.access, multi, &ops) : NULL;
	err = m ? davy_fleet_confine_network() : -ENOMEM;
	if (err)
		davy_log("fleet: the network half cannot be confined: %s", strerror(-err));
	if (!err) {
		davy_member_seen(m, r->seen);
		err = fleet_run_loop(r, m, multi);
	}
	davy_member_free(m);
	curl_multi_cleanup(multi);
	return err == -EPIPE ? 0 : 1;
}

int davy_fleet_run(const struct davy_fleet_options *o)
{
	struct fleet_run *r = calloc(1, sizeof(*r));
	char error[DAVY_FLEET_ERROR];
	struct davy_child child = DAVY_CHILD_NONE;
	struct davy_child_spec spec = { .run = fleet_run_network,
					.arg = r,
					.death_signal = SIGKILL,
					.name = "davylamp-fleetd" };
	int fds[5], pair[2], status, err;
	const char *why;
	json_t *before;

	if (!r)
		return DAVY_EXIT_FAILED;
	err = davy_fleet_config_read(o->config, &r->config, error);
	if (err) {
		davy_log("fleet: %s", error);
		free(r);
		return err == -ENOENT ? DAVY_EXIT_NOTHING : DAVY_EXIT_USAGE;
	}
	before = davy_fleet_status_read(o->state, &why);
	r->seen = json_integer_value(json_object_get(before, "revision"));
	json_decref(before);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair)) {
		free(r);
		return DAVY_EXIT_FAILED;
	}
	r->fd = pair[1];
	fds[0] = pair[1];
	spec.fd_count = 1;
	for (size_t i = 0; i < 3; i++)
		if (r->config.file[i][0])
			fds[spec.fd_count++] = atoi(r->config.file[i] + strlen("/proc/self/fd/"));
	spec.fds = fds;
	spec.stdio[2] = DAVY_CHILD_KEEP;
	signal(SIGPIPE, SIG_IGN);
	err = davy_child_start(&spec, &child);
	close(pair[1]);
	if (err)
		davy_log("fleet: the network half cannot be started: %s", strerror(-err));
	status = err ? DAVY_EXIT_FAILED : davy_keeper_run(o->state, o->socket, pair[0]);
	/* The keeper may not signal another user: the end of the socket ends the other half. */
	close(pair[0]);
	davy_child_end(&child, 2000);
	free(r);
	return status;
}
