/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/synth.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "lab/sets.h"
#include "store/trace.h"

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

const struct davy_scenario *davy_scenario_find(const char *name)
{
	for (size_t set = 0; set < DAVY_SETS; set++)
		for (size_t i = 0; i < *davy_scenario_sets[set].count; i++)
			if (!strcmp(davy_scenario_sets[set].scenario[i].name, name))
				return &davy_scenario_sets[set].scenario[i];
	return NULL;
}

bool davy_scenario_is_day(const struct davy_scenario *scenario)
{
	return scenario->class == DAVY_CLASS_NONE && scenario->calm_s >= DAY_S;
}
