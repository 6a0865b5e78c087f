/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Planned migration: no conversation and no client is lost. With enough memory the new engine
 * starts on the same port, while the old one still gets all connections. The new engine generates a
 * token, restores the old one's slots and then gets all new connections; the old one finishes its
 * requests and ends. Without enough memory the slots are saved, the old engine ends, and the new
 * one starts and restores them. On failure the old engine stays, or is started again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "sensors/gpu/cpu_only.h"
#include "sensors/gpu/host_memory.h"
#include "sensors/proc/container_path.h"
#include "exec/supervisor.h"

#define TICK_US	     50000
#define LISTEN_MS    60000
#define SETTLE_MS    500   /* a handshake begun before the turn may end this much later */
#define GRACE_MS     30000 /* limit for the old engine's requests */
#define FINISH_MS    5000  /* from SIGTERM to SIGKILL: it finishes its requests */
#define TELL_MS	     2000
#define LOAD_MS	     120000
#define LOAD_MOST_MS 3500000
#define SPARE_MS     45000

static const char *const stage_names[] = {
	[DAVY_HANDOVER_NONE] = "done",
	[DAVY_HANDOVER_LISTEN] = "the new engine starts beside the old one",
	[DAVY_HANDOVER_WARM] = "the new engine loads its model and generates a first token",
	[DAVY_HANDOVER_SAVE] = "the old engine saves its slots",
	[DAVY_HANDOVER_RESTORE] = "the new engine restores the slots",
	[DAVY_HANDOVER_DRAIN] = "the new engine serves; the old one finishes its requests",
	[DAVY_HANDOVER_END] = "the old engine ends",
};

/* The engine that will serve; s->engine if the old one has already ended. */
static struct davy_launched *handover_newcomer(struct davy_supervisor *s)
{
	return s->handover.alone ? &s->engine : &s->handover.other;
}

static uint64_t age_ms(uint64_t since_ms)
{
	return davy_now_ms() - since_ms;
}

static void ask_stage(struct davy_supervisor *s, enum davy_handover_stage stage)
{
	struct davy_handover *h = &s->handover;

	h->stage = stage;
	h->stage_ms = davy_now_ms();
	if (stage == DAVY_HANDOVER_WARM || stage == DAVY_HANDOVER_SAVE ||
	    stage == DAVY_HANDOVER_RESTORE)
		davy_handover_ask(s);
}

/* Ends the handover; only s->engine remains. */
static void handover_over(struct davy_supervisor *s)
{
	struct davy_handover *h = &s->handover;

	if (h->beside && s->engine.pid)
		davy_steer_end(s->engine.pid, s->launch->facts.port);
	davy_slots_done(&h->slots);
	if (h->from_fd >= 0)
		close(h->from_fd);
	h->from_fd = -1;
	h->number++;
	h->stage = DAVY_HANDOVER_NONE;
	sd_event_source_set_enabled(h->tick, SD_EVENT_OFF);
}

static void handover_go_back(struct davy_supervisor *s)
{
	const struct davy_engine_override was = s->handover.was;
	int err = davy_launch_start(s->launch, &was, &s->engine);

	s->started_ms = davy_now_ms();
	if (err)
		davy_log("the engine cannot be started with its previous settings: %s",
			 strerror(-err));
	else
		davy_log("the engine is started again with its previous settings");
}

void davy_handover_cancel(struct davy_supervisor *s, int err)
{
	struct davy_handover *h = &s->handover;
	bool back = !h->beside && !s->ending;
	int status;

	davy_log("the migration failed after %.1f s, at stage '%s': %s",
		 (double)age_ms(h->began_ms) / 1000, stage_names[h->stage], strerror(-err));
	davy_launched_stop(handover_newcomer(s), &status);
	handover_over(s);
	davy_supervisor_failed(s, err);
	if (!back || s->engine.pid)
		return;
	handover_go_back(s);
	davy_supervisor_hang_up(s); /* the agent knows the old engine, this is a third one */
}

