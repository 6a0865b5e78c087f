/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of scenarios: graphics cards, engines, their work, and the loss of their device. */
#include <assert.h>
#include <string.h>

#include "lab/synth.h"

#define PAGE ((uint64_t)4096)

static const struct {
	const char *name, *architecture, *quantisation;
	uint64_t mib;
	uint32_t layers, trained;
} models[] = {
	{ "gemma-4-4b-it-Q4_K_M.gguf", "gemma4", "Q4_K_M", 2600, 34, 131072 },
	{ "Qwen3-8B-Q4_K_M.gguf", "qwen3", "Q4_K_M", 4800, 36, 40960 },
	{ "Mistral-Nemo-12B-Q5_K_M.gguf", "llama", "Q5_K_M", 8300, 40, 131072 },
	{ "gpt-oss-20b-mxfp4.gguf", "gpt-oss", "MXFP4", 11600, 24, 131072 },
	{ "Qwen3.6-27B-IQ4_XS.gguf", "qwen36", "IQ4_XS", 14400, 64, 262144 },
	{ "Llama-3.3-70B-Q4_K_M.gguf", "llama", "Q4_K_M", 40500, 80, 131072 },
};

static void parts_lockup(struct davy_sim *s, const struct davy_sim_device *d, const char *queue,
			 uint64_t timeout_ns)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_LOCKUP, 0);

	davy_copy_name(ev.lockup.device, sizeof(ev.lockup.device), d->name);
	davy_copy_name(ev.lockup.queue, sizeof(ev.lockup.queue), queue);
	ev.lockup.timeout_ns = timeout_ns;
	ev.lockup.origin = timeout_ns ? DAVY_LOCKUP_SCHEDULER : DAVY_LOCKUP_NONE;
	davy_sim_tell(s, &ev);
}

static void parts_added(struct davy_sim *s, const struct davy_sim_device *d)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_DEVICE, 0);

	davy_copy_name(ev.device.device, sizeof(ev.device.device), d->name);
	davy_copy_name(ev.device.driver, sizeof(ev.device.driver), d->driver);
	ev.device.change = DAVY_DEVICE_ADDED;
	davy_sim_tell(s, &ev);
}

/* Older kernels: 10 s, 60 s for compute; since 7.x 2 s for all. */
static struct davy_sim_device *amdgpu(struct davy_sim *s, const char *name, uint64_t vram,
				      uint64_t gtt, uint64_t timeout_ns)
{
	struct davy_sim_device *d = davy_sim_add_device(s, name, "amdgpu", vram, gtt);
	bool old = !timeout_ns && davy_random_chance(&s->random, 500);
	uint64_t other_ns = timeout_ns ? timeout_ns : old ? 10 * DAVY_S : 2 * DAVY_S;
	uint64_t compute_ns = timeout_ns ? timeout_ns : old ? 60 * DAVY_S : 2 * DAVY_S;

	parts_added(s, d);
	parts_lockup(s, d, "gfx", other_ns);
	parts_lockup(s, d, "compute", compute_ns);
	parts_lockup(s, d, "sdma", other_ns);
	davy_sim_add_ring(s, d, "gfx_0.0.0", other_ns);
	davy_sim_add_ring(s, d, "comp_1.0.0", compute_ns);
	davy_sim_add_ring(s, d, "comp_1.1.0", compute_ns);
	davy_sim_add_ring(s, d, "comp_1.2.0", compute_ns);
	davy_sim_add_ring(s, d, "sdma0", other_ns);
	return d;
}

struct davy_sim_device *davy_synth_dgpu(struct davy_sim *s, uint64_t timeout_ns)
{
	static const uint64_t gib[] = { 12, 16, 16, 20, 24, 32 };
	uint64_t vram = gib[davy_sim_between(s, 0, sizeof(gib) / sizeof(gib[0]) - 1)] * DAVY_GIB;

	return amdgpu(s, "0000:03:00.0", vram - 16 * DAVY_MIB, s->host_total / 2, timeout_ns);
}

struct davy_sim_device *davy_synth_apu(struct davy_sim *s, uint64_t timeout_ns)
{
	struct davy_sim_device *d;

	s->host_total = davy_sim_between(s, 3, 7) * 16 * DAVY_GIB;
	d = amdgpu(s, "0000:c6:00.0", davy_sim_between(s, 1, 4) * 512 * DAVY_MIB,
		   s->host_total / 4 * 3, timeout_ns);
	d->memory.flags = DAVY_MEMORY_SHARED;
	d->vram_other =
		d->memory.vram_total / 10 * 9; /* a carve-out is usually full, which is normal */
	return d;
}

