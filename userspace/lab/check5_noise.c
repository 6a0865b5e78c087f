/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What people and tools do that looks like trouble and is none. */
#include "lab/check5_parts.h"

/* A user who stops most answers, and llama-cli that ends by Ctrl-C. */
void davy_check5_stop_button(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 16304);
	struct davy_check_engine e =
		davy_check_by_vulkan("Mistral-Nemo-12B-Q5_K_M.gguf", 8300 * DAVY_MIB, 16384);
	struct davy_sim_load *l = davy_check3_serve(s, d, &e, 600, 6 * DAVY_S);
	struct davy_sim_process *p = davy_check2_absent(s, d, "llama-cli");

	(void)arg;
	davy_check5_cancels(s, l, 11 * DAVY_S);
	p->info.engine = DAVY_ENGINE_LLAMA_CPP;
	p->info.role = DAVY_ROLE_TOOL;
	p->info.backend = DAVY_BACKEND_VULKAN;
	davy_check2_visits(s, p,
			   &(struct davy_check2_visits){ .period_ns = 3 * DAVY_MIN,
							 .stay_ns = DAVY_MIN,
							 .bytes = 4 * DAVY_GIB,
							 .status = 2 }); /* SIGINT */
}

/* A balancer asks for a token four times a second, rocm-smi runs each 6 s. */
void davy_check5_probe_hammer(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 16304);
	struct davy_check_engine e =
		davy_check_by_rocm("Llama-3.1-8B-Instruct-Q8_0.gguf", 8100 * DAVY_MIB, 8192);
	struct davy_sim_load *l = davy_check3_serve(s, d, &e, 660, 250 * DAVY_MS);
	struct davy_sim_process *smi = davy_check2_absent(s, d, "rocm-smi");

	(void)arg;
	l->habit.prompt_min = 1;
	l->habit.prompt_max = 9;
	l->habit.answer_min = l->habit.answer_max = 1;
	l->habit.keep_permille = 0;
	davy_check2_visits(
		s, smi,
		&(struct davy_check2_visits){ .period_ns = 5 * DAVY_S, .stay_ns = 400 * DAVY_MS });
}

/* of: a process without a GPU; n: bytes that its cgroup allows */
static uint64_t noise_is_killed(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!p->alive) {
		davy_check_start_again(s, p);
		return s->now_ns + DAVY_S;
	}
	if (p->client.system < a->n[0]) {
		p->client.system += davy_sim_between(s, 4, 40) * DAVY_MIB;
		return s->now_ns + davy_sim_around(s, 2 * DAVY_S);
	}
	davy_check5_oom_kill(s, p, true);
	return s->now_ns + davy_sim_around(s, 40 * DAVY_S);
}

/* OOM kills of a browser and of a JVM beside a server at 95 %. */
void davy_check5_bystander_oom(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 16304);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-14B-Q6_K.gguf", 12100 * DAVY_MIB, 32768);
	struct davy_sim_process *p[2] = { davy_sim_add_process(s, NULL, "java"),
					  davy_sim_add_process(s, NULL, "Isolated Web Co") };

	(void)arg;
	davy_check3_serve(s, d, &e, 950, 12 * DAVY_S);
	for (size_t i = 0; i < 2; i++)
		davy_sim_add_actor(s, noise_is_killed, p[i], s->begin_ns + DAVY_MIN)->n[0] =
			(i ? 3 : 6) * DAVY_GIB;
	davy_check_wander(s, &s->host_other, 22 * DAVY_GIB, 44 * DAVY_GIB, 3 * DAVY_MIN);
}

static uint64_t noise_of_losses(struct davy_sim *s, struct davy_sim_actor *a)
{
	(void)a;
	davy_sim_tell_lost(s, "kernel programs");
	return s->now_ns + davy_sim_around(s, 20 * DAVY_S);
}

/* of: a job: the kernel moves pages that it gave to the GPU */
static uint64_t noise_of_pages(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (p->alive) {
		davy_check_evict_queues(s, p, 1);
		davy_check_restore_queues(s, p, davy_sim_between(s, 2, 12) * DAVY_MS, false);
	}
	return s->now_ns + davy_sim_around(s, 6 * DAVY_S);
}