static void handover_serve(struct davy_supervisor *s)
{
	struct davy_handover *h = &s->handover;
	const struct davy_launched old = s->engine;
	json_t *message;
	int err = 0;

	if (h->other.pid)
		err = davy_steer(h->other.pid, s->launch->facts.port, h->from_port, 0, 1);
	if (err) {
		davy_handover_cancel(s, err);
		return;
	}
	if (h->other.pid) {
		s->engine = h->other;
		h->other = old;
		s->previous_pid = old.pid;
	}
	s->started_ms = davy_now_ms();
	davy_slots_done(&h->slots);
	message = davy_supervisor_engine(s, "started");
	json_object_set_new(message, "verified", json_true());
	json_object_set_new(message, "token_ms", json_integer(h->token_ms));
	davy_supervisor_say(s, message);
	davy_log("the new engine (pid %d) serves after %.1f s", s->engine.pid,
		 (double)age_ms(h->began_ms) / 1000);
	if (h->other.pid)
		ask_stage(s, DAVY_HANDOVER_DRAIN);
	else
		handover_over(s);
}

/* Without memory for two: after the slots are saved, or could not be. */
static void handover_turn(struct davy_supervisor *s)
{
	struct davy_handover *h = &s->handover;
	int err = davy_supervisor_restart(s, &h->override);

	h->alone = !err;
	if (err)
		davy_handover_cancel(s, err);
	else
		ask_stage(s, DAVY_HANDOVER_WARM);
}

void davy_handover_warmed(struct davy_supervisor *s, bool healthy, const char *why)
{
	struct davy_handover *h = &s->handover;
	char path[64];

	if (!healthy) {
		davy_log("the new engine does not work: %s", why);
		davy_handover_cancel(s, -EIO);
		return;
	}
	if (h->override.backend == DAVY_BACKEND_CPU &&
	    !davy_keeps_to_cpu(handover_newcomer(s)->pid, path, sizeof(path))) {
		davy_log("the new engine must use only the CPU, but has '%s' open", path);
		davy_handover_cancel(s, -EXDEV);
		return;
	}
	if (h->beside && !h->alone && h->slots.dir >= 0)
		ask_stage(s, DAVY_HANDOVER_SAVE);
	else if (h->slots.saved)
		ask_stage(s, DAVY_HANDOVER_RESTORE);
	else
		handover_serve(s);
}

void davy_handover_saved(struct davy_supervisor *s)
{
	if (!s->handover.beside)
		handover_turn(s);
	else if (s->handover.slots.saved)
		ask_stage(s, DAVY_HANDOVER_RESTORE);
	else
		handover_serve(s);
}

void davy_handover_restored(struct davy_supervisor *s)
{
	handover_serve(s);
}

void davy_handover_other_gone(struct davy_supervisor *s)
{
	if (s->handover.stage < DAVY_HANDOVER_DRAIN) {
		davy_handover_cancel(s, -ECHILD);
		return;
	}
	davy_supervisor_say(s, json_pack("{s:s}", "op", "stopped"));
	davy_log("the old engine has ended; the migration took %.1f s",
		 (double)age_ms(s->handover.began_ms) / 1000);
	handover_over(s);
}

static void say_exited(struct davy_supervisor *s)
{
	davy_supervisor_say(s, json_pack("{s:s, s:i, s:i}", "op", "exited", "pid",
					 (int)s->previous_pid, "status", s->status));
}

void davy_handover_engine_gone(struct davy_supervisor *s)
{
	struct davy_handover *h = &s->handover;
	int status;

	if (!h->beside) { /* s->engine: before the turn the old one, then the new one */
		h->number++;
		if (h->stage == DAVY_HANDOVER_SAVE)
			handover_turn(s);
		else
			davy_handover_cancel(s, -ECHILD);
		return;
	}
	if (h->stage == DAVY_HANDOVER_END) {
		davy_launched_stop(&h->other, &status);
		handover_over(s);
		say_exited(s);
		return;
	}
	s->engine = h->other; /* the kernel gives all connections to the remaining listener */
	h->other.pid = 0;
	h->alone = true;
	if (h->stage < DAVY_HANDOVER_DRAIN) {
		davy_supervisor_say(s, json_pack("{s:s}", "op", "stopped"));
		davy_log("the old engine has ended in the meantime");
		return;
	}
	davy_log("the new engine has ended; the old one continues");
	handover_over(s);
	davy_supervisor_hang_up(s);
}

