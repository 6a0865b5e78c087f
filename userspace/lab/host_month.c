/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/host_month.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/random.h"
#include "lab/sim.h"

#define DAY_NS	    (24 * DAVY_H)
#define WALL_S	    1764000000u /* some day */
#define TIMEOUT_NS  (10 * DAVY_S)
#define SAMPLE_NS   (250 * DAVY_MS) /* of the age of a job */
#define HISTORY_MAX 4096
#define GPU	    "0000:03:00.0"
#define RING	    "comp_1.0.0"
#define MODEL	    "qwen3-32b-q4_k_m.gguf"

const struct davy_host_case davy_host_cases[] = {
	{ .name = "long-jobs",
	  .what = "batches of long jobs that end in time; one job a week hangs",
	  .least = 540,
	  .most = 690 },
	{ .name = "new-firmware",
	  .what = "the same; from day 15 on jobs are shorter, and the firmware ends a hang early",
	  .least = 540,
	  .most = 690,
	  .changed_day = 15,
	  .then_most = 590,
	  .killed = 640 },
};
const size_t davy_host_case_count = sizeof(davy_host_cases) / sizeof(davy_host_cases[0]);

struct host {
	const struct davy_host_case *c;
	struct davy_host_month *m;
	struct davy_random random;
	struct davy_core by_default, tuned;
	uint64_t now_ns, begin_ns, tick_ns, seqno, taken;
	uint32_t pid;
	struct davy_sample history[HISTORY_MAX], some[HISTORY_MAX];
	size_t history_count;
};

static uint32_t host_between(struct host *h, uint32_t least, uint32_t most)
{
	return (uint32_t)davy_random_between(&h->random, least, most);
}

static struct davy_event host_event(const struct host *h, enum davy_event_kind kind, uint32_t pid)
{
	struct davy_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.at_ns = h->now_ns;
	ev.kind = kind;
	ev.pid = pid;
	return ev;
}

static void host_remember(struct host *h, const struct davy_sample *sample)
{
	if (h->history_count == HISTORY_MAX)
		memmove(h->history, h->history + 1, --h->history_count * sizeof(h->history[0]));
	h->history[h->history_count++] = *sample;
}

static void host_change(struct host *h, const struct davy_threshold_verdict *v,
			const struct davy_sample *of)
{
	struct davy_event ev = host_event(h, DAVY_EV_CONFIG_FOR, 0);
	const struct davy_config_row *row = &davy_config_rows[of->key];
	struct davy_plan plans[DAVY_PLANS_MAX];
	struct davy_sample change = *of;
	bool back = v->why != DAVY_THRESHOLD_FEWER;

	if (h->m->version_count < DAVY_HOST_VERSIONS)
		h->m->version[h->m->version_count++] = (struct davy_host_version){
			.at_s = (h->now_ns - h->begin_ns) / DAVY_S,
			.from = (uint64_t)davy_config_value_for(&h->tuned.config,
								(enum davy_config_key)of->key,
								of->driver, of->device, of->model),
			.key = of->key,
			.verdict = *v,
		};
	change.result = back ? DAVY_SAMPLE_TAKEN_BACK : DAVY_SAMPLE_ADOPTED;
	change.value = v->to;
	host_remember(h, &change);
	ev.config_for.scope = DAVY_SCOPE_MODEL;
	ev.config_for.config.value = back ? DAVY_OVERRIDE_REMOVED : (int64_t)v->to;
	davy_copy_name(ev.config_for.name, sizeof(ev.config_for.name), of->model);
	davy_copy_name(ev.config_for.config.key, sizeof(ev.config_for.config.key), row->name);
	davy_core_step(&h->tuned, &ev, plans, DAVY_PLANS_MAX);
}

static void host_judge(struct host *h, const struct davy_sample *newest)
{
	struct davy_threshold_verdict v;
	size_t count = 0;

	host_remember(h, newest);
	for (size_t i = 0; i < h->history_count; i++)
		if (h->history[i].key == newest->key &&
		    davy_same_name(h->history[i].model, newest->model))
			h->some[count++] = h->history[i];
	davy_threshold_judge(&h->tuned.config, h->some, count, newest->at_s, &v);
	if (v.why)
		host_change(h, &v, newest);
}

