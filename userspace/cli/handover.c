/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A planned migration, which loses no conversation and refuses no client. Beside: the new engine
 * starts on the same port while all connections still go to the old one, gives a token, gets the
 * old one's slots, and then all new connections; the old one ends when it has finished what it had.
 * Where both cannot live at once the slots are saved, the old one ends, the new one starts and gets
 * them. Whatever fails on the way, the old one stays, or is started again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "act/strict.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "sensors/gpu/host_memory.h"
#include "sensors/proc/container_path.h"
#include "cli/supervisor.h"

#define TICK_US	     50000
#define LISTEN_MS    60000
#define SETTLE_MS    500   /* a handshake that began before the turn may end so much after it */
#define GRACE_MS     30000 /* for the requests that the old one has */
#define FINISH_MS    5000  /* after its first SIGTERM it takes no more and ends what it has */
#define TELL_MS	     2000
#define LOAD_MS	     120000
#define LOAD_MOST_MS 3500000
#define SPARE_MS     45000

static const char *const stage_names[] = {
	[DL_HANDOVER_NONE] = "done",
	[DL_HANDOVER_LISTEN] = "the new engine starts beside the old one",
	[DL_HANDOVER_WARM] = "the new engine loads its model and gives a first token",
	[DL_HANDOVER_SAVE] = "the old engine saves its slots",
	[DL_HANDOVER_RESTORE] = "the new engine takes the slots over",
	[DL_HANDOVER_DRAIN] = "the new engine serves; the old one finishes its requests",
	[DL_HANDOVER_END] = "the old engine ends",
};

/* Who is to serve. It is the engine already when the old one is gone. */
static struct dl_launched *newcomer(struct dl_supervisor *s)
{
	return s->handover.alone ? &s->engine : &s->handover.other;
}

static uint64_t age_ms(uint64_t since_ms)
{
	return dl_now_ms() - since_ms;
}

static void ask_stage(struct dl_supervisor *s, enum dl_handover_stage stage)
{
	struct dl_handover *h = &s->handover;

	h->stage = stage;
	h->stage_ms = dl_now_ms();
	if (stage == DL_HANDOVER_WARM || stage == DL_HANDOVER_SAVE || stage == DL_HANDOVER_RESTORE)
		dl_handover_ask(s);
}

/* Nothing of it is left but the engine. */
static void over(struct dl_supervisor *s)
{
	struct dl_handover *h = &s->handover;

	if (h->beside && s->engine.pid)
		dl_steer_end(s->engine.pid, s->launch->facts.port);
	dl_slots_done(&h->slots);
	if (h->from_fd >= 0)
		close(h->from_fd);
	h->from_fd = -1;
	h->number++;
	h->stage = DL_HANDOVER_NONE;
	sd_event_source_set_enabled(h->tick, SD_EVENT_OFF);
}

static void go_back(struct dl_supervisor *s)
{
	const struct dl_engine_wish was = s->handover.was;
	int err = dl_launch_start(s->launch, &was, &s->engine);

	s->started_ms = dl_now_ms();
	if (err)
		dl_log("the engine cannot be started as it was, either: %s", strerror(-err));
	else
		dl_log("the engine is started again as it was");
}

void dl_handover_cancel(struct dl_supervisor *s, int err)
{
	struct dl_handover *h = &s->handover;
	bool back = !h->beside && !s->ending;
	int status;

	dl_log("the migration is given up after %.1f s, while %s: %s",
	       (double)age_ms(h->began_ms) / 1000, stage_names[h->stage], strerror(-err));
	dl_launched_stop(newcomer(s), &status);
	over(s);
	dl_supervisor_failed(s, err);
	if (!back || s->engine.pid)
		return;
	go_back(s);
	dl_supervisor_hang_up(s); /* the agent knows the old one, this is a third */
}