/* True if the old engine has no more requests, or after GRACE_MS. */
static bool is_drained(const struct davy_supervisor *s)
{
	const struct davy_handover *h = &s->handover;
	struct davy_listener old = { .waiting = 1 };
	int err;

	if (age_ms(h->stage_ms) < SETTLE_MS)
		return false;
	if (age_ms(h->stage_ms) > GRACE_MS)
		return true;
	err = davy_listener_look(h->other.pid, s->launch->facts.port, &old);
	return err || (!old.waiting && !old.clients);
}

static void handover_drain(struct davy_supervisor *s)
{
	struct davy_handover *h = &s->handover;
	uint32_t asked_ms;

	if (h->stage == DAVY_HANDOVER_DRAIN && is_drained(s)) {
		h->sent = 0;
		ask_stage(s, DAVY_HANDOVER_END);
	}
	if (h->stage != DAVY_HANDOVER_END)
		return;
	asked_ms = (uint32_t)age_ms(h->stage_ms);
	davy_launched_end(&h->other, asked_ms > FINISH_MS ? asked_ms - FINISH_MS : 0, &h->sent);
	if (asked_ms < FINISH_MS + DAVY_LAUNCHED_STUCK_MS)
		return;
	davy_log("the old engine (pid %d) does not end after SIGKILL: blocked in the driver",
		 h->other.pid);
	h->other.pid = 0;
	davy_supervisor_say(s, json_pack("{s:s}", "op", "stopped"));
	handover_over(s);
}

static void listen_for(struct davy_supervisor *s)
{
	struct davy_listener listener;
	int err = davy_listener_look(handover_newcomer(s)->pid, s->launch->facts.port, &listener);

	if (!err)
		ask_stage(s, DAVY_HANDOVER_WARM);
	else if (err == -ENOTSUP || age_ms(s->handover.stage_ms) > LISTEN_MS)
		davy_handover_cancel(s, err == -ENOTSUP ? err : -ETIMEDOUT);
}

static int handover_on_tick(sd_event_source *source, uint64_t usec, void *arg)
{
	struct davy_supervisor *s = arg;
	struct davy_handover *h = &s->handover;

	(void)usec;
	if (h->stage == DAVY_HANDOVER_LISTEN)
		listen_for(s);
	else if (h->stage >= DAVY_HANDOVER_DRAIN)
		handover_drain(s);
	if (!h->stage)
		return 0;
	if (age_ms(h->reported_ms) >= TELL_MS) {
		h->reported_ms = davy_now_ms();
		davy_log("migration, %.0f s: %s", (double)age_ms(h->began_ms) / 1000,
			 stage_names[h->stage]);
	}
	sd_event_source_set_time_relative(source, TICK_US);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int start_ticking(struct davy_supervisor *s)
{
	struct davy_handover *h = &s->handover;

	if (!h->tick)
		return sd_event_add_time_relative(s->loop, &h->tick, CLOCK_BOOTTIME, TICK_US, 0,
						  handover_on_tick, s);
	sd_event_source_set_time_relative(h->tick, TICK_US);
	return sd_event_source_set_enabled(h->tick, SD_EVENT_ONESHOT);
}

/* Size of the model file, or of its parts, as the engine sees them; 0: unknown. */
static uint64_t model_bytes(const struct davy_supervisor *s)
{
	const char *path = s->launch->facts.model_path;
	const char *of = path ? strstr(path, "-of-") : NULL;
	struct stat st = { 0 };
	uint64_t parts = of ? (uint64_t)strtoul(of + 4, NULL, 10) : 1;
	int fd = path ? davy_open_in_root((uint32_t)s->engine.pid, path) : -1;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st))
		st.st_size = 0;
	close(fd);
	return (uint64_t)st.st_size * (parts ? parts : 1);
}

