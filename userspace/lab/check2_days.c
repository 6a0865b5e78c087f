/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Second held-out set, benign: servers and workstations, a whole day each. */
#include <errno.h>

#include "lab/check2_parts.h"

/*
 * ENGINES.md A2.1, A3: llama.cpp's router and llama-swap unload an idle model by SIGTERM, to which
 * llama-server ends with 0, and load the next one: 20 % to 96 % of VRAM, at 1.5 to 4 GB/s.
 */
void davy_check2_router_day(struct davy_sim *s, uint64_t arg)
{
	static const uint64_t gib[] = { 5, 19, 9, 21 };
	struct davy_check2_rounds rounds = {
		.count = 4,
		.rate = davy_sim_between(s, 1500, 4000) * 1000,
		.serve_ns = 14 * DAVY_MIN,
		.gap_ns = 5 * DAVY_S,
	};
	struct davy_sim_device *d = davy_synth_dgpu(s, 2 * DAVY_S);
	struct davy_sim_process *first = NULL, *p;

	(void)arg;
	davy_check2_vram(d, 24560, 180);
	for (size_t i = 0; i < 4; i++) {
		struct davy_check_engine e =
			davy_check_by_vulkan("preset", gib[i] * DAVY_GIB, 32768);

		p = davy_check_engine(s, d, &e, gib[i] * DAVY_GIB / 100 * 108);
		first = first ? first : p;
		davy_check_chat(s, p, 15 * DAVY_S);
	}
	davy_check2_rounds(s, first, &rounds);
}

/*
 * FIELD.md section 4 and ENGINES.md A1.1: vLLM in Kubernetes holds 92 % of VRAM; a liveness probe
 * runs rocm-smi, a rolling update ends the pod with SIGTERM and starts the next one.
 */
void davy_check2_kube_pod(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-32B", 20 * DAVY_GIB, 32768);
	struct davy_check2_rounds rounds = {
		.count = 2,
		.rate = davy_sim_between(s, 800, 2500) * 1000,
		.serve_ns = 9 * DAVY_H,
		.gap_ns = 20 * DAVY_S,
	};
	struct davy_check2_visits probe = {
		.period_ns = 3 * DAVY_MIN,
		.stay_ns = DAVY_S,
		.bytes = 2 * DAVY_MIB,
	};
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *pod;

	(void)arg;
	davy_check2_vram(d, 24560, 80);
	e.comm = "VLLM::EngineCor";
	e.engine = DAVY_ENGINE_VLLM;
	e.model_bytes = d->memory.vram_total / 1000 * 852; /* with its cache 92 % */
	pod = davy_check_engine(s, d, &e, 0);
	pod->client.vram = e.model_bytes / 100 * 108;
	davy_check_chat(s, pod, 3 * DAVY_S);
	davy_check_chat(s, davy_check_engine(s, d, &e, 0), 3 * DAVY_S);
	davy_check2_rounds(s, pod, &rounds);
	davy_check2_visits(s, davy_check2_absent(s, d, "rocm-smi"), &probe);
	davy_check_wander(s, &d->vram_other, 60 * DAVY_MIB, 160 * DAVY_MIB, 2 * DAVY_MIN);
}

/*
 * llama-server's memory is flat, but a timer of systemd restarts it "to be safe" each six hours: a
 * load to 95 % of VRAM at full speed, and a first prompt with all shaders cold.
 */
void davy_check2_timer_restarts(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("gpt-oss-20b", 0, 65536);
	struct davy_check2_rounds rounds = {
		.count = 1,
		.rate = davy_sim_between(s, 2000, 5000) * 1000,
		.serve_ns = 6 * DAVY_H,
		.gap_ns = 2 * DAVY_S,
	};
	struct davy_sim_device *d = davy_synth_dgpu(s, 10 * DAVY_S);
	struct davy_sim_process *p;

	(void)arg;
	davy_check2_vram(d, 16368, 120);
	e.model_bytes = d->memory.vram_total / 1000 * 874;
	p = davy_check_engine(s, d, &e, e.model_bytes / 100 * 108);
	davy_check_chat(s, p, 20 * DAVY_S);
	davy_check2_rounds(s, p, &rounds);
	davy_check_wander(s, &d->vram_other, 40 * DAVY_MIB, 200 * DAVY_MIB, 2 * DAVY_MIN);
}

