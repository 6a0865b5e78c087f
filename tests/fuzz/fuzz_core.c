/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a history: the core must keep its invariants, and two runs must give equal plans and
 * equal state, with any bytes behind an event's payload and in the memory for the plans. Each event
 * is taken from the input like from a trace: kind, pid, time since the last, payload. An event
 * whose pid byte has its upper bit set is corrected first, so that short inputs reach the hazards:
 * its names are known ones, its fields within the limits of fields.c.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/event/fact.h"
#include "core/event/fields.h"
#include "report/event_text.h"
#include "report/foresight_text.h"
#include "report/plan_text.h"

#define HEAD_SIZE	  4
#define GARBAGE		  0xa5
#define PICK(set, n)	  ((set)[(n) % (sizeof(set) / sizeof((set)[0]))])
#define NAME(field, text) davy_copy_name(field, sizeof(field), text)

static struct davy_core first, second;

static const char *const devices[] = { "0000:03:00.0", "0000:04:00.0", "llvmpipe", "" };
static const char *const models[] = { "tiny.gguf", "big.gguf", "tin*", "*" };
static const char *const drivers[] = { "amdgpu", "xe", "*", "i915" };
static const char *const thrown[] = { "N2vk15DeviceLostErrorE", "N2vk22OutOfDeviceMemoryErrorE" };

static void mend_config(struct davy_ev_config *c)
{
	const struct davy_config_row *row = &davy_config_rows[(uint8_t)c->key[0] % DAVY_CFG_COUNT];
	uint64_t span = (uint64_t)(row->max - row->min) + 1;

	NAME(c->key, row->name);
	if (c->value != DAVY_OVERRIDE_REMOVED)
		c->value = row->min + (int64_t)((uint64_t)c->value % span);
}

static void mend_config_for(struct davy_ev_config_for *c)
{
	uint8_t n = (uint8_t)c->name[0];

	mend_config(&c->config);
	NAME(c->name, c->scope == DAVY_SCOPE_DRIVER  ? PICK(drivers, n)
		      : c->scope == DAVY_SCOPE_MODEL ? PICK(models, n)
						     : PICK(devices, n));
}

static void mend_log(struct davy_ev_log *l)
{
	const struct davy_log_meaning *meaning = davy_log_meaning(l->kind);

	l->role = meaning->role;
	l->log_class = meaning->class;
	l->hazard = meaning->hazard;
}

/* A running act, if there is one. */
static void mend_act(struct davy_ev_act *act)
{
	for (size_t i = 0; i < DAVY_WORLD_WORKLOADS; i++)
		if (first.world.workloads[i].id == act->workload)
			act->plan = first.world.workloads[i].act_plan;
}

static void mend_order(struct davy_ev_order *o)
{
	o->action = o->action % 12 < 2 ? DAVY_ACTION_RESTART + o->action % 2
				       : DAVY_ACTION_PAUSE + o->action % 10;
	o->undo = o->undo % 12 < 2 ? 0 : DAVY_ACTION_PAUSE + o->undo % 10;
}

static void mend_restored(struct davy_ev_restored *l)
{
	static const uint8_t actions[] = { DAVY_ACTION_SHRINK, DAVY_ACTION_SWITCH,
					   DAVY_ACTION_MIGRATE_CPU };

	l->action = PICK(actions, l->action);
}

/* A head and sizes that are none; what else is in them stays. */
static void mend_tuning(struct davy_ev_tuning *t)
{
	memset(t->head, 0, sizeof(t->head));
	memset(t->of.setting, 0, sizeof(t->of.setting));
	t->of.active %= DAVY_TUNER_SETTINGS + 1;
	t->of.turn %= DAVY_TUNER_TURN_COUNT;
	t->of.lessons %= 8;
}

static void mend_scores(struct davy_ev_scores *s)
{
	s->confirmed = s->alarms ? s->confirmed % (s->alarms + 1) : 0;
}

static void mend_fact(struct davy_ev_fact *f, uint8_t n)
{
	static const uint16_t strange[] = { DAVY_FACT_OOM_VICTIM, DAVY_FACT_IOCTL_FAILED };

	if (!davy_fact_known(f->fact))
		f->fact = PICK(strange, n);
}

