/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/synth.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "store/trace.h"

#define DAY_S 86400

static int run(struct dl_sim *s, const struct dl_scenario *scenario, uint64_t calm_ns)
{
	s->label.class = scenario->class;
	s->calm_ns = calm_ns ? calm_ns : dl_random_near(&s->random, scenario->calm_s * DL_S, 200);
	if (!calm_ns && dl_scenario_is_day(scenario))
		s->calm_ns = scenario->calm_s * DL_S;
	scenario->build(s, scenario->arg);
	return dl_sim_run(s);
}

int dl_synth_run(const struct dl_scenario *scenario, uint64_t seed, uint64_t calm_ns,
		 dl_sim_put put, void *arg, struct dl_label *ret_label)
{
	struct dl_sim *s = dl_sim_new(scenario->name, seed, put, arg);
	int err;

	if (!s)
		return -ENOMEM;
	err = run(s, scenario, calm_ns);
	*ret_label = s->label;
	dl_sim_free(s);
	return err;
}

static int write_event(void *arg, const struct dl_event *ev)
{
	return dl_trace_write(arg, ev);
}

int dl_synth_write(const struct dl_scenario *scenario, uint64_t seed, uint64_t calm_ns,
		   const char *trace_path)
{
	struct dl_trace_writer *writer;
	struct dl_label label;
	char label_path[PATH_MAX];
	int closed, err = dl_label_path(label_path, sizeof(label_path), trace_path);

	if (!err)
		err = dl_trace_create(trace_path, &writer);
	if (err)
		return err;
	err = dl_synth_run(scenario, seed, calm_ns, write_event, writer, &label);
	closed = dl_trace_close(writer);
	if (!err)
		err = closed;
	if (!err)
		err = dl_label_write(label_path, &label);
	if (err)
		unlink(trace_path);
	return err;
}

const struct dl_scenario *dl_scenario_find(const char *name)
{
	for (size_t i = 0; i < dl_scenario_count; i++)
		if (!strcmp(dl_scenarios[i].name, name))
			return &dl_scenarios[i];
	return NULL;
}

bool dl_scenario_is_day(const struct dl_scenario *scenario)
{
	return scenario->class == DL_CLASS_NONE && scenario->calm_s >= DAY_S;
}