struct davy_sim_device *davy_synth_gpu(struct davy_sim *s, uint64_t timeout_ns)
{
	return davy_random_chance(&s->random, 350) ? davy_synth_apu(s, timeout_ns)
						   : davy_synth_dgpu(s, timeout_ns);
}

struct davy_sim_device *davy_synth_intel(struct davy_sim *s, bool xe)
{
	struct davy_sim_device *d;

	if (xe) {
		d = davy_sim_add_device(s, "0000:04:00.0", "xe", 12 * DAVY_GIB, 0);
		parts_added(s, d);
		parts_lockup(s, d, "ccs", 5 * DAVY_S);
		davy_sim_add_ring(s, d, "ccs12", 5 * DAVY_S);
		davy_sim_add_ring(s, d, "ccs14", 5 * DAVY_S);
		return d;
	}
	s->host_total = 32 * DAVY_GIB;
	d = davy_sim_add_device(s, "0000:00:02.0", "i915", 0, s->host_total);
	d->memory.flags = DAVY_MEMORY_SHARED;
	parts_added(s, d);
	parts_lockup(s, d, "rcs", 0);
	return d;
}

struct davy_sim_device *davy_synth_nvidia(struct davy_sim *s, uint32_t bus)
{
	static const char *const names[] = { "0000:01:00.0", "0000:41:00.0", "0000:81:00.0" };
	struct davy_sim_device *d =
		davy_sim_add_device(s, names[bus % 3], "nvidia", 24 * DAVY_GIB, 0);

	parts_added(s, d);
	return d;
}

static bool on_host_memory(const struct davy_sim_device *d)
{
	return d->memory.flags & DAVY_MEMORY_SHARED;
}

static uint64_t parts_memory_of(const struct davy_sim_device *d)
{
	return on_host_memory(d) ? d->memory.gtt_total : d->memory.vram_total;
}

static void set_model(struct davy_sim_process *p, uint64_t bytes)
{
	struct davy_ev_process *i = &p->info;
	size_t n = 0;

	while (n + 1 < sizeof(models) / sizeof(models[0]) && models[n + 1].mib * DAVY_MIB <= bytes)
		n++;
	davy_copy_name(i->model, sizeof(i->model), models[n].name);
	davy_copy_name(i->architecture, sizeof(i->architecture), models[n].architecture);
	davy_copy_name(i->quantisation, sizeof(i->quantisation), models[n].quantisation);
	i->model_bytes = models[n].mib * DAVY_MIB;
	i->layer_count = models[n].layers;
	i->trained_context = models[n].trained;
}

struct davy_sim_process *davy_synth_engine(struct davy_sim *s, struct davy_sim_device *d,
					   enum davy_backend backend, uint32_t share_permille)
{
	bool ollama = davy_random_chance(&s->random, 400);
	struct davy_sim_process *p = davy_sim_add_process(s, d, ollama ? "ollama" : "llama-server");
	uint64_t bytes = parts_memory_of(d) / 1000 * share_permille / PAGE * PAGE;
	bool ring = (backend == DAVY_BACKEND_VULKAN || !strcmp(d->driver, "xe")) && d->ring_count;
	size_t tenant = 0;

	for (size_t i = 0; i + 1 < s->process_count; i++)
		tenant += s->process[i].device == d && s->process[i].info.engine != 0;
	if (ring)
		p->ring = &d->ring[d->ring_count > 2 ? 1 + tenant % 3 : tenant % d->ring_count];
	p->by_kfd = backend == DAVY_BACKEND_ROCM;
	p->kfd.queue_count = p->by_kfd ? 4 : 0;
	p->info.engine = ollama ? DAVY_ENGINE_OLLAMA_RUNNER : DAVY_ENGINE_LLAMA_SERVER;
	p->info.role = ollama ? DAVY_ROLE_RUNNER : DAVY_ROLE_SERVER;
	p->info.backend = (uint8_t)backend;
	p->info.port = (uint16_t)(ollama ? davy_sim_between(s, 33000, 60000) : 8080 + tenant);
	p->info.batch = 2048;
	p->info.ubatch = 512;
	p->info.parallel = 1;
	p->info.gpu_layers = DAVY_LAYERS_ALL;
	p->info.context_size = p->progress.context_size =
		(uint32_t)davy_sim_between(s, 2, 4) * 8192;
	davy_copy_name(p->info.cache_k, sizeof(p->info.cache_k), "f16");
	davy_copy_name(p->info.cache_v, sizeof(p->info.cache_v), "f16");
	set_model(p, bytes / 10 * 9);
	if (on_host_memory(d))
		p->client.gtt = bytes;
	else
		p->client.vram = bytes;
	davy_sim_start(s, p);
	return p;
}

