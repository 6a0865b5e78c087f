/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work that does not end, jobs that become too long, and a model that stays outside VRAM. */
#include "lab/check6_parts.h"

/* of: the load of the first rank; two more follow it */
static uint64_t hang_in_step(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	switch (a->stage++) {
	case 0: /* 17:19:31, the last step */
		for (int i = 0; i < 3; i++)
			davy_check3_stick(s, l + i);
		return davy_check6_in(s, 9000, 12000);
	case 1: /* a step usually takes less than a second */
		davy_check4_sign(s);
		return davy_check6_in(s, 870000, 910000);
	default: /* 17:34:36, "CUDA_ERROR_CONTAINED: Invalid access of peer GPU memory" */
		davy_check_xid(s, l[1].p->device, l[1].p, 94);
		for (int i = 0; i < 3; i++) {
			davy_check4_fails(s, l[1].p->device, l[1].p);
			davy_synth_end_later(s, l[i].p, davy_sim_between(s, 50, 6800) * DAVY_MS,
					     DAVY_STATUS_ABORT);
		}
		return 0;
	}
}

/*
 * marin-community/marin#8934 and #8870, GB200: the step after 65069 does not end on any rank, 15
 * min without a line, then a contained error of NVLink ends the job.
 */
void davy_check6_nvl_15min(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check6_vllm(DAVY_BACKEND_CUDA, "grug-moe-p02", 140 * DAVY_GIB, 65536);
	struct davy_sim_load *first = NULL;

	(void)arg;
	e.comm = "python3";
	e.engine = DAVY_ENGINE_GENERIC;
	for (uint32_t i = 0; i < 3; i++) {
		struct davy_sim_device *d = davy_check5_nvidia(s, i, 188416);
		struct davy_sim_load *l = davy_check3_serve(s, d, &e, 880, 30 * DAVY_MS);

		first = first ? first : l;
	}
	davy_check2_then(s, hang_in_step, first);
}

/* of: the compositor; the four programs follow it; n: end, evictions of the cascade */
static uint64_t hang_by_evictions(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of, *one = p + davy_sim_between(s, 1, 4);

	if (!a->stage++) { /* the fourth program starts */
		davy_sim_cause(s);
		davy_check_start_again(s, p + 4);
		a->n[0] = davy_check6_in(s, 1800000, 3000000);
		a->n[1] = davy_sim_between(s, 6, 10);
		return davy_check6_in(s, 30000, 90000);
	}
	davy_check4_sign(s);
	davy_check_evict_queues(s, one, 2);
	davy_check2_lines(s, DAVY_LOG_QUEUE_BUFFER_FREED, NULL, NULL, 1);
	if (s->now_ns < a->n[0]) {
		davy_check_restore_queues(s, one, davy_sim_between(s, 100, 900) * DAVY_MS, false);
		return davy_check6_in(s, 9000, 60000);
	}
	if (a->n[1]--) /* six and more in less than a second */
		return davy_check6_in(s, 60, 140);
	for (int i = 1; i <= 4; i++)
		davy_check3_stop(s, p + i);
	davy_check4_fails(s, p->device, p);
	davy_sim_exit(s, p, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * ROCm/legacy-rocm-build#6012, Ryzen AI Max+ 395: three programs of PyTorch run for ever; with four
 * "Freeing queue vital buffer, queue evicted" again and again, after 30 to 60 min six and more in a
 * second, KWin ends, the GPU is 100 % busy and does nothing.
 */
void davy_check6_evict_cascade(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 128);
	struct davy_sim_process *kwin = davy_check6_desktop(s, d, "kwin_wayland", 300), *p = NULL;

	(void)arg;
	for (int i = 0; i < 4; i++)
		p = davy_check6_torch(s, d, "python", 110, 190, 11 * DAVY_S);
	davy_sim_exit(s, p, 0);
	davy_check2_then(s, hang_by_evictions, kwin);
}

/* of: the load */
static uint64_t hang_larger_ubatch(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	switch (a->stage++) {
	case 0: /* its user wants more speed: -ub 1024 instead of 256 */
		davy_sim_cause(s);
		davy_sim_exit(s, l->p, DAVY_STATUS_TERM);
		l->p->info.ubatch = 1024;
		l->pace.prompt_ns *= 4;
		l->pace.prompt_slope_ns *= 4;
		return davy_check6_in(s, 5000, 15000);
	case 1:
		davy_check3_load(s, l->p, 82 * DAVY_GIB, 3 * DAVY_MIB);
		davy_sim_subject(s, l->p->device, l->p);
		return davy_check6_in(s, 36000, 60000);
	default:
		if (l->stopped || l->phase != DAVY_SIM_IDLE)
			return s->now_ns + 20 * DAVY_MS;
		l->fatal = true;
		l->want_prompt = 126000;
		davy_sim_ask(s, l);
		return 0;
	}
}

/*
 * Nathanw1014/strix-halo-llamacpp#16: the depth at which the device is lost depends on -ub; with a
 * larger one a job exceeds 2 s in the same context.
 */
void davy_check6_ub_raised(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 2 * DAVY_S, 128);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen4-Exp-122B-IQ4_XS.gguf", 70 * DAVY_GIB, 131072);
	const struct davy_sim_pace pace = {
		.prompt_ns = davy_sim_between(s, 55, 65) * DAVY_MS,
		.prompt_slope_ns = davy_sim_between(s, 4300, 4900) * DAVY_MS / 1000,
		.token_ns = 35 * DAVY_MS,
		.token_slope_ns = DAVY_MS / 4,
		.noise_permille = 30,
	};
	const struct davy_sim_habit habit = { 3000, 60000, 100, 700, 300, 25 * DAVY_S };
	struct davy_sim_process *p;
	struct davy_sim_load *l;

	(void)arg;
	e.ubatch = 256;
	p = davy_check_engine(s, d, &e, 82 * DAVY_GIB);
	l = davy_sim_add_load(s, p, &pace, &habit);
	l->timed_out = davy_synth_lost_by_timeout;
	davy_check6_desktop(s, d, "gnome-shell", 200);
	davy_check2_then(s, hang_larger_ubatch, l);
}

