/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/print.h"

#include <string.h>

#include "doctor/next.h"
#include "lib/log.h"
#include "lib/text.h"

const char *davy_conclusion_name(enum davy_conclusion_kind kind)
{
	static const char *const names[] = {
		[DAVY_CONCLUDES_HEALTHY] = "healthy",
		[DAVY_CONCLUDES_NO_GPU] = "no-gpu",
		[DAVY_CONCLUDES_CAUSE] = "cause",
		[DAVY_CONCLUDES_UNKNOWN] = "unknown",
	};

	return names[kind];
}

int davy_doctor_exit(const struct davy_findings *findings, const struct davy_conclusion *conclusion)
{
	enum davy_diagnosis worst = davy_findings_worst(findings);

	if (worst == DAVY_FOUND_FAILURE)
		return DAVY_EXIT_FAILED;
	if (conclusion->kind == DAVY_CONCLUDES_NO_GPU)
		return DAVY_EXIT_NOTHING;
	if (worst == DAVY_FOUND_WARNING)
		return DAVY_EXIT_WARNING;
	return worst == DAVY_FOUND_UNCHECKED ? DAVY_EXIT_UNCHECKED : DAVY_EXIT_DONE;
}

static void print_finding(FILE *to, const struct davy_finding *f)
{
	static const char *const words[DAVY_FOUND_COUNT] = {
		[DAVY_FOUND_NOT_NEEDED] = "-",	  [DAVY_FOUND_OK] = "ok",
		[DAVY_FOUND_UNCHECKED] = "?",	  [DAVY_FOUND_WARNING] = "warning",
		[DAVY_FOUND_FAILURE] = "FAILURE",
	};

	const char *title = f->verdict == DAVY_FOUND_FAILURE ? f->check->fault : f->check->title;

	fprintf(to, "  %-8s %s%s%s: %s\n", words[f->verdict], title, f->about[0] ? ", " : "",
		f->about, f->evidence);
	if (f->verdict < DAVY_FOUND_UNCHECKED)
		return;
	if (f->fix[0])
		fprintf(to, "           fix:    %s\n", f->fix);
	if (f->verify[0])
		fprintf(to, "           verify: %s\n", f->verify);
}

static void print_print_head(FILE *to, const struct davy_doctor_facts *facts)
{
	char user[128], unit[160], path[512];

	fprintf(to, "user %s (%u)%s%s%s%s, Linux %s\n",
		davy_text_safe(user, sizeof(user), facts->service.user), facts->service.uid,
		facts->service.unit[0] ? ", service " : "",
		davy_text_safe(unit, sizeof(unit), facts->service.unit),
		facts->engine.path[0] ? ", engine " : "",
		davy_text_safe(path, sizeof(path), facts->engine.path), facts->kernel);
}

static void print_conclusion(FILE *to, const struct davy_conclusion *c)
{
	static const char *const heads[] = {
		[DAVY_CONCLUDES_HEALTHY] = "conclusion",
		[DAVY_CONCLUDES_NO_GPU] = "conclusion",
		[DAVY_CONCLUDES_CAUSE] = "root cause",
		[DAVY_CONCLUDES_UNKNOWN] = "conclusion",
	};

	fprintf(to, "\n%s: %s\n", heads[c->kind], c->text);
	if (c->policy_count)
		fprintf(to, "'davylamp doctor --apply', with the same options, writes this policy "
			    "as a rule of the administrator\n");
}

void davy_doctor_print(FILE *to, const struct davy_doctor_facts *facts,
		       const struct davy_findings *findings,
		       const struct davy_conclusion *conclusion, bool all)
{
	struct davy_next next = { 0 };

	print_print_head(to, facts);
	for (uint32_t layer = 0; layer < DAVY_DOCTOR_LAYERS; layer++) {
		bool headed = false;

		for (size_t i = 0; i < findings->count; i++) {
			const struct davy_finding *f = &findings->at[i];

			if (f->check->layer != (enum davy_doctor_layer)layer ||
			    (!all && f->verdict == DAVY_FOUND_NOT_NEEDED))
				continue;
			if (!headed)
				fprintf(to, "\n%s\n",
					davy_doctor_layer_name((enum davy_doctor_layer)layer));
			headed = true;
			print_finding(to, f);
		}
	}
	if (findings->left_out)
		fprintf(to, "\n%zu more findings are not shown\n", findings->left_out);
	print_conclusion(to, conclusion);
	davy_doctor_next(facts, &next);
	fprintf(to, "next: %s\n", next.command);
}
