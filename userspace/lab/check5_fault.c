/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page faults, and engines that do not start or find no device. */
#include <errno.h>

#include "lab/check5_parts.h"

/* of: rocminfo, the process after it is the program */
static uint64_t fault_maps_refused(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *tool = a->of, *program = tool + 1;

	switch (a->stage++) {
	case 0:
	case 2:
		davy_check4_sign(s);
		davy_check_start_again(s, tool);
		davy_check2_lines(s, DAVY_LOG_GPU_MAP_FAILED, tool->device, NULL, 3);
		return s->now_ns + davy_sim_between(s, 300, 900) * DAVY_MS;
	case 1:
	case 3:
		davy_sim_exit(s, tool, 0);
		return s->now_ns + davy_sim_between(s, 4, 40) * DAVY_S;
	case 4:
		davy_check3_load(s, program, 5 * DAVY_GIB, 2 * DAVY_MIB);
		return s->now_ns + davy_sim_between(s, 3, 9) * DAVY_S;
	case 5:
		davy_check2_lines(s, DAVY_LOG_USER_PAGES_FAILED, NULL, NULL, 1);
		return s->now_ns + davy_sim_between(s, 5, 400) * DAVY_MS;
	case 6:
		davy_check2_page_fault(s, program, 0x79c2a1fff000, 32);
		davy_check4_fails(s, program->device, program);
		return s->now_ns + davy_sim_between(s, 20, 300) * DAVY_MS;
	default:
		davy_sim_exit(s, program, DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * ROCm/amdgpu#147, a POWER9 host: each rocminfo prints "update_gpuvm_pte() failed", "Failed to map
 * bo to gpuvm", "Failed to map peer". The program that uses hipBLAS after it gets no user pages and
 * faults (TCP, no retry). A small model by Vulkan is not affected.
 */
void davy_check5_peer_map(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 32752);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q4_K_M.gguf", 4800 * DAVY_MIB, 16384);
	struct davy_check_engine tool = davy_check_by_rocm("", 0, 4096);
	struct davy_sim_process *info;

	(void)arg;
	davy_check3_serve(s, d, &e, 200, 8 * DAVY_S);
	info = davy_check2_absent(s, d, "rocminfo");
	info->by_kfd = true;
	tool.comm = "main";
	tool.engine = DAVY_ENGINE_LLAMA_CPP;
	tool.role = DAVY_ROLE_TOOL;
	davy_check3_later(s, d, &tool);
	davy_check2_then(s, fault_maps_refused, info);
}

/* of: the load of the large model; the process before it serves a small one */
static uint64_t fault_at_brim(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		davy_sim_exit(s, p - 1, DAVY_STATUS_TERM);
		davy_check3_load(s, p, p->device->memory.vram_total / 1000 * 984, DAVY_MIB);
		return s->now_ns + davy_sim_between(s, 32, 50) * DAVY_S;
	case 1:
		davy_check_stuck(s, l);
		return s->now_ns + davy_sim_between(s, 40, 150) * DAVY_S;
	case 2:
		davy_check2_page_fault(s, p, 0x7fe03c660000, 180);
		davy_check4_fails(s, p->device, p);
		return s->now_ns + 700 * DAVY_MS;
	case 3:
	case 4:
	case 5:
		davy_check2_page_fault(s, p, 0x7fe03c661000, 90);
		return s->now_ns + davy_sim_between(s, 400, 1100) * DAVY_MS;
	default:
		davy_sim_exit(s, p, DAVY_STATUS_KILL);
		return 0;
	}
}

/*
 * ggml-org/llama.cpp#3896, RX 7900 XTX: a model of 70B whose layers fill VRAM; its first prompt is
 * "endless", then SDMA0 faults again and again. Smaller models run.
 */
void davy_check5_brim_70b(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 24560);
	struct davy_check_engine small =
		davy_check_by_rocm("llama-2-13b.Q5_K_M.gguf", 9300 * DAVY_MIB, 4096);
	struct davy_check_engine large =
		davy_check_by_rocm("llama-2-70b.Q4_K_M.gguf", 41400 * DAVY_MIB, 4096);

	(void)arg;
	davy_check3_serve(s, d, &small, 460, 9 * DAVY_S);
	davy_check2_then(s, fault_at_brim,
			 davy_check_chat(s, davy_check3_later(s, d, &large), 5 * DAVY_S));
}

