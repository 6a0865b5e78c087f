/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read on the tick: the oldest job per ring, graphs in flight, tails of sums, losses. */
#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "sensors/bpf/bpf_state.h"

#include "lib/hash.h"

#define YOUNG_NS      (50 * DAVY_NS_PER_MS) /* a job or graph younger than this is no news */
#define STALE_NS      (600 * DAVY_NS_PER_S) /* a job or ring silent for so long is over */
#define IDLE_NS	      (30 * DAVY_NS_PER_S)  /* a ring without a job for so long is forgotten */
#define BATCH	      256
#define QUIET_NS      (60 * DAVY_NS_PER_S) /* a mover idle for so long is forgotten */
#define TIMEOUT_NEVER INT64_MAX
#define TIMEOUTS_NS   DAVY_NS_PER_S

#define NEIGHBOURS 8

struct davy_seen *davy_seen_of(struct davy_seen *table, size_t size, uint64_t key)
{
	size_t start = (size_t)((key * 0x9e3779b97f4a7c15ULL) >> 40) % size;
	struct davy_seen *empty = NULL;

	for (size_t i = 0; i < NEIGHBOURS; i++) {
		struct davy_seen *s = &table[(start + i) % size];

		if (s->key == key)
			return s;
		if (!s->key && !empty)
			empty = s;
	}
	if (!empty)
		empty = &table[start]; /* all ways in use: the first is reported again */
	empty->key = key;
	empty->value = 0;
	return empty;
}

struct davy_seen *davy_seen_mover(struct davy_bpf *b, uint64_t device, uint32_t evictor,
				  uint32_t owner)
{
	uint64_t h = davy_fnv(DAVY_FNV_START, &device, sizeof(device));

	h = davy_fnv(h, &evictor, sizeof(evictor));
	h = davy_fnv(h, &owner, sizeof(owner));
	return davy_seen_of(b->movers_seen, DAVY_SEEN_MAX, h ? h : 1);
}

static struct davy_seen *bpf_poll_seen(struct davy_seen *table, uint64_t key)
{
	return davy_seen_of(table, DAVY_SEEN_MAX, key);
}

static struct davy_event bpf_poll_begin(uint64_t now_ns, enum davy_event_kind kind, uint32_t pid)
{
	struct davy_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.at_ns = now_ns;
	ev.kind = kind;
	ev.pid = pid;
	return ev;
}

struct ring_view {
	uint64_t key;
	struct davy_sched sched;
	struct davy_job oldest;
	struct davy_job_key oldest_key;
	uint32_t running_count;
};

static struct ring_view *view_of(struct ring_view *views, size_t count, uint64_t key)
{
	for (size_t i = 0; i < count; i++)
		if (views[i].key == key)
			return &views[i];
	return NULL;
}

/*
 * Reads a whole hash map into arrays, in batches; a walk key by key begins anew when one is
 * deleted.
 */
static size_t read_map(int fd, void *keys, size_t key_size, void *values, size_t value_size,
		       size_t max)
{
	uint32_t place = 0, count;
	size_t total = 0;
	int err = 0;

	while (!err && total < max) {
		count = (uint32_t)(max - total < BATCH ? max - total : BATCH);
		err = bpf_map_lookup_batch(fd, total ? &place : NULL, &place,
					   (char *)keys + total * key_size,
					   (char *)values + total * value_size, &count, NULL);
		if (err && err != -ENOENT)
			break;
		total += count;
		if (!count)
			break;
	}
	return total;
}

static size_t read_scheds(int fd, struct ring_view *views, size_t max)
{
	static uint64_t keys[DAVY_MAX_SCHEDS];
	static struct davy_sched values[DAVY_MAX_SCHEDS];
	size_t count = read_map(fd, keys, sizeof(keys[0]), values, sizeof(values[0]), max);

	for (size_t i = 0; i < count; i++) {
		memset(&views[i], 0, sizeof(views[i]));
		views[i].key = keys[i];
		views[i].sched = values[i];
	}
	return count;
}