static void host_feed(struct host *h, const struct davy_event *ev)
{
	struct davy_plan plans[DAVY_PLANS_MAX];

	h->m->event_count++;
	davy_core_step(&h->by_default, ev, plans, DAVY_PLANS_MAX);
	davy_core_step(&h->tuned, ev, plans, DAVY_PLANS_MAX);
	while (h->taken < h->tuned.samples.made_count) {
		struct davy_sample made = h->tuned.samples.made[h->taken % DAVY_SAMPLES_MADE];

		h->taken++;
		host_judge(h, &made);
	}
}

static void host_pass(struct host *h, uint64_t ns)
{
	uint64_t end_ns = h->now_ns + ns;

	while (h->now_ns < end_ns) {
		struct davy_event ev;

		h->now_ns = end_ns - h->now_ns > h->tick_ns ? h->now_ns + h->tick_ns : end_ns;
		ev = host_event(h, DAVY_EV_TICK, 0);
		host_feed(h, &ev);
	}
}

static void host_start(struct host *h)
{
	struct davy_event ev = host_event(h, DAVY_EV_PROCESS, ++h->pid);

	ev.process.start_ticks = h->now_ns / DAVY_NS_PER_MS / 10;
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.process.backend = DAVY_BACKEND_VULKAN;
	ev.process.ubatch = 512;
	davy_copy_name(ev.process.comm, sizeof(ev.process.comm), "llama-server");
	davy_copy_name(ev.process.model, sizeof(ev.process.model), MODEL);
	davy_copy_name(ev.process.device, sizeof(ev.process.device), GPU);
	host_feed(h, &ev);
}

static void host_end(struct host *h, int32_t status)
{
	struct davy_event ev = host_event(h, DAVY_EV_PROCESS_EXIT, h->pid);

	ev.process_exit.status = status;
	host_feed(h, &ev);
}

static void host_ring(struct host *h, uint64_t age_ns)
{
	struct davy_event ev = host_event(h, DAVY_EV_RING, h->pid);

	davy_copy_name(ev.ring.device, sizeof(ev.ring.device), GPU);
	davy_copy_name(ev.ring.ring, sizeof(ev.ring.ring), RING);
	ev.ring.timeout_ns = TIMEOUT_NS;
	ev.ring.age_ns = age_ns;
	ev.ring.fence_seqno = h->seqno;
	host_feed(h, &ev);
}

static void host_job(struct host *h, uint64_t permille)
{
	uint64_t long_ns = TIMEOUT_NS / 1000 * permille;

	h->seqno++;
	for (uint64_t age_ns = 0; age_ns < long_ns;) {
		uint64_t step_ns = long_ns - age_ns < SAMPLE_NS ? long_ns - age_ns : SAMPLE_NS;

		host_pass(h, step_ns);
		age_ns += step_ns;
		host_ring(h, age_ns);
	}
}

/* The driver, or the firmware before it, resets the device; the engine loses it and aborts. */
static void host_hang(struct host *h, uint32_t killed)
{
	struct davy_event ev;

	host_job(h, killed ? killed : 1000);
	ev = host_event(h, killed ? DAVY_EV_RESET : DAVY_EV_JOB_TIMEOUT, killed ? 0 : h->pid);
	if (killed) {
		davy_copy_name(ev.reset.device, sizeof(ev.reset.device), GPU);
		ev.reset.begun = true;
	} else {
		davy_copy_name(ev.job_timeout.device, sizeof(ev.job_timeout.device), GPU);
		davy_copy_name(ev.job_timeout.ring, sizeof(ev.job_timeout.ring), RING);
		ev.job_timeout.age_ns = TIMEOUT_NS;
	}
	host_feed(h, &ev);
	host_pass(h, 2 * DAVY_S);
	ev = host_event(h, DAVY_EV_RESET, 0);
	davy_copy_name(ev.reset.device, sizeof(ev.reset.device), GPU);
	host_feed(h, &ev);
	host_end(h, 6);
	host_pass(h, DAVY_MIN);
	host_start(h);
}

