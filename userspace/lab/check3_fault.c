/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page faults, a runner that dies at once, a lost device node, and wrong answers. */
#include <errno.h>

#include "lab/check3_parts.h"

/* n: bytes of the model */
static uint64_t fault_new_build(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	switch (a->stage++) {
	case 0:
		davy_sim_exit(s, p, DAVY_STATUS_TERM);
		return s->now_ns + 3 * DAVY_S;
	case 1:
		l->habit.prompt_min = l->habit.prompt_max = 8200;
		l->habit.think_ns = 4 * DAVY_S;
		davy_check3_load(s, p, a->n[0], DAVY_MIB);
		return s->now_ns + 10 * DAVY_S;
	case 2:
		if (l->phase != DAVY_SIM_PROMPT) {
			a->stage--;
			return s->now_ns + 100 * DAVY_MS;
		}
		davy_sim_cause(s);
		return s->now_ns + davy_sim_between(s, 400, 3000) * DAVY_MS;
	default:
		davy_check3_stick(s, l);
		davy_check2_page_fault(s, p, 0x7f3409ae0000, 4);
		davy_check3_fails(s, p->device, p);
		return 0;
	}
}

/*
 * lemonade-sdk/llamacpp-rocm#87, gfx1201, ROCm 7.2: a build with VMM pools. The first chat of about
 * 8,000 tokens faults; the runtime waits for ever for its signal, /health stays green. Nothing
 * precedes the fault.
 */
void davy_check3_vmm_chat(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 32624);
	struct davy_check_engine e =
		davy_check_by_rocm("gemma-4-26B-A4B-it-UD-Q4_K_XL.gguf", 16800 * DAVY_MIB, 32768);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 640, 15 * DAVY_S);
	davy_check2_then(s, fault_new_build, l)->n[0] = l->p->client.vram;
}

static uint64_t fault_after_npu(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *desktop = a->of, none = *desktop;

	switch (a->stage++) {
	case 0: /* available: 6.9 % */
		davy_sim_cause(s);
		davy_check_ramp(s, &s->host_other,
				s->host_other + davy_sim_host_available(s) -
					s->host_total / 1000 * 69,
				s->now_ns, davy_sim_around(s, 4 * DAVY_MIN));
		return s->now_ns + 8 * DAVY_MIN;
	case 1:
		davy_sim_precursor(s, s->now_ns);
		return s->now_ns + davy_sim_around(s, 3 * DAVY_MIN);
	case 2:
		davy_sim_log(s, DAVY_LOG_NPU, NULL, NULL, 0);
		return s->now_ns + 333 * DAVY_MS;
	default:
		none.pasid = 0;
		davy_sim_fault(s, &none, DAVY_FAULT_VM, 0, 1);
		davy_sim_log(s, DAVY_LOG_DRIVER_FAULT, desktop->device, NULL, 0);
		davy_sim_failed(s);
		davy_sim_exit(s, desktop, DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * amd-pf-004, Radeon 780M, 6.17, Ollama by ROCm: the host's memory is used to 93 %, amdxdna cannot
 * bind, 0.33 s later the firmware faults at address 0 without a process; the desktop crashes.
 */
void davy_check3_npu_first(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 88);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d);
	struct davy_check_engine e =
		davy_check_by_rocm("glm-4.7-flash-Q4_K_M.gguf", 18400 * DAVY_MIB, 16384);

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	davy_check_frames(s, desktop, 4 * DAVY_MS, 60);
	davy_check3_serve(s, d, &e, 300, 40 * DAVY_S);
	davy_sim_subject(s, d, NULL);
	davy_check2_then(s, fault_after_npu, desktop);
}

static uint64_t fault_hogged(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++) {
		davy_sim_log(s, DAVY_LOG_RESTORE_WORKER_HOGGED, NULL, NULL, 4);
		davy_sim_precursor(s, s->now_ns);
		return s->now_ns + davy_sim_around(s, 40 * DAVY_S);
	}
	davy_check2_page_fault(s, p, 0x76301bf74000 + a->stage * 4096, 2);
	davy_sim_failed(s);
	return a->stage < 6 ? s->now_ns + davy_sim_between(s, 1, 40) * DAVY_MS : 0;
}

/*
 * amd-svm-006, ComfyUI by ROCm: one line about the hogged restore worker, 40 s later page faults
 * of python3, which lives on, slower.
 */
void davy_check3_hog_and_fault(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 64);
	struct davy_check_engine e =
		davy_check_by_rocm("sd_xl_base_1.0.safetensors", 6900 * DAVY_MIB, 0);
	struct davy_sim_process *p;

	(void)arg;
	e.comm = "python3";
	e.engine = DAVY_ENGINE_COMFYUI;
	p = davy_check_engine(s, d, &e, 9 * DAVY_GIB);
	davy_check2_tide(s, &p->client.gtt,
			 &(struct davy_check2_tide){ .low = 9 * DAVY_GIB,
						     .high = 15 * DAVY_GIB,
						     .rate = 4 * DAVY_MIB,
						     .high_ns = 14 * DAVY_S,
						     .low_ns = 25 * DAVY_S });
	davy_sim_subject(s, d, p);
	davy_check2_then(s, fault_hogged, p);
}

