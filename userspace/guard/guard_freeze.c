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
#define VERIFY_NS (2000 * MS_NS)
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

static int guard_freeze_open_cgroup(struct davy_freeze *f, int dir_fd)
{
	struct davy_cgroup_events events;
	struct stat directory;
	int err;

	f->freezer_fd = davy_freezer_open(dir_fd);
	if (f->freezer_fd < 0)
		return f->freezer_fd;
	err = davy_freezer_wants_frozen(f->freezer_fd);
	if (err)
		return err > 0 ? -EALREADY : err;
	f->events_fd = openat(dir_fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
	if (f->events_fd < 0 || fstat(dir_fd, &directory))
		return -errno;
	f->dev = directory.st_dev;
	f->inode = directory.st_ino;
	err = davy_cgroup_events_read(f->events_fd, &events);
	if (!err && !events.populated)
		err = -ESRCH;
	if (!err && events.frozen)
		err = -EALREADY;
	return err;
}

static int open_tree(struct davy_freeze *f, const struct davy_guard_order *o)
{
	int err = davy_tree_open(&f->tree, o->pid, o->start_ticks);

	if (!err)
		err = davy_tree_root_stopped(&f->tree);
	return err > 0 ? -EALREADY : err;
}

static void guard_freeze_free_slot(struct davy_freeze *f)
{
	__atomic_store_n(&f->state, DAVY_FREEZE_FREE, __ATOMIC_SEQ_CST);
	if (f->freezer_fd >= 0)
		close(f->freezer_fd);
	if (f->events_fd >= 0)
		close(f->events_fd);
	f->freezer_fd = f->events_fd = -1;
	davy_tree_close(&f->tree);
}

static void take_terms(struct davy_freeze *f, const struct davy_guard_order *o, uint64_t now_ns)
{
	f->plan = o->plan;
	f->on_permille = o->on_permille;
	f->period_ns = o->period_ns;
	f->lease_ns = now_ns + o->lease_ns;
}

static void look_from(struct davy_freeze *f, uint64_t now_ns)
{
	f->look_ns = now_ns;
	f->pause_ns = LOOK_NS;
	f->verify_ns = now_ns + VERIFY_NS;
}

/* cgroup.events notifies at most every 10 ms (kernel/cgroup/cgroup.c): poll it as well. */
static void guard_freeze_look_again(struct davy_freeze *f, uint64_t now_ns)
{
	f->look_ns = now_ns + f->pause_ns;
	f->pause_ns = 2 * f->pause_ns < LOOK_MOST ? 2 * f->pause_ns : LOOK_MOST;
}

int davy_freeze_open(struct davy_freeze *f, const struct davy_guard_order *order, int dir_fd,
		     uint64_t now_ns)
{
	int err;

	memset(f, 0, sizeof(*f));
	f->freezer_fd = f->events_fd = -1;
	f->id = order->id;
	f->failed = true;
	f->edge_ns = f->look_ns = NEVER;
	err = davy_freeze_valid(order);
	if (!err)
		err = dir_fd >= 0 ? guard_freeze_open_cgroup(f, dir_fd) : open_tree(f, order);
	if (dir_fd >= 0)
		close(dir_fd);
	if (err) {
		guard_freeze_free_slot(f);
		return err;
	}
	take_terms(f, order, now_ns);
	look_from(f, now_ns);
	__atomic_store_n(&f->state, DAVY_FREEZE_FREEZING, __ATOMIC_SEQ_CST);
	return 0;
}

bool davy_freeze_same(const struct davy_freeze *f, const struct davy_guard_order *order, int dir_fd)
{
	struct stat theirs;

	if (f->freezer_fd < 0 || dir_fd < 0)
		return f->freezer_fd < 0 && dir_fd < 0 && f->tree.process[0].pid == order->pid &&
		       f->tree.process[0].start_ticks == order->start_ticks;
	return !fstat(dir_fd, &theirs) && f->dev == theirs.st_dev && f->inode == theirs.st_ino;
}

void davy_freeze_thaw(const struct davy_freeze *f)
{
	if (f->freezer_fd >= 0)
		davy_freezer_write(f->freezer_fd, false);
	else
		davy_tree_continue(&f->tree);
}

static int guard_freeze_freeze(struct davy_freeze *f, uint64_t now_ns)
{
	int err;

	f->frozen = true;
	f->since_ns = now_ns;
	err = f->freezer_fd >= 0 ? davy_freezer_write(f->freezer_fd, true)
				 : davy_tree_stop(&f->tree);
	return err == -ENOENT ? -ENODEV : err;
}

static void guard_freeze_thaw(struct davy_freeze *f, uint64_t now_ns)
{
	if (f->frozen && now_ns > f->since_ns)
		f->frozen_ns += now_ns - f->since_ns;
	f->frozen = false;
	davy_freeze_thaw(f);
}

void davy_freeze_end(struct davy_freeze *f, int result, uint64_t now_ns)
{
	if (f->state == DAVY_FREEZE_THAWING)
		return;
	f->result = result;
	guard_freeze_thaw(f, now_ns);
	f->state = DAVY_FREEZE_THAWING;
	f->edge_ns = NEVER;
	look_from(f, now_ns);
}

void davy_freeze_begin(struct davy_freeze *f, uint64_t now_ns)
{
	int err = guard_freeze_freeze(f, now_ns);

	if (err)
		davy_freeze_end(f, err, now_ns);
}

void davy_freeze_renew(struct davy_freeze *f, const struct davy_guard_order *order, uint64_t now_ns)
{
	take_terms(f, order, now_ns);
	f->result = 0;
	f->failed = true; /* until it is seen frozen and FROZEN is reported again */
	f->state = DAVY_FREEZE_FREEZING;
	look_from(f, now_ns);
	f->edge_ns = NEVER;
	if (!f->frozen)
		davy_freeze_begin(f, now_ns);
}

/* 1: in state "frozen", 0: not yet; -ESRCH: no process left, -ENODEV: cgroup removed, -EMFILE... */
static int guard_freeze_seen(struct davy_freeze *f, bool frozen)
{
	struct davy_cgroup_events events;
	int err;

	if (f->freezer_fd < 0) {
		err = davy_tree_root_stopped(&f->tree);
		if (err < 0)
			return err;
		return frozen ? davy_tree_stopped(&f->tree) : !err;
	}
	err = davy_cgroup_events_read(f->events_fd, &events);
	if (err)
		return err == -ENOENT ? -ENODEV : err;
	if (!events.populated)
		return -ESRCH;
	return events.frozen == frozen;
}

static davy_freeze_news guard_freeze_tell(const struct davy_freeze *f, enum davy_guard_stage stage,
					  int result, uint64_t now_ns)
{
	return (davy_freeze_news){ .stage = stage,
				   .id = f->id,
				   .plan = f->plan,
				   .result = result,
				   .at_ns = now_ns,
				   .frozen_ns = f->frozen_ns };
}

static davy_freeze_news step_freezing(struct davy_freeze *f, uint64_t now_ns)
{
	int is = guard_freeze_seen(f, true);

	if (is < 0) {
		davy_freeze_end(f, is, now_ns);
	} else if (is) {
		f->state = DAVY_FREEZE_FROZEN;
		f->failed = false;
		f->look_ns = NEVER;
		f->edge_ns = f->on_permille
				     ? f->since_ns + f->period_ns / 1000 * (1000 - f->on_permille)
				     : NEVER;
		return guard_freeze_tell(f, DAVY_GUARD_FROZEN, 0, now_ns);
	} else if (now_ns >= f->verify_ns || now_ns >= f->lease_ns) {
		davy_freeze_end(f, -ETIMEDOUT, now_ns);
	} else {
		guard_freeze_look_again(f, now_ns);
	}
	return (davy_freeze_news){ 0 };
}

static davy_freeze_news step_thawing(struct davy_freeze *f, uint64_t now_ns)
{
	int is = guard_freeze_seen(f, false);
	davy_freeze_news news;

	if (is < 0 && is != -ESRCH && is != -ENODEV)
		is = 0; /* unreadable: repeat the thaw until the time limit */
	if (!is && now_ns < f->verify_ns) {
		davy_freeze_thaw(f); /* repeat: a pending stop may have come after the first one */
		guard_freeze_look_again(f, now_ns);
		return (davy_freeze_news){ 0 };
	}
	if (is < 0 && !f->failed && (!f->result || f->result == -ETIME))
		f->result = is;
	if (!is)
		f->result = -EBUSY;
	news = guard_freeze_tell(f, f->failed ? DAVY_GUARD_FAILED : DAVY_GUARD_RELEASED, f->result,
				 now_ns);
	guard_freeze_free_slot(f);
	return news;
}

/* Edge times are computed from each other, not from the time of service: no drift. */
static int guard_freeze_turn(struct davy_freeze *f, uint64_t now_ns)
{
	uint64_t on_ns = f->period_ns / 1000 * f->on_permille, length_ns;
	int err = 0;

	if (f->frozen) {
		guard_freeze_thaw(f, now_ns);
		length_ns = on_ns;
	} else {
		err = guard_freeze_freeze(f, now_ns);
		length_ns = f->period_ns - on_ns;
	}
	f->edge_ns += length_ns;
	if (f->edge_ns <= now_ns) /* we are late: do not catch up */
		f->edge_ns = now_ns + length_ns;
	return err;
}

/* 0: the freeze is still ours. */
static int guard_freeze_stands(struct davy_freeze *f)
{
	struct davy_cgroup_events events;
	int err;

	if (f->freezer_fd < 0) {
		err = davy_tree_root_stopped(&f->tree);
		return err < 0 ? err : 0;
	}
	err = davy_cgroup_events_read(f->events_fd, &events);
	if (err)
		return err == -ENOENT ? -ENODEV : err;
	if (!events.populated)
		return -ESRCH;
	return f->frozen && !davy_freezer_wants_frozen(f->freezer_fd) ? -ECANCELED : 0;
}

static void guard_freeze_step_frozen(struct davy_freeze *f, uint64_t now_ns)
{
	int err = guard_freeze_stands(f);

	if (!err && now_ns >= f->lease_ns)
		err = -ETIME;
	if (!err && now_ns >= f->edge_ns)
		err = guard_freeze_turn(f, now_ns);
	if (err)
		davy_freeze_end(f, err, now_ns);
}

davy_freeze_news davy_freeze_step(struct davy_freeze *f, uint64_t now_ns)
{
	if (f->state == DAVY_FREEZE_FROZEN)
		guard_freeze_step_frozen(f, now_ns);
	if (f->state == DAVY_FREEZE_FREEZING)
		return step_freezing(f, now_ns);
	if (f->state == DAVY_FREEZE_THAWING)
		return step_thawing(f, now_ns);
	return (davy_freeze_news){ 0 };
}

uint64_t davy_freeze_due_ns(const struct davy_freeze *f)
{
	uint64_t due_ns = f->lease_ns;

	if (f->state == DAVY_FREEZE_FREE)
		return NEVER;
	if (f->state == DAVY_FREEZE_THAWING)
		return f->look_ns;
	due_ns = f->edge_ns < due_ns ? f->edge_ns : due_ns;
	return f->look_ns < due_ns ? f->look_ns : due_ns;
}