/* Rules beyond the limits of the fields. */
static void mend_kind(struct davy_event *ev, uint8_t n)
{
	switch (ev->kind) {
	case DAVY_EV_CONFIG:
		mend_config(&ev->config);
		break;
	case DAVY_EV_CONFIG_FOR:
		mend_config_for(&ev->config_for);
		break;
	case DAVY_EV_PROCESS:
		ev->process.workload %= 4;
		break;
	case DAVY_EV_WORKLOAD:
		ev->workload.pinned = ev->workload.pinned > 200;
		ev->workload.rival = ev->workload.rival > 200;
		break;
	case DAVY_EV_FACT:
		mend_fact(&ev->fact, n);
		break;
	case DAVY_EV_LOG:
		mend_log(&ev->log);
		break;
	case DAVY_EV_ACT:
		mend_act(&ev->act);
		break;
	case DAVY_EV_ORDER:
		mend_order(&ev->order);
		break;
	case DAVY_EV_RESTORED:
		mend_restored(&ev->restored);
		break;
	case DAVY_EV_SCORES:
		mend_scores(&ev->scores);
		break;
	case DAVY_EV_TUNING:
		mend_tuning(&ev->tuning);
		break;
	default:
		break;
	}
}

static void mend_text(const struct davy_field *f, char *text, uint8_t n)
{
	if (davy_same_name(f->name, "device"))
		davy_copy_name(text, f->size, PICK(devices, n));
	else if (davy_same_name(f->name, "driver"))
		davy_copy_name(text, f->size, PICK(drivers, n));
	else if (davy_same_name(f->name, "model"))
		davy_copy_name(text, f->size, PICK(models, (uint8_t)text[0]));
	else if (davy_same_name(f->name, "exception"))
		davy_copy_name(text, f->size, PICK(thrown, n));
	else if (f->min && !text[0])
		text[0] = 'x';
	text[f->size - 1] = 0;
}

static void mend_field(struct davy_event *ev, const struct davy_field *f, size_t index, uint8_t n)
{
	void *at = (uint8_t *)ev + f->offset + index * f->size;
	bool workload = davy_same_name(f->name, "workload");
	uint64_t min = workload ? 1 : f->min, max = workload ? 3 : f->max, value;

	if (f->type == DAVY_FIELD_TEXT) {
		mend_text(f, at, n);
	} else if (max) {
		value = min + davy_field_number(ev, f, index) % (max - min + 1);
		memcpy(at, &value, f->size); /* little-endian, as all that runs this */
	}
}

static void mend(struct davy_event *ev, uint8_t n)
{
	const struct davy_event_shape *shape = davy_event_shape(ev->kind);

	for (size_t i = 0; i < shape->field_count; i++)
		for (size_t j = 0; j <= shape->fields[i].more; j++)
			mend_field(ev, &shape->fields[i], j, n);
	mend_kind(ev, n);
}

static size_t next_event(const uint8_t *data, size_t size, uint64_t *now, struct davy_event *ev)
{
	size_t payload, take;

	memset(ev, 0, sizeof(*ev));
	if (size < HEAD_SIZE)
		return 0;
	ev->kind = data[0] % DAVY_EV_COUNT;
	ev->pid = data[1] % 8;
	*now += (uint64_t)data[2] << (data[3] % 40);
	ev->at_ns = *now;
	payload = davy_event_payload_size(ev->kind);
	take = size - HEAD_SIZE < payload ? size - HEAD_SIZE : payload;
	memcpy(&ev->config, data + HEAD_SIZE, take);
	if (data[1] & 0x80)
		mend(ev, data[1] >> 3 & 3);
	return HEAD_SIZE + take;
}

/* The same event in other memory. */
static size_t step_elsewhere(const struct davy_event *ev, struct davy_plan *plans)
{
	struct davy_event other;

	memset(&other, GARBAGE, sizeof(other));
	other.at_ns = ev->at_ns;
	other.kind = ev->kind;
	other.pid = ev->pid;
	memcpy(&other.config, &ev->config, davy_event_payload_size(ev->kind));
	memset(plans, GARBAGE, DAVY_PLANS_MAX * sizeof(*plans));
	return davy_core_step(&second, &other, plans, DAVY_PLANS_MAX);
}

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* The host's mode, or that of the workload from the operator's rules. */
static bool may_act(uint32_t workload)
{
	int64_t mode = first.config.value[DAVY_CFG_MODE];

	for (size_t i = 0; i < DAVY_WORLD_WORKLOADS; i++)
		if (first.world.workloads[i].id == workload && first.world.workloads[i].mode)
			mode = first.world.workloads[i].mode - 1;
	return mode == DAVY_MODE_ENFORCE;
}

