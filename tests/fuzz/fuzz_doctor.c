/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as the doctor's facts of a host: every check reports, each failure has a fix, and
 * the report is text that is safe for a terminal, and complete JSON. The bytes are
 * repeated over the facts; then texts are terminated and counts are bounded.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/checks.h"
#include "doctor/print.h"
#include "lib/text.h"

#define END(text)  end_text(text, sizeof(text))
#define SAID(text) (END(text), (text)[0] = (text)[0] ? (text)[0] : '?') /* never empty */
#define SAFE(text) (END(text), make_safe(text, sizeof(text)))		/* already */
#define FLAG(flag) (*(uint8_t *)&(flag) &= 1)

static struct davy_doctor_facts facts;
static struct davy_findings findings;
static struct davy_conclusion conclusion;

static const char *about = ""; /* the current check */

static void require_that(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s: does not hold: %s\n", about, what);
	abort();
}

#define require(what) require_that(what, #what)

/* Rarely the largest counts and the longest texts: they take long. */
static size_t most, longest;

static size_t bounded(size_t count, size_t room)
{
	return count % ((most < room ? most : room) + 1);
}

static void end_text(char *text, size_t size)
{
	text[longest < size ? longest : size - 1] = 0;
}

static void fill(const uint8_t *data, size_t size)
{
	uint8_t *to = (uint8_t *)&facts;
	size_t filled = size < sizeof(facts) ? size : sizeof(facts);

	memcpy(to, data, filled);
	while (filled < sizeof(facts)) { /* what is there once more */
		size_t more = filled < sizeof(facts) - filled ? filled : sizeof(facts) - filled;

		memcpy(to + filled, to, more);
		filled += more;
	}
}

static void make_safe(char *text, size_t size)
{
	char raw[DAVY_DOCTOR_PATH];

	snprintf(raw, sizeof(raw), "%s", text);
	davy_text_safe(text, size, raw);
}

/* These come from tables. */
static void tame_subject(struct davy_policy_subject *s)
{
	static const char *const vendors[] = { "amd", "intel", "nvidia", "" };
	static const char *const kinds[] = { "igpu", "dgpu", "" };

	snprintf(s->vendor, sizeof(s->vendor), "%s", vendors[(uint8_t)s->vendor[0] % 4]);
	snprintf(s->kind, sizeof(s->kind), "%s", kinds[(uint8_t)s->kind[0] % 3]);
	SAFE(s->gfx), SAFE(s->device);
	END(s->model), END(s->driver), END(s->generation);
	END(s->firmware), END(s->kernel), FLAG(s->forced);
}

static void tame_gpu(struct davy_doctor_gpu *g)
{
	SAFE(g->device), END(g->driver), SAFE(g->wanted), END(g->version), END(g->iommu_type);
	END(g->override);
	FLAG(g->has_kfd_node), FLAG(g->in_vulkan), FLAG(g->connected), FLAG(g->may_suspend);
	FLAG(g->has_override);
	for (int i = 0; i < DAVY_BACKEND_COUNT; i++)
		FLAG(g->policy[i].against), SAFE(g->policy[i].why), SAFE(g->policy[i].origin);
	tame_subject(&g->subject);
}

static void tame_nodes(void)
{
	facts.node_count = bounded(facts.node_count, DAVY_DOCTOR_NODES);
	for (size_t i = 0; i < facts.node_count; i++) {
		struct davy_doctor_node *n = &facts.node[i];

		END(n->path), END(n->device), END(n->group);
		FLAG(n->exists), FLAG(n->is_device), FLAG(n->tested);
		n->kind %= DAVY_NODE_NVIDIA + 1;
	}
}

static void tame_service(struct davy_doctor_service *s)
{
	SAID(s->why), END(s->as), END(s->unit), END(s->user), END(s->cgroup), END(s->device_policy);
	FLAG(s->known), FLAG(s->own_root), FLAG(s->own_mounts), FLAG(s->joined);
	FLAG(s->frozen), FLAG(s->cgroup_strangers), FLAG(s->cgroup_full);
	FLAG(s->private_devices), FLAG(s->environment_known);
	s->group_count %= DAVY_DOCTOR_GROUPS + 1;
}

static void tame_environment(void)
{
	for (uint32_t i = 0; i < DAVY_VAR_COUNT; i++) {
		facts.variable[i].name = davy_doctor_variable_name(i);
		FLAG(facts.variable[i].set), END(facts.variable[i].value);
	}
	FLAG(facts.icds_looked), END(facts.icds_from);
	facts.icd_count = bounded(facts.icd_count, DAVY_DOCTOR_ICDS);
	for (size_t i = 0; i < facts.icd_count; i++)
		END(facts.icd[i].manifest), END(facts.icd[i].library), END(facts.icd[i].why);
}

