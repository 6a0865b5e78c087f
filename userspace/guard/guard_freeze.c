/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guard/guard_freeze.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MS_NS	  ((uint64_t)1000000)
#define LOOK_NS	  (MS_NS / 10) /* doubles each time, up to: */
#define LOOK_MOST MS_NS
#define VERIFY_NS (500 * MS_NS)
#define NEVER	  UINT64_MAX

int davy_freeze_valid(const struct davy_guard_order *o)
{
	uint64_t most = o->on_permille ? DAVY_GUARD_THROTTLE_MAX_NS : DAVY_GUARD_PAUSE_MAX_NS;

	if (!o->id || o->on_permille >= 1000 || !o->lease_ns || o->lease_ns > most)
		return -EINVAL;
	if (o->on_permille && (o->period_ns < 20 * MS_NS || o->period_ns > 1000 * MS_NS))
		return -EINVAL;
	return 0;
}

static int guard_freeze_open_cgroup(struct davy_freeze *h, int dir_fd)
{
	struct davy_cgroup_events events;
	struct stat directory;
	int err;

	h->freezer_fd = davy_freezer_open(dir_fd);
	if (h->freezer_fd < 0)
		return h->freezer_fd;
	err = davy_freezer_wants_frozen(h->freezer_fd);
	if (err)
		return err > 0 ? -EALREADY : err;
	h->events_fd = openat(dir_fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
	if (h->events_fd < 0 || fstat(dir_fd, &directory))
		return -errno;
	h->dev = directory.st_dev;
	h->inode = directory.st_ino;
	err = davy_cgroup_events_read(h->events_fd, &events);
	if (!err && !events.populated)
		err = -ESRCH;
	if (!err && events.frozen)
		err = -EALREADY;
	return err;
}

static int open_tree(struct davy_freeze *h, const struct davy_guard_order *o)
{
	int err = davy_tree_open(&h->tree, o->pid, o->start_ticks);

	if (!err)
		err = davy_tree_root_stopped(&h->tree);
	return err > 0 ? -EALREADY : err;
}

static void guard_freeze_free_slot(struct davy_freeze *h)
{
	__atomic_store_n(&h->state, DAVY_FREEZE_FREE, __ATOMIC_SEQ_CST);
	if (h->freezer_fd >= 0)
		close(h->freezer_fd);
	if (h->events_fd >= 0)
		close(h->events_fd);
	h->freezer_fd = h->events_fd = -1;
	davy_tree_close(&h->tree);
}

static void take_terms(struct davy_freeze *h, const struct davy_guard_order *o, uint64_t now_ns)
{
	h->plan = o->plan;
	h->on_permille = o->on_permille;
	h->period_ns = o->period_ns;
	h->lease_ns = now_ns + o->lease_ns;
}

static void look_from(struct davy_freeze *h, uint64_t now_ns)
{
	h->look_ns = now_ns;
	h->pause_ns = LOOK_NS;
	h->verify_ns = now_ns + VERIFY_NS;
}

/* cgroup.events notifies at most every 10 ms (kernel/cgroup/cgroup.c): poll it as well. */
static void guard_freeze_look_again(struct davy_freeze *h, uint64_t now_ns)
{
	h->look_ns = now_ns + h->pause_ns;
	h->pause_ns = 2 * h->pause_ns < LOOK_MOST ? 2 * h->pause_ns : LOOK_MOST;
}

int davy_freeze_open(struct davy_freeze *h, const struct davy_guard_order *order, int dir_fd,
		     uint64_t now_ns)
{
	int err;

	memset(h, 0, sizeof(*h));
	h->freezer_fd = h->events_fd = -1;
	h->id = order->id;
	h->failed = true;
	h->edge_ns = h->look_ns = NEVER;
	err = davy_freeze_valid(order);
	if (!err)
		err = dir_fd >= 0 ? guard_freeze_open_cgroup(h, dir_fd) : open_tree(h, order);
	if (dir_fd >= 0)
		close(dir_fd);
	if (err) {
		guard_freeze_free_slot(h);
		return err;
	}
	take_terms(h, order, now_ns);
	look_from(h, now_ns);
	__atomic_store_n(&h->state, DAVY_FREEZE_FREEZING, __ATOMIC_SEQ_CST);
	return 0;
}

bool davy_freeze_same(const struct davy_freeze *h, const struct davy_guard_order *order, int dir_fd)
{
	struct stat theirs;

	if (h->freezer_fd < 0 || dir_fd < 0)
		return h->freezer_fd < 0 && dir_fd < 0 && h->tree.process[0].pid == order->pid &&
		       h->tree.process[0].start_ticks == order->start_ticks;
	return !fstat(dir_fd, &theirs) && h->dev == theirs.st_dev && h->inode == theirs.st_ino;
}

void davy_freeze_thaw(const struct davy_freeze *h)
{
	if (h->freezer_fd >= 0)
		davy_freezer_write(h->freezer_fd, false);
	else
		davy_tree_continue(&h->tree);
}

static int guard_freeze_freeze(struct davy_freeze *h, uint64_t now_ns)
{
	int err;

	h->frozen = true;
	h->since_ns = now_ns;
	err = h->freezer_fd >= 0 ? davy_freezer_write(h->freezer_fd, true)
				 : davy_tree_stop(&h->tree);
	return err == -ENOENT ? -ENODEV : err;
}

static void guard_freeze_thaw(struct davy_freeze *h, uint64_t now_ns)
{
	if (h->frozen && now_ns > h->since_ns)
		h->frozen_ns += now_ns - h->since_ns;
	h->frozen = false;
	davy_freeze_thaw(h);
}

void davy_freeze_end(struct davy_freeze *h, int result, uint64_t now_ns)
{
	if (h->state == DAVY_FREEZE_THAWING)
		return;
	h->result = result;
	guard_freeze_thaw(h, now_ns);
	h->state = DAVY_FREEZE_THAWING;
	h->edge_ns = NEVER;
	look_from(h, now_ns);
}

void davy_freeze_begin(struct davy_freeze *h, uint64_t now_ns)
{
	int err = guard_freeze_freeze(h, now_ns);

	if (err)
		davy_freeze_end(h, err, now_ns);
}

void davy_freeze_renew(struct davy_freeze *h, const struct davy_guard_order *order, uint64_t now_ns)
{
	take_terms(h, order, now_ns);
	h->result = 0;
	h->failed = true; /* until it is seen frozen and HELD is reported again */
	h->state = DAVY_FREEZE_FREEZING;
	look_from(h, now_ns);
	h->edge_ns = NEVER;
	if (!h->frozen)
		davy_freeze_begin(h, now_ns);
}

/* 1: in state "frozen", 0: not yet; -ESRCH: no process left, -ENODEV: cgroup removed, -EMFILE... */
static int guard_freeze_seen(struct davy_freeze *h, bool frozen)
{
	struct davy_cgroup_events events;
	int err;

	if (h->freezer_fd < 0) {
		err = davy_tree_root_stopped(&h->tree);
		if (err < 0)
			return err;
		return frozen ? davy_tree_stopped(&h->tree) : !err;
	}
	err = davy_cgroup_events_read(h->events_fd, &events);
	if (err)
		return err == -ENOENT ? -ENODEV : err;
	if (!events.populated)
		return -ESRCH;
	return events.frozen == frozen;
}

static davy_freeze_news guard_freeze_tell(const struct davy_freeze *h, enum davy_guard_stage stage,
					  int result, uint64_t now_ns)
{
	return (davy_freeze_news){ .stage = stage,
				   .id = h->id,
				   .plan = h->plan,
				   .result = result,
				   .at_ns = now_ns,
				   .frozen_ns = h->frozen_ns };
}

static davy_freeze_news step_freezing(struct davy_freeze *h, uint64_t now_ns)
{
	int is = guard_freeze_seen(h, true);

	if (is < 0) {
		davy_freeze_end(h, is, now_ns);
	} else if (is) {
		h->state = DAVY_FREEZE_FROZEN;
		h->failed = false;
		h->look_ns = NEVER;
		h->edge_ns = h->on_permille
				     ? h->since_ns + h->period_ns / 1000 * (1000 - h->on_permille)
				     : NEVER;
		return guard_freeze_tell(h, DAVY_GUARD_HELD, 0, now_ns);
	} else if (now_ns >= h->verify_ns || now_ns >= h->lease_ns) {
		davy_freeze_end(h, -ETIMEDOUT, now_ns);
	} else {
		guard_freeze_look_again(h, now_ns);
	}
	return (davy_freeze_news){ 0 };
}

static davy_freeze_news step_thawing(struct davy_freeze *h, uint64_t now_ns)
{
	int is = guard_freeze_seen(h, false);
	davy_freeze_news news;

	if (is < 0 && is != -ESRCH && is != -ENODEV)
		is = 0; /* unreadable: repeat the thaw until the time limit */
	if (!is && now_ns < h->verify_ns) {
		davy_freeze_thaw(h); /* repeat: a pending stop may have come after the first one */
		guard_freeze_look_again(h, now_ns);
		return (davy_freeze_news){ 0 };
	}
	if (is < 0 && !h->failed && (!h->result || h->result == -ETIME))
		h->result = is;
	if (!is)
		h->result = -EBUSY;
	news = guard_freeze_tell(h, h->failed ? DAVY_GUARD_FAILED : DAVY_GUARD_RELEASED, h->result,
				 now_ns);
	guard_freeze_free_slot(h);
	return news;
}

/* Edge times are computed from each other, not from the time of service: no drift. */
static int guard_freeze_turn(struct davy_freeze *h, uint64_t now_ns)
{
	uint64_t on_ns = h->period_ns / 1000 * h->on_permille, length_ns;
	int err = 0;

	if (h->frozen) {
		guard_freeze_thaw(h, now_ns);
		length_ns = on_ns;
	} else {
		err = guard_freeze_freeze(h, now_ns);
		length_ns = h->period_ns - on_ns;
	}
	h->edge_ns += length_ns;
	if (h->edge_ns <= now_ns) /* we are late: do not catch up */
		h->edge_ns = now_ns + length_ns;
	return err;
}

/* 0: the freeze is still ours. */
static int guard_freeze_stands(struct davy_freeze *h)
{
	struct davy_cgroup_events events;
	int err;

	if (h->freezer_fd < 0) {
		err = davy_tree_root_stopped(&h->tree);
		return err < 0 ? err : 0;
	}
	err = davy_cgroup_events_read(h->events_fd, &events);
	if (err)
		return err == -ENOENT ? -ENODEV : err;
	if (!events.populated)
		return -ESRCH;
	return h->frozen && !davy_freezer_wants_frozen(h->freezer_fd) ? -ECANCELED : 0;
}

static void step_held(struct davy_freeze *h, uint64_t now_ns)
{
	int err = guard_freeze_stands(h);

	if (!err && now_ns >= h->lease_ns)
		err = -ETIME;
	if (!err && now_ns >= h->edge_ns)
		err = guard_freeze_turn(h, now_ns);
	if (err)
		davy_freeze_end(h, err, now_ns);
}

davy_freeze_news davy_freeze_step(struct davy_freeze *h, uint64_t now_ns)
{
	if (h->state == DAVY_FREEZE_FROZEN)
		step_held(h, now_ns);
	if (h->state == DAVY_FREEZE_FREEZING)
		return step_freezing(h, now_ns);
	if (h->state == DAVY_FREEZE_THAWING)
		return step_thawing(h, now_ns);
	return (davy_freeze_news){ 0 };
}

uint64_t davy_freeze_due_ns(const struct davy_freeze *h)
{
	uint64_t due_ns = h->lease_ns;

	if (h->state == DAVY_FREEZE_FREE)
		return NEVER;
	if (h->state == DAVY_FREEZE_THAWING)
		return h->look_ns;
	due_ns = h->edge_ns < due_ns ? h->edge_ns : due_ns;
	return h->look_ns < due_ns ? h->look_ns : due_ns;
}