static void check_plan(const struct davy_plan *p)
{
	require(p->id && p->at_ns == first.now_ns);
	require(p->kind < DAVY_PLAN_KIND_COUNT && p->hazard < DAVY_HZ_COUNT);
	require(p->verdict < DAVY_VERDICT_COUNT && p->refusal < DAVY_REFUSED_COUNT);
	require(p->evidence_count <= DAVY_PLAN_EVIDENCE && p->first_precursor_ns <= p->at_ns);
	require(!p->comm[sizeof(p->comm) - 1] && !p->device[sizeof(p->device) - 1]);
	require(!p->ring[sizeof(p->ring) - 1] && !p->model[sizeof(p->model) - 1]);
	require(!p->detail[sizeof(p->detail) - 1]);
	require(p->on_permille <= 1000 && p->to_backend < DAVY_BACKEND_COUNT);
	require((!p->passed_action || davy_action_known(p->passed_action)) &&
		p->passed_refusal < DAVY_REFUSED_COUNT);
	require(p->kind == DAVY_PLAN_ACTION || p->kind == DAVY_PLAN_OUTCOME
			? davy_action_known(p->action)
			: !p->action);
	require(p->action == DAVY_ACTION_UNDO || !p->undone);
	if (p->kind == DAVY_PLAN_ACTION && p->verdict == DAVY_VERDICT_GO &&
	    p->action == DAVY_ACTION_PAUSE)
		require(p->lease_ns && p->lease_ns <= 60 * DAVY_NS_PER_S);
	if (p->kind == DAVY_PLAN_ACTION && p->verdict == DAVY_VERDICT_GO &&
	    p->action == DAVY_ACTION_THROTTLE)
		require(p->lease_ns && p->on_permille);
	if (p->kind == DAVY_PLAN_ACTION && p->verdict == DAVY_VERDICT_GO)
		require(p->workload && may_act(p->workload));
	require(p->tuning.why < DAVY_TUNER_WHY_COUNT &&
		p->settings.cache_type < DAVY_TUNER_CACHE_COUNT);
	require(p->probability_permille < 1000 && (!p->probability_permille || p->level >= 2));
	if (p->kind == DAVY_PLAN_FAILURE)
		require(p->failure_class && p->failure_class < DAVY_CLASS_COUNT &&
			(p->hazard != DAVY_HZ_NONE) == (p->lead_time_ns != 0));
}

/* The results by hazard and level, by stated probability, and of all predictions. */
static void check_calibration(const struct davy_foresight *f)
{
	const struct davy_calibration *c = &f->calibration;
	uint64_t alarms = 0, confirmed = 0, in_bins = 0, confirmed_in_bins = 0;

	for (size_t i = 0; i < DAVY_HZ_COUNT; i++)
		for (size_t j = 0; j < DAVY_SCORED_LEVELS; j++) {
			const struct davy_level_score *s = &c->of[i][j];

			require(s->alarms - s->confirmed <= f->hazard[i].false_alarms);
			require(s->confirmed <= s->alarms &&
				s->confirmed <= f->hazard[i].confirmed);
			alarms += s->alarms;
			confirmed += s->confirmed;
		}
	for (size_t i = 0; i < DAVY_RELIABILITY_BINS; i++) {
		in_bins += c->bin[i].alarms;
		confirmed_in_bins += c->bin[i].confirmed;
		require(c->bin[i].stated_permille >= c->bin[i].alarms * i * 100 &&
			c->bin[i].stated_permille <= c->bin[i].alarms * (i * 100 + 99));
	}
	require(alarms == in_bins && confirmed == confirmed_in_bins);
	require(c->error_sum <= alarms * 999 * 999);
}

