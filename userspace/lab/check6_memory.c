/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that ends, or does not come back, and drivers that do not start again. */
#include <errno.h>

#include "lab/check6_parts.h"

/* of: the load; n: bytes for a token */
static uint64_t memory_leaks(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;
	uint64_t left;

	p->client.system = p->progress.generated_count * a->n[0];
	left = davy_sim_host_available(s);
	if (s->now_ns < davy_synth_when(s))
		return s->now_ns + DAVY_S;
	if (!a->stage++) {
		davy_sim_cause(s);
		l->habit.think_ns = 300 * DAVY_MS; /* a batch of stories */
		l->habit.answer_min = 600;
		l->habit.answer_max = 2400;
	} else if (a->stage == 60) {
		davy_check4_sign(s);
	}
	if (left < 900 * DAVY_MIB)
		s->pressure_permille = (uint32_t)davy_sim_between(s, 40, 500);
	if (left > 130 * DAVY_MIB)
		return s->now_ns + DAVY_S;
	davy_sim_subject(s, p->device, p);
	davy_sim_log(s, DAVY_LOG_PAGE_ALLOC_FAILED, NULL, p, 0);
	davy_check4_fails(s, p->device, p);
	davy_check5_oom_kill(s, p, false);
	return 0;
}

/*
 * ggml-org/llama.cpp#25740, BC-250 with 16 GiB, Qwen3-14B: 0.16 MB of host memory stay for each
 * generated token, GTT is constant, MemAvailable falls from 4.8 GB until the OOM killer comes.
 */
void davy_check6_leak_per_token(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 10 * DAVY_S, 16);
	struct davy_check_engine e =
		davy_check_by_vulkan("qwen3-14b-q4km.gguf", 8990 * DAVY_MIB, 8192);
	struct davy_sim_load *l;

	(void)arg;
	s->host_other = 1400 * DAVY_MIB;
	l = davy_check3_serve(s, d, &e, 800, 70 * DAVY_S);
	davy_sim_add_actor(s, memory_leaks, l, s->begin_ns + DAVY_S)->n[0] =
		davy_sim_between(s, 150, 165) * 1024;
}

/* of: the program, the compositor is before it; n: tries */
static uint64_t memory_of_upscaler(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of, *shell = p - 1;
	struct davy_sim_device *d = p->device;

	switch (a->stage) {
	case 0: /* a longer video: its frames need more and more */
		davy_sim_cause(s);
		davy_check3_stop(s, p);
		a->stage = 1;
		return s->now_ns + DAVY_S;
	case 1:
		if (davy_sim_vram_used(s, d) + 200 * DAVY_MIB < d->memory.vram_total) {
			p->client.vram += davy_sim_between(s, 60, 180) * DAVY_MIB;
			return davy_check6_in(s, 200, 600);
		}
		davy_check4_sign(s);
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_RESOURCE, -ENOSPC, 256 * DAVY_MIB,
				      (uint32_t)davy_sim_between(s, 4, 30));
		if (++a->n[0] < 14)
			return davy_check6_in(s, 60, 300);
		a->stage = 2; /* 06:01:01, "pin failed" */
		davy_check2_lines(s, DAVY_LOG_PIN_FAILED, d, NULL, 2);
		return davy_check6_in(s, 220, 400);
	case 2:
		davy_check5_hogged(s, DAVY_LOG_RESTORE_WORKER_HOGGED, 5);
		a->stage = 3;
		return davy_check6_in(s, 100, 300);
	default:
		davy_sim_alloc_failed(s, shell, DAVY_ALLOC_VALIDATE, -ENOMEM, 32 * DAVY_MIB, 6);
		davy_sim_alloc_failed(s, shell, DAVY_ALLOC_IOCTL, -ENOMEM, 32 * DAVY_MIB, 6);
		davy_check2_lines(s, DAVY_LOG_CS_NO_MEMORY, d, NULL, 12);
		davy_check4_fails(s, d, p);
		davy_sim_exit(s, p, DAVY_STATUS_EXIT1);
		return 0;
	}
}

/*
 * amd-ttm-004, Comfy-Org/ComfyUI#10369, RX 9070 XT: VRAM is full; "pin failed", a framebuffer is
 * not pinned, the restore worker hogs a CPU, submissions fail: all within a second; HIP has no
 * memory.
 */
void davy_check6_pin_flip_hog(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16304);

	(void)arg;
	davy_check6_desktop(s, d, "gnome-shell", 900);
	davy_check2_then(s, memory_of_upscaler,
			 davy_check6_torch(s, d, "python3", 380, 720, 6 * DAVY_S));
}

