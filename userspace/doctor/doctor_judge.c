/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/doctor_judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"

#define BIT(backend) (1u << (backend))
static const uint32_t gpu_backends = 1u << DL_BACKEND_VULKAN | 1u << DL_BACKEND_ROCM |
				     1u << DL_BACKEND_CUDA | 1u << DL_BACKEND_SYCL;

static bool fails(const struct dl_finding *f)
{
	return f->verdict == DL_FOUND_FAILURE && f->check->layer != DL_AT_SELF;
}

/*
 * All that it bears on has to be brought down by the other, which is of a layer below, or of its
 * own and was not merely run.
 */
static bool explains(const struct dl_finding *below, const struct dl_finding *f)
{
	if (!f->check->runs || !f->backends || f->backends & ~below->backends)
		return false;
	return below->check->layer < f->check->layer ||
	       (below->check->layer == f->check->layer && !below->check->runs);
}

static bool explained(const struct dl_findings *findings, const struct dl_finding *f)
{
	for (size_t i = 0; i < findings->count; i++)
		if (fails(&findings->at[i]) && explains(&findings->at[i], f))
			return true;
	return false;
}

/* A file that every backend needs and one that ROCm alone needs, both refused, are one cause. */
static bool same_cause(const struct dl_finding *a, const struct dl_finding *b)
{
	return a->check == b->check &&
	       (a->check->layer <= DL_AT_ACCESS || a->backends == b->backends);
}

static void take_causes(const struct dl_findings *findings, struct dl_conclusion *c)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct dl_finding *f = &findings->at[i];
		size_t at = 0;

		if (!fails(f) || explained(findings, f))
			continue;
		while (at < c->cause_count && !same_cause(c->cause[at].finding, f))
			at++;
		if (at == DL_CAUSES_MAX)
			continue;
		if (at == c->cause_count)
			c->cause[c->cause_count++] = (struct dl_cause){ .finding = f };
		c->cause[at].count++;
		c->cause[at].backends |= f->backends;
		c->broken |= f->backends;
	}
}

static bool any_of(const struct dl_findings *findings, enum dl_doctor_layer layer,
		   uint32_t backends, enum dl_diagnosis verdict)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->at[i].check->layer == layer && findings->at[i].verdict == verdict &&
		    (!backends || findings->at[i].backends & backends))
			return true;
	return false;
}

static bool fails_anywhere(const struct dl_findings *findings, uint32_t backend)
{
	for (size_t i = 0; i < findings->count; i++)
		if (fails(&findings->at[i]) && findings->at[i].backends & backend)
			return true;
	return false;
}

/* A runtime that works is a proof; an engine that was asked has to have worked, too. */
static void take_usable(const struct dl_findings *findings, struct dl_conclusion *c)
{
	for (uint32_t b = DL_BACKEND_VULKAN; b < DL_BACKEND_COUNT; b++) {
		bool ran = any_of(findings, DL_AT_ENGINE, BIT(b), DL_FOUND_OK);
		bool works = any_of(findings, DL_AT_RUNTIME, BIT(b), DL_FOUND_OK);

		if ((ran || works) && !fails_anywhere(findings, BIT(b)))
			c->usable |= BIT(b);
	}
	for (uint32_t layer = DL_AT_DRIVER; layer < DL_DOCTOR_LAYERS; layer++)
		if (any_of(findings, (enum dl_doctor_layer)layer, 0, DL_FOUND_OK) &&
		    !any_of(findings, (enum dl_doctor_layer)layer, 0, DL_FOUND_FAILURE))
			c->healthy |= 1u << layer;
}