static void check_foresight(const struct davy_foresight *f)
{
	uint32_t used = 0;

	for (size_t i = 0; i < DAVY_FORESIGHT_PREDICTIONS; i++)
		used += f->predictions[i].used;
	require(used == f->prediction_count);
	for (size_t i = 0; i < DAVY_CLASS_COUNT; i++)
		require(f->class[i].failures == f->class[i].missed + f->class[i].lead_time.count);
	for (size_t i = 0; i < DAVY_HZ_COUNT; i++) {
		const struct davy_hazard_score *s = &f->hazard[i];

		require(s->confirmed + s->averted + s->late + s->false_alarms <= s->predictions);
		require(davy_lead_time_median_ns(&s->lead_time) <= s->lead_time.max_ns);
	}
	check_calibration(f);
	require(first.config.override_count <= DAVY_OVERRIDES_MAX);
}

/* A proposal is within its limit, and above the value in force unless it is taken back. */
static void check_samples(const struct davy_core *core)
{
	const struct davy_samples *s = &core->samples;
	size_t made = s->made_count < DAVY_SAMPLES_MADE ? (size_t)s->made_count : DAVY_SAMPLES_MADE;
	struct davy_threshold_verdict v;
	uint32_t used = 0;

	for (size_t i = 0; i < DAVY_SAMPLE_READINGS; i++)
		used += s->readings[i].of.used;
	require(used == s->reading_count);
	for (size_t i = 0; i < made; i++) {
		require(s->made[i].result >= DAVY_SAMPLE_FALSE &&
			s->made[i].result <= DAVY_SAMPLE_MISSED);
		require(!s->made[i].model[DAVY_MODEL_LEN - 1]);
	}
	davy_threshold_judge(&core->config, s->made, made, UINT64_MAX, &v);
	require(v.removed <= v.false_count && v.false_count <= made);
	require(v.why != DAVY_THRESHOLD_FEWER || (v.to <= 1000 && 2 * v.removed >= v.false_count));
}

/* Counters equal the entries that are in use. */
static void check_tables(const struct davy_core *core)
{
	uint32_t alarms = 0, breakers = 0, workloads = 0;

	for (size_t i = 0; i < DAVY_CORE_ALARMS; i++)
		alarms += core->alarms[i].used;
	for (size_t i = 0; i < DAVY_CORE_BREAKERS; i++)
		breakers += core->breakers[i].used_ns != 0;
	for (size_t i = 0; i < DAVY_WORLD_WORKLOADS; i++) {
		const struct davy_workload *w = &core->world.workloads[i];

		workloads += w->id != 0;
		require(w->effect_count <= DAVY_EFFECTS_MAX &&
			(w->freeze_plan != 0) == (w->freeze_action != 0));
	}
	require(alarms == core->alarm_count && breakers == core->breaker_count);
	require(workloads == core->world.workload_count);
	for (size_t i = 0; i < DAVY_WORLD_PROCESSES; i++) {
		bool used = core->world.processes[i / DAVY_WORLD_WAYS][i % DAVY_WORLD_WAYS].pid;

		require(used == (core->world.process_map[i / 64] >> i % 64 & 1));
	}
}

static void print_all(const struct davy_event *ev, const struct davy_plan *plans, size_t count)
{
	char text[DAVY_PLAN_TEXT_SIZE];

	davy_event_text(ev, text, sizeof(text));
	free(davy_event_json(ev));
	for (size_t i = 0; i < count; i++) {
		check_plan(&plans[i]);
		davy_plan_text(&plans[i], text, sizeof(text));
		require(!strchr(text, '\n'));
		free(davy_plan_json(&plans[i]));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct davy_plan a[DAVY_PLANS_MAX], b[DAVY_PLANS_MAX];
	struct davy_event ev;
	uint64_t now = 0;
	size_t used;

	davy_core_init(&first);
	davy_core_init(&second);
	for (; (used = next_event(data, size, &now, &ev)); data += used, size -= used) {
		size_t count;

		if (!ev.kind || !davy_event_valid(&ev))
			continue;
		count = davy_core_step(&first, &ev, a, DAVY_PLANS_MAX);
		require(step_elsewhere(&ev, b) == count);
		require(!memcmp(a, b, count * sizeof(a[0])));
		print_all(&ev, a, count);
	}
	require(!memcmp(&first, &second, sizeof(first)));
	check_foresight(&first.foresight);
	check_samples(&first);
	check_tables(&first);
	json_decref(davy_foresight_json(&first.foresight));
	return 0;
}
