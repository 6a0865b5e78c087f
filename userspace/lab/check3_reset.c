/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resets of the whole GPU. */
#include <errno.h>

#include "lab/check3_parts.h"

/* A job that never ends; frames wait behind it. */
static void reset_begin_job(struct davy_sim *s, struct davy_sim_process *p)
{
	davy_check3_stop(s, p);
	p->ring->began_ns = s->now_ns;
	p->ring->pid = p->pid;
	p->ring->seqno++;
}

static uint64_t reset_smu(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		davy_sim_precursor(s, s->now_ns);
		reset_begin_job(s, p);
		break;
	case 3:
		p->ring->began_ns = 0;
		davy_check2_ring_timeout(s, p->device, p->ring, p);
		davy_sim_failed(s);
		davy_synth_reset_device(s, p->device, davy_sim_between(s, 900, 3500) * DAVY_MS, 0);
		return 0;
	default:
		break;
	}
	davy_check2_lines(s, DAVY_LOG_SMU_BUSY, p->device, NULL, 1);
	return s->now_ns + (a->stage < 3 ? 4276 : 1538) * DAVY_MS;
}

/*
 * ROCm/legacy-rocm-build#2196 (RX 7900, a lockup timeout of 10 s): the SMU does not finish a
 * command, three lines 4.3 s apart on an idle host, then plasmashell's job times out and the GPU
 * is reset.
 */
void davy_check3_smu_busy(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 24560);
	struct davy_sim_process *p = davy_check_app(s, d, "plasmashell", 420 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-14B-Q4_K_M.gguf", 9000 * DAVY_MIB, 16384);

	(void)arg;
	davy_check_frames(s, p, 2 * DAVY_MS, 60);
	davy_check3_serve(s, d, &e, 460, 5 * DAVY_MIN);
	davy_sim_subject(s, d, p);
	davy_check2_then(s, reset_smu, p);
}

static uint64_t reset_retried(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	switch (a->stage++) {
	case 0:
		if (l->phase != DAVY_SIM_IDLE) {
			a->stage--;
			return s->now_ns + 50 * DAVY_MS;
		}
		davy_sim_cause(s);
		l->want_prompt = (uint32_t)davy_sim_between(s, 8000, 14000);
		davy_sim_ask(s, l);
		return s->now_ns + davy_sim_between(s, 1500, 4000) * DAVY_MS;
	case 1:
		davy_check3_stick(s, l);
		davy_sim_precursor(s, s->now_ns);
		davy_check2_lines(s, DAVY_LOG_MES_FAILED, p->device, NULL, 1);
		return s->now_ns + 2 * DAVY_S;
	default:
		davy_check2_mes_reset(s, p->device, p);
		davy_sim_failed(s);
		return 0;
	}
}

/*
 * amd-gr-008 and amd-gr-011, Radeon 780M, 7.0, llama.cpp by ROCm: a prompt of several large
 * batches. MES does not answer, is asked again 2.0 s later, and the GPU is reset.
 */
void davy_check3_long_prompt(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 64);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3-8B-Q4_K_M.gguf", 4800 * DAVY_MIB, 32768);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 140, 20 * DAVY_S);
	l->habit.prompt_max = 400;
	l->pace.prompt_ns = 600 * DAVY_MS;
	davy_sim_subject(s, d, l->p);
	davy_check2_then(s, reset_retried, l);
}

static uint64_t reset_while_idle(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	switch (a->stage++) {
	case 0:
		if (l->phase != DAVY_SIM_IDLE) {
			a->stage--;
			return s->now_ns + DAVY_S;
		}
		l->stopped = true;
		return s->now_ns + davy_sim_around(s, 30 * DAVY_S);
	case 1:
		davy_check3_fails(s, l->p->device, l->p);
		davy_check_xid(s, l->p->device, l->p, 62);
		return s->now_ns + davy_sim_between(s, 10, 200) * DAVY_MS;
	default:
		davy_check_xid(s, l->p->device, NULL, 154);
		return 0;
	}
}

/*
 * ollama/ollama#18144, RTX 5060 Ti, 580.173.02 open: hours after the last change the loaded model
 * rests, only /api/tags is asked; Xid 62, then 154, "GPU Reset Required". No precursor.
 */
void davy_check3_xid62_idle(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_check_engine e = davy_check2_by(DAVY_BACKEND_CUDA, "qwen3.8-14b-Q4_K_M.gguf",
						    9200 * DAVY_MIB, 16384);

	(void)arg;
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	davy_check2_then(s, reset_while_idle, davy_check3_serve(s, d, &e, 620, 2 * DAVY_MIN));
}

