/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fleet/keeper.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>

#include "fleet/fleet_rules.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/message.h"
#include "policy/effective.h"
#include "sensors/gpu/driver_version.h"
#include "sensors/gpu/gpus.h"
#include "store/policy_file.h"

#define SETTLE_MS 300	 /* after a change: the agent writes several rows */
#define AGAIN_MS  300000 /* even without a change */
#define ROOM_MAX                                                                                   \
	(sizeof(struct davy_own_row) * DAVY_FLEET_OWN_MAX +                                        \
	 sizeof(struct davy_fleet_device) * DAVY_FLEET_DEVICES_MAX)

struct keeper {
	const char *state_dir, *socket_path;
	int fd, notify;
	struct davy_policy_layer *agent; /* its own rules: what was learned here */
	struct davy_fleet_device device[DAVY_FLEET_DEVICES_MAX];
	size_t device_count;
	struct davy_own_row *row;
	size_t row_count;
	bool silent; /* the ledger cannot be read, and this was logged */
};

int davy_keeper_receive(int fd, struct davy_keeper_inbox *in)
{
	char *at = (char *)&in->head + in->head_used;
	size_t want = sizeof(in->head) - in->head_used;
	ssize_t n;

	if (in->head_used == sizeof(in->head) && in->used == in->head.size)
		in->head_used = in->used = 0, at = (char *)&in->head, want = sizeof(in->head);
	if (!want) {
		at = in->body + in->used;
		want = in->head.size - in->used;
	}
	n = read(fd, at, want);
	if (n <= 0)
		return n ? errno == EAGAIN || errno == EINTR ? 0 : -errno : -EPIPE;
	if (in->head_used < sizeof(in->head)) {
		in->head_used += (size_t)n;
		if (in->head_used < sizeof(in->head))
			return 0;
		if (in->head.size >
		    (in->head.kind == DAVY_KEEPER_ROWS ? ROOM_MAX : DAVY_KEEPER_TEXT_MAX))
			return -EBADMSG;
		free(in->body);
		in->body = malloc((size_t)in->head.size + 1);
		if (!in->body)
			return -ENOMEM;
		in->used = 0;
	} else {
		in->used += (size_t)n;
	}
	in->body[in->used] = 0;
	return in->used == in->head.size;
}