static void host_batch(struct host *h, bool changed, bool hangs)
{
	uint32_t jobs = host_between(h, 12, 24);
	uint32_t most = changed ? h->c->then_most : h->c->most;

	h->tick_ns = DAVY_S;
	for (uint32_t i = 0; i < jobs; i++) {
		host_job(h, host_between(h, h->c->least, most));
		h->seqno++;
		host_ring(h, 0);
		host_pass(h, host_between(h, 500, 3000) * DAVY_MS);
		if (hangs && i == jobs / 2) {
			host_hang(h, changed ? h->c->killed : 0);
			break;
		}
	}
	h->tick_ns = DAVY_MIN;
}

static uint32_t host_false_alarms(const struct davy_core *core)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < DAVY_HZ_COUNT; i++)
		sum += (uint32_t)core->foresight.hazard[i].false_alarms;
	return sum;
}

static void host_sum_up(const struct davy_core *core, struct davy_host_side *side)
{
	struct davy_lead_times leads = { 0 };

	for (size_t i = 0; i < DAVY_CLASS_COUNT; i++) {
		const struct davy_class_score *score = &core->foresight.class[i];

		side->failures += (uint32_t)score->failures;
		side->missed += (uint32_t)score->missed;
		if (score->lead_time.count > leads.count)
			leads = score->lead_time;
	}
	side->lead_time_ns = davy_lead_time_median_ns(&leads);
}

static void host_begin(struct host *h)
{
	struct davy_event ev;

	davy_core_init(&h->by_default);
	davy_core_init(&h->tuned);
	h->begin_ns = h->now_ns = DAVY_H;
	h->tick_ns = DAVY_MIN;
	h->pid = 1000;
	ev = host_event(h, DAVY_EV_CLOCK, 0);
	ev.clock.wall_s = WALL_S;
	host_feed(h, &ev);
	ev = host_event(h, DAVY_EV_DEVICE, 0);
	ev.device.change = DAVY_DEVICE_ADDED;
	davy_copy_name(ev.device.device, sizeof(ev.device.device), GPU);
	davy_copy_name(ev.device.driver, sizeof(ev.device.driver), "amdgpu");
	host_feed(h, &ev);
	host_start(h);
}

/* Four to six batches, in one of them a hang on the sixth day of each week. */
static void host_day(struct host *h, uint32_t day)
{
	uint32_t batches = host_between(h, 4, 6),
		 hang = day % 7 == 5 ? host_between(h, 1, batches) : 0;
	uint64_t end_ns = h->begin_ns + (day + 1) * DAY_NS;

	for (uint32_t i = 1; i <= batches; i++) {
		host_pass(h, host_between(h, 120, 230) * DAVY_MIN);
		host_batch(h, h->c->changed_day && day >= h->c->changed_day, i == hang);
	}
	if (h->now_ns < end_ns)
		host_pass(h, end_ns - h->now_ns);
}

int davy_host_month_run(const struct davy_host_case *c, uint64_t seed,
			struct davy_host_month *ret_month)
{
	struct host *h = calloc(1, sizeof(*h));
	uint32_t before[2] = { 0 };

	if (!h)
		return -ENOMEM;
	memset(ret_month, 0, sizeof(*ret_month));
	h->c = c;
	h->m = ret_month;
	davy_random_seed(&h->random, c->name, seed);
	host_begin(h);
	for (uint32_t day = 0; day < DAVY_HOST_DAYS; day++) {
		uint32_t now[2], week = day / 7;

		host_day(h, day);
		now[0] = host_false_alarms(&h->by_default);
		now[1] = host_false_alarms(&h->tuned);
		ret_month->by_default.false_alarms[week] += now[0] - before[0];
		ret_month->tuned.false_alarms[week] += now[1] - before[1];
		memcpy(before, now, sizeof(before));
	}
	host_sum_up(&h->by_default, &ret_month->by_default);
	host_sum_up(&h->tuned, &ret_month->tuned);
	free(h);
	return 0;
}
