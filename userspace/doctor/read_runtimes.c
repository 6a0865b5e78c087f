/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tries ROCm, Vulkan, Level Zero and NVML in davylamp-probe, as the service's user. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/message.h"
#include "doctor/read.h"
#include "doctor/spawn.h"

#define ARGUMENTS 12
#define SPARE_MS  1000 /* the probe's own limit expires first */

static const struct {
	const char *kind; /* argument of davylamp-probe */
	const char *what;
	const char *vendor; /* vendor of its GPUs; NULL: all */
	const char *library;
} rows[DAVY_DOCTOR_RUNTIMES] = {
	[DAVY_DISCOVERY_ROCM] = { "rocm", "ROCm's runtime", "amd", "libhsa-runtime64.so.1" },
	[DAVY_DISCOVERY_VULKAN] = { "vulkan", "Vulkan", NULL, "libvulkan.so.1" },
	[DAVY_DISCOVERY_LEVEL_ZERO] = { "levelzero", "Level Zero", "intel", "libze_loader.so.1" },
	[DAVY_DISCOVERY_NVML] = { "nvml", "NVML", "nvidia", "libnvidia-ml.so.1" },
};

struct arguments {
	const char *at[ARGUMENTS];
	char uid[16], gid[16], timeout[16];
	char groups[DAVY_DOCTOR_GROUPS * 11 + 1];
};

/* As root the probe must change its user; as another user it cannot. */
static void make_arguments(struct arguments *a, const struct davy_who *who, const char *kind,
			   uint32_t limit_ms)
{
	const struct davy_doctor_service *s = who->service;
	size_t n = 0;

	a->groups[0] = 0;
	for (size_t i = 0; i < s->group_count; i++)
		snprintf(a->groups + strlen(a->groups), sizeof(a->groups) - strlen(a->groups),
			 "%s%u", i ? "," : "", s->groups[i]);
	snprintf(a->uid, sizeof(a->uid), "%u", s->uid);
	snprintf(a->gid, sizeof(a->gid), "%u", s->gid);
	snprintf(a->timeout, sizeof(a->timeout), "%u", limit_ms / 1000);
	a->at[n++] = "davylamp-probe";
	a->at[n++] = "--stages";
	a->at[n++] = kind;
	a->at[n++] = "--timeout";
	a->at[n++] = a->timeout;
	if (!s->uid) {
		a->at[n++] = "--uid";
		a->at[n++] = a->uid;
		a->at[n++] = "--gid";
		a->at[n++] = a->gid;
		a->at[n++] = "--groups";
		a->at[n++] = a->groups;
	}
	a->at[n] = NULL;
}

/* NVIDIA's driver has no file with the size of the memory; NVML reports it. */
static void runtimes_take_gpu(struct davy_doctor_gpu *g, const json_t *device, bool vulkan)
{
	g->in_vulkan |= vulkan;
	if (!g->vram_bytes && davy_message_number(device, "memory", 0) > 0)
		g->vram_bytes = (uint64_t)davy_message_number(device, "memory", 0);
}

/* Takes the names, "A, B", and whether all devices are CPU devices. */
static void runtimes_take_devices(struct davy_doctor_facts *facts, struct davy_doctor_probe *p,
				  const json_t *answer)
{
	const json_t *list = json_object_get(answer, "devices"), *d;
	size_t i, software = 0;

	p->gpu_count = (uint32_t)json_array_size(list);
	p->addressed = p->gpu_count > 0;
	json_array_foreach(list, i, d)
	{
		size_t used = strlen(p->names);

		p->addressed &= *davy_message_text(d, "pci") != 0;
		for (size_t g = 0; g < facts->gpu_count; g++)
			if (!strcmp(facts->gpu[g].device, davy_message_text(d, "pci")))
				runtimes_take_gpu(&facts->gpu[g], d,
						  p == &facts->probe[DAVY_DISCOVERY_VULKAN]);
		software += !strcmp(davy_message_text(d, "type"), "cpu");
		snprintf(p->names + used, sizeof(p->names) - used, "%s%.60s", used ? ", " : "",
			 davy_message_text(d, "name"));
	}
	p->software = p->gpu_count && software == p->gpu_count;
}

static void runtimes_take(struct davy_doctor_facts *facts, struct davy_doctor_probe *p,
			  const struct davy_probe_finding *finding)
{
	json_t *answer =
		finding->answer ? json_loadb(finding->answer, finding->answer_size, 0, NULL) : NULL;

	p->ran = finding->kind != DAVY_PROBE_MISSING;
	p->healthy = finding->kind == DAVY_PROBE_HEALTHY;
	davy_copy_name(p->stage, sizeof(p->stage), finding->stage);
	davy_copy_name(p->text, sizeof(p->text), finding->text);
	runtimes_take_devices(facts, p, answer);
	/* The probe has a stage for Vulkan's loader. */
	p->absent = finding->kind == DAVY_PROBE_REPORTED &&
		    (!strcmp(p->stage, "load") || !strcmp(p->stage, "loader"));
	json_decref(answer);
}

static void runtimes_probe(struct davy_doctor_facts *facts, const struct davy_who *who,
			   const char *program, size_t row, uint32_t limit_ms)
{
	struct davy_spawned *spawned = malloc(sizeof(*spawned));
	struct davy_doctor_probe *p = &facts->probe[row];
	struct davy_probe_finding finding;
	struct arguments a;
	const struct davy_spawn spawn = { .who = who,
					  .program = program,
					  .argv = (char *const *)a.at,
					  .envp = who->envp,
					  .what = rows[row].what,
					  .limit_ms = limit_ms + SPARE_MS };
	int err = -ENOMEM;

	make_arguments(&a, who, rows[row].kind, limit_ms);
	if (spawned)
		err = davy_spawn_start(&spawn, spawned);
	if (err) {
		snprintf(p->text, sizeof(p->text), "davylamp-probe: %s", strerror(-err));
		free(spawned);
		return;
	}
	davy_spawn_wait(spawned);
	davy_probe_judge(&spawned->end, spawned->output_text, spawned->output_size,
			 spawned->noise_text, &finding);
	runtimes_take(facts, p, &finding);
	/* The probe did not start: not a fault of the runtime. */
	if (finding.kind == DAVY_PROBE_EXITED && !finding.stage[0])
		p->ran = false;
	davy_spawn_done(spawned);
	free(spawned);
}

static bool runtimes_wanted(const struct davy_doctor_facts *facts, size_t row)
{
	for (size_t i = 0; i < facts->gpu_count; i++)
		if (!rows[row].vendor || !strcmp(facts->gpu[i].subject.vendor, rows[row].vendor))
			return true;
	return false;
}

void davy_read_runtimes(struct davy_doctor_facts *facts, const struct davy_who *who,
			const char *program, uint32_t limit_ms)
{
	const char *why;

	for (size_t i = 0; i < DAVY_DOCTOR_RUNTIMES; i++) {
		struct davy_doctor_probe *p = &facts->probe[i];

		davy_copy_name(p->library, sizeof(p->library), rows[i].library);
		p->wanted = runtimes_wanted(facts, i);
		if (!p->wanted)
			continue;
		if (!program)
			davy_copy_name(p->text, sizeof(p->text),
				       "davylamp-probe is not in the directory of davylamp");
		else if (!davy_who_may_run(who, &why))
			davy_copy_name(p->text, sizeof(p->text), why);
		else
			runtimes_probe(facts, who, program, i, limit_ms);
	}
}