static void serve(struct dl_supervisor *s)
{
	struct dl_handover *h = &s->handover;
	const struct dl_launched old = s->engine;
	json_t *message;
	int err = 0;

	if (h->other.pid)
		err = dl_steer(h->other.pid, s->launch->facts.port, h->from_port, 0, 1);
	if (err) {
		dl_handover_cancel(s, err);
		return;
	}
	if (h->other.pid) {
		s->engine = h->other;
		h->other = old;
		s->previous_pid = old.pid;
	}
	s->started_ms = dl_now_ms();
	dl_slots_done(&h->slots);
	message = dl_supervisor_engine(s, "started");
	json_object_set_new(message, "verified", json_true());
	json_object_set_new(message, "token_ms", json_integer(h->token_ms));
	dl_supervisor_say(s, message);
	dl_log("the new engine (pid %d) serves after %.1f s", s->engine.pid,
	       (double)age_ms(h->began_ms) / 1000);
	if (h->other.pid)
		ask_stage(s, DL_HANDOVER_DRAIN);
	else
		over(s);
}

/* One after the other: the slots are saved, or could not be. */
static void turn(struct dl_supervisor *s)
{
	struct dl_handover *h = &s->handover;
	int err = dl_supervisor_restart(s, &h->wish);

	h->alone = !err;
	if (err)
		dl_handover_cancel(s, err);
	else
		ask_stage(s, DL_HANDOVER_WARM);
}

void dl_handover_warmed(struct dl_supervisor *s, bool healthy, const char *why)
{
	struct dl_handover *h = &s->handover;
	char path[64];

	if (!healthy) {
		dl_log("the new engine does not serve: %s", why);
		dl_handover_cancel(s, -EIO);
		return;
	}
	if (h->wish.backend == DL_BACKEND_CPU &&
	    !dl_keeps_to_cpu(newcomer(s)->pid, path, sizeof(path))) {
		dl_log("the new engine was to keep to the CPU, and has '%s' open", path);
		dl_handover_cancel(s, -EXDEV);
		return;
	}
	if (h->beside && !h->alone && h->slots.dir >= 0)
		ask_stage(s, DL_HANDOVER_SAVE);
	else if (h->slots.saved)
		ask_stage(s, DL_HANDOVER_RESTORE);
	else
		serve(s);
}

void dl_handover_saved(struct dl_supervisor *s)
{
	if (!s->handover.beside)
		turn(s);
	else if (s->handover.slots.saved)
		ask_stage(s, DL_HANDOVER_RESTORE);
	else
		serve(s);
}

void dl_handover_restored(struct dl_supervisor *s)
{
	serve(s);
}

void dl_handover_other_gone(struct dl_supervisor *s)
{
	if (s->handover.stage < DL_HANDOVER_DRAIN) {
		dl_handover_cancel(s, -ECHILD);
		return;
	}
	dl_supervisor_say(s, json_pack("{s:s}", "op", "stopped"));
	dl_log("the old engine has ended; the migration took %.1f s",
	       (double)age_ms(s->handover.began_ms) / 1000);
	over(s);
}

static void say_exited(struct dl_supervisor *s)
{
	dl_supervisor_say(s, json_pack("{s:s, s:i, s:i}", "op", "exited", "pid",
				       (int)s->previous_pid, "status", s->status));
}

void dl_handover_engine_gone(struct dl_supervisor *s)
{
	struct dl_handover *h = &s->handover;
	int status;

	if (!h->beside) { /* before the turn the old one, after it the new one */
		h->number++;
		if (h->stage == DL_HANDOVER_SAVE)
			turn(s);
		else
			dl_handover_cancel(s, -ECHILD);
		return;
	}
	if (h->stage == DL_HANDOVER_END) {
		dl_launched_stop(&h->other, &status);
		over(s);
		say_exited(s);
		return;
	}
	s->engine = h->other; /* the kernel gives all connections to whoever still listens */
	h->other.pid = 0;
	h->alone = true;
	if (h->stage < DL_HANDOVER_DRAIN) {
		dl_supervisor_say(s, json_pack("{s:s}", "op", "stopped"));
		dl_log("the old engine has ended meanwhile");
		return;
	}
	dl_log("the new engine has ended; the old one goes on");
	over(s);
	dl_supervisor_hang_up(s);
}