/* of: darktable; n: its job began */
static uint64_t fault_after_reset(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of, *server = &s->process[0];
	struct davy_sim_ring *r = p->ring;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		r->began_ns = s->now_ns;
		r->pid = p->pid;
		r->seqno++;
		return s->now_ns + r->timeout_ns;
	case 1: /* 05:18:10 */
		davy_check4_sign(s);
		davy_check2_xe_timeout(s, p);
		return s->now_ns + davy_sim_between(s, 600, 3000) * DAVY_MS;
	case 2:
		davy_sim_exit(s, p, DAVY_STATUS_EXIT1);
		return s->now_ns + davy_sim_between(s, 59, 63) * DAVY_S;
	case 3: /* 05:19:13 */
		davy_check5_xe_fault(s, p->device, 0xd556a8ac7000);
		davy_check4_fails(s, p->device, server);
		davy_sim_log(s, DAVY_LOG_XE_ENGINE_RESET, p->device, NULL, 0);
		return s->now_ns + davy_sim_between(s, 5, 900) * DAVY_MS;
	default:
		s->load[0].stick = true; /* it waits for ever */
		return 0;
	}
}

/*
 * darktable-org/darktable#20257, named in intel/compute-runtime#946: darktable alone gets ccs of an
 * Arc Pro B70 reset. ggml-org/llama.cpp#24810: 63 s after such a reset bcs faults, "Fault response:
 * Unsuccessful -ENOENT", and the SYCL server waits for ever.
 */
void davy_check5_after_ccs(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check4_xe(s, 32656);
	struct davy_check_engine e = davy_check2_by(
		DAVY_BACKEND_SYCL, "Qwen3.6-35B-A3B-UD-Q4_K_M.gguf", 21 * DAVY_GIB, 65536);
	struct davy_sim_process *p;

	(void)arg;
	davy_check3_serve(s, d, &e, 690, 2 * DAVY_S);
	p = davy_check_app(s, d, "darktable", 900 * DAVY_MIB);
	p->ring = &d->ring[1];
	davy_check_wander(s, &p->client.vram, 600 * DAVY_MIB, 3 * DAVY_GIB, 12 * DAVY_S);
	davy_check2_then(s, fault_after_reset, p);
}

/* of: the engine */
static uint64_t fault_twice(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		davy_check4_sign(s);
		davy_check_xid(s, p->device, p, 31);
		return s->now_ns + davy_sim_between(s, 100, 1500) * DAVY_MS;
	case 1:
		davy_sim_exit(s, p, DAVY_STATUS_EXIT1);
		return s->now_ns + davy_sim_between(s, 10, 60) * DAVY_S;
	case 2:
		davy_check3_load(s, p, 52 * DAVY_GIB, 1500 << 10);
		return s->now_ns + davy_sim_between(s, 40 + 120, 40 + 360) * DAVY_S;
	default:
		davy_check_xid(s, p->device, p, 31);
		davy_check4_fails(s, p->device, p);
		davy_synth_end_later(s, p, davy_sim_between(s, 100, 1500) * DAVY_MS,
				     DAVY_STATUS_EXIT1);
		return 0;
	}
}

/*
 * syv-ai/qwen38-27b-rtx3090#98, CMP 170HX with 64 GB, vLLM 0.28 with a DFlash2 drafter: Xid 31
 * within 2 to 6 min of load, nine times, the card is not wedged. Its container restarts and faults
 * again as soon.
 */
void davy_check5_dflash_again(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check5_nvidia(s, 0, 65536);
	struct davy_check_engine e = davy_check2_by(
		DAVY_BACKEND_CUDA, "Qwen3.8-27B-W4A16-AutoRound", 17 * DAVY_GIB, 262144);

	(void)arg;
	e.comm = "VLLM::EngineCor";
	e.engine = DAVY_ENGINE_VLLM;
	e.ubatch = 8192;
	davy_check2_then(s, fault_twice, davy_check3_serve(s, d, &e, 820, 2 * DAVY_S)->p);
}

