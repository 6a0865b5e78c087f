/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/synth.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "store/trace.h"
#include "lab/check2_set.h"
#include "lab/check3_set.h"
#include "lab/check4_set.h"
#include "lab/check5_set.h"
#include "lab/check_set.h"

#define DAY_S 86400

static int synth_run(struct davy_sim *s, const struct davy_scenario *scenario, uint64_t calm_ns)
{
	s->label.class = scenario->class;
	s->calm_ns =
		calm_ns ? calm_ns : davy_random_near(&s->random, scenario->calm_s * DAVY_S, 200);
	if (!calm_ns && davy_scenario_is_day(scenario))
		s->calm_ns = scenario->calm_s * DAVY_S;
	scenario->build(s, scenario->arg);
	return davy_sim_run(s);
}

int davy_synth_run(const struct davy_scenario *scenario, uint64_t seed, uint64_t calm_ns,
		   davy_sim_put put, void *arg, struct davy_label *ret_label)
{
	struct davy_sim *s = davy_sim_new(scenario->name, seed, put, arg);
	int err;

	if (!s)
		return -ENOMEM;
	err = synth_run(s, scenario, calm_ns);
	*ret_label = s->label;
	davy_sim_free(s);
	return err;
}

static int write_event(void *arg, const struct davy_event *ev)
{
	return davy_trace_write(arg, ev);
}

int davy_synth_write(const struct davy_scenario *scenario, uint64_t seed, uint64_t calm_ns,
		     const char *trace_path)
{
	struct davy_trace_writer *writer;
	struct davy_label label;
	char label_path[PATH_MAX];
	int closed, err = davy_label_path(label_path, sizeof(label_path), trace_path);

	if (!err)
		err = davy_trace_create(trace_path, &writer);
	if (err)
		return err;
	err = davy_synth_run(scenario, seed, calm_ns, write_event, writer, &label);
	closed = davy_trace_close(writer);
	if (!err)
		err = closed;
	if (!err)
		err = davy_label_write(label_path, &label);
	if (err)
		unlink(trace_path);
	return err;
}

static const struct davy_scenario *synth_find(const struct davy_scenario *table, size_t count,
					      const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

const struct davy_scenario *davy_scenario_find(const char *name)
{
	const struct davy_scenario *found = synth_find(davy_scenarios, davy_scenario_count, name);

	if (!found)
		found = synth_find(davy_check_scenarios, davy_check_scenario_count, name);
	if (!found)
		found = synth_find(davy_check2_scenarios, davy_check2_scenario_count, name);
	if (!found)
		found = synth_find(davy_check3_scenarios, davy_check3_scenario_count, name);
	if (!found)
		found = synth_find(davy_check4_scenarios, davy_check4_scenario_count, name);
	if (!found)
		found = synth_find(davy_check5_scenarios, davy_check5_scenario_count, name);
	return found;
}

bool davy_scenario_is_day(const struct davy_scenario *scenario)
{
	return scenario->class == DAVY_CLASS_NONE && scenario->calm_s >= DAY_S;
}