/* Until nobody waits for the old one any more, or he has waited long enough. */
static bool is_drained(const struct dl_supervisor *s)
{
	const struct dl_handover *h = &s->handover;
	struct dl_listener old = { .waiting = 1 };
	int err;

	if (age_ms(h->stage_ms) < SETTLE_MS)
		return false;
	if (age_ms(h->stage_ms) > GRACE_MS)
		return true;
	err = dl_listener_look(h->other.pid, s->launch->facts.port, &old);
	return err || (!old.waiting && !old.clients);
}

static void drain(struct dl_supervisor *s)
{
	struct dl_handover *h = &s->handover;
	uint32_t asked_ms;

	if (h->stage == DL_HANDOVER_DRAIN && is_drained(s)) {
		h->sent = 0;
		ask_stage(s, DL_HANDOVER_END);
	}
	if (h->stage != DL_HANDOVER_END)
		return;
	asked_ms = (uint32_t)age_ms(h->stage_ms);
	dl_launched_end(&h->other, asked_ms > FINISH_MS ? asked_ms - FINISH_MS : 0, &h->sent);
	if (asked_ms < FINISH_MS + DL_LAUNCHED_STUCK_MS)
		return;
	dl_log("the old engine (pid %d) does not end, not even by SIGKILL: its driver holds it; "
	       "it is left to the kernel",
	       h->other.pid);
	h->other.pid = 0;
	dl_supervisor_say(s, json_pack("{s:s}", "op", "stopped"));
	over(s);
}

static void listen_for(struct dl_supervisor *s)
{
	struct dl_listener listener;
	int err = dl_listener_look(newcomer(s)->pid, s->launch->facts.port, &listener);

	if (!err)
		ask_stage(s, DL_HANDOVER_WARM);
	else if (err == -ENOTSUP || age_ms(s->handover.stage_ms) > LISTEN_MS)
		dl_handover_cancel(s, err == -ENOTSUP ? err : -ETIMEDOUT);
}

static int on_tick(sd_event_source *source, uint64_t usec, void *arg)
{
	struct dl_supervisor *s = arg;
	struct dl_handover *h = &s->handover;

	(void)usec;
	if (h->stage == DL_HANDOVER_LISTEN)
		listen_for(s);
	else if (h->stage >= DL_HANDOVER_DRAIN)
		drain(s);
	if (!h->stage)
		return 0;
	if (age_ms(h->told_ms) >= TELL_MS) {
		h->told_ms = dl_now_ms();
		dl_log("migration, %.0f s: %s", (double)age_ms(h->began_ms) / 1000,
		       stage_names[h->stage]);
	}
	sd_event_source_set_time_relative(source, TICK_US);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int start_ticking(struct dl_supervisor *s)
{
	struct dl_handover *h = &s->handover;

	if (!h->tick)
		return sd_event_add_time_relative(s->loop, &h->tick, CLOCK_BOOTTIME, TICK_US, 0,
						  on_tick, s);
	sd_event_source_set_time_relative(h->tick, TICK_US);
	return sd_event_source_set_enabled(h->tick, SD_EVENT_ONESHOT);
}

/* Of the model's file, or its parts, as the engine sees it; 0: unknown. */
static uint64_t model_bytes(const struct dl_supervisor *s)
{
	const char *path = s->launch->facts.model_path;
	const char *of = path ? strstr(path, "-of-") : NULL;
	struct stat st = { 0 };
	uint64_t parts = of ? (uint64_t)strtoul(of + 4, NULL, 10) : 1;
	int fd = path ? dl_open_in_root((uint32_t)s->engine.pid, path) : -1;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st))
		st.st_size = 0;
	close(fd);
	return (uint64_t)st.st_size * (parts ? parts : 1);
}