static bool memory_for_two(const struct davy_supervisor *s)
{
	struct davy_ev_memory memory = { 0 };
	uint64_t need = model_bytes(s) + s->options.reserve_bytes;

	davy_host_memory_read(&memory);
	if (memory.host_available >= need)
		return true;
	davy_log("two engines at once need %llu MiB, but %llu MiB are available: starting one "
		 "after the other; the port refuses connections meanwhile",
		 (unsigned long long)(need >> 20), (unsigned long long)memory.host_available >> 20);
	return false;
}

static bool handover_on_gpu(const struct davy_supervisor *s,
			    const struct davy_engine_override *override)
{
	enum davy_backend backend =
		override->backend ? override->backend : s->launch->facts.backend;

	return backend != DAVY_BACKEND_CPU;
}

/* A GPU seldom has enough memory for two engines. */
static bool may_be_beside(const struct davy_supervisor *s,
			  const struct davy_engine_override *override)
{
	pid_t pid = s->engine.pid;

	return !(handover_on_gpu(s, override) && handover_on_gpu(s, &s->engine.override)) &&
	       davy_listener_count(pid, s->launch->facts.port) == 1 && memory_for_two(s);
}

static int begin_beside(struct davy_supervisor *s)
{
	struct davy_handover *h = &s->handover;
	uint16_t port = s->launch->facts.port;
	int err;

	h->from_fd = davy_reserve_port(h->address, &h->from_port);
	if (h->from_fd < 0)
		return h->from_fd;
	err = davy_steer(s->engine.pid, port, h->from_port, 1, 0);
	if (!err)
		err = davy_launch_start(s->launch, &h->override, &h->other);
	return err;
}

static int open_slots(struct davy_supervisor *s)
{
	const struct davy_launch *l = s->launch;
	const char *dir = l->facts.slot_dir ? l->facts.slot_dir : l->slot_dir;

	return dir[0] ? davy_slots_open(s->engine.pid, dir, &s->handover.slots) : -ENOENT;
}

/* Time for loading: most of the agent's limit, because the later stages are fast. */
static uint32_t load_ms(uint32_t patience_ms)
{
	if (patience_ms < 2 * SPARE_MS)
		return LOAD_MS;
	return patience_ms < LOAD_MOST_MS ? patience_ms - SPARE_MS : LOAD_MOST_MS;
}

int davy_handover_begin(struct davy_supervisor *s, const struct davy_engine_override *override,
			uint32_t patience_ms)
{
	struct davy_handover *h = &s->handover;
	struct davy_listener listener;
	int err;

	if (!s->launch->shares_port)
		return -EOPNOTSUPP;
	err = davy_listener_look(s->engine.pid, s->launch->facts.port, &listener);
	if (err)
		return -EOPNOTSUPP;
	h->number++;
	h->alone = false;
	h->load_ms = load_ms(patience_ms);
	h->override = *override;
	h->was = s->engine.override;
	h->began_ms = h->reported_ms = davy_now_ms();
	memcpy(h->address, listener.address, sizeof(h->address));
	err = open_slots(s);
	if (err)
		davy_log("no slots can be saved in '%s' (%s): conversations lose their cache",
			 s->launch->slot_dir, strerror(-err));
	h->beside = may_be_beside(s, override);
	if (h->beside)
		err = begin_beside(s);
	if (!err)
		err = start_ticking(s) < 0 ? -ENOMEM : 0;
	if (err) {
		davy_log("no planned migration (%s): stopping and restarting", strerror(-err));
		handover_over(s);
		return -EOPNOTSUPP;
	}
	ask_stage(s, h->beside ? DAVY_HANDOVER_LISTEN : DAVY_HANDOVER_SAVE);
	return 0;
}