/* Its end was lost, or it was killed with its entity; a ring without a timeout may run for long. */
static bool is_stale(const struct davy_job *job, uint64_t now_ns)
{
	if (now_ns <= job->queued_ns + STALE_NS || now_ns <= job->run_ns + STALE_NS)
		return false;
	return !job->tgid || (kill((pid_t)job->tgid, 0) && errno == ESRCH);
}

static void read_jobs(int fd, struct ring_view *views, size_t count, uint64_t now_ns)
{
	static struct davy_job_key keys[DAVY_MAX_JOBS];
	static struct davy_job values[DAVY_MAX_JOBS];
	size_t jobs = read_map(fd, keys, sizeof(keys[0]), values, sizeof(values[0]), DAVY_MAX_JOBS);

	for (size_t i = 0; i < jobs; i++) {
		const struct davy_job *job = &values[i];
		struct ring_view *v;

		if (is_stale(job, now_ns))
			bpf_map_delete_elem(fd, &keys[i]);
		if (!job->run_ns || job->done || is_stale(job, now_ns))
			continue;
		v = view_of(views, count, job->sched);
		if (!v)
			continue;
		v->running_count++;
		if (v->running_count > 1 && job->run_ns >= v->oldest.run_ns)
			continue;
		v->oldest = *job;
		v->oldest_key = keys[i];
	}
}

/* The timeout's clock starts when a job can run, that is not before the one before it is done. */
static uint64_t age_of(const struct ring_view *v, uint64_t now_ns)
{
	uint64_t from = v->oldest.run_ns;

	if (v->sched.last_done_ns > from)
		from = v->sched.last_done_ns;
	return v->running_count && now_ns > from ? now_ns - from : 0;
}

/* False until the kernel's HZ is measured. */
static bool bpf_poll_timeout_of(const struct davy_bpf *b, const struct davy_sched *sched,
				uint64_t *ret_ns)
{
	if (!b->hz)
		return false;
	*ret_ns = 0;
	if (sched->timeout_jiffies > 0 && sched->timeout_jiffies != TIMEOUT_NEVER)
		*ret_ns = (uint64_t)sched->timeout_jiffies * (DAVY_NS_PER_S / b->hz);
	return true;
}

/* Of rings in use only: an idle one may be left of a driver that was unloaded since. */
static void tell_timeout(struct davy_bpf *b, const struct davy_sched *sched, uint64_t now_ns)
{
	char device[DAVY_DEVICE_LEN], ring[DAVY_RING_NAME_LEN];
	uint64_t timeout_ns;

	if (now_ns > sched->last_run_ns + 2 * TIMEOUTS_NS &&
	    now_ns > sched->last_done_ns + 2 * TIMEOUTS_NS)
		return;
	if (!bpf_poll_timeout_of(b, sched, &timeout_ns))
		return;
	davy_copy_name(device, sizeof(device), sched->dev);
	davy_copy_name(ring, sizeof(ring), sched->ring);
	b->hooks.ring_seen(b->hooks.arg, device, ring, timeout_ns);
}

static void tell_ring(struct davy_bpf *b, const struct ring_view *v, uint64_t now_ns)
{
	struct davy_event ev = bpf_poll_begin(now_ns, DAVY_EV_RING, v->oldest.tgid);
	struct davy_seen *reported = bpf_poll_seen(b->rings_seen, v->key);
	uint64_t age_ns = age_of(v, now_ns);

	if (age_ns < YOUNG_NS)
		age_ns = 0;
	if (!age_ns && !reported->value)
		return;
	reported->value = age_ns != 0;
	davy_copy_name(ev.ring.device, sizeof(ev.ring.device), v->sched.dev);
	davy_copy_name(ev.ring.ring, sizeof(ev.ring.ring), v->sched.ring);
	bpf_poll_timeout_of(b, &v->sched, &ev.ring.timeout_ns);
	ev.ring.age_ns = age_ns;
	ev.ring.running_count = v->running_count;
	if (age_ns) {
		ev.ring.fence_context = v->oldest_key.fence_context;
		ev.ring.fence_seqno = v->oldest_key.fence_seqno;
	}
	davy_sensor_say(b, &ev);
}