static int keeper_write(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t n = write(fd, at, size);
		struct pollfd wait = { .fd = fd, .events = POLLOUT };

		if (n < 0 && errno == EAGAIN && poll(&wait, 1, 10000) == 1)
			continue;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			at += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

int davy_keeper_send(int fd, enum davy_keeper_kind kind, const void *text, size_t size)
{
	const struct davy_keeper_head head = { .kind = kind, .size = (uint32_t)size };
	int err = size > DAVY_KEEPER_TEXT_MAX ? -EFBIG : keeper_write(fd, &head, sizeof(head));

	return err ? err : keeper_write(fd, text, size);
}

/* "1002:744c" of a PCI address, and its driver; a device without PCI is its own name. */
static bool keeper_identity(const char *device, char identity[DAVY_DEVICE_LEN],
			    struct davy_gpu *ret_gpu)
{
	struct davy_policy_subject s = { .pci = "" };
	uint64_t vendor, model;

	memset(ret_gpu, 0, sizeof(*ret_gpu));
	if (!strchr(device, ':')) {
		davy_copy_name(identity, DAVY_DEVICE_LEN, device);
		return device[0] != 0;
	}
	if (!davy_gpu_on_bus(device, ret_gpu) || davy_gpu_attribute(ret_gpu, "vendor", &vendor) ||
	    davy_gpu_attribute(ret_gpu, "device", &model))
		return false;
	davy_subject_pci(&s, (uint32_t)vendor, (uint32_t)model);
	davy_copy_name(identity, DAVY_DEVICE_LEN, s.pci);
	return true;
}

static void keeper_add_device(struct keeper *k, const char *identity, const char *driver)
{
	struct davy_fleet_device *d = &k->device[k->device_count];

	for (size_t i = 0; i < k->device_count; i++)
		if (!strcmp(k->device[i].device, identity))
			return;
	if (k->device_count == DAVY_FLEET_DEVICES_MAX || !strchr(identity, ':'))
		return;
	davy_copy_name(d->device, sizeof(d->device), identity);
	davy_driver_version_read(driver, d->driver);
	k->device_count++;
}

/* The ubatch of the agent's own rules for this row. */
static uint32_t keeper_learned(const struct keeper *k, const struct davy_ledger_key *key)
{
	const struct davy_policy_set own = { .layer[DAVY_LAYER_AGENT] = k->agent };
	struct davy_policy_subject s = { .backend = key->backend, .forced = true };
	struct davy_effective *e = calloc(1, sizeof(*e));
	uint32_t ubatch;

	if (!e)
		return 0;
	davy_copy_name(s.model, sizeof(s.model), key->model);
	davy_copy_name(s.device, sizeof(s.device), key->device);
	davy_policy_effective(&own, &s, e);
	ubatch = davy_effective_count(e, DAVY_POLICY_UBATCH);
	free(e);
	return ubatch;
}

static void keeper_take_row(void *arg, const struct davy_ledger_row *row)
{
	struct keeper *k = arg;
	struct davy_own_row *to = &k->row[k->row_count];
	struct davy_gpu gpu;

	if (k->row_count == DAVY_FLEET_OWN_MAX ||
	    !keeper_identity(row->key.device, to->device, &gpu))
		return;
	keeper_add_device(k, to->device, gpu.driver);
	to->row = *row;
	to->learned = keeper_learned(k, &row->key);
	k->row_count++;
}

static void keeper_read_layer(struct keeper *k)
{
	char error[DAVY_CONFIG_ERROR_LEN], path[PATH_MAX];

	davy_policy_layer_init(k->agent, DAVY_LAYER_AGENT);
	if (snprintf(path, sizeof(path), "%s/" DAVY_POLICY_NAME, k->state_dir) < (int)sizeof(path))
		davy_policy_file_read(path, DAVY_LAYER_AGENT, k->agent, error);
}

static int keeper_read(struct keeper *k)
{
	const struct davy_ledger_filter all = { .device = "" };
	struct davy_gpu gpus[DAVY_GPUS_MAX], gpu;
	size_t count = davy_gpus_list(gpus, DAVY_GPUS_MAX);
	char identity[DAVY_DEVICE_LEN];
	struct davy_db *db = NULL;
	int n;

	k->device_count = k->row_count = 0;
	keeper_read_layer(k);
	for (size_t i = 0; i < count; i++)
		if (keeper_identity(gpus[i].device, identity, &gpu))
			keeper_add_device(k, identity, gpu.driver);
	n = davy_db_open(k->state_dir, DAVY_DB_THERE, &db);
	if (!n)
		n = davy_ledger_each(db, &all, keeper_take_row, k);
	davy_db_close(db);
	if (n < 0 && n != -ENOENT && !k->silent)
		davy_log("fleet: ledger '%s/%s': %s; it is tried again", k->state_dir, DAVY_DB_NAME,
			 davy_db_why(n));
	k->silent = n < 0 && n != -ENOENT;
	return n < 0 && n != -ENOENT ? n : 0;
}

static int keeper_tell(struct keeper *k)
{
	const size_t devices = k->device_count * sizeof(k->device[0]);
	const size_t rows = k->row_count * sizeof(k->row[0]);
	const struct davy_keeper_head head = { .kind = DAVY_KEEPER_ROWS,
					       .size = (uint32_t)(devices + rows),
					       .devices = (uint32_t)k->device_count,
					       .rows = (uint32_t)k->row_count };
	int err = keeper_write(k->fd, &head, sizeof(head));

	if (!err)
		err = keeper_write(k->fd, k->device, devices);
	return err ? err : keeper_write(k->fd, k->row, rows);
}

/* The agent reads its files again; without one, its next start does. */
static void keeper_reload_agent(const struct keeper *k)
{
	DAVY_FD fd = davy_message_connect(k->socket_path, DAVY_CONNECT_MS);
	json_t *answer = NULL;

	if (fd < 0)
		return;
	if (!davy_message_ask(fd, json_pack("{s:s}", "op", "reload"), 5000, &answer) &&
	    !json_is_true(json_object_get(answer, "ok")))
		davy_log("fleet: the agent has not taken the new rules: %s",
			 davy_message_text(answer, "why"));
	json_decref(answer);
}

static int keeper_path(const struct keeper *k, const char *name, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/" DAVY_FLEET_NAME "/%s", k->state_dir, name) < PATH_MAX
		       ? 0
		       : -ENAMETOOLONG;
}

static void keeper_put_layer(const struct keeper *k, const char *text, size_t size)
{
	char error[DAVY_CONFIG_ERROR_LEN];
	int count = davy_fleet_layer_write(k->state_dir, text, size, error);

	if (count < 0)
		davy_log("fleet: the layer stays as it is: %s", error);
	else
		keeper_reload_agent(k);
}

static void keeper_put_status(const struct keeper *k, const char *text, size_t size)
{
	char path[PATH_MAX];
	int err = keeper_path(k, DAVY_FLEET_STATUS, path);

	if (!err)
		err = davy_replace_file(path, text, size, 0644);
	if (err)
		davy_log("fleet: '%s/" DAVY_FLEET_NAME "/" DAVY_FLEET_STATUS "': %s", k->state_dir,
			 strerror(-err));
}

/* Whether the ledger or the agent's rules have changed. */
static bool keeper_noticed(const struct keeper *k)
{
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool news = false;
	ssize_t n;

	while ((n = read(k->notify, buf, sizeof(buf))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *e = (const void *)(buf + at);

			news |= e->len &&
				(!strcmp(e->name, DAVY_DB_NAME "-wal") ||
				 (e->mask & IN_MOVED_TO && !strcmp(e->name, DAVY_POLICY_NAME)));
			at += (ssize_t)sizeof(*e) + e->len;
		}
	return news;
}

static int keeper_loop(struct keeper *k)
{
	struct davy_keeper_inbox in = { .used = 0 };
	struct pollfd wait[3] = { { .fd = k->fd, .events = POLLIN },
				  { .fd = k->notify, .events = POLLIN } };
	uint64_t due_ms = 0;
	sigset_t stop;
	int err = 0;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGINT);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	wait[2] = (struct pollfd){ .fd = signalfd(-1, &stop, SFD_CLOEXEC), .events = POLLIN };
	while (err >= 0 && !wait[2].revents) {
		uint64_t now_ms = davy_now_ms();

		if (now_ms >= due_ms) {
			due_ms = now_ms + AGAIN_MS;
			err = keeper_read(k) ? 0 : keeper_tell(k);
		}
		if (err < 0 || poll(wait, 3, (int)(due_ms - now_ms)) < 0)
			continue;
		if (wait[1].revents && keeper_noticed(k))
			due_ms = due_ms > now_ms + SETTLE_MS ? now_ms + SETTLE_MS : due_ms;
		if (!wait[0].revents)
			continue;
		err = davy_keeper_receive(k->fd, &in);
		if (err == 1 && in.head.kind == DAVY_KEEPER_LAYER)
			keeper_put_layer(k, in.body, in.head.size);
		else if (err == 1 && in.head.kind == DAVY_KEEPER_STATUS)
			keeper_put_status(k, in.body, in.head.size);
	}
	free(in.body);
	close(wait[2].fd);
	return wait[2].revents ? 0 : err;
}

int davy_keeper_run(const char *state_dir, const char *socket_path, int fd)
{
	struct keeper k = { .state_dir = state_dir, .socket_path = socket_path, .fd = fd };
	char dir[PATH_MAX];
	int err = keeper_path(&k, "", dir);

	if (!err)
		err = davy_make_dirs(dir);
	k.notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (!err &&
	    (k.notify < 0 || inotify_add_watch(k.notify, state_dir, IN_MODIFY | IN_MOVED_TO) < 0))
		err = -errno;
	if (err) {
		davy_log("fleet: state directory '%s': %s; giving up", state_dir, strerror(-err));
		return DAVY_EXIT_FAILED;
	}
	k.agent = malloc(sizeof(*k.agent));
	k.row = calloc(DAVY_FLEET_OWN_MAX, sizeof(*k.row));
	err = k.agent && k.row ? davy_fleet_confine_keeper() : -ENOMEM;
	if (!err)
		err = keeper_loop(&k);
	if (err)
		davy_log("fleet: %s; giving up",
			 err == -EPIPE ? "its network half has ended" : strerror(-err));
	free(k.agent);
	free(k.row);
	close(k.notify);
	return err ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}
