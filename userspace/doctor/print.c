/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/print.h"

#include <string.h>

#include "lib/log.h"
#include "lib/text.h"

const char *dl_conclusion_name(enum dl_conclusion_kind kind)
{
	static const char *const names[] = {
		[DL_CONCLUDES_HEALTHY] = "healthy",
		[DL_CONCLUDES_NO_GPU] = "no-gpu",
		[DL_CONCLUDES_CAUSE] = "cause",
		[DL_CONCLUDES_UNKNOWN] = "unknown",
	};

	return names[kind];
}

int dl_doctor_exit(const struct dl_findings *findings, const struct dl_conclusion *conclusion)
{
	enum dl_diagnosis worst = dl_findings_worst(findings);

	if (worst == DL_FOUND_FAILURE)
		return DL_EXIT_FAILED;
	if (conclusion->kind == DL_CONCLUDES_NO_GPU)
		return DL_EXIT_NOTHING;
	if (worst == DL_FOUND_WARNING)
		return DL_EXIT_WARNING;
	return worst == DL_FOUND_UNCHECKED ? DL_EXIT_UNCHECKED : DL_EXIT_DONE;
}

static void print_finding(FILE *to, const struct dl_finding *f)
{
	static const char *const words[DL_FOUND_COUNT] = {
		[DL_FOUND_NOT_NEEDED] = "-",	[DL_FOUND_OK] = "ok",
		[DL_FOUND_UNCHECKED] = "?",	[DL_FOUND_WARNING] = "warning",
		[DL_FOUND_FAILURE] = "FAILURE",
	};

	const char *title = f->verdict == DL_FOUND_FAILURE ? f->check->fault : f->check->title;

	fprintf(to, "  %-8s %s%s%s: %s\n", words[f->verdict], title, f->about[0] ? ", " : "",
		f->about, f->evidence);
	if (f->verdict < DL_FOUND_UNCHECKED)
		return;
	if (f->fix[0])
		fprintf(to, "           fix:    %s\n", f->fix);
	if (f->verify[0])
		fprintf(to, "           verify: %s\n", f->verify);
}

static void print_head(FILE *to, const struct dl_doctor_facts *facts)
{
	char user[128], unit[160], path[512];

	fprintf(to, "user %s (%u)%s%s%s%s, Linux %s\n",
		dl_text_safe(user, sizeof(user), facts->service.user), facts->service.uid,
		facts->service.unit[0] ? ", service " : "",
		dl_text_safe(unit, sizeof(unit), facts->service.unit),
		facts->engine.path[0] ? ", engine " : "",
		dl_text_safe(path, sizeof(path), facts->engine.path), facts->kernel);
}

static void print_conclusion(FILE *to, const struct dl_conclusion *c)
{
	static const char *const heads[] = {
		[DL_CONCLUDES_HEALTHY] = "conclusion",
		[DL_CONCLUDES_NO_GPU] = "conclusion",
		[DL_CONCLUDES_CAUSE] = "root cause",
		[DL_CONCLUDES_UNKNOWN] = "conclusion",
	};

	fprintf(to, "\n%s: %s\n", heads[c->kind], c->text);
	if (c->policy_count)
		fprintf(to, "'davylamp doctor --apply', with the same options, writes that policy "
			    "as a rule of people's\n");
}

void dl_doctor_print(FILE *to, const struct dl_doctor_facts *facts,
		     const struct dl_findings *findings, const struct dl_conclusion *conclusion,
		     bool all)
{
	print_head(to, facts);
	for (uint32_t layer = 0; layer < DL_DOCTOR_LAYERS; layer++) {
		bool headed = false;

		for (size_t i = 0; i < findings->count; i++) {
			const struct dl_finding *f = &findings->at[i];

			if (f->check->layer != (enum dl_doctor_layer)layer ||
			    (!all && f->verdict == DL_FOUND_NOT_NEEDED))
				continue;
			if (!headed)
				fprintf(to, "\n%s\n",
					dl_doctor_layer_name((enum dl_doctor_layer)layer));
			headed = true;
			print_finding(to, f);
		}
	}
	if (findings->left_out)
		fprintf(to, "\n%zu findings found no room\n", findings->left_out);
	print_conclusion(to, conclusion);
}
