/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "act/watch.h"
#include "lib/file.h"
#include "lib/log.h"

#define READS_A_TURN 64 /* the loop has other sources */
#define REPEAT_NS    (100 * DAVY_NS_PER_MS)
#define DRIFT_NS     (5 * DAVY_NS_PER_S)

/*
 * printk uses the CPU's own clock, which stops in suspend and drifts from every readable clock. A
 * line is read after it was written: the smallest observed difference is the offset between the
 * clocks, until the host was suspended or the clocks have drifted.
 */
static void compare_clocks(struct davy_kernel_log *log)
{
	uint64_t printk_ns = davy_kmsg_stamp_ns(log->reader);
	uint64_t distance = davy_boot_ns() - printk_ns;

	if (!printk_ns)
		return;
	if (!log->offset_known || distance < log->offset_ns || distance - log->offset_ns > DRIFT_NS)
		log->offset_ns = distance;
	log->offset_known = true;
}

/* The process that a line names, if the pid is still its own. */
static uint32_t kernel_log_process_of(const struct davy_log_event *line)
{
	uint32_t pid = line->pid ? davy_process_of_thread(line->pid) : 0;
	char path[PATH_MAX], comm[DAVY_COMM_LEN + 1] = "";

	if (!pid || !line->comm[0])
		return pid;
	for (uint32_t id = line->pid;; id = pid) {
		if (!davy_root_path(path, sizeof(path), "/proc/%u/comm", id) &&
		    davy_read_file(path, comm, sizeof(comm)) > 0) {
			comm[strcspn(comm, "\n")] = 0;
			if (!strncmp(comm, line->comm, DAVY_COMM_LEN - 1))
				return pid;
		}
		if (id == pid)
			return 0;
	}
}

static void kernel_log_on_named(void *arg, struct davy_log_event *line)
{
	(void)arg;
	line->process = kernel_log_process_of(line);
	line->start_ticks = line->process ? davy_process_start(line->process) : 0;
}

/* The process may have ended since the line arrived: keep its pid unless another one has it. */
static uint32_t kernel_log_culprit(const struct davy_log_event *line)
{
	uint64_t start = line->process ? davy_process_start(line->process) : 0;

	return !start || start == line->start_ticks ? line->process : 0;
}

static struct davy_event event_of(const struct davy_kernel_log *log,
				  const struct davy_log_event *line)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_LOG, kernel_log_culprit(line));
	uint64_t at_ns = line->at_ns + log->offset_ns;

	if (line->clock == DAVY_KMSG_PRINTK && log->offset_known && at_ns < ev.at_ns)
		ev.at_ns = at_ns;
	davy_copy_name(ev.log.device, sizeof(ev.log.device), line->device);
	davy_copy_name(ev.log.ring, sizeof(ev.log.ring), line->ring);
	davy_copy_name(ev.log.comm, sizeof(ev.log.comm), line->comm);
	ev.log.addr = line->addr;
	ev.log.named_pid = line->pid;
	ev.log.code = line->code;
	ev.log.error = line->error;
	ev.log.kind = line->kind;
	ev.log.leads = line->leads;
	ev.log.log_class = line->class;
	ev.log.role = line->role;
	ev.log.hazard = line->hazard;
	ev.log.weight = line->weight;
	return ev;
}

static bool kernel_log_same(const struct davy_event *a, const struct davy_event *b)
{
	return a->kind == b->kind && a->log.kind == b->log.kind && a->log.code == b->log.code &&
	       a->log.named_pid == b->log.named_pid &&
	       davy_same_name(a->log.device, b->log.device) &&
	       davy_same_name(a->log.ring, b->log.ring);
}

static struct davy_said *kernel_log_slot_of(struct davy_kernel_log *log,
					    const struct davy_event *ev)
{
	struct davy_said *oldest = &log->said[0];

	for (size_t i = 0; i < DAVY_LOG_SAID_MAX; i++) {
		if (kernel_log_same(&log->said[i].ev, ev))
			return &log->said[i];
		if (log->said[i].reported_ns < oldest->reported_ns)
			oldest = &log->said[i];
	}
	return oldest;
}

static void kernel_log_tell_pending(struct davy_agent *a, struct davy_said *said, uint64_t now_ns)
{
	if (!said->ev.kind || !said->ev.log.repeats)
		return;
	said->reported_ns = now_ns;
	said->ev.log.repeats--; /* this line is one of the suppressed ones */
	davy_agent_feed(a, &said->ev);
	said->ev.log.repeats = 0;
}