void davy_bpf_poll_rings(struct davy_bpf *b, uint64_t now_ns)
{
	static struct ring_view
		views[DAVY_MAX_SCHEDS]; /* too large for the stack; one agent, one thread */
	int scheds = davy_bpf_shared(b, DAVY_SHARED_SCHEDS),
	    jobs = davy_bpf_shared(b, DAVY_SHARED_JOBS);
	bool timeouts = now_ns - b->ring_timeouts_reported_ns >= TIMEOUTS_NS;
	size_t count;

	b->jobs_running = false;
	if (scheds < 0 || jobs < 0)
		return;
	if (timeouts)
		b->ring_timeouts_reported_ns = now_ns;
	count = read_scheds(scheds, views, DAVY_MAX_SCHEDS);
	if (count)
		read_jobs(jobs, views, count, now_ns);
	for (size_t i = 0; i < count; i++) {
		b->jobs_running |= views[i].running_count != 0;
		if (timeouts)
			tell_timeout(b, &views[i].sched, now_ns);
		tell_ring(b, &views[i], now_ns);
		/* A driver may make a ring per queue: what is idle goes, and is made again when
		 * used. */
		if (!views[i].running_count && now_ns > views[i].sched.last_done_ns + IDLE_NS &&
		    now_ns > views[i].sched.last_run_ns + IDLE_NS)
			bpf_map_delete_elem(scheds, &views[i].key);
	}
}

static void tell_progress(struct davy_bpf *b, uint32_t tgid, const struct davy_engine_state *s,
			  uint64_t now_ns)
{
	struct davy_seen *reported = bpf_poll_seen(b->progress_seen, tgid);
	struct davy_event ev = bpf_poll_begin(now_ns, DAVY_EV_PROGRESS, tgid);

	if (reported->value == s->prompt_count + s->generated_count)
		return;
	reported->value = s->prompt_count + s->generated_count;
	ev.progress.prompt_count = s->prompt_count;
	ev.progress.generated_count = s->generated_count;
	ev.progress.depth = s->depth;
	davy_sensor_say(b, &ev);
}

void davy_bpf_poll_engine(struct davy_bpf *b, uint32_t tgid, uint64_t now_ns)
{
	int fd = davy_bpf_object_map(&b->objects[DAVY_OBJ_ENGINE], "engines");
	struct davy_engine_state s;

	if (fd >= 0 && !bpf_map_lookup_elem(fd, &tgid, &s))
		tell_progress(b, tgid, &s, now_ns);
}

void davy_bpf_poll_graphs(struct davy_bpf *b, uint64_t now_ns)
{
	int fd = davy_bpf_object_map(&b->objects[DAVY_OBJ_ENGINE], "engines");
	uint32_t tgid, *prev = NULL;

	for (size_t i = 0;
	     fd >= 0 && i < DAVY_MAX_ENGINES && !bpf_map_get_next_key(fd, prev, &tgid); i++) {
		struct davy_event ev = bpf_poll_begin(now_ns, DAVY_EV_GRAPH, tgid);
		struct davy_engine_state s;
		struct davy_seen *reported;
		bool in_flight;

		prev = &tgid;
		if (bpf_map_lookup_elem(fd, &tgid, &s))
			continue;
		if (s.entered_ns && kill((pid_t)tgid, 0) && errno == ESRCH) {
			bpf_map_delete_elem(
				fd, &tgid); /* the process died within the call without an event */
			prev = NULL;
			continue;
		}
		tell_progress(b, tgid, &s, now_ns);
		reported = bpf_poll_seen(b->graphs_seen, tgid);
		in_flight =
			s.entered_ns && now_ns > s.entered_ns && now_ns - s.entered_ns > YOUNG_NS;
		if (!in_flight && reported->value == s.graph_count + s.failed_count)
			continue;
		reported->value = in_flight ? UINT64_MAX : s.graph_count + s.failed_count;
		ev.graph.entered_ns = in_flight ? s.entered_ns : 0;
		ev.graph.graph_count = s.graph_count;
		ev.graph.failed_count = s.failed_count;
		ev.graph.failing = s.failing;
		ev.graph.last_ns = s.last_ns;
		ev.graph.max_ns = s.max_ns;
		ev.graph.may_end_unseen = s.copying || s.lone_count * 2 > s.graph_count;
		davy_sensor_say(b, &ev);
	}
}