struct davy_sim_process *davy_synth_desktop(struct davy_sim *s, struct davy_sim_device *d)
{
	struct davy_sim_process *p = davy_sim_add_process(s, d, "gnome-shell");

	p->ring = &d->ring[0];
	p->client.vram = on_host_memory(d) ? 0 : davy_sim_between(s, 150, 700) * DAVY_MIB;
	p->client.gtt = davy_sim_between(s, 20, 90) * DAVY_MIB;
	davy_sim_start(s, p);
	return p;
}

const struct davy_sim_habit davy_synth_chats = {
	.prompt_min = 60,
	.prompt_max = 2200,
	.answer_min = 40,
	.answer_max = 500,
	.keep_permille = 600,
	.think_ns = 12 * DAVY_S,
};

/* At its full context a job of a prompt takes less than a third of the shortest timeout. */
struct davy_sim_pace davy_synth_pace(struct davy_sim *s, const struct davy_sim_process *p)
{
	struct davy_sim_pace pace = {
		.prompt_ns = davy_sim_between(s, 80, 260) * DAVY_MS,
		.token_ns = davy_sim_between(s, 12, 38) * DAVY_MS,
		.noise_permille = (uint32_t)davy_sim_between(s, 20, 100),
	};
	uint64_t rounds = p->progress.context_size / 1024;

	pace.prompt_slope_ns = davy_sim_between(s, 50, 280) * DAVY_MS / rounds;
	pace.token_slope_ns = pace.token_ns / 2 / rounds;
	return pace;
}

struct davy_sim_load *davy_synth_chat(struct davy_sim *s, struct davy_sim_process *p)
{
	struct davy_sim_pace pace = davy_synth_pace(s, p);

	return davy_sim_add_load(s, p, &pace, &davy_synth_chats);
}

uint64_t davy_synth_when(const struct davy_sim *s)
{
	return s->begin_ns + s->calm_ns;
}

static uint64_t end_now(struct davy_sim *s, struct davy_sim_actor *a)
{
	davy_sim_exit(s, a->of, (int32_t)a->n[0]);
	return 0;
}

void davy_synth_end_later(struct davy_sim *s, struct davy_sim_process *p, uint64_t in_ns,
			  int32_t status)
{
	davy_sim_add_actor(s, end_now, p, s->now_ns + in_ns)->n[0] = (uint64_t)status;
}

void davy_synth_lost_by_timeout(struct davy_sim *s, struct davy_sim_load *l)
{
	struct davy_sim_process *p = l->p;
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_FENCE_FAILED, p->device, p);

	davy_sim_job_timeout(s, p, p->ring->timeout_ns);
	davy_sim_failed(s);
	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), p->ring->name);
	ev.fact.error = -62; /* ETIME */
	davy_sim_tell(s, &ev);
	p->ring->began_ns = p->graph.entered_ns = 0;
	p->graph.failed_count++;
	davy_sim_ring_reset(s, p, 0);
	if (p->info.engine == DAVY_ENGINE_NONE)
		return;
	davy_sim_throw(s, p, DAVY_LOST);
	if (davy_random_chance(&s->random, 700))
		davy_synth_end_later(s, p, davy_sim_between(s, 5, 60) * DAVY_MS, DAVY_STATUS_ABORT);
}

static uint64_t reset_ends(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_device *d = a->of;

	davy_sim_reset(s, d, false, (int32_t)(int64_t)a->n[0]);
	if (!on_host_memory(d))
		davy_sim_log(s, DAVY_LOG_VRAM_LOST, d, NULL, 0);
	for (size_t i = 0; i < s->process_count; i++) {
		struct davy_sim_process *p = &s->process[i];

		if (!p->alive || p->device != d || p->info.engine == DAVY_ENGINE_NONE)
			continue;
		if (p->info.backend == DAVY_BACKEND_VULKAN)
			davy_sim_throw(s, p, DAVY_LOST);
		davy_sim_exit(s, p, DAVY_STATUS_ABORT);
	}
	return 0;
}

void davy_synth_reset_device(struct davy_sim *s, struct davy_sim_device *d, uint64_t in_ns,
			     int32_t result)
{
	davy_sim_reset(s, d, true, 0);
	davy_sim_add_actor(s, reset_ends, d, s->now_ns + in_ns)->n[0] = (uint64_t)(int64_t)result;
}
