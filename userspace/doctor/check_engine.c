/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine: the GPUs that its libraries support, and its device discovery. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "doctor/checks.h"

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; *at; at += strcspn(at, " "), at += *at == ' ')
		if (!strncmp(at, word, len) && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

/*
 * The target that rocBLAS looks for: the GPU's own, or that of the override. An override of another
 * family is ignored here; config.override reports it.
 */
static void wanted_target(const struct davy_doctor_facts *facts, const struct davy_doctor_gpu *g,
			  char *buf, size_t size)
{
	struct davy_doctor_override o;

	if (davy_doctor_override_of(facts, g, &o) && o.valid && o.major == g->kfd_gfx / 10000)
		snprintf(buf, size, "gfx%u%x%x", o.major, o.minor, o.stepping);
	else
		snprintf(buf, size, "%s", g->subject.gfx);
}

DAVY_CHECK(bundle)
{
	const struct davy_doctor_engine *e = &facts->engine;
	size_t looked = 0;

	for (size_t i = 0; e->has_rocblas && i < facts->gpu_count; i++) {
		const struct davy_doctor_gpu *g = &facts->gpu[i];
		char target[32];
		struct davy_finding *f;
		bool good;

		if (!g->has_kfd_node)
			continue;
		looked++;
		wanted_target(facts, g, target, sizeof(target));
		good = has_word(e->targets, target);
		f = davy_finding_add(findings, check, good ? DAVY_FOUND_OK : DAVY_FOUND_FAILURE,
				     DAVY_BIT(ROCM), g->device);
		if (good) {
			davy_finding_evidence(f, "%s has kernels for %s", e->rocblas, target);
			continue;
		}
		davy_finding_evidence(f, "%s has no kernels for %s, only for %s", e->rocblas,
				      target, e->targets[0] ? e->targets : "nothing");
		davy_finding_fix(
			f,
			"use another backend with this engine, or a version of the engine whose "
			"ROCm has %s",
			target);
		davy_finding_verify(f, "ls '%s' | grep %s", e->rocblas, target);
	}
	if (!looked)
		davy_check_not_needed(findings, check,
				      e->has_rocblas ? "no GPU with KFD"
						     : "no rocBLAS was found with the engine");
}

static void engine_say_end(struct davy_finding *f, const struct davy_doctor_run *r)
{
	const char *name = r->end == DAVY_END_SIGNAL ? sigabbrev_np(r->code) : NULL;
	char how[96];

	if (r->end == DAVY_END_SIGNAL)
		snprintf(how, sizeof(how), "%s died by SIG%s", r->by_child ? "its runner" : "it",
			 name ? name : "?");
	else if (r->end == DAVY_END_HUNG)
		snprintf(how, sizeof(how), "it hung and was killed");
	else if (r->end == DAVY_END_EXIT)
		snprintf(how, sizeof(how), "it exited with status %d", r->code);
	else
		snprintf(how, sizeof(how), "it found no device");
	davy_finding_evidence(f, "%s in stage %s%s%s after %u ms%s%s", how,
			      davy_doctor_stage_name(r->stage), r->where[0] ? ", in " : "",
			      r->where, r->ms, r->words[0] ? "; its output: " : "", r->words);
}

static void say_run(const struct davy_doctor_facts *facts, const struct davy_check *check,
		    struct davy_findings *findings, const struct davy_doctor_run *r)
{
	/* A command of the user that succeeds without devices proves no backend. */
	bool silent = r->end == DAVY_END_GOOD && !r->devices[0];
	uint32_t bit = r->backend && !silent ? 1u << r->backend : 0;
	const char *title = davy_doctor_backend_title(r->backend);
	struct davy_finding *f;

	f = davy_finding_add(findings, check,
			     r->end == DAVY_END_NOT_RUN ? DAVY_FOUND_UNCHECKED
			     : r->end == DAVY_END_GOOD	? DAVY_FOUND_OK
							: DAVY_FOUND_FAILURE,
			     bit, title);
	if (r->end == DAVY_END_NOT_RUN) {
		davy_finding_evidence(f, "not tried: %s", r->words);
		return;
	}
	if (r->end == DAVY_END_GOOD) {
		davy_finding_evidence(f, "as user %s, %u ms: %s", facts->service.user, r->ms,
				      r->devices[0] ? r->devices : "it succeeded");
		return;
	}
	engine_say_end(f, r);
	if (r->stage == DAVY_STAGE_EXEC && r->end == DAVY_END_EXIT)
		davy_finding_fix(f, "a library is missing, or the program does not know its "
				    "arguments: see its output");
	else
		davy_finding_fix(
			f,
			"use another backend with this engine, and report to its developers: "
			"backend %s, stage %s",
			title, davy_doctor_stage_name(r->stage));
	if (facts->engine.path[0])
		davy_finding_verify(f, "davylamp doctor %s --engine %s", facts->service.as,
				    facts->engine.path);
	else
		davy_finding_verify(f, "davylamp doctor %s -- COMMAND", facts->service.as);
}

DAVY_CHECK(runner)
{
	struct davy_finding *f;

	for (size_t i = 0; i < facts->run_count; i++)
		say_run(facts, check, findings, &facts->run[i]);
	if (facts->run_count)
		return;
	if (!facts->gpu_count) {
		davy_check_not_needed(findings, check, "no GPU");
		return;
	}
	f = davy_finding_add(findings, check, DAVY_FOUND_UNCHECKED, 0, "");
	if (facts->engine.runner[0])
		davy_finding_evidence(f, "no library of a ggml backend was found with it");
	else if (facts->engine.name[0])
		davy_finding_evidence(f, "the device discovery of %s is not known",
				      facts->engine.name);
	else
		davy_finding_evidence(f, "no engine program is known");
	davy_finding_fix(
		f, "name it with --engine /usr/bin/llama-server, or give a command after -- that "
		   "makes it list its devices");
	davy_finding_verify(f, "davylamp doctor --engine PATH");
}
