/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <jansson.h>

#include "doctor/next.h"
#include "lib/text.h"

#define LINES_MAX 4 /* of each kind: the overview has about ten lines */

static void overview_more(FILE *to, size_t count)
{
	if (count > LINES_MAX)
		fprintf(to, "          and %zu more\n", count - LINES_MAX);
}

static void overview_gpus(FILE *to, const struct davy_doctor_facts *facts)
{
	if (!facts->gpu_count)
		fprintf(to, "gpus      none: engines run on the CPU\n");
	for (size_t i = 0; i < facts->gpu_count && i < LINES_MAX; i++) {
		const struct davy_doctor_gpu *g = &facts->gpu[i];

		fprintf(to, "%-9s %s %s%s%s %s%s%s\n", i ? "" : "gpus", g->device,
			g->subject.vendor, g->subject.vendor[0] ? " " : "", g->subject.gfx,
			g->driver[0] ? "driver " : "no driver; expected: ",
			g->driver[0] ? g->driver : g->wanted, g->in_vulkan ? ", Vulkan" : "");
	}
	overview_more(to, facts->gpu_count);
}

static void overview_engines(FILE *to, const struct davy_doctor_facts *facts)
{
	if (!facts->running_count)
		fprintf(to, "engines   none run\n");
	for (size_t i = 0; i < facts->running_count && i < LINES_MAX; i++) {
		const struct davy_doctor_running *r = &facts->running[i];

		fprintf(to, "%-9s %s, pid %u%s%s, %s\n", i ? "" : "engines", r->engine, r->pid,
			r->unit[0] ? ", " : "", r->unit, r->adopted ? "adopted" : "not adopted");
	}
	overview_more(to, facts->running_count);
}

void davy_overview_print(FILE *to, const struct davy_doctor_facts *facts)
{
	const struct davy_doctor_lamp *lamp = &facts->lamp;
	struct davy_next next = { 0 };

	davy_doctor_next(facts, &next);
	fprintf(to, "davylamp " DAVY_VERSION ", Linux %s%s\n", facts->kernel,
		facts->self.btf ? "" : " without BTF: the agent gets no kernel events");
	overview_gpus(to, facts);
	overview_engines(to, facts);
	fprintf(to, "agent     %s%s%s\n", lamp->runs ? "runs" : "does not run",
		lamp->mode[0] ? ", mode " : "", lamp->mode);
	fprintf(to, "missing   %s\n", next.missing);
	fprintf(to, "next      %s\n", next.command);
	fprintf(to,
		"help      davylamp --help; if an engine does not use its GPU: davylamp doctor\n");
}

static json_t *overview_gpu_list(const struct davy_doctor_facts *facts)
{
	json_t *list = json_array();

	for (size_t i = 0; i < facts->gpu_count; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s}", "device", facts->gpu[i].device,
						"vendor", facts->gpu[i].subject.vendor, "driver",
						facts->gpu[i].driver));
	return list;
}

static json_t *overview_engine_list(const struct davy_doctor_facts *facts)
{
	json_t *list = json_array();

	for (size_t i = 0; i < facts->running_count; i++) {
		const struct davy_doctor_running *r = &facts->running[i];

		json_array_append_new(list, json_pack("{s:s, s:I, s:s, s:b}", "engine", r->engine,
						      "pid", (json_int_t)r->pid, "unit", r->unit,
						      "adopted", (int)r->adopted));
	}
	return list;
}

void davy_overview_print_json(FILE *to, const struct davy_doctor_facts *facts)
{
	struct davy_next next = { 0 };
	json_t *o;

	davy_doctor_next(facts, &next);
	o = json_pack("{s:s, s:s, s:o, s:o, s:b, s:s, s:s, s:s}", "type", "overview", "kernel",
		      facts->kernel, "gpus", overview_gpu_list(facts), "engines",
		      overview_engine_list(facts), "agent", (int)facts->lamp.runs, "mode",
		      facts->lamp.mode, "missing", next.missing, "next", next.command);
	if (o)
		json_dumpf(o, to, JSON_COMPACT);
	fputc('\n', to);
	json_decref(o);
}