/* n: pid of systemd-sleep, bytes of a step */
static uint64_t check2_hibernation(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p, *shell = p + 1;
	uint64_t ns;

	switch (a->stage) {
	case 0:
		if (l->phase != DAVY_SIM_IDLE) /* tasks are frozen when the rings are idle */
			return s->now_ns + 200 * DAVY_MS;
		l->stopped = true;
		a->stage = 1;
		return s->now_ns + 400 * DAVY_MS;
	case 1:
		davy_sim_move_out(s, (uint32_t)a->n[0], shell, a->n[1]);
		davy_sim_move_out(s, (uint32_t)a->n[0], p, a->n[1]);
		if (p->client.vram || shell->client.vram)
			return s->now_ns + 100 * DAVY_MS;
		ns = davy_sim_between(s, 30, 200) * DAVY_MIN;
		davy_sim_sleep(s, ns);
		a->stage = 2;
		return s->now_ns + ns + 2 * DAVY_S;
	case 2:
		davy_check2_lines(s, DAVY_LOG_RESET_CHATTER, p->device, NULL, 30);
		davy_check_go_on(s, l);
		a->stage = 3;
		return s->now_ns + DAVY_S;
	default: /* each process validates its buffers at its next submission */
		davy_sim_move_in(s, shell->pid, shell, a->n[1]);
		davy_sim_move_in(s, p->pid, p, a->n[1]);
		if (p->client.evicted || shell->client.evicted)
			return s->now_ns + 100 * DAVY_MS;
		a->stage = 0;
		return s->now_ns + davy_sim_around(s, 3 * DAVY_H);
	}
}

/*
 * amdgpu of 6.12 and 7.2, amdgpu_device_prepare: suspend to disk evicts all VRAM to the host,
 * which has room for it; after resume it comes back, with the resume's usual lines.
 */
