/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/doctor_judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"

#define BIT(backend) (1u << (backend))
static const uint32_t gpu_backends = 1u << DAVY_BACKEND_VULKAN | 1u << DAVY_BACKEND_ROCM |
				     1u << DAVY_BACKEND_CUDA | 1u << DAVY_BACKEND_SYCL;

static bool doctor_judge_fails(const struct davy_finding *f)
{
	return f->verdict == DAVY_FOUND_FAILURE && f->check->layer != DAVY_AT_SELF;
}

/*
 * "below" explains "f" if it breaks all backends of "f", and belongs to a lower layer, or to the
 * same layer and is not the result of a program run.
 */
static bool doctor_judge_explains(const struct davy_finding *below, const struct davy_finding *f)
{
	if (!f->check->runs || !f->backends || f->backends & ~below->backends)
		return false;
	return below->check->layer < f->check->layer ||
	       (below->check->layer == f->check->layer && !below->check->runs);
}

static bool doctor_judge_explained(const struct davy_findings *findings,
				   const struct davy_finding *f)
{
	for (size_t i = 0; i < findings->count; i++)
		if (doctor_judge_fails(&findings->at[i]) &&
		    doctor_judge_explains(&findings->at[i], f))
			return true;
	return false;
}

/* Two refused files are one cause, even if all backends need one and only ROCm the other. */
static bool same_cause(const struct davy_finding *a, const struct davy_finding *b)
{
	return a->check == b->check &&
	       (a->check->layer <= DAVY_AT_ACCESS || a->backends == b->backends);
}

static void take_causes(const struct davy_findings *findings, struct davy_conclusion *c)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct davy_finding *f = &findings->at[i];
		size_t at = 0;

		if (!doctor_judge_fails(f) || doctor_judge_explained(findings, f))
			continue;
		while (at < c->cause_count && !same_cause(c->cause[at].finding, f))
			at++;
		if (at == DAVY_CAUSES_MAX)
			continue;
		if (at == c->cause_count)
			c->cause[c->cause_count++] = (struct davy_cause){ .finding = f };
		c->cause[at].count++;
		c->cause[at].backends |= f->backends;
		c->broken |= f->backends;
	}
}

static bool any_of(const struct davy_findings *findings, enum davy_doctor_layer layer,
		   uint32_t backends, enum davy_diagnosis verdict)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->at[i].check->layer == layer && findings->at[i].verdict == verdict &&
		    (!backends || findings->at[i].backends & backends))
			return true;
	return false;
}

static bool fails_anywhere(const struct davy_findings *findings, uint32_t backend)
{
	for (size_t i = 0; i < findings->count; i++)
		if (doctor_judge_fails(&findings->at[i]) && findings->at[i].backends & backend)
			return true;
	return false;
}

/* A backend is proven if its runtime works, and the engine too if it was run. */
static void take_usable(const struct davy_findings *findings, struct davy_conclusion *c)
{
	for (uint32_t b = DAVY_BACKEND_VULKAN; b < DAVY_BACKEND_COUNT; b++) {
		bool ran = any_of(findings, DAVY_AT_ENGINE, BIT(b), DAVY_FOUND_OK);
		bool works = any_of(findings, DAVY_AT_RUNTIME, BIT(b), DAVY_FOUND_OK);

		if ((ran || works) && !fails_anywhere(findings, BIT(b)))
			c->usable |= BIT(b);
	}
	for (uint32_t layer = DAVY_AT_DRIVER; layer < DAVY_DOCTOR_LAYERS; layer++)
		if (any_of(findings, (enum davy_doctor_layer)layer, 0, DAVY_FOUND_OK) &&
		    !any_of(findings, (enum davy_doctor_layer)layer, 0, DAVY_FOUND_FAILURE))
			c->healthy |= 1u << layer;
}