static void put(char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Of texts that can be shown; what does not fit is cut between characters. */
static void put(char *buf, size_t size, const char *format, ...)
{
	size_t used = strlen(buf);
	va_list args;

	va_start(args, format);
	if (used < size)
		vsnprintf(buf + used, size - used, format, args);
	va_end(args);
	buf[used + dl_text_shown_length(buf + used)] = 0;
}

/* What stood the test: layers as a whole below the runtimes, there and above one by one. */
static void tell_proven(const struct dl_findings *findings, struct dl_conclusion *c)
{
	char *p = c->proven;

	for (uint32_t layer = DL_AT_DRIVER; layer < DL_AT_RUNTIME; layer++)
		if (c->healthy & 1u << layer && layer != DL_AT_CONFIG)
			put(p, sizeof(c->proven), "%s%s", *p ? ", " : "",
			    dl_doctor_layer_name((enum dl_doctor_layer)layer));
	for (uint32_t b = DL_BACKEND_VULKAN; b < DL_BACKEND_COUNT; b++) {
		const char *title = dl_doctor_backend_title(b);

		if (any_of(findings, DL_AT_RUNTIME, BIT(b), DL_FOUND_OK) &&
		    !any_of(findings, DL_AT_RUNTIME, BIT(b), DL_FOUND_FAILURE))
			put(p, sizeof(c->proven), "%s%s", *p ? ", " : "", title);
		if (any_of(findings, DL_AT_ENGINE, BIT(b), DL_FOUND_OK) &&
		    !any_of(findings, DL_AT_ENGINE, BIT(b), DL_FOUND_FAILURE))
			put(p, sizeof(c->proven), "%s%s", *p ? ", " : "",
			    b == DL_BACKEND_VULKAN ? "the engine's Vulkan"
			    : b == DL_BACKEND_ROCM ? "the engine's ROCm"
			    : b == DL_BACKEND_CUDA ? "the engine's CUDA"
						   : "the engine's SYCL");
	}
}

/* A driver's own fault and an engine's are lived with by another backend; the rest is mended. */
static bool is_lived_with(const struct dl_cause *cause)
{
	const struct dl_check *check = cause->finding->check;

	return !cause->finding->mend &&
	       (check->layer == DL_AT_BUNDLE || check->layer == DL_AT_ENGINE ||
		check->layer == DL_AT_RUNTIME);
}

/* What an engine tries first, as ggml does: the vendor's own, then Vulkan. */
static const enum dl_backend order[] = { DL_BACKEND_CUDA, DL_BACKEND_ROCM, DL_BACKEND_SYCL,
					 DL_BACKEND_VULKAN };

/*
 * Those that could use what is to be avoided: one, or all of a vendor, or all. Others keep what
 * they have. Returns the backends that these could use.
 */
static uint32_t choose_gpus(const struct dl_doctor_facts *facts, struct dl_conclusion *c,
			    uint32_t to_avoid)
{
	uint32_t could = 0;
	size_t count = 0;

	for (size_t i = 0; i < facts->gpu_count; i++) {
		const struct dl_doctor_gpu *g = &facts->gpu[i];
		uint32_t backends = dl_doctor_backends_of(g->subject.vendor);

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

static void take_policy(const struct dl_doctor_facts *facts, struct dl_conclusion *c)
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
	/* While what is left can be mended, the CPU alone would be a poor policy. */
	if (!c->usable && to_mend & ~to_avoid)
		return;
	could = choose_gpus(facts, c, to_avoid);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (c->usable & could & BIT(order[i]))
			c->policy[c->policy_count++] = order[i];
	c->policy[c->policy_count++] = DL_BACKEND_CPU;
}

static void backends_text(uint32_t backends, char *buf, size_t size)
{
	buf[0] = 0;
	for (uint32_t b = DL_BACKEND_VULKAN; b < DL_BACKEND_COUNT; b++)
		if (backends & BIT(b))
			put(buf, size, "%s%s", buf[0] ? " and " : "", dl_doctor_backend_title(b));
}

static void tell_cause(const struct dl_doctor_facts *facts, const struct dl_cause *cause,
		       struct dl_conclusion *c)
{
	const struct dl_finding *f = cause->finding;
	char backends[64];
	bool engine = f->check->layer == DL_AT_ENGINE || f->check->layer == DL_AT_BUNDLE;

	backends_text(cause->backends & gpu_backends, backends, sizeof(backends));
	if (engine) {
		put(c->text, sizeof(c->text), "the engine's %s backend is at fault",
		    backends[0] ? backends : "GPU");
		if (facts->gpu_count == 1 && facts->gpu[0].subject.gfx[0])
			put(c->text, sizeof(c->text), " on %s", facts->gpu[0].subject.gfx);
	} else {
		put(c->text, sizeof(c->text), "%s%s%s%s", f->check->fault,
		    backends[0] ? " (no " : "", backends, backends[0] ? ")" : "");
	}
	put(c->text, sizeof(c->text), ": %s%s%s", f->about, f->about[0] ? ": " : "", f->evidence);
	if (cause->count > 1)
		put(c->text, sizeof(c->text), " (and %zu more)", cause->count - 1);
	for (uint32_t b = 0; engine && facts->gpu_count == 1 && b < DL_BACKEND_COUNT; b++)
		if (cause->backends & BIT(b) && facts->gpu[0].policy[b].against)
			put(c->text, sizeof(c->text), "; as known here: %s (%s)",
			    facts->gpu[0].policy[b].why, facts->gpu[0].policy[b].origin);
}

static void tell_causes(const struct dl_doctor_facts *facts, struct dl_conclusion *c)
{
	char list[64], usable[64];

	backends_text(c->usable, usable, sizeof(usable));
	if (c->cause_count > 1)
		put(c->text, sizeof(c->text), "%zu causes: ", c->cause_count);
	for (size_t i = 0; i < c->cause_count; i++) {
		if (c->cause_count > 1)
			put(c->text, sizeof(c->text), "%s(%zu) ", i ? "; " : "", i + 1);
		tell_cause(facts, &c->cause[i], c);
	}
	if (c->proven[0])
		put(c->text, sizeof(c->text), ". Proven healthy: %s", c->proven);
	dl_conclusion_backends(c, list, sizeof(list));
	if (c->policy_count > 1)
		put(c->text, sizeof(c->text), ". Policy: use %s (backends = %s)",
		    dl_doctor_backend_title(c->policy[0]), list);
	else if (c->policy_count)
		put(c->text, sizeof(c->text), ". Policy: use the CPU (backends = %s)", list);
	else
		put(c->text, sizeof(c->text), ". No policy follows: mend %s%s%s",
		    c->cause_count > 1 ? "these" : "this", usable[0] ? "; meanwhile there is " : "",
		    usable);
}

static void tell(const struct dl_doctor_facts *facts, const struct dl_findings *findings,
		 struct dl_conclusion *c)
{
	char usable[64];

	if (c->kind == DL_CONCLUDES_CAUSE) {
		tell_causes(facts, c);
	} else if (c->kind == DL_CONCLUDES_NO_GPU) {
		put(c->text, sizeof(c->text),
		    "there is no GPU on this host, so that nothing of drivers, permissions and "
		    "runtimes could be checked; engines run on the CPU");
	} else if (c->kind == DL_CONCLUDES_UNKNOWN) {
		put(c->text, sizeof(c->text),
		    "no fault was found, and no backend was proven: "
		    "see what could not be checked");
		if (c->proven[0])
			put(c->text, sizeof(c->text), ". Proven healthy: %s", c->proven);
	} else {
		backends_text(c->usable, usable, sizeof(usable));
		put(c->text, sizeof(c->text), "no fault was found: this user gets %s%s", usable,
		    any_of(findings, DL_AT_ENGINE, c->usable, DL_FOUND_OK)
			    ? ", and the engine finds it"
			    : "; no engine has proven it");
	}
}

void dl_doctor_judge(const struct dl_doctor_facts *facts, const struct dl_findings *findings,
		     struct dl_conclusion *ret_conclusion)
{
	struct dl_conclusion *c = ret_conclusion;

	memset(c, 0, sizeof(*c));
	take_causes(findings, c);
	take_usable(findings, c);
	tell_proven(findings, c);
	if (c->cause_count)
		c->kind = DL_CONCLUDES_CAUSE;
	else if (!facts->gpu_count)
		c->kind = DL_CONCLUDES_NO_GPU;
	else
		c->kind = c->usable ? DL_CONCLUDES_HEALTHY : DL_CONCLUDES_UNKNOWN;
	take_policy(facts, c);
	tell(facts, findings, c);
}

void dl_conclusion_backends(const struct dl_conclusion *c, char *buf, size_t size)
{
	buf[0] = 0;
	for (size_t i = 0; i < c->policy_count; i++)
		put(buf, size, "%s%s", i ? "," : "", dl_backend_name(c->policy[i]));
}