/* of: the first worker, the second is the next process; both of the old image are before */
static uint64_t fault_in_profiling(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_device *d = p->device;
	struct davy_sim_ring *r = &d->ring[1];

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		davy_sim_exit(s, p - 1, DAVY_STATUS_TERM);
		davy_sim_exit(s, p - 2, DAVY_STATUS_TERM);
		return s->now_ns + davy_sim_between(s, 8, 40) * DAVY_S;
	case 1:
		davy_check3_load(s, p, 18 * DAVY_GIB, 800 << 10);
		davy_check3_load(s, p + 1, 18 * DAVY_GIB, 800 << 10);
		return s->now_ns + davy_sim_between(s, 26, 45) * DAVY_S;
	case 2: /* a job of the kernel that does not start */
	case 4:
		r->began_ns = s->now_ns;
		r->pid = 0;
		r->seqno++;
		davy_sim_precursor(s, s->now_ns + r->timeout_ns / 8);
		return s->now_ns + r->timeout_ns;
	case 3:
	case 5:
		davy_check2_ring_timeout(s, d, r, NULL);
		davy_check2_lines(s, DAVY_LOG_XE_JOB_TIMEOUT, d, NULL, 2);
		davy_check2_lines(s, DAVY_LOG_COREDUMP, d, NULL, 1);
		davy_check2_lines(s, DAVY_LOG_XE_GT_RESET, d, NULL, 2);
		davy_check2_lines(s, DAVY_LOG_XE_GT_RESET_DONE, d, NULL, 1);
		r->began_ns = 0;
		return s->now_ns + davy_sim_between(s, 20, 900) * DAVY_MS;
	default:
		davy_sim_exit(s, p, DAVY_STATUS_EXIT1);
		davy_check4_fails(s, d, p);
		davy_synth_end_later(s, p + 1, 300 * DAVY_MS, DAVY_STATUS_EXIT1);
		return 0;
	}
}

/*
 * intel/llm-scaler#595, two Arc Pro B70: after an update vLLM's start ends in its memory profiling.
 * "Check job timeout: .. not started", a job of no process (guc_id=0), the GT is reset, then
 * UR_RESULT_ERROR_DEVICE_LOST. The old image served for days.
 */
void davy_check5_not_started(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d[2] = { davy_check4_xe(s, 32656), NULL };
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_SYCL, "Qwen3.6-35B-A3B", 35 * DAVY_GIB, 65536);
	struct davy_sim_process *first;

	(void)arg;
	d[1] = davy_check4_second_xe(s, 32656);
	e.comm = "VLLM::Worker";
	e.engine = DAVY_ENGINE_VLLM;
	davy_check3_serve(s, d[0], &e, 880, 3 * DAVY_S);
	davy_check3_serve(s, d[1], &e, 880, 3 * DAVY_S);
	first = davy_check3_later(s, d[0], &e);
	davy_check3_later(s, d[1], &e);
	davy_check2_then(s, fault_in_profiling, first);
}

/* of: the discovery; the runner is the process before */
static uint64_t fault_ends_discovery(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of, *runner = p - 1;
	struct davy_sim_device *d = p->device;

	switch (a->stage++) {
	case 0: /* 14:25:56, ERREVENT_ATHUB_INTERRUPT */
		davy_check4_sign(s);
		davy_sim_fault(s, runner, DAVY_FAULT_ECC, 0, 1);
		davy_sim_log(s, DAVY_LOG_RAS_UNCORRECTABLE, d, NULL, 0);
		davy_check5_fact(s, DAVY_FACT_RAS_RESET, d, NULL, NULL, 0);
		davy_sim_reset(s, d, true, 0);
		return s->now_ns + davy_sim_between(s, 2800, 3200) * DAVY_MS;
	case 1:
	case 2: /* "Failed to send message 0x26, response 0x0" */
		davy_check2_lines(s, DAVY_LOG_SMU_FAILED, d, NULL, 4);
		return s->now_ns + davy_sim_between(s, 4700, 5200) * DAVY_MS;
	case 3:
		davy_sim_reset(s, d, false, -EIO);
		davy_check2_lines(s, DAVY_LOG_RESUME_FAILED, d, NULL, 2);
		davy_sim_exit(s, runner, DAVY_STATUS_ABORT);
		return s->now_ns + davy_sim_between(s, 5, 90) * DAVY_S;
	case 4:
		davy_check_start_again(s, p);
		return s->now_ns + davy_sim_between(s, 400, 2900) * DAVY_MS;
	default:
		davy_sim_exit(s, p, DAVY_STATUS_EXIT1);
		davy_check4_fails(s, d, p);
		return 0;
	}
}

/*
 * ROCm/ROCm#1886, an MI50: an uncorrectable error of ATHUB, the reset fails because the SMU does
 * not answer, nothing finds the card until the next boot. Ollama's next discovery ends without it.
 */
void davy_check5_athub_then_none(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 32752);
	struct davy_check_engine e =
		davy_check_by_rocm("gemma-3-27b-it-q4_0.gguf", 16 * DAVY_GIB, 8192);

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	davy_check3_serve(s, d, &e, 610, 15 * DAVY_S);
	e.role = DAVY_ROLE_DISCOVERY;
	davy_check2_then(s, fault_ends_discovery, davy_check3_later(s, d, &e));
}