static uint64_t reset_fails_twice(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_device *d = p->device;

	switch (a->stage++) {
	case 0:
		davy_sim_reset(s, d, false, -EINVAL);
		davy_check2_lines(s, DAVY_LOG_JOBS_SKIPPED, d, NULL, 2);
		davy_sim_throw(s, p, DAVY_LOST);
		return s->now_ns + 3 * DAVY_S;
	case 1:
		davy_sim_log(s, DAVY_LOG_SMU_FAILED, d, NULL, 0);
		return s->now_ns + davy_sim_around(s, 26 * DAVY_S);
	case 2:
		davy_check2_ring_timeout(s, d, &d->ring[4], NULL);
		davy_sim_failed(s);
		davy_sim_reset(s, d, true, 0);
		return s->now_ns + davy_sim_between(s, 1000, 3000) * DAVY_MS;
	default:
		davy_sim_reset(s, d, false, -EINVAL);
		return 0;
	}
}

static void reset_first(struct davy_sim *s, struct davy_sim_load *l)
{
	struct davy_sim_process *p = l->p;

	davy_sim_precursor(s, s->now_ns);
	davy_check2_ring_timeout(s, p->device, p->ring, p);
	davy_sim_reset(s, p->device, true, 0);
	p->ring->began_ns = p->graph.entered_ns = 0;
	p->graph.failed_count++;
	davy_sim_add_actor(s, reset_fails_twice, p,
			   s->now_ns + davy_sim_between(s, 500, 3000) * DAVY_MS);
}

static uint64_t reset_sticks(struct davy_sim *s, struct davy_sim_actor *a)
{
	davy_check3_stick(s, a->of);
	return 0;
}

/*
 * amd-old-001, ai00_server by wgpu: the recovery from a timeout ends with -22, 29 s later a job of
 * SDMA times out and the card is lost until the reboot. The precursor is the first timeout.
 */
void davy_check3_second_loss(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 8176);
	struct davy_check_engine e =
		davy_check_by_vulkan("rwkv-7b-world.st", 5200 * DAVY_MIB, 4096);
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "ai00_server";
	e.engine = DAVY_ENGINE_GENERIC;
	l = davy_check3_serve(s, d, &e, 720, 25 * DAVY_S);
	l->timed_out = reset_first;
	davy_sim_subject(s, d, l->p);
	davy_check2_then(s, reset_sticks, l);
}

static uint64_t reset_by_browser(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_device *d = p->device;
	struct davy_event ev;

	switch (a->stage++) {
	case 0:
		davy_check2_page_fault(s, p, 0x3e000000, 1);
		davy_sim_precursor(s, s->now_ns);
		reset_begin_job(s, p);
		return s->now_ns + 10040 * DAVY_MS;
	case 1:
		p->ring->began_ns = 0;
		davy_check2_ring_timeout(s, d, p->ring, p);
		return s->now_ns + 2004 * DAVY_MS;
	default:
		ev = davy_sim_log_of(s, DAVY_LOG_MES_FAILED, d, NULL);
		ev.log.role = DAVY_PART_AFTERMATH; /* a ring's reset is running */
		ev.log.log_class = DAVY_CLASS_GPU_RESET;
		ev.log.hazard = ev.log.weight = 0;
		ev.log.leads = 0;
		davy_sim_log_event(s, &ev);
		davy_check3_ring_line(s, DAVY_LOG_RING_RESET_FAILED, d, p->ring);
		davy_sim_failed(s);
		davy_synth_reset_device(s, d, davy_sim_between(s, 1200, 4000) * DAVY_MS, 0);
		return 0;
	}
}

/*
 * pop-os/cosmic-comp#2624: a browser's shader faults; 10 s later its job times out, MES does not
 * answer RESET for 2 s, the whole GPU is reset, and the model beside it is gone.
 */
void davy_check3_chrome_fault(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 10 * DAVY_S, 64);
	struct davy_sim_process *p = davy_check_app(s, d, "chrome", 900 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check_by_vulkan("gpt-oss-20b-mxfp4.gguf", 11600 * DAVY_MIB, 32768);

	(void)arg;
	davy_check_frames(s, p, 5 * DAVY_MS, 50);
	davy_check_wander(s, &p->client.gtt, 500 * DAVY_MIB, 1500 * DAVY_MIB, 15 * DAVY_S);
	davy_check3_serve(s, d, &e, 290, 45 * DAVY_S);
	davy_sim_subject(s, d, p);
	davy_check2_then(s, reset_by_browser, p);
}