/* of: the engine */
static uint64_t hang_copy_engine(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_check5_xe_fault(s, p->device, 0x7e40c0000000);
	davy_sim_log(s, DAVY_LOG_XE_ENGINE_RESET, p->device, NULL, 0);
	davy_sim_exit(s, p, DAVY_STATUS_ABORT);
	return 0;
}

static void hang_mtp_times_out(struct davy_sim *s, struct davy_sim_load *l)
{
	davy_check2_xe_timeout(s, l->p);
	davy_check4_fails(s, l->p->device, l->p);
	davy_sim_add_actor(s, hang_copy_engine, l->p, davy_check6_in(s, 1000, 6000));
}

/*
 * vllm-project/vllm#55425, Arc Pro B70, Qwen3.8-27B with two drafted tokens: at 160,000 tokens a
 * job of ccs exceeds 5 s, a fault of bcs follows; shorter contexts are stable.
 */
void davy_check6_mtp2_160k(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check4_xe(s, 32656);
	struct davy_sim_device *second = davy_check4_second_xe(s, 32656);
	struct davy_check_engine e =
		davy_check6_vllm(DAVY_BACKEND_SYCL, "Qwen3.8-27B-int4", 17 * DAVY_GIB, 196608);
	struct davy_check_engine other =
		davy_check2_by(DAVY_BACKEND_SYCL, "bge-m3-f16.gguf", 1200 * DAVY_MIB, 8192);
	const struct davy_sim_pace pace = {
		.prompt_ns = 700 * DAVY_MS,
		.prompt_slope_ns = davy_sim_between(s, 27, 29) * DAVY_MS,
		.token_ns = 45 * DAVY_MS,
		.token_slope_ns = DAVY_MS,
		.noise_permille = 250,
	};
	const struct davy_sim_habit habit = { 4000, 56000, 150, 900, 0, 6 * DAVY_S };
	struct davy_sim_load *l;

	(void)arg;
	e.ubatch = 4096;
	e.ring = 0;
	other.ring = 0;
	l = davy_sim_add_load(s, davy_check_engine(s, d, &e, 29 * DAVY_GIB), &pace, &habit);
	l->timed_out = hang_mtp_times_out;
	davy_check3_serve(s, second, &other, 60, 3 * DAVY_S);
	davy_check2_ask_for(s, l, 176000, false);
}

/* of: the load; n: index of systemd-sleep */
static uint64_t hang_after_sleep(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	uint64_t ns = davy_sim_between(s, 600, 9000) * DAVY_S;

	switch (a->stage) {
	case 0:
		if (!davy_check3_suspend(s, 0))
			return s->now_ns + 7 * DAVY_MS;
		davy_sim_cause(s);
		davy_check6_out(s, &s->process[a->n[0]], l->p->device);
		a->stage = 1;
		return s->now_ns + 350 * DAVY_MS;
	case 1:
		if (!davy_check3_suspend(s, ns))
			return s->now_ns + 7 * DAVY_MS;
		a->stage = 2;
		return s->now_ns + ns + 2 * DAVY_S;
	case 2:
		davy_check2_lines(s, DAVY_LOG_RESET_CHATTER, l->p->device, NULL, 11);
		davy_check6_back(s, l->p->device, 300); /* the rest stays in GTT */
		davy_check4_sign(s);
		l->slow_permille = (uint32_t)davy_sim_between(s, 2800, 4200);
		l->habit.think_ns = 3 * DAVY_S;
		a->stage = 3;
		return davy_check6_in(s, 5000, 20000);
	case 3:
		davy_sim_ask(s, l);
		a->stage = 4;
		return davy_check6_in(s, 25000, 60000);
	default:
		davy_check4_fails(s, l->p->device, l->p);
		return 0;
	}
}

/*
 * ublue-os/bazzite#5614, ValveSoftware/SteamOS#2811, RX 9060 XT and 9070 XT: after S3 what was in
 * VRAM stays in GTT although there is room, 100 % busy, a third of the speed until the program is
 * started again.
 */
void davy_check6_gtt_after_s3(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16304);
	struct davy_check_engine e =
		davy_check_by_vulkan("gpt-oss-20b-mxfp4.gguf", 11600 * DAVY_MIB, 16384);
	struct davy_sim_load *l = davy_check3_serve(s, d, &e, 760, 25 * DAVY_S);
	struct davy_sim_process *by = davy_check6_service(s, "systemd-sleep");

	(void)arg;
	davy_check6_desktop(s, d, "gamescope", 350);
	davy_check2_then(s, hang_after_sleep, l)->n[0] = (uint64_t)(by - s->process);
}