/* Batch jobs of three models in turns; a quarter of the kernel programs' events is lost. */
void davy_check5_lossy_batch(struct davy_sim *s, uint64_t arg)
{
	static const uint64_t mib[] = { 11700, 8900, 5700 };
	struct davy_sim_device *d = davy_check3_card(s, 0, 16304);
	struct davy_sim_process *first = NULL;

	(void)arg;
	s->lossy_permille = 250;
	for (size_t i = 0; i < 3; i++) {
		struct davy_check_engine e =
			davy_check_by_rocm("batch.gguf", mib[i] * DAVY_MIB, 16384);
		struct davy_sim_process *p;

		e.comm = "llama-batched";
		e.engine = DAVY_ENGINE_LLAMA_CPP;
		e.role = DAVY_ROLE_TOOL;
		p = davy_check_engine(s, d, &e, i ? 0 : mib[i] * DAVY_MIB);
		davy_check_chat(s, p, 200 * DAVY_MS);
		davy_sim_add_actor(s, noise_of_pages, p, s->begin_ns + (5 + i) * DAVY_S);
		first = first ? first : p;
	}
	davy_check2_rounds(s, first,
			   &(struct davy_check2_rounds){ .count = 3,
							 .rate = 3 * DAVY_MIB,
							 .serve_ns = 4 * DAVY_MIN,
							 .gap_ns = 15 * DAVY_S });
	davy_sim_add_actor(s, noise_of_losses, NULL, s->begin_ns + 15 * DAVY_S);
}

/* xe is updated and loaded again, its containers restart each time. */
void davy_check5_update_evening(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check4_xe(s, 12216);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q4_K_M.gguf", 4800 * DAVY_MIB, 16384);

	(void)arg;
	e.ring = 0;
	davy_check3_serve(s, d, &e, 450, 10 * DAVY_S);
	e.comm = "whisper-server";
	e.engine = DAVY_ENGINE_WHISPER_CPP;
	e.model = "ggml-large-v3-turbo.bin";
	e.model_bytes = 1600 * DAVY_MIB;
	e.ring = 1;
	davy_check3_serve(s, d, &e, 140, 25 * DAVY_S);
	davy_check4_reloads(s, d, 45 * DAVY_MIN, 20 * DAVY_S);
}

/* of: the card */
static uint64_t noise_of_power(struct davy_sim *s, struct davy_sim_actor *a)
{
	const struct davy_sim_device *d = a->of;
	struct davy_event ev = davy_sim_event(s, DAVY_EV_CLOCKS, 0);

	davy_copy_name(ev.clocks.device, sizeof(ev.clocks.device), d->name);
	ev.clocks.reason = davy_random_chance(&s->random, 900) ? DAVY_CLOCK_SW_POWER_CAP
							       : DAVY_CLOCK_SW_THERMAL;
	davy_sim_tell(s, &ev);
	return s->now_ns + davy_sim_around(s, 15 * DAVY_S);
}

/* NVIDIA: a proxy ends and starts servers on two cards all day; the cards reach their limit. */
void davy_check5_nv_restarts(struct davy_sim *s, uint64_t arg)
{
	(void)arg;
	for (uint32_t bus = 0; bus < 2; bus++) {
		struct davy_sim_device *d = davy_check5_nvidia(s, bus, 24564);
		struct davy_sim_process *first = NULL;

		for (size_t i = 0; i < 2; i++) {
			struct davy_check_engine e = davy_check2_by(
				DAVY_BACKEND_CUDA,
				i ? "gemma-3-12b-it-Q8_0.gguf" : "Qwen3-32B-Q4_K_M.gguf",
				(i ? 12 : 19) * DAVY_GIB, 32768);
			struct davy_sim_process *p =
				davy_check_engine(s, d, &e, i ? 0 : 19 * DAVY_GIB);

			davy_check_chat(s, p, 4 * DAVY_S);
			first = first ? first : p;
		}
		davy_check2_rounds(s, first,
				   &(struct davy_check2_rounds){ .count = 2,
								 .status = DAVY_STATUS_TERM,
								 .rate = 2 * DAVY_MIB,
								 .serve_ns = 5 * DAVY_MIN,
								 .gap_ns = 4 * DAVY_S });
		davy_sim_add_actor(s, noise_of_power, d, s->begin_ns + 40 * DAVY_S);
	}
}

