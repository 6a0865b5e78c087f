/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Held-out failures of engines: at their start, at discovery, and without any precursor. */
#include <errno.h>

#include "lab/check_parts.h"

static uint64_t check_thrown(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_sim_precursor(s, s->now_ns);
	p->graph.failed_count++;
	davy_sim_throw(s, p, a->n[0] ? "St13runtime_error" : DAVY_LOST);
	davy_sim_failed(s);
	davy_synth_end_later(s, p, davy_sim_between(s, 5, 300) * DAVY_MS, DAVY_STATUS_ABORT);
	return 0;
}

static void check_throws(struct davy_sim *s, bool other)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("gpt-oss-20b-mxfp4.gguf", 11600 * DAVY_MIB, 16384);
	struct davy_sim_device *d = other ? davy_synth_intel(s, true) : davy_synth_dgpu(s, 0);
	struct davy_sim_process *p;

	d->memory.vram_total = d->memory.visible_total = 16304 * DAVY_MIB;
	p = davy_check_engine(s, d, &e, 12900 * DAVY_MIB);
	davy_check_chat(s, p, 15 * DAVY_S);
	davy_sim_add_actor(s, check_thrown, p, davy_synth_when(s))->n[0] = other;
	davy_sim_subject(s, d, p);
}

/*
 * amd-vk-013: vk::DeviceLostError in ggml_backend_sched_graph_compute_async, no line of the kernel,
 * no precursor; nv-017: "random". Nothing can foresee it: the label's precursor is the failure.
 */
void davy_check_lost_by_throw(struct davy_sim *s, uint64_t arg)
{
	(void)arg;
	check_throws(s, false);
}

/* win-011: an exception that nobody expects ends the engine in a computation; no precursor. */
void davy_check_uncaught(struct davy_sim *s, uint64_t arg)
{
	(void)arg;
	check_throws(s, true);
}

static uint64_t check_exits(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	int32_t status = davy_random_chance(&s->random, 600) ? 1 << 8 : 2 << 8;

	if (!p->alive) {
		davy_sim_cause(s);
		davy_check_start_again(s, p);
		p->client.vram = davy_sim_between(s, 20, 700) * DAVY_MIB;
		davy_sim_subject(s, p->device, p);
		return s->now_ns + davy_sim_between(s, 600, 6000) * DAVY_MS;
	}
	davy_sim_precursor(s, s->now_ns);
	davy_sim_exit(s, p, status);
	if (++a->stage < a->n[0])
		return s->now_ns + davy_sim_around(s, a->n[1]);
	davy_sim_failed(s);
	return 0;
}

/*
 * amd-ri-002 and amd-ri-003: after an update the runner cannot compute ("Cannot read
 * TensileLibrary.dat .. for GPU arch"); it exits with 1 or 2 seconds after its start ("llama-server
 * process has terminated: exit status 2", ENGINES A5.1) at each request. The failure is the last
 * try, when its user gives up; the first is the precursor.
 */
void davy_check_exit_codes(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-8B-Q4_K_M.gguf", 5 * DAVY_GIB, 8192);
	struct davy_sim_device *d = davy_synth_dgpu(s, 10 * DAVY_S);
	struct davy_sim_process *p;
	struct davy_sim_actor *a;

	(void)arg;
	davy_check_app(s, d, "Xorg", 150 * DAVY_MIB);
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	p = davy_check_engine(s, d, &e, 5400 * DAVY_MIB);
	davy_check_chat(s, p, 60 * DAVY_S);
	davy_synth_end_later(s, p, s->calm_ns / 10 * 9, DAVY_STATUS_KILL); /* the update */
	a = davy_sim_add_actor(s, check_exits, p, davy_synth_when(s));
	a->n[0] = davy_sim_between(s, 3, 5);
	a->n[1] = davy_sim_between(s, 3, 40) * DAVY_S;
}

static uint64_t check_refuses(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *probe = a->of, *runner = probe + 1;
	struct davy_event ev;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		davy_check_start_again(s, probe);
		return s->now_ns + davy_sim_between(s, 100, 900) * DAVY_MS;
	case 1:
	case 2:
		ev = davy_sim_fact(s, DAVY_FACT_OPEN_REFUSED, NULL, probe);
		davy_copy_name(ev.fact.name, sizeof(ev.fact.name),
			       a->stage == 2 ? "kfd" : "dri/renderD128");
		ev.fact.error = -EACCES;
		davy_sim_tell(s, &ev);
		davy_sim_precursor(s, s->now_ns);
		return s->now_ns + 30 * DAVY_MS;
	case 3:
		davy_sim_exit(s, probe, DAVY_STATUS_KILL);
		return s->now_ns + davy_sim_around(s, 40 * DAVY_S); /* the first request */
	}
	runner->info.backend = DAVY_BACKEND_CPU;
	runner->by_kfd = false;
	runner->info.device[0] = 0;
	davy_check_start_again(s, runner);
	davy_sim_subject(s, runner->device, runner);
	davy_sim_failed(s);
	return 0;
}

/*
 * amd-dm-002: Ollama 0.12.6 finds the RX 7900 XT from a shell, and nothing as a service: its user
 * may not open /dev/kfd and the render node (group "render"). Its discovery is refused; the first
 * request some time later runs on the CPU, which is the failure.
 */
void davy_check_node_refused(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("", 0, 0);
	struct davy_sim_device *d = davy_synth_dgpu(s, 10 * DAVY_S);
	struct davy_sim_process *probe, *runner;

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_DISCOVERY;
	probe = davy_check_engine(s, d, &e, 0);
	e.role = DAVY_ROLE_RUNNER;
	e.model = "gemma-3-12b-it-Q4_K_M.gguf";
	e.model_bytes = 8 * DAVY_GIB;
	e.context = 8192;
	runner = davy_check_engine(s, d, &e, 9 * DAVY_GIB);
	davy_check_chat(s, runner, 40 * DAVY_S);
	davy_sim_exit(s, probe, DAVY_STATUS_KILL);
	davy_synth_end_later(s, runner, s->calm_ns / 10 * 9, DAVY_STATUS_TERM);
	davy_sim_add_actor(s, check_refuses, probe, davy_synth_when(s));
}
