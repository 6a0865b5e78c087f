/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings that fail later: a batch too large for the lockup timeout, a model for the memory. */
#include <inttypes.h>
#include <string.h>

#include "lib/text.h"
#include "doctor/checks.h"

#define UBATCH_DEFAULT 512 /* llama.cpp's */
#define MIB_SHIFT      20

static uint32_t ubatch_of(const struct davy_doctor_facts *facts)
{
	return facts->engine.ubatch ? facts->engine.ubatch : UBATCH_DEFAULT;
}

/* A rule with a smaller batch for this GPU exists because of its lockup timeout. */
DAVY_CHECK(lockup)
{
	for (size_t i = 0; i < facts->gpu_count; i++) {
		const struct davy_doctor_gpu *g = &facts->gpu[i];
		uint64_t ns = g->subject.lockup_ns[DAVY_BACKEND_VULKAN];
		uint32_t ubatch = ubatch_of(facts);
		bool bad = g->policy_ubatch && ubatch > g->policy_ubatch;
		struct davy_finding *f;

		if (!ns && !bad) {
			f = davy_finding_add(findings, check, DAVY_FOUND_NOT_NEEDED, 0, g->device);
			davy_finding_evidence(f, "the driver reports no lockup timeout");
			continue;
		}
		f = davy_finding_add(findings, check, bad ? DAVY_FOUND_WARNING : DAVY_FOUND_OK,
				     DAVY_BIT(VULKAN), g->device);
		if (!ns)
			davy_finding_evidence(
				f, "batch %u: this driver ends the jobs of long prompts", ubatch);
		else if (ns == DAVY_LOCKUP_NEVER)
			davy_finding_evidence(f, "jobs are never ended, batch %u", ubatch);
		else
			davy_finding_evidence(f, "jobs are ended after %" PRIu64 " ms, batch %u%s",
					      ns / DAVY_NS_PER_MS, ubatch,
					      bad ? ": long prompts take longer on this GPU" : "");
		if (!bad)
			continue;
		davy_finding_fix(f, "run with a ubatch of %u ('-ub %u', num_batch)%s",
				 g->policy_ubatch, g->policy_ubatch,
				 strcmp(g->driver, "amdgpu") != 0
					 ? ""
					 : ", or boot with "
					   "amdgpu.lockup_timeout=10000,10000,10000,10000");
		davy_finding_verify(f, "davylamp policy explain --backend vulkan --device %s",
				    g->device);
	}
	if (!facts->gpu_count)
		davy_check_not_needed(findings, check, "no GPU");
}

/* An integrated GPU uses host memory: count what is available. */
static uint64_t room_of(const struct davy_doctor_facts *facts, const struct davy_doctor_gpu *g)
{
	uint64_t host = facts->memory_available;

	if (strcmp(g->subject.kind, "igpu") != 0)
		return g->vram_bytes;
	if (g->gtt_bytes && g->gtt_bytes < host)
		host = g->gtt_bytes;
	return host + g->vram_bytes;
}

static void check_model_compare(const struct davy_doctor_facts *facts,
				const struct davy_check *check, struct davy_findings *findings,
				const struct davy_doctor_gpu *g)
{
	uint64_t room = room_of(facts, g), bytes = facts->model.bytes;
	struct davy_finding *f;

	/* 10 % is a minimum for context and buffers. */
	if (!room) {
		f = davy_finding_add(findings, check, DAVY_FOUND_UNCHECKED, 0, g->device);
		davy_finding_evidence(f, "the driver does not report the size of its memory");
		return;
	}
	f = davy_finding_add(findings, check,
			     bytes + bytes / 10 > room ? DAVY_FOUND_WARNING : DAVY_FOUND_OK, 0,
			     g->device);
	davy_finding_evidence(f, "the model has %" PRIu64 " MiB, the GPU %" PRIu64 " MiB%s",
			      bytes >> MIB_SHIFT, room >> MIB_SHIFT,
			      f->verdict == DAVY_FOUND_OK ? "" : ": it does not fit completely");
	if (f->verdict == DAVY_FOUND_OK)
		return;
	if (facts->model.layers)
		davy_finding_fix(f,
				 "put at most %" PRIu64 " of its %u layers on the GPU (-ngl), or "
				 "use a smaller quantisation",
				 room / (bytes / facts->model.layers + 1) * 9 / 10,
				 facts->model.layers);
	else
		davy_finding_fix(f, "use a smaller quantisation, or fewer layers (-ngl)");
	davy_finding_verify(f, "davylamp status");
}

DAVY_CHECK(memory)
{
	struct davy_finding *f;

	if (!facts->model.asked) {
		davy_check_not_needed(findings, check, "no model was given (--model)");
		return;
	}
	if (facts->model.error) {
		f = davy_finding_add(findings, check, DAVY_FOUND_UNCHECKED, 0, facts->model.path);
		davy_finding_evidence(f, "its header is not valid GGUF: %s",
				      davy_error_text(facts->model.error));
		return;
	}
	for (size_t i = 0; i < facts->gpu_count; i++)
		check_model_compare(facts, check, findings, &facts->gpu[i]);
	if (facts->gpu_count)
		return;
	f = davy_finding_add(findings, check,
			     facts->model.bytes > facts->memory_available ? DAVY_FOUND_WARNING
									  : DAVY_FOUND_OK,
			     0, facts->model.path);
	davy_finding_evidence(
		f, "without a GPU: the model has %" PRIu64 " MiB, the host %" PRIu64 " MiB free",
		facts->model.bytes >> MIB_SHIFT, facts->memory_available >> MIB_SHIFT);
	if (f->verdict == DAVY_FOUND_OK)
		return;
	davy_finding_fix(f, "use a smaller model or quantisation, or free host memory");
	davy_finding_verify(f, "grep MemAvailable /proc/meminfo");
}
