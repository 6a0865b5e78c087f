/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page faults, starts that fail, a device that is not found, and wrong answers. */
#include <errno.h>

#include "lab/check4_parts.h"

static struct davy_check_engine check4_vllm(const char *model, uint64_t model_bytes)
{
	struct davy_check_engine e = davy_check_by_rocm(model, model_bytes, 32768);

	e.comm = "VLLM::EngineCor";
	e.engine = DAVY_ENGINE_VLLM;
	return e;
}

static uint64_t fault_without_pages(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0: /* 19:56:16 */
		davy_check4_sign(s);
		davy_sim_log(s, DAVY_LOG_PAGE_ALLOC_FAILED, NULL, NULL, 0);
		davy_check2_lines(s, DAVY_LOG_TRACE, NULL, NULL, 14);
		davy_check2_lines(s, DAVY_LOG_MEMORY_REPORT, NULL, NULL, 30);
		return s->now_ns + davy_sim_between(s, 26500, 27500) * DAVY_MS;
	case 1: /* 19:56:43 */
		davy_check4_fails(s, p->device, p);
		break;
	case 7:
		davy_sim_exit(s, p, DAVY_STATUS_ABORT);
		return 0;
	default:
		break;
	}
	davy_check2_page_fault(s, p, 0x7ff512a00000 + a->stage * 4096, 2);
	return s->now_ns + davy_sim_between(s, 1, 60) * DAVY_MS;
}

/*
 * ROCm/legacy-rocm-build#6157, Strix Halo, vLLM: the kernel fails to allocate pages with 20 MiB
 * free and 13 GiB of page cache; 27 s later page faults of VLLM::EngineCor.
 */
void davy_check4_page_alloc(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 92);
	struct davy_check_engine e = check4_vllm("Qwen3-32B-FP8", 34 * DAVY_GIB);
	struct davy_sim_load *l;

	(void)arg;
	s->host_other = 10 * DAVY_GIB;
	l = davy_check3_serve(s, d, &e, 930, 9 * DAVY_S);
	davy_check_wander(s, &s->host_other, 10 * DAVY_GIB, 13 * DAVY_GIB, 7 * DAVY_S);
	davy_check2_then(s, fault_without_pages, l->p);
}

/* of: the process */
static uint64_t fault_after_limit(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0: /* the next workflow loads its second model */
		davy_sim_cause(s);
		davy_check_ramp(s, &p->client.system, 24 * DAVY_GIB, s->now_ns, 25 * DAVY_S);
		return s->now_ns + 25 * DAVY_S;
	case 1:
		davy_check4_sign(s);
		davy_check2_lines(s, DAVY_LOG_SVM_OVER_LIMIT, p->device, NULL,
				  (uint32_t)davy_sim_between(s, 1, 6));
		return s->now_ns + davy_sim_between(s, 55, 65) * DAVY_S;
	case 2:
		davy_check2_page_fault(s, p, 0x7a1c4fe00000, 3);
		davy_check4_fails(s, p->device, p);
		return s->now_ns + davy_sim_between(s, 20, 400) * DAVY_MS;
	default:
		davy_sim_exit(s, p, DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * amd-svm-005 (INCIDENTS.md B2, row 3) on the host of ROCm/legacy-rocm-build#5952, RX 7900 GRE and
 * 30 GiB: models are loaded one after another, RAM fills, "SVM mapping failed, exceeds resident
 * system memory limit", about 60 s later a page fault.
 */
void davy_check4_second_model(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16368);
	struct davy_check_engine e = davy_check_by_rocm("flux1-dev-Q8_0.gguf", 12 * DAVY_GIB, 0);
	struct davy_sim_process *p;

	(void)arg;
	s->host_total = 30 * DAVY_GIB;
	s->host_other = 4 * DAVY_GIB;
	d->memory.gtt_total = 15 * DAVY_GIB;
	e.comm = "python3";
	e.engine = DAVY_ENGINE_COMFYUI;
	p = davy_check_engine(s, d, &e, 9 * DAVY_GIB);
	p->client.system = 8 * DAVY_GIB;
	davy_check2_tide(s, &p->client.vram,
			 &(struct davy_check2_tide){ .low = 9 * DAVY_GIB,
						     .high = 13 * DAVY_GIB,
						     .rate = 3 * DAVY_MIB,
						     .high_ns = 22 * DAVY_S,
						     .low_ns = 40 * DAVY_S });
	davy_check2_then(s, fault_after_limit, p);
}

static bool fault_is_reported(uint64_t count)
{
	return count >= 4 && !((count - 3) & (count - 4));
}

/* of: the process; n: times that the worker hogged a CPU, its run */
static uint64_t fault_hog(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->n[1])
		a->n[1] = davy_sim_between(s, 11, 60) * DAVY_MS;
	if (a->stage) {
		davy_check2_page_fault(s, p, 0x75d1c8000000 + a->stage++ * 4096, 1);
		davy_check4_fails(s, p->device, p);
		if (a->stage < 9)
			return s->now_ns + davy_sim_between(s, 1, 20) * DAVY_MS;
		davy_sim_exit(s, p, DAVY_STATUS_ABORT);
		return 0;
	}
	if (fault_is_reported(++a->n[0])) {
		davy_sim_log(s, DAVY_LOG_RESTORE_WORKER_HOGGED, NULL, NULL, (uint32_t)a->n[0]);
		davy_check4_sign(s);
	}
	if (a->n[0] < 1027)
		return s->now_ns + DAVY_MS + davy_sim_around(s, a->n[1]);
	a->stage = 1;
	return s->now_ns + davy_sim_between(s, 300, 6000) * DAVY_MS;
}