static void kernel_log_on_line(void *arg, const struct davy_log_event *line)
{
	struct davy_agent *a = arg;
	struct davy_event ev = event_of(&a->kernel_log, line);
	struct davy_said *said = kernel_log_slot_of(&a->kernel_log, &ev);
	uint64_t now_ns = davy_boot_ns();

	if (kernel_log_same(&said->ev, &ev) && now_ns - said->reported_ns < REPEAT_NS) {
		ev.log.repeats = said->ev.log.repeats + 1;
		said->ev = ev;
		return;
	}
	if (kernel_log_same(&said->ev, &ev))
		ev.log.repeats = said->ev.log.repeats;
	else
		kernel_log_tell_pending(a, said, now_ns);
	said->ev = ev;
	said->ev.log.repeats = 0;
	said->reported_ns = now_ns;
	davy_agent_feed(a, &ev);
}

static void kernel_log_say(struct davy_agent *a, enum davy_sensor_state state, uint64_t count,
			   const char *reason)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_SENSOR, 0);

	davy_copy_name(ev.sensor.name, sizeof(ev.sensor.name), "kmsg");
	davy_copy_name(ev.sensor.reason, sizeof(ev.sensor.reason), reason);
	ev.sensor.state = state;
	ev.sensor.count = count;
	davy_agent_feed(a, &ev);
}

static void kernel_log_on_lost(void *arg, uint64_t count)
{
	struct davy_agent *a = arg;

	a->kernel_log.lost_count += count;
	kernel_log_say(a, DAVY_SENSOR_LOST, count,
		       "the kernel log was written faster than the agent could read it");
}

static int kernel_log_on_readable(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct davy_agent *a = arg;
	int err = 1;

	(void)source;
	(void)fd;
	(void)events;
	for (int i = 0; i < READS_A_TURN && err > 0; i++) {
		err = davy_kmsg_read(a->kernel_log.reader);
		if (err > 0)
			compare_clocks(&a->kernel_log);
	}
	if (err < 0) {
		kernel_log_say(a, DAVY_SENSOR_REFUSED, 0, strerrordesc_np(-err));
		davy_agent_kernel_log_close(a);
	}
	return 0;
}

void davy_agent_kernel_log_open(struct davy_agent *a)
{
	struct davy_kmsg_sinks sinks = { kernel_log_on_line, kernel_log_on_named,
					 kernel_log_on_lost, a };
	struct davy_kernel_log *log = &a->kernel_log;
	char path[PATH_MAX];
	int err = davy_root_path(path, sizeof(path), "/dev/kmsg");

	if (!err)
		err = davy_kmsg_reader_open(path, DAVY_KMSG_FROM_NOW, &sinks, &log->reader);
	if (!err)
		err = davy_watch_copy(a->loop, &log->source, davy_kmsg_reader_fd(log->reader),
				      kernel_log_on_readable, a);
	if (err < 0) {
		davy_agent_kernel_log_close(a);
		kernel_log_say(a, DAVY_SENSOR_REFUSED, 0, strerrordesc_np(-err));
		return;
	}
	kernel_log_say(a, DAVY_SENSOR_LIVE, 0, "");
}

void davy_agent_kernel_log_close(struct davy_agent *a)
{
	a->kernel_log.source = sd_event_source_disable_unref(a->kernel_log.source);
	davy_kmsg_reader_free(a->kernel_log.reader);
	a->kernel_log.reader = NULL;
}

void davy_agent_kernel_log_tick(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_kernel_log *log = &a->kernel_log;

	if (log->reader && log->offset_known)
		davy_kmsg_tick(log->reader, now_ns - log->offset_ns);
	for (size_t i = 0; i < DAVY_LOG_SAID_MAX; i++)
		if (now_ns - log->said[i].reported_ns >= REPEAT_NS)
			kernel_log_tell_pending(a, &log->said[i], now_ns);
}

bool davy_agent_kernel_log_waits(const struct davy_agent *a)
{
	const struct davy_kernel_log *log = &a->kernel_log;

	for (size_t i = 0; i < DAVY_LOG_SAID_MAX; i++)
		if (log->said[i].ev.kind && log->said[i].ev.log.repeats)
			return true;
	return log->reader && davy_kmsg_waits(log->reader);
}