/* of: the browser */
static uint64_t noise_of_tabs(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint32_t count = (uint32_t)davy_sim_between(s, 1, 12);

	if (davy_sim_host_available(s) < 5 * DAVY_GIB)
		davy_sim_hot_fact(s, DAVY_FACT_I915_SHRINK, p, count * 8 * DAVY_MIB, count);
	davy_sim_hot_fact(s, DAVY_FACT_I915_FAULT, p, 0, count);
	return s->now_ns + davy_sim_around(s, 4 * DAVY_S);
}

/* i915: a browser with too many tabs fills the host to 92 %, a small model by SYCL is used. */
void davy_check5_igpu_tabs(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_intel(s, false);
	struct davy_sim_process *browser = davy_check_app(s, d, "firefox", 300 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_SYCL, "Qwen3-4B-Q4_0.gguf", 2400 * DAVY_MIB, 8192);

	(void)arg;
	s->host_other = 9 * DAVY_GIB;
	davy_check_chat(s, davy_check_engine(s, d, &e, 3300 * DAVY_MIB), 40 * DAVY_S);
	davy_check_wander(s, &browser->client.gtt, 300 * DAVY_MIB, 1900 * DAVY_MIB, 20 * DAVY_S);
	davy_check2_tide(s, &s->host_other,
			 &(struct davy_check2_tide){ .low = 9 * DAVY_GIB,
						     .high = 24 * DAVY_GIB,
						     .rate = 70 << 10,
						     .high_ns = 4 * DAVY_MIN,
						     .low_ns = 3 * DAVY_MIN });
	davy_check5_pressure(s, 45, 15 * DAVY_S);
	davy_sim_add_actor(s, noise_of_tabs, browser, s->begin_ns + 10 * DAVY_S);
}

/* Three users with an Ollama each on 24 GiB: their models come and go, up to 97 %. */
void davy_check5_three_users(struct davy_sim *s, uint64_t arg)
{
	static const struct {
		const char *model;
		uint64_t mib;
	} models[3][2] = {
		{ { "qwen3-8b-q6_K.gguf", 6700 }, { "llama3.2-3b-q8_0.gguf", 3400 } },
		{ { "gemma3-12b-q4_K_M.gguf", 7300 }, { "nomic-embed-text-v1.5.gguf", 300 } },
		{ { "mistral-7b-q8_0.gguf", 7600 }, { "phi-4-mini-q8_0.gguf", 4100 } },
	};
	struct davy_sim_device *d = davy_check3_card(s, 0, 24560);

	(void)arg;
	for (size_t user = 0; user < 3; user++) {
		struct davy_sim_process *first = NULL;

		for (size_t i = 0; i < 2; i++) {
			uint64_t bytes = models[user][i].mib * DAVY_MIB;
			struct davy_check_engine e =
				davy_check_by_rocm(models[user][i].model, bytes, 16384);
			struct davy_sim_process *p;

			e.comm = "ollama";
			e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
			e.role = DAVY_ROLE_RUNNER;
			p = davy_check_engine(s, d, &e, i ? 0 : bytes);
			davy_check_chat(s, p, 25 * DAVY_S);
			first = first ? first : p;
		}
		davy_check2_rounds(s, first,
				   &(struct davy_check2_rounds){ .count = 2,
								 .status = DAVY_STATUS_KILL,
								 .rate = 2 * DAVY_MIB,
								 .serve_ns = 6 * DAVY_MIN,
								 .gap_ns = 30 * DAVY_S });
	}
}