static uint64_t fault_of_sdma(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		davy_sim_fault(s, p, DAVY_FAULT_VM_RETRY, 0x709843600000, 1);
		davy_sim_log(s, DAVY_LOG_PAGE_FAULT, p->device, NULL, 0);
		davy_sim_precursor(s, s->now_ns);
		return s->now_ns + 10000; /* 10 us */
	case 1:
		davy_check2_page_fault(s, p, 0x709843600000, 1);
		davy_sim_failed(s);
		return s->now_ns + 30 * DAVY_MS;
	default:
		davy_sim_exit(s, p, DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * amd-pf-010, MI300X, a training by PyTorch: the memory hub reports a fault with retry by SDMA1,
 * and 10 us later one without.
 */
void davy_check3_mmhub_retry(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 196592);
	struct davy_sim_process *p = davy_check_app(s, d, "python3.12", 0);

	(void)arg;
	p->by_kfd = true;
	p->ring = NULL;
	p->kfd.queue_count = 24;
	davy_check_peaks(s, p,
			 &(struct davy_check_peaks){ .base = 96 * DAVY_GIB,
						     .peak = 171 * DAVY_GIB,
						     .period_ns = 11 * DAVY_S,
						     .cache = 6 * DAVY_GIB });
	davy_sim_subject(s, d, p);
	davy_check2_then(s, fault_of_sdma, p);
}

static uint64_t fault_cancelled(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	switch (a->stage++) {
	case 0: /* documents of the whole context in one batch */
		davy_check3_stick(s, l);
		return s->now_ns + 20 * DAVY_S; /* i915.request_timeout_ms */
	case 1:
		davy_check3_fails(s, p->device, p);
		break;
	default:
		break;
	}
	davy_sim_log(s, DAVY_LOG_I915_FENCE_EXPIRED, p->device, p, 0);
	l->stick = false; /* the batch is over, its result is missing */
	l->habit.prompt_min = 7000;
	l->habit.prompt_max = 8000;
	return a->stage < 9 ? s->now_ns + davy_sim_around(s, 3 * DAVY_S) : 0;
}

/*
 * ggml-org/llama.cpp#27634, i915 of 7.0: its watchdog of 20 s cancels submissions of an embedding
 * server without an error; from then on all vectors are the same. The line of the log comes with
 * the first wrong vector: no precursor.
 */
void davy_check3_cancelled(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_intel(s, false);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-Embedding-4B-Q8_0.gguf", 4300 * DAVY_MIB, 8192);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 170, 6 * DAVY_S);
	l->habit.answer_min = l->habit.answer_max = 1;
	l->habit.keep_permille = 0;
	l->pace.prompt_ns = 1400 * DAVY_MS;
	davy_check2_then(s, fault_cancelled, l);
}

static uint64_t fault_at_matmul(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		davy_check3_load(s, p, 3200 * DAVY_MIB, DAVY_MIB / 2);
		return s->now_ns + davy_sim_between(s, 7500, 15000) * DAVY_MS;
	case 1:
		p->graph.entered_ns = s->now_ns;
		return s->now_ns + davy_sim_between(s, 90, 600) * DAVY_MS;
	default:
		davy_check3_fails(s, p->device, p);
		davy_sim_exit(s, p, DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * amd-ri-003, Ryzen 4650G, Ollama's fork for gfx900: "llama runner started", and the first matrix
 * product aborts: rocBLAS has no kernel. No precursor.
 */
void davy_check3_first_matmul(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 32);
	struct davy_check_engine e =
		davy_check_by_rocm("gemma3-4b-Q4_K_M.gguf", 2600 * DAVY_MIB, 8192);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d);

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	davy_check_frames(s, desktop, 6 * DAVY_MS, 60);
	davy_check_wander(s, &desktop->client.gtt, 200 * DAVY_MIB, 900 * DAVY_MIB, 20 * DAVY_S);
	davy_check2_then(s, fault_at_matmul, davy_check3_later(s, d, &e));
}

/* of: the runner; the next process is the child that looks for devices */
static uint64_t fault_reloaded(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of, *child = p + 1;
	struct davy_event ev;

	switch (a->stage++) {
	case 0: /* unloaded after its keep-alive; systemd reloads its units */
		davy_sim_cause(s);
		davy_sim_exit(s, p, DAVY_STATUS_KILL);
		return s->now_ns + davy_sim_around(s, 20 * DAVY_MIN);
	case 1:
		davy_check_start_again(s, child);
		ev = davy_sim_fact(s, DAVY_FACT_OPEN_REFUSED, NULL, child);
		davy_copy_name(ev.fact.name, sizeof(ev.fact.name), "nvidiactl");
		ev.fact.error = -EPERM;
		davy_sim_tell(s, &ev);
		davy_sim_precursor(s, s->now_ns);
		return s->now_ns + davy_sim_between(s, 50, 900) * DAVY_MS;
	case 2:
		davy_sim_exit(s, child, DAVY_STATUS_EXIT1);
		return s->now_ns + davy_sim_between(s, 300, 3000) * DAVY_MS;
	default:
		p->info.backend = DAVY_BACKEND_CPU;
		p->info.device[0] = '\0';
		p->info.gpu_layers = 0;
		davy_check_start_again(s, p);
		davy_sim_subject(s, p->device, p);
		davy_sim_failed(s);
		return 0;
	}
}

/*
 * NVIDIA/nvidia-container-toolkit#48, ollama#4604, #10026: 'systemctl daemon-reload' takes the
 * device nodes from a container's cgroup. The loaded model goes on; the next one runs on the CPU.
 */
void davy_check3_daemon_reload(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "qwen3-14b-Q4_K_M.gguf", 9000 * DAVY_MIB, 16384);
	struct davy_sim_load *l;
	struct davy_sim_process *child;

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	l = davy_check3_serve(s, d, &e, 450, 30 * DAVY_S);
	l->p->info.runtime = DAVY_RUNTIME_DOCKER;
	child = davy_check2_absent(s, d, "ollama");
	child->info.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	child->info.role = DAVY_ROLE_DISCOVERY;
	child->info.flags = 0;
	davy_check2_then(s, fault_reloaded, l->p);
}
