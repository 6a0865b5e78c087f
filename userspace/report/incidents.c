/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/incidents.h"

#include <stdio.h>
#include <string.h>

#include "lib/message.h"

#define JOIN_NS 30000000000LL /* a later alarm on the same subject is part of the incident */

static const char *const no_actions[] = {
	"note", "check", "clear", "breaker", "outcome", "failure"
};

bool davy_decision_acts(const json_t *decision)
{
	const char *rung = davy_message_text(decision, "rung");

	for (size_t i = 0; i < sizeof(no_actions) / sizeof(no_actions[0]); i++)
		if (!strcmp(rung, no_actions[i]))
			return false;
	return *rung;
}

const json_t *davy_incident_last(const struct davy_told_incident *in, const char *rung)
{
	for (size_t i = json_array_size(in->lines); i; i--) {
		const json_t *d = json_object_get(json_array_get(in->lines, i - 1), "json");

		if (rung ? !strcmp(davy_message_text(d, "rung"), rung) : davy_decision_acts(d))
			return d;
	}
	return NULL;
}

static void incidents_drop(struct davy_incidents *all, size_t index)
{
	struct davy_told_incident *in = &all->at[index];

	json_decref(in->standing);
	json_decref(in->subjects);
	json_decref(in->lines);
	json_decref(in->failure);
	all->count--;
	memmove(in, in + 1, (all->count - index) * sizeof(*in));
}

void davy_incidents_done(struct davy_incidents *all)
{
	while (all->count)
		incidents_drop(all, all->count - 1);
}

/* Names an alarm: it is cleared by a decision with the same fields. */
static void incidents_alarm_key(const json_t *d, char *buf, size_t size)
{
	const char *ring = davy_message_text(d, "ring");

	snprintf(buf, size, "%s %s %lld %s", davy_message_text(d, "hazard"),
		 davy_message_text(d, "device"), (long long)davy_message_number(d, "pid", 0),
		 *ring ? ring : davy_message_text(d, "heap"));
}

/* Devices, pids and workloads of a decision, each as a key. Returns their number. */
static size_t incidents_subjects(const json_t *d, char keys[5][64])
{
	static const char *const numbers[] = { "pid", "victim_pid", "culprit_pid", "workload" };
	size_t count = 0;

	if (*davy_message_text(d, "device"))
		snprintf(keys[count++], 64, "device %s", davy_message_text(d, "device"));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		long long n = (long long)davy_message_number(d, numbers[i], 0);

		if (n)
			snprintf(keys[count++], 64, "%s %lld",
				 strcmp(numbers[i], "workload") ? "pid" : "workload", n);
	}
	return count;
}

static bool incidents_share(const struct davy_told_incident *in, const json_t *d)
{
	char keys[5][64];
	size_t count = incidents_subjects(d, keys);

	for (size_t i = 0; i < count; i++)
		if (json_object_get(in->subjects, keys[i]))
			return true;
	/* An alarm of the host has no subject. */
	return !count && !json_object_size(in->subjects) &&
	       !strcmp(in->hazard, davy_message_text(d, "hazard"));
}

/* The latest incident to which the decision belongs; NULL: none. */
static struct davy_told_incident *incidents_of(struct davy_incidents *all, const json_t *d)
{
	json_int_t at_ns = davy_message_number(d, "at_ns", 0);
	char key[160];

	incidents_alarm_key(d, key, sizeof(key));
	for (size_t i = all->count; i; i--)
		if (json_object_get(all->at[i - 1].standing, key))
			return &all->at[i - 1];
	for (size_t i = all->count; i; i--) {
		struct davy_told_incident *in = &all->at[i - 1];

		if ((!in->ended_ns || at_ns - in->last_ns <= JOIN_NS) && incidents_share(in, d))
			return in;
	}
	return NULL;
}

static struct davy_told_incident *incidents_begin(struct davy_incidents *all, const json_t *d)
{
	struct davy_told_incident *in;
	json_int_t at_ns = davy_message_number(d, "at_ns", 0);
	size_t victim = 0;

	if (all->count == DAVY_INCIDENTS_TOLD) {
		while (victim < all->count && !all->at[victim].ended_ns)
			victim++;
		incidents_drop(all, victim == all->count ? 0 : victim);
	}
	in = &all->at[all->count++];
	memset(in, 0, sizeof(*in));
	in->id = davy_message_number(d, "id", 0);
	in->begun_ns = at_ns;
	in->first_sign_ns = davy_message_number(d, "first_sign_ns", 0);
	if (in->first_sign_ns <= 0 || in->first_sign_ns > at_ns)
		in->first_sign_ns = at_ns;
	in->standing = json_object();
	in->subjects = json_object();
	in->lines = json_array();
	return in;
}

static void incidents_take_alarm(struct davy_told_incident *in, const json_t *d)
{
	int level = (int)davy_message_number(d, "level", 0);
	char key[160];

	incidents_alarm_key(d, key, sizeof(key));
	json_object_set_new(in->standing, key, json_true());
	in->ended_ns = 0;
	if (level > in->level) {
		in->level = level;
		snprintf(in->hazard, sizeof(in->hazard), "%s", davy_message_text(d, "hazard"));
	}
}

static void incidents_take(struct davy_told_incident *in, json_t *line, json_t *d)
{
	const char *rung = davy_message_text(d, "rung");
	char keys[5][64], key[160];
	size_t count = incidents_subjects(d, keys);

	in->last_ns = davy_message_number(d, "at_ns", 0);
	for (size_t i = 0; i < count; i++)
		json_object_set_new(in->subjects, keys[i], json_true());
	if (json_array_size(in->lines) < DAVY_INCIDENT_LINES)
		json_array_append(in->lines, line);
	else
		in->unlisted++;
	if (!strcmp(rung, "note"))
		incidents_take_alarm(in, d);
	if (!strcmp(rung, "failure")) {
		if (!in->failure)
			in->failure = json_incref(d);
		if (!*in->hazard)
			snprintf(in->hazard, sizeof(in->hazard), "%s",
				 davy_message_text(d, "class"));
	}
	if (!strcmp(rung, "clear")) {
		incidents_alarm_key(d, key, sizeof(key));
		json_object_del(in->standing, key);
	}
	if (!json_object_size(in->standing))
		in->ended_ns = in->last_ns;
}

void davy_incidents_add(struct davy_incidents *all, json_t *line)
{
	json_t *d = json_object_get(line, "json");
	const char *rung = davy_message_text(d, "rung");
	struct davy_told_incident *in;

	if (!*rung)
		return; /* an event */
	in = incidents_of(all, d);
	if (!in && strcmp(rung, "note") != 0 && strcmp(rung, "failure") != 0)
		return; /* an operator's order, or the end of what is no longer kept */
	if (!in)
		in = incidents_begin(all, d);
	incidents_take(in, line, d);
}