void davy_check2_hibernates(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("Qwen3-14B", 9 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p;
	struct davy_sim_actor *a;

	(void)arg;
	p = davy_check_engine(s, d, &e, 10 * DAVY_GIB);
	davy_check_frames(s, davy_synth_desktop(s, d), 3 * DAVY_MS, 60);
	a = davy_sim_add_actor(s, check2_hibernation, davy_check_chat(s, p, 30 * DAVY_S),
			       s->begin_ns + davy_sim_around(s, 40 * DAVY_MIN));
	a->n[0] = 812;
	a->n[1] = davy_sim_between(s, 100, 300) * DAVY_MIB;
}

static uint64_t check2_pins(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *shell = a->of;
	uint64_t total = shell->device->memory.vram_total;

	if (davy_sim_vram_used(s, shell->device) > total / 100 * 90) {
		davy_sim_alloc_failed(s, shell, DAVY_ALLOC_RESOURCE, -ENOSPC, 33 * DAVY_MIB,
				      (uint32_t)davy_sim_between(s, 1, 4));
		davy_check2_lines(s, DAVY_LOG_PIN_FAILED, shell->device, NULL,
				  (uint32_t)davy_sim_between(s, 1, 3));
	}
	return s->now_ns + davy_sim_around(s, 3 * DAVY_MIN);
}

/* amd-ttm-003: before its new stack, hundreds of failed framebuffer pins a day without any harm. */
void davy_check2_pin_failures(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("", 0, 4096);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_check2_tide batch = {
		.low = 12900 * DAVY_MIB,
		.high = 14700 * DAVY_MIB,
		.rate = DAVY_MIB,
		.high_ns = 12 * DAVY_MIN,
		.low_ns = 7 * DAVY_MIN,
	};
	struct davy_sim_process *shell, *job;

	(void)arg;
	davy_check2_vram(d, 16304, 220);
	shell = davy_synth_desktop(s, d);
	davy_check_frames(s, shell, 3 * DAVY_MS, 60);
	e.comm = "python3";
	e.engine = DAVY_ENGINE_GENERIC;
	job = davy_check_engine(s, d, &e, batch.low);
	davy_check2_tide(s, &job->client.vram, &batch);
	davy_sim_add_actor(s, check2_pins, shell, s->begin_ns + DAVY_MIN);
}

static uint64_t check2_developer(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t luck = davy_sim_between(s, 0, 99);

	if (!p->alive) {
		davy_check_start_again(s, p);
		return s->now_ns + davy_sim_around(s, 6 * DAVY_MIN);
	}
	if (luck < 45) {
		davy_check_xid(s, p->device, p, 45);
		davy_sim_exit(s, p, DAVY_STATUS_KILL);
	} else if (luck < 55) {
		davy_check_xid(s, p->device, p, 43);
		davy_sim_exit(s, p, DAVY_STATUS_EXIT1);
	} else if (luck < 60) {
		davy_check_xid(s, p->device, p, 13);
		davy_sim_exit(s, p, DAVY_STATUS_ABORT);
	} else {
		davy_sim_exit(s, p, 0);
	}
	return s->now_ns + davy_sim_around(s, 9 * DAVY_MIN);
}

/*
 * KERNEL.md section 10: 43 and 45 follow the end of a program, 13 the error of a user's own
 * kernel. A developer's programs on one card, servers on two others that never notice.
 */
void davy_check2_nvidia_kills(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3-14B", 9 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_sim_device *own = davy_synth_nvidia(s, 1), *other = davy_synth_nvidia(s, 2);

	(void)arg;
	davy_check_chat(s, davy_check_engine(s, d, &e, 12 * DAVY_GIB), 5 * DAVY_S);
	e.comm = "VLLM::EngineCor";
	e.engine = DAVY_ENGINE_VLLM;
	davy_check_chat(s, davy_check_engine(s, other, &e, 22 * DAVY_GIB), 2 * DAVY_S);
	davy_sim_add_actor(s, check2_developer, davy_check2_absent(s, own, "my_kernel"),
			   s->begin_ns + DAVY_MIN);
}

/* nv-010's look-alike, and KERNEL.md section 4.2: a riser's link errors, each of them corrected. */
void davy_check2_riser_cable(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("gemma-4-12b", 8 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_check_engine(s, d, &e, 9 * DAVY_GIB);

	(void)arg;
	davy_check_chat(s, p, 12 * DAVY_S);
	davy_check_wander(s, &p->client.vram, 8900 * DAVY_MIB, 9300 * DAVY_MIB, DAVY_MIN);
	davy_check_line_each(s, DAVY_LOG_AER_CORRECTED, d, 4 * DAVY_MIN, 6);
}

/*
 * ENGINES.md A1.1, A7: Ollama kills a runner 5 min after its last request and the child of each
 * discovery as soon as it has said what it found; both by SIGKILL.
 */
void davy_check2_keep_alive(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-14B", 9 * DAVY_GIB, 16384);
	struct davy_check2_rounds rounds = {
		.count = 1,
		.status = DAVY_STATUS_KILL,
		.rate = davy_sim_between(s, 900, 3000) * 1000,
		.serve_ns = 9 * DAVY_MIN,
		.gap_ns = 12 * DAVY_MIN,
	};
	struct davy_check2_visits probe = {
		.period_ns = 14 * DAVY_MIN,
		.stay_ns = 2 * DAVY_S,
		.bytes = 180 * DAVY_MIB,
		.status = DAVY_STATUS_KILL,
	};
	struct davy_sim_device *d = davy_synth_gpu(s, 0);
	struct davy_sim_process *daemon, *p, *child;

	(void)arg;
	daemon = davy_sim_add_process(s, NULL, "ollama");
	daemon->info.engine = DAVY_ENGINE_OLLAMA;
	daemon->info.role = DAVY_ROLE_MANAGER;
	davy_sim_start(s, daemon);
	e.comm = "llama-server";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	p = davy_check_engine(s, d, &e, 10 * DAVY_GIB);
	davy_check_chat(s, p, 25 * DAVY_S);
	davy_check2_rounds(s, p, &rounds);
	child = davy_sim_add_process(s, d, "llama-server");
	child->info.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	child->info.role = DAVY_ROLE_DISCOVERY;
	child->info.backend = DAVY_BACKEND_ROCM;
	davy_check2_visits(s, child, &probe);
}