static void doctor_judge_put(char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Appends sanitized text; cuts it between characters if it does not fit. */
static void doctor_judge_put(char *buf, size_t size, const char *format, ...)
{
	size_t used = strlen(buf);
	va_list args;

	va_start(args, format);
	if (used < size)
		vsnprintf(buf + used, size - used, format, args);
	va_end(args);
	buf[used + davy_text_shown_length(buf + used)] = 0;
}

/* Lists what is proven: whole layers below the runtimes, then single runtimes and backends. */
static void tell_proven(const struct davy_findings *findings, struct davy_conclusion *c)
{
	char *p = c->proven;

	for (uint32_t layer = DAVY_AT_DRIVER; layer < DAVY_AT_RUNTIME; layer++)
		if (c->healthy & 1u << layer && layer != DAVY_AT_CONFIG)
			doctor_judge_put(p, sizeof(c->proven), "%s%s", *p ? ", " : "",
					 davy_doctor_layer_name((enum davy_doctor_layer)layer));
	for (uint32_t b = DAVY_BACKEND_VULKAN; b < DAVY_BACKEND_COUNT; b++) {
		const char *title = davy_doctor_backend_title(b);

		if (any_of(findings, DAVY_AT_RUNTIME, BIT(b), DAVY_FOUND_OK) &&
		    !any_of(findings, DAVY_AT_RUNTIME, BIT(b), DAVY_FOUND_FAILURE))
			doctor_judge_put(p, sizeof(c->proven), "%s%s", *p ? ", " : "", title);
		if (any_of(findings, DAVY_AT_ENGINE, BIT(b), DAVY_FOUND_OK) &&
		    !any_of(findings, DAVY_AT_ENGINE, BIT(b), DAVY_FOUND_FAILURE))
			doctor_judge_put(p, sizeof(c->proven), "%s%s", *p ? ", " : "",
					 b == DAVY_BACKEND_VULKAN ? "the engine's Vulkan"
					 : b == DAVY_BACKEND_ROCM ? "the engine's ROCm"
					 : b == DAVY_BACKEND_CUDA ? "the engine's CUDA"
								  : "the engine's SYCL");
	}
}

/* Faults of a runtime or engine are avoided by another backend; other faults are repaired. */
static bool is_lived_with(const struct davy_cause *cause)
{
	const struct davy_check *check = cause->finding->check;

	return !cause->finding->mend &&
	       (check->layer == DAVY_AT_BUNDLE || check->layer == DAVY_AT_ENGINE ||
		check->layer == DAVY_AT_RUNTIME);
}

/* The order in which ggml tries backends: the vendor's, then Vulkan. */
static const enum davy_backend order[] = { DAVY_BACKEND_CUDA, DAVY_BACKEND_ROCM, DAVY_BACKEND_SYCL,
					   DAVY_BACKEND_VULKAN };

/*
 * Chooses the GPUs of the policy: those that can use the backends to avoid. One GPU, all of a
 * vendor, or all. Returns the backends that these GPUs can use.
 */
static uint32_t choose_gpus(const struct davy_doctor_facts *facts, struct davy_conclusion *c,
			    uint32_t to_avoid)
{
	uint32_t could = 0;
	size_t count = 0;

	for (size_t i = 0; i < facts->gpu_count; i++) {
		const struct davy_doctor_gpu *g = &facts->gpu[i];
		uint32_t backends = davy_doctor_backends_of(g->subject.vendor);

		if (!(backends & to_avoid))
			continue;
		could |= backends;
		c->gpu = count ? NULL : g;
		if (!count)
			c->vendor = g->subject.vendor;
		else if (c->vendor && strcmp(c->vendor, g->subject.vendor) != 0)
			c->vendor = NULL;
		count++;
	}
	if (c->gpu)
		c->vendor = NULL;
	return could;
}

static void take_policy(const struct davy_doctor_facts *facts, struct davy_conclusion *c)
{
	uint32_t to_avoid = 0, to_mend = 0, could;

	for (size_t i = 0; i < c->cause_count; i++) {
		if (is_lived_with(&c->cause[i]))
			to_avoid |= c->cause[i].backends;
		else
			to_mend |= c->cause[i].backends;
	}
	if (!to_avoid)
		return;
	/* No policy for the CPU alone while another backend can be repaired. */
	if (!c->usable && to_mend & ~to_avoid)
		return;
	could = choose_gpus(facts, c, to_avoid);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (c->usable & could & BIT(order[i]))
			c->policy[c->policy_count++] = order[i];
	c->policy[c->policy_count++] = DAVY_BACKEND_CPU;
}

static void backends_text(uint32_t backends, char *buf, size_t size)
{
	buf[0] = 0;
	for (uint32_t b = DAVY_BACKEND_VULKAN; b < DAVY_BACKEND_COUNT; b++)
		if (backends & BIT(b))
			doctor_judge_put(buf, size, "%s%s", buf[0] ? " and " : "",
					 davy_doctor_backend_title(b));
}

static void tell_cause(const struct davy_doctor_facts *facts, const struct davy_cause *cause,
		       struct davy_conclusion *c)
{
	const struct davy_finding *f = cause->finding;
	char backends[64];
	bool engine = f->check->layer == DAVY_AT_ENGINE || f->check->layer == DAVY_AT_BUNDLE;

	backends_text(cause->backends & gpu_backends, backends, sizeof(backends));
	if (engine) {
		doctor_judge_put(c->text, sizeof(c->text), "the engine's %s backend is at fault",
				 backends[0] ? backends : "GPU");
		if (facts->gpu_count == 1 && facts->gpu[0].subject.gfx[0])
			doctor_judge_put(c->text, sizeof(c->text), " on %s",
					 facts->gpu[0].subject.gfx);
	} else {
		doctor_judge_put(c->text, sizeof(c->text), "%s%s%s%s", f->check->fault,
				 backends[0] ? " (no " : "", backends, backends[0] ? ")" : "");
	}
	doctor_judge_put(c->text, sizeof(c->text), ": %s%s%s", f->about, f->about[0] ? ": " : "",
			 f->evidence);
	if (cause->count > 1)
		doctor_judge_put(c->text, sizeof(c->text), " (and %zu more)", cause->count - 1);
	for (uint32_t b = 0; engine && facts->gpu_count == 1 && b < DAVY_BACKEND_COUNT; b++)
		if (cause->backends & BIT(b) && facts->gpu[0].policy[b].against)
			doctor_judge_put(c->text, sizeof(c->text), "; known: %s (%s)",
					 facts->gpu[0].policy[b].why,
					 facts->gpu[0].policy[b].origin);
}

static void tell_causes(const struct davy_doctor_facts *facts, struct davy_conclusion *c)
{
	char list[64], usable[64];

	backends_text(c->usable, usable, sizeof(usable));
	if (c->cause_count > 1)
		doctor_judge_put(c->text, sizeof(c->text), "%zu causes: ", c->cause_count);
	for (size_t i = 0; i < c->cause_count; i++) {
		if (c->cause_count > 1)
			doctor_judge_put(c->text, sizeof(c->text), "%s(%zu) ", i ? "; " : "",
					 i + 1);
		tell_cause(facts, &c->cause[i], c);
	}
	if (c->proven[0])
		doctor_judge_put(c->text, sizeof(c->text), ". Proven healthy: %s", c->proven);
	davy_conclusion_backends(c, list, sizeof(list));
	if (c->policy_count > 1)
		doctor_judge_put(c->text, sizeof(c->text), ". Policy: use %s (backends = %s)",
				 davy_doctor_backend_title(c->policy[0]), list);
	else if (c->policy_count)
		doctor_judge_put(c->text, sizeof(c->text), ". Policy: use the CPU (backends = %s)",
				 list);
	else
		doctor_judge_put(c->text, sizeof(c->text), ". No policy: repair %s%s%s",
				 c->cause_count > 1 ? "these" : "this",
				 usable[0] ? "; meanwhile use " : "", usable);
}

static void doctor_judge_tell(const struct davy_doctor_facts *facts,
			      const struct davy_findings *findings, struct davy_conclusion *c)
{
	char usable[64];

	if (c->kind == DAVY_CONCLUDES_CAUSE) {
		tell_causes(facts, c);
	} else if (c->kind == DAVY_CONCLUDES_NO_GPU) {
		doctor_judge_put(
			c->text, sizeof(c->text),
			"this host has no GPU: drivers, permissions and runtimes could not be "
			"checked; engines run on the CPU");
	} else if (c->kind == DAVY_CONCLUDES_UNKNOWN) {
		doctor_judge_put(c->text, sizeof(c->text),
				 "no fault was found, but no backend was proven: "
				 "see the checks that could not be made");
		if (c->proven[0])
			doctor_judge_put(c->text, sizeof(c->text), ". Proven healthy: %s",
					 c->proven);
	} else {
		backends_text(c->usable, usable, sizeof(usable));
		doctor_judge_put(c->text, sizeof(c->text),
				 "no fault was found: this user can use %s%s", usable,
				 any_of(findings, DAVY_AT_ENGINE, c->usable, DAVY_FOUND_OK)
					 ? ", and the engine finds it"
					 : "; no engine was run");
	}
}

void davy_doctor_judge(const struct davy_doctor_facts *facts, const struct davy_findings *findings,
		       struct davy_conclusion *ret_conclusion)
{
	struct davy_conclusion *c = ret_conclusion;

	memset(c, 0, sizeof(*c));
	take_causes(findings, c);
	take_usable(findings, c);
	tell_proven(findings, c);
	if (c->cause_count)
		c->kind = DAVY_CONCLUDES_CAUSE;
	else if (!facts->gpu_count)
		c->kind = DAVY_CONCLUDES_NO_GPU;
	else
		c->kind = c->usable ? DAVY_CONCLUDES_HEALTHY : DAVY_CONCLUDES_UNKNOWN;
	take_policy(facts, c);
	doctor_judge_tell(facts, findings, c);
}

void davy_conclusion_backends(const struct davy_conclusion *c, char *buf, size_t size)
{
	buf[0] = 0;
	for (size_t i = 0; i < c->policy_count; i++)
		doctor_judge_put(buf, size, "%s%s", i ? "," : "", davy_backend_name(c->policy[i]));
}