/*
 * amd-svm-001, RX 9070 XT, ComfyUI: svm_range_restore_work() fails at a range and is queued again
 * after 1 ms. wq_cpu_intensive_report() prints its 4th, 5th, 7th, 11th, .. and 1027th run of more
 * than 10 ms; then SDMA0 faults.
 */
void davy_check4_hogs_to_1027(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 2 * DAVY_S, 16304);
	struct davy_sim_process *p = davy_check_app(s, d, "python3", 0);

	(void)arg;
	p->by_kfd = true;
	p->ring = NULL;
	p->kfd.queue_count = 8;
	davy_check_peaks(s, p,
			 &(struct davy_check_peaks){ .base = 7 * DAVY_GIB,
						     .peak = 13 * DAVY_GIB,
						     .period_ns = 18 * DAVY_S,
						     .cache = DAVY_GIB });
	davy_check2_then(s, fault_hog, p);
}

static uint64_t fault_unmapped(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		davy_check3_load(s, p, 41 * DAVY_GIB, DAVY_MIB);
		return s->now_ns + davy_sim_between(s, 42, 50) * DAVY_S;
	case 1: /* 0x8700c pages */
		davy_check4_sign(s);
		davy_sim_log(s, DAVY_LOG_NV_MAP_FAILED, NULL, NULL, 0);
		return s->now_ns + 203 * DAVY_MS;
	case 2:
		davy_check_xid(s, p->device, p, 31);
		davy_check2_lines(s, DAVY_LOG_XID_DETAIL, p->device, NULL, 2);
		davy_check4_fails(s, p->device, p);
		return s->now_ns + davy_sim_between(s, 3, 90) * DAVY_MS;
	default:
		davy_sim_exit(s, p, DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * ikawrakow/ik_llama.cpp#485, two RTX 6000 Ada: a model is loaded to the second one, "Cannot map
 * memory with base addr 0x7d523e000000 and size of 0x8700c pages", 0.203 s later Xid 31.
 */
void davy_check4_map_xid31(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *first = davy_synth_nvidia(s, 0);
	struct davy_sim_device *d = davy_synth_nvidia(s, 1);
	struct davy_check_engine small =
		davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3-32B-Q6_K.gguf", 27 * DAVY_GIB, 32768);
	struct davy_check_engine e = davy_check2_by(
		DAVY_BACKEND_CUDA, "DeepSeek-R1-0528-IQ2_K_R4.gguf", 41 * DAVY_GIB, 131072);
	struct davy_sim_process *p;

	(void)arg;
	davy_check2_vram(first, 49140, 300);
	davy_check2_vram(d, 49140, 300);
	s->host_total = 512 * DAVY_GIB;
	davy_check3_serve(s, first, &small, 600, 14 * DAVY_S);
	p = davy_check3_later(s, d, &e);
	davy_check2_then(s, fault_unmapped, p);
}

/* of: the script */
static uint64_t fault_oversubscribed(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		davy_check_start_again(s, p);
		p->kfd.queue_count = 8;
		p->client.vram = 700 * DAVY_MIB;
		return s->now_ns + davy_sim_between(s, 2500, 7000) * DAVY_MS;
	case 1: /* 110.313943 */
		davy_check4_sign(s);
		davy_sim_log(s, DAVY_LOG_OVERSUBSCRIBED, NULL, NULL, 0);
		return s->now_ns + 4310000;
	case 2: /* 110.318253 */
		davy_sim_log(s, DAVY_LOG_OVERSUBSCRIBED, NULL, NULL, 0);
		return s->now_ns + 388774000;
	case 3: /* 110.707027 */
		davy_check2_page_fault(s, p, 0, 4);
		davy_check4_fails(s, p->device, p);
		return s->now_ns + davy_sim_between(s, 5, 200) * DAVY_MS;
	default:
		davy_sim_exit(s, p, DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * ROCm/amdgpu#150, two gfx9 cards, data_parallel_tutorial of PyTorch: "Runlist is getting
 * oversubscribed" twice, 0.39 s later a page fault at address 0.
 */
void davy_check4_runlist_fault(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *first = davy_check3_card(s, 10 * DAVY_S, 32752);
	struct davy_sim_device *d = davy_check3_second(s, 10 * DAVY_S, 32752);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen2.5-14B-Instruct-Q8_0.gguf", 15 * DAVY_GIB, 16384);
	struct davy_sim_process *p;

	(void)arg;
	davy_check3_serve(s, first, &e, 560, 20 * DAVY_S);
	p = davy_check2_absent(s, d, "python3");
	p->by_kfd = true;
	davy_check2_then(s, fault_oversubscribed, p);
}

/* of: the runner; the next process is the child that looks for devices */
static uint64_t fault_in_discovery(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of, *child = p + 1;

	switch (a->stage++) {
	case 0: /* ollama is updated and starts again, now with its own ROCm */
		davy_sim_cause(s);
		davy_sim_exit(s, p, DAVY_STATUS_KILL);
		return s->now_ns + davy_sim_between(s, 3, 20) * DAVY_S;
	case 1:
		davy_check_start_again(s, child);
		a->n[0] = s->now_ns + 30 * DAVY_S;
		return s->now_ns + davy_sim_between(s, 300, 2500) * DAVY_MS;
	case 2: /* at its first launch; then it spins */
		davy_check4_sign(s);
		davy_check2_page_fault(s, child, 0x7f2fe7922000, 1);
		return a->n[0];
	case 3:
		davy_sim_exit(s, child, DAVY_STATUS_KILL);
		return s->now_ns + davy_sim_between(s, 400, 6000) * DAVY_MS;
	default:
		p->info.backend = DAVY_BACKEND_CPU;
		p->info.device[0] = '\0';
		p->info.gpu_layers = 0;
		davy_check_start_again(s, p);
		davy_check4_fails(s, p->device, p);
		return 0;
	}
}

/*
 * ollama/ollama#13589 (aklofas), Strix Halo, bundled ROCm 7.2: the child that looks for devices
 * faults (CPF, WALKER_ERROR) and spins, the discovery ends after 30 s, the model runs on the CPU.
 */
void davy_check4_discovery_30s(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 128);
	struct davy_check_engine e =
		davy_check_by_vulkan("qwen3-30b-a3b-Q4_K_M.gguf", 18600 * DAVY_MIB, 32768);
	struct davy_sim_process *child;
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	l = davy_check3_serve(s, d, &e, 210, 25 * DAVY_S);
	child = davy_check2_absent(s, d, "ollama");
	child->by_kfd = true;
	child->info.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	child->info.role = DAVY_ROLE_DISCOVERY;
	child->info.flags = 0;
	davy_check2_then(s, fault_in_discovery, l->p);
}

static uint64_t fault_of_queues(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_event ev;

	switch (a->stage++) {
	case 0: /* the next instance of a sweep */
		davy_sim_cause(s);
		davy_check_start_again(s, p);
		p->kfd.queue_count = 2;
		p->client.vram = 400 * DAVY_MIB;
		return s->now_ns + davy_sim_between(s, 400, 2500) * DAVY_MS;
	case 1: /* 145853.089070 */
		davy_check4_sign(s);
		davy_sim_log(s, DAVY_LOG_OVERSUBSCRIBED, NULL, NULL, 0);
		return s->now_ns + 553000000;
	case 2: /* 145853.642382 */
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_IOCTL, -ENOMEM, 0, 1);
		ev = davy_sim_log_of(s, DAVY_LOG_QUEUE_CREATE_FAILED, NULL, NULL);
		ev.log.error = -ENOMEM;
		davy_sim_log_event(s, &ev);
		return s->now_ns + davy_sim_between(s, 2, 40) * DAVY_MS;
	default:
		davy_sim_exit(s, p, DAVY_STATUS_ABORT);
		davy_check4_fails(s, p->device, p);
		return 0;
	}
}

/*
 * ROCm/rocMLIR#1085 and ROCm/legacy-rocm-build#2705: one more process on a card, "Runlist is
 * getting oversubscribed", 0.37 to 0.55 s later "No more SDMA queue to allocate", its queue cannot
 * be created (-12), it ends.
 */
void davy_check4_sdma_queues(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 49136);
	struct davy_check_engine e =
		davy_check_by_rocm("Mistral-Small-3.2-24B-Q4_K_M.gguf", 14 * DAVY_GIB, 8192);
	struct davy_sim_process *p;

	(void)arg;
	davy_check3_serve(s, d, &e, 310, 18 * DAVY_S);
	davy_check3_serve(s, d, &e, 310, 26 * DAVY_S);
	for (uint32_t i = 0; i < 4; i++) {
		p = davy_check_app(s, d, "mlir-runner", 900 * DAVY_MIB);
		p->by_kfd = true;
		p->ring = NULL;
		p->kfd.queue_count = 4;
		davy_check_wander(s, &p->client.vram, 300 * DAVY_MIB, 1500 * DAVY_MIB, 8 * DAVY_S);
	}
	p = davy_check2_absent(s, d, "mlir-runner");
	p->by_kfd = true;
	davy_check2_then(s, fault_of_queues, p);
}

/* of: the load; n: bytes with the larger context */
static uint64_t fault_full(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	switch (a->stage++) {
	case 0:
		davy_sim_exit(s, p, DAVY_STATUS_TERM);
		davy_sim_cause(s);
		return s->now_ns + davy_sim_between(s, 4, 30) * DAVY_S;
	case 1: /* with -c 16384 */
		p->info.context_size = p->progress.context_size = 16384;
		l->habit.think_ns = 12 * DAVY_S;
		davy_check3_load(s, p, a->n[0], DAVY_MIB);
		return s->now_ns + 300 * DAVY_MS;
	case 2:
		if (p->client.vram < a->n[0])
			break;
		davy_check4_sign(s); /* 7.8 of 7.98 GiB */
		return s->now_ns + 100 * DAVY_MS;
	default: /* the first token is wrong already */
		if (l->phase != DAVY_SIM_ANSWER)
			return s->now_ns + 20 * DAVY_MS;
		davy_check4_fails(s, p->device, p);
		return 0;
	}
	a->stage--;
	return s->now_ns + 100 * DAVY_MS;
}

/*
 * ggml-org/llama.cpp#7240, a card of 8 GB, Vulkan: with a context of 16384 VRAM is nearly full (7.8
 * of 7.98 GiB), and all output is gibberish.
 */
void davy_check4_full_gibberish(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 8176);
	struct davy_check_engine e =
		davy_check_by_vulkan("Meta-Llama-3-8B-Instruct-Q4_K_M.gguf", 4900 * DAVY_MIB, 8192);
	struct davy_sim_process *desktop = davy_check_app(s, d, "Xorg", 420 * DAVY_MIB);
	struct davy_sim_load *l;
	uint64_t full = d->memory.vram_total / 798 * 780;

	(void)arg;
	davy_check_frames(s, desktop, 3 * DAVY_MS, 60);
	l = davy_check3_serve(s, d, &e, 690, 20 * DAVY_S);
	davy_check2_then(s, fault_full, l)->n[0] =
		full - (davy_sim_vram_used(s, d) - l->p->client.vram);
}