void davy_bpf_poll_movers(struct davy_bpf *b, uint64_t now_ns)
{
	int fd = davy_bpf_shared(b, DAVY_SHARED_MOVERS);
	struct davy_mover_key key, *prev = NULL;

	for (size_t i = 0; fd >= 0 && i < DAVY_MAX_MOVERS && !bpf_map_get_next_key(fd, prev, &key);
	     i++) {
		struct davy_event ev = bpf_poll_begin(now_ns, DAVY_EV_BO_MOVED, key.evictor_tgid);
		struct davy_seen *reported;
		struct davy_mover m;

		prev = &key;
		if (bpf_map_lookup_elem(fd, &key, &m))
			continue;
		if (m.spoke_ns >= b->read_ns)
			continue; /* it spoke since the ring was read: first its own word */
		reported = davy_seen_mover(b, key.device, key.evictor_tgid, key.owner_tgid);
		if (reported->value == m.out_bytes + m.in_bytes) {
			if (now_ns > m.spoke_ns + QUIET_NS) {
				bpf_map_delete_elem(fd, &key);
				memset(reported, 0, sizeof(*reported));
				prev = NULL;
			}
			continue;
		}
		reported->value = m.out_bytes + m.in_bytes;
		davy_copy_name(ev.bo_moved.device, sizeof(ev.bo_moved.device), m.dev);
		ev.bo_moved.owner_pid = key.owner_tgid;
		ev.bo_moved.owner_pasid = m.owner_pasid;
		ev.bo_moved.out_bytes = m.out_bytes;
		ev.bo_moved.in_bytes = m.in_bytes;
		ev.bo_moved.out_count = m.out_count;
		ev.bo_moved.in_count = m.in_count;
		davy_sensor_say(b, &ev);
	}
}

void davy_bpf_poll_times(struct davy_bpf *b, uint64_t now_ns)
{
	int fd = davy_bpf_shared(b, DAVY_SHARED_TIMES);
	struct davy_times_key key, *prev = NULL;

	for (size_t i = 0; fd >= 0 && i < DAVY_MAX_TIMES && !bpf_map_get_next_key(fd, prev, &key);
	     i++) {
		struct davy_event ev = bpf_poll_begin(now_ns, DAVY_EV_JOB_TIMES, key.tgid);
		uint64_t id = key.sched ^ (uint64_t)key.tgid << 40;
		struct davy_seen *reported = bpf_poll_seen(b->times_seen, id ? id : 1);
		struct davy_times t;

		prev = &key;
		if (bpf_map_lookup_elem(fd, &key, &t))
			continue;
		if (reported->value == t.count) {
			if (key.tgid && kill((pid_t)key.tgid, 0) && errno == ESRCH) {
				bpf_map_delete_elem(fd, &key);
				memset(reported, 0, sizeof(*reported));
				prev = NULL;
			}
			continue;
		}
		reported->value = t.count;
		davy_copy_name(ev.job_times.device, sizeof(ev.job_times.device), t.dev);
		davy_copy_name(ev.job_times.ring, sizeof(ev.job_times.ring), t.ring);
		ev.job_times.count = t.count;
		ev.job_times.sum_ns = t.sum_ns;
		ev.job_times.max_ns = t.max_ns;
		for (size_t j = 0; j < DAVY_TIME_SLOTS; j++)
			ev.job_times.slot[j] =
				t.slot[j] < UINT32_MAX ? (uint32_t)t.slot[j] : UINT32_MAX;
		davy_sensor_say(b, &ev);
	}
}

void davy_bpf_forget_engine(struct davy_bpf *b, uint32_t tgid)
{
	int fd = davy_bpf_object_map(&b->objects[DAVY_OBJ_ENGINE], "engines");

	if (fd >= 0)
		bpf_map_delete_elem(fd, &tgid);
}