static bool memory_for_two(const struct dl_supervisor *s)
{
	struct dl_ev_memory memory = { 0 };
	uint64_t need = model_bytes(s) + s->options.reserve_bytes;

	dl_host_memory_read(&memory);
	if (memory.host_available >= need)
		return true;
	dl_log("two engines at once would need %llu MiB, and %llu MiB are there: one after the "
	       "other, the port refuses for a moment",
	       (unsigned long long)(need >> 20), (unsigned long long)memory.host_available >> 20);
	return false;
}

static bool on_gpu(const struct dl_supervisor *s, const struct dl_engine_wish *wish)
{
	enum dl_backend backend = wish->backend ? wish->backend : s->launch->facts.backend;

	return backend != DL_BACKEND_CPU;
}

/* What one GPU has for an engine it seldom has for two. */
static bool may_be_beside(const struct dl_supervisor *s, const struct dl_engine_wish *wish)
{
	pid_t pid = s->engine.pid;

	return !(on_gpu(s, wish) && on_gpu(s, &s->engine.wish)) &&
	       dl_listener_count(pid, s->launch->facts.port) == 1 && memory_for_two(s);
}

static int begin_beside(struct dl_supervisor *s)
{
	struct dl_handover *h = &s->handover;
	uint16_t port = s->launch->facts.port;
	int err;

	h->from_fd = dl_reserve_port(h->address, &h->from_port);
	if (h->from_fd < 0)
		return h->from_fd;
	err = dl_steer(s->engine.pid, port, h->from_port, 1, 0);
	if (!err)
		err = dl_launch_start(s->launch, &h->wish, &h->other);
	return err;
}

static int open_slots(struct dl_supervisor *s)
{
	const struct dl_launch *l = s->launch;
	const char *dir = l->facts.slot_dir ? l->facts.slot_dir : l->slot_dir;

	return dir[0] ? dl_slots_open(s->engine.pid, dir, &s->handover.slots) : -ENOENT;
}

/* Of the agent's patience as much as loading may take: what comes after it is quick. */
static uint32_t load_ms(uint32_t patience_ms)
{
	if (patience_ms < 2 * SPARE_MS)
		return LOAD_MS;
	return patience_ms < LOAD_MOST_MS ? patience_ms - SPARE_MS : LOAD_MOST_MS;
}

int dl_handover_begin(struct dl_supervisor *s, const struct dl_engine_wish *wish,
		      uint32_t patience_ms)
{
	struct dl_handover *h = &s->handover;
	struct dl_listener listener;
	int err;

	if (!s->launch->shares_port)
		return -EOPNOTSUPP;
	err = dl_listener_look(s->engine.pid, s->launch->facts.port, &listener);
	if (err)
		return -EOPNOTSUPP;
	h->number++;
	h->alone = false;
	h->load_ms = load_ms(patience_ms);
	h->wish = *wish;
	h->was = s->engine.wish;
	h->began_ms = h->told_ms = dl_now_ms();
	memcpy(h->address, listener.address, sizeof(h->address));
	err = open_slots(s);
	if (err)
		dl_log("no slots can be saved in '%s' (%s): conversations begin anew",
		       s->launch->slot_dir, strerror(-err));
	h->beside = may_be_beside(s, wish);
	if (h->beside)
		err = begin_beside(s);
	if (!err)
		err = start_ticking(s) < 0 ? -ENOMEM : 0;
	if (err) {
		dl_log("no planned migration (%s): stopping and starting", strerror(-err));
		over(s);
		return -EOPNOTSUPP;
	}
	ask_stage(s, h->beside ? DL_HANDOVER_LISTEN : DL_HANDOVER_SAVE);
	return 0;
}