/* of: the first runner, the second one follows it; n: tries */
static uint64_t memory_not_back(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of, *next = p + 1;
	uint64_t kept;

	switch (a->stage) {
	case 0: /* another model is asked for */
		if (davy_check_load_of(s, p)->phase != DAVY_SIM_IDLE)
			return s->now_ns + 100 * DAVY_MS;
		kept = p->client.vram / 10 * 9;
		davy_check4_sign(s);
		davy_sim_exit(s, p, DAVY_STATUS_KILL);
		p->device->vram_other += kept; /* it is not given back */
		a->stage = 1;
		return davy_check6_in(s, 5200, 5600); /* "VRAM usage didn't recover" */
	case 1:
		davy_check_start_again(s, next);
		a->stage = 2;
		return davy_check6_in(s, 1500, 3000);
	default:
		if (!davy_check_hip_allocate(s, next, 380 * DAVY_MIB))
			return davy_check6_in(s, 60, 140);
		if (++a->n[0] < 4)
			return davy_check6_in(s, 30, 120);
		davy_check4_fails(s, next->device, next);
		davy_sim_exit(s, next, DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * ROCm/legacy-rocm-build#5362, ollama/ollama#5113 and #12922, 24 GiB: after the end of a runner
 * VRAM stays in use, "gpu VRAM usage didn't recover within timeout"; the next runner gets no memory
 * and aborts in its load.
 */
void davy_check6_vram_not_back(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 60 * DAVY_S, 24560);
	struct davy_check_engine first = davy_check_by_rocm("qwen3.6:27b", 17 * DAVY_GIB, 32768);
	struct davy_check_engine second = davy_check_by_rocm("gemma4:12b", 9 * DAVY_GIB, 32768);
	struct davy_sim_load *l;

	(void)arg;
	first.comm = second.comm = "ollama";
	first.engine = second.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	first.role = second.role = DAVY_ROLE_RUNNER;
	l = davy_check3_serve(s, d, &first, 790, 15 * DAVY_S);
	davy_check3_later(s, d, &second);
	davy_check6_desktop(s, d, "gnome-shell", 700);
	davy_check2_then(s, memory_not_back, l->p);
}

/* of: the engine on the card */
static uint64_t memory_to_guest(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_sim_exit(s, p, DAVY_STATUS_TERM);
	davy_check6_device(s, p->device, DAVY_DEVICE_REMOVED);
	return 0;
}

/* of: the engine on the card */
static uint64_t memory_from_guest(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_device *d = p->device;

	switch (a->stage++) {
	case 0: /* the guest has ended, amdgpu is bound again */
		davy_check4_sign(s);
		davy_check2_lines(s, DAVY_LOG_RESET_CHATTER, d, NULL, 6);
		davy_check2_lines(s, DAVY_LOG_SMU_BUSY, d, NULL, 1);
		return davy_check6_in(s, 3500, 4500);
	case 1:
		davy_check2_lines(s, DAVY_LOG_SMU_BUSY, d, NULL, 2);
		return davy_check6_in(s, 3500, 4500);
	case 2: /* "ring mes_kiq_3.1.0 test failed (-110)", "KCQ enable failed" */
		davy_check2_lines(s, DAVY_LOG_KIQ_TIMEOUT, d, NULL, 1);
		return davy_check6_in(s, 20, 60);
	case 3:
		davy_sim_log(s, DAVY_LOG_INIT_FAILED, d, NULL, 0);
		davy_check4_fails(s, d, p);
		return davy_check6_in(s, 2000, 6000);
	default: /* ollama's discovery finds no GPU */
		davy_check_start_again(s, p);
		p->client.vram = 0;
		davy_synth_end_later(s, p, 700 * DAVY_MS, DAVY_STATUS_EXIT1);
		return 0;
	}
}

/*
 * The "reset bug" of cards that come back from a guest: amd-oor-001 ("SMU: I'm not done with your
 * previous command", 9 s before PSP fails), ellyq/coreboot#4 (the ring test of KIQ fails, "Fatal
 * error during GPU init"); ollama then runs on the CPU.
 */
void davy_check6_reset_bug(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 20464);
	struct davy_sim_device *apu =
		davy_check3_second(s, 10 * DAVY_S, 4096); /* draws the desktop */
	struct davy_check_engine e = davy_check_by_rocm("qwen3:14b", 9 * DAVY_GIB, 16384);
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	l = davy_check3_serve(s, d, &e, 560, 20 * DAVY_S);
	davy_check6_desktop(s, apu, "kwin_wayland", 300);
	davy_check6_service(s, "qemu-system-x86");
	davy_sim_add_actor(s, memory_to_guest, l->p, davy_synth_when(s) - 11 * DAVY_MIN);
	davy_check2_then(s, memory_from_guest, l->p);
}

/* of: the card */
static uint64_t memory_sleeps_twice(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_device *d = a->of;
	uint64_t ns = davy_sim_between(s, 120, 3000) * DAVY_S;

	switch (a->stage) {
	case 0:
		if (!davy_check3_suspend(s, ns))
			return s->now_ns + 7 * DAVY_MS;
		davy_sim_cause(s);
		a->stage = 1;
		return s->now_ns + ns + 2 * DAVY_S;
	case 1: /* a stack in the driver after the first wakeup */
		davy_check2_lines(s, DAVY_LOG_RESET_CHATTER, d, NULL, 11);
		davy_check4_sign(s);
		davy_sim_log(s, DAVY_LOG_DRIVER_WARNING, d, NULL, 0);
		davy_check2_lines(s, DAVY_LOG_TRACE, NULL, NULL, 34);
		a->stage = 2;
		return davy_check6_in(s, 240000, 1500000);
	default: /* the next suspend */
		davy_sim_subject(s, d, NULL);
		davy_check2_host_dies(s);
		return 0;
	}
}

/*
 * ollama/ollama#3527 (and #13011), Debian: with the service by ROCm the driver prints an exception
 * when the host wakes; at the second suspend the machine dies.
 */
void davy_check6_second_suspend(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16368);
	struct davy_check_engine e = davy_check_by_rocm("llama3:8b", 4700 * DAVY_MIB, 8192);

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	davy_check6_desktop(s, d, "gnome-shell", 500);
	davy_check3_serve(s, d, &e, 400, 45 * DAVY_S);
	davy_check2_then(s, memory_sleeps_twice, d);
}