static uint64_t loss_of(int fd, uint32_t cause)
{
	static uint64_t per_cpu[4096];
	int cpus = libbpf_num_possible_cpus();
	uint64_t sum = 0;

	if (cpus <= 0 || cpus > 4096 || bpf_map_lookup_elem(fd, &cause, per_cpu))
		return 0;
	for (int i = 0; i < cpus; i++)
		sum += per_cpu[i];
	return sum;
}

static void tell_loss(struct davy_bpf *b, const char *name, const char *reason, uint64_t count,
		      uint64_t now_ns)
{
	struct davy_event ev = bpf_poll_begin(now_ns, DAVY_EV_SENSOR, 0);

	ev.sensor.state = DAVY_SENSOR_LOST;
	ev.sensor.count = count;
	davy_copy_name(ev.sensor.name, sizeof(ev.sensor.name), name);
	davy_copy_name(ev.sensor.reason, sizeof(ev.sensor.reason), reason);
	davy_sensor_say(b, &ev);
}

void davy_bpf_poll_losses(struct davy_bpf *b, uint64_t now_ns)
{
	static const char *const causes[DAVY_LOSS_COUNT] = {
		[DAVY_LOSS_RING_FULL] = "event ring full",
		[DAVY_LOSS_JOBS_FULL] = "jobs map full",
		[DAVY_LOSS_SCHEDS_FULL] = "rings map full",
		[DAVY_LOSS_MOVERS_FULL] = "movers map full",
		[DAVY_LOSS_URGENT_FULL] = "urgent ring full",
		[DAVY_LOSS_SUMS_FULL] = "sums map full",
		[DAVY_LOSS_TIMES_FULL] = "job times map full",
		[DAVY_LOSS_MAP_BUSY] = "a map's lock was not to be had in time",
	};
	int fd = davy_bpf_shared(b, DAVY_SHARED_LOSSES);

	for (uint32_t cause = 0; fd >= 0 && cause < DAVY_LOSS_COUNT; cause++) {
		uint64_t lost = loss_of(fd, cause), before = b->losses_reported[cause];

		b->losses_reported[cause] = lost;
		if (lost != before)
			tell_loss(b, "bpf", causes[cause], lost - before, now_ns);
	}
}

void davy_bpf_poll_skipped(struct davy_bpf *b, uint64_t now_ns)
{
	for (size_t i = 0; i < DAVY_OBJ_COUNT; i++) {
		struct davy_bpf_object *o = &b->objects[i];
		uint64_t skipped = davy_bpf_object_skipped(o), before = o->skipped;
		char reason[64];

		if (skipped <= before)
			continue;
		o->skipped = skipped;
		snprintf(reason, sizeof(reason), "a program of %s was skipped while it ran",
			 o->name);
		tell_loss(b, "bpf", reason, skipped - before, now_ns);
	}
}

static int read_clock(struct davy_bpf *b, struct davy_clock *clock)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = clock, .ctx_size_in = sizeof(*clock));
	struct bpf_object *object = b->objects[DAVY_OBJ_PROCESS].object;
	struct bpf_program *p =
		object ? bpf_object__find_program_by_name(object, "clock_now") : NULL;

	return p ? bpf_prog_test_run_opts(bpf_program__fd(p), &opts) : -1;
}

/* HZ is one of what Kconfig.hz offers (100, 250, 300, 1000) or an odd arch's: take the nearest. */
void davy_bpf_measure_hz(struct davy_bpf *b)
{
	static const uint64_t known[] = { 24,  48,  100, 128,  200,  250,
					  256, 300, 500, 1000, 1024, 1200 };
	struct davy_clock now = { 0 };
	uint64_t hz, best = known[0];

	if (b->hz || read_clock(b, &now))
		return;
	if (!b->clock0.boot_ns) {
		b->clock0 = now;
		return;
	}
	if (now.boot_ns - b->clock0.boot_ns < DAVY_NS_PER_S / 4)
		return;
	hz = (now.jiffies - b->clock0.jiffies) * DAVY_NS_PER_S / (now.boot_ns - b->clock0.boot_ns);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if ((known[i] > hz ? known[i] - hz : hz - known[i]) <
		    (best > hz ? best - hz : hz - best))
			best = known[i];
	b->hz = best;
}