static void tame_runs(void)
{
	for (size_t i = 0; i < DAVY_DOCTOR_RUNTIMES; i++) {
		struct davy_doctor_probe *p = &facts.probe[i];

		FLAG(p->wanted), FLAG(p->ran), FLAG(p->healthy), FLAG(p->absent);
		FLAG(p->addressed), FLAG(p->software), FLAG(p->hidden);
		END(p->stage), END(p->text), END(p->names), END(p->library);
	}
	facts.run_count %= DAVY_BACKEND_COUNT + 1;
	for (size_t i = 0; i < facts.run_count; i++) {
		struct davy_doctor_run *r = &facts.run[i];

		r->backend %= DAVY_BACKEND_COUNT;
		r->end %= DAVY_END_HUNG + 1;
		r->stage %= DAVY_DOCTOR_STAGES;
		FLAG(r->by_child), END(r->where), END(r->words), END(r->devices);
	}
}

static void tame_engine(struct davy_doctor_engine *e)
{
	e->engine %= DAVY_ENGINE_COUNT;
	END(e->name), END(e->path), END(e->runner), END(e->rocblas), END(e->targets);
	FLAG(e->has_rocblas);
	for (int i = 0; i < DAVY_BACKEND_COUNT; i++)
		END(e->library[i]);
	davy_text_safe(e->name, sizeof(e->name), davy_engine_name(e->engine)); /* never another */
}

static void tame_lamp(void)
{
	FLAG(facts.lamp.runs), FLAG(facts.lamp.installed), END(facts.lamp.mode);
	facts.running_count %= DAVY_DOCTOR_RUNNING + 1;
	for (size_t i = 0; i < facts.running_count; i++)
		END(facts.running[i].engine), SAFE(facts.running[i].unit),
			FLAG(facts.running[i].adopted);
}

static void tame(void)
{
	END(facts.kernel);
	davy_text_safe(facts.kernel, sizeof(facts.kernel), "6.12.0-fuzz");
	facts.gpu_count = bounded(facts.gpu_count, DAVY_DOCTOR_GPUS);
	for (size_t i = 0; i < facts.gpu_count; i++)
		tame_gpu(&facts.gpu[i]);
	FLAG(facts.kfd_class), FLAG(facts.iommu_on);
	tame_nodes();
	tame_service(&facts.service);
	tame_environment();
	tame_runs();
	tame_engine(&facts.engine);
	FLAG(facts.model.asked), END(facts.model.path);
	facts.parameter_count = bounded(facts.parameter_count, DAVY_DOCTOR_PARAMETERS);
	for (size_t i = 0; i < facts.parameter_count; i++) {
		struct davy_doctor_parameter *p = &facts.parameter[i];

		END(p->module), END(p->name), END(p->configured), END(p->value), END(p->origin);
		FLAG(p->loaded), FLAG(p->exists);
	}
	FLAG(facts.self.root), FLAG(facts.self.btf), FLAG(facts.self.ftrace_off);
	END(facts.self.lockdown);
	tame_lamp();
}

static void check_findings(void)
{
	require(findings.count < DAVY_FINDINGS_MAX);
	for (size_t i = 0; i < findings.count; i++) {
		const struct davy_finding *f = &findings.at[i];

		about = f->check->id;
		require(f->evidence[0]);
		require(f->verdict < DAVY_FOUND_WARNING || (f->fix[0] && f->verify[0]));
		require(f->verdict < DAVY_FOUND_FAILURE || f->check->fault[0]);
	}
	for (size_t row = 0; !findings.left_out && davy_check_at(row); row++) {
		bool said = false;

		about = davy_check_at(row)->id;
		for (size_t i = 0; i < findings.count; i++)
			said |= findings.at[i].check == davy_check_at(row);
		require(said);
	}
}

static void check_text(char *text)
{
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		require(!line[davy_text_shown_length(line)]);
	}
}

static void check_json(char *text)
{
	char *line = text, *end;
	size_t lines = 0;
	json_t *o = NULL;

	for (; (end = strchr(line, '\n')); line = end + 1) {
		json_decref(o);
		o = json_loadb(line, (size_t)(end - line), 0, NULL);
		require(json_is_object(o));
		lines++;
	}
	require(!*line && lines == findings.count + 2);
	require(!strcmp(json_string_value(json_object_get(o, "type")), "conclusion"));
	require(!strcmp(json_string_value(json_object_get(o, "text")), conclusion.text));
	json_decref(o);
}

static void check_report(bool json)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	require(to);
	if (json)
		davy_doctor_print_json(to, &facts, &findings, &conclusion);
	else
		davy_doctor_print(to, &facts, &findings, &conclusion, true);
	require(!fclose(to) && strlen(text) == size);
	if (json)
		check_json(text);
	else
		check_text(text);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	most = data[0] & 0x7c ? 3 : SIZE_MAX;
	longest = data[0] & 0x0e ? 20 : SIZE_MAX;
	fill(data, size);
	tame();
	davy_checks_run(&facts, &findings);
	davy_doctor_judge(&facts, &findings, &conclusion);
	check_findings();
	check_report(data[0] & 1);
	return 0;
}
