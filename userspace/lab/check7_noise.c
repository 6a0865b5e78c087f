/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hours with lines, restarts, evictions and losses that mean nothing. */
#include "lab/check7_parts.h"

/* Games push a resting model out for some minutes; two fifths of the events are lost. */
void davy_check7_lossy_arcade(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 12272);
	struct davy_check_engine e =
		davy_check_by_vulkan("mistral-nemo-12b-Q4_K_M.gguf", 7 * DAVY_GIB, 16384);
	struct davy_sim_process *p;

	(void)arg;
	davy_check3_serve(s, d, &e, 640, 4 * DAVY_MIN);
	davy_check6_desktop(s, d, "kwin_wayland", 400);
	p = davy_check6_desktop(s, d, "game.exe", 10);
	davy_check7_plays(s, p, 7 * DAVY_GIB, 3 * DAVY_MIN, 150 * DAVY_S);
	davy_check6_lossy(s, 400, 100 * DAVY_S);
}

/* A desk with a Thunderbolt dock and an Arc card: corrected errors and PME lines of its ports. */
void davy_check7_tb_desk(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check4_xe(s, 16256);
	struct davy_check_engine e =
		davy_check_by_vulkan("gpt-oss-20b-mxfp4.gguf", 11600 * DAVY_MIB, 32768);
	struct davy_sim_process *p;

	(void)arg;
	e.ring = 0;
	davy_check3_serve(s, d, &e, 800, 6 * DAVY_S);
	p = davy_check6_desktop(s, d, "gnome-shell", 500);
	p->ring = &d->ring[1];
	davy_check_wander(s, &p->client.vram, 300 * DAVY_MIB, 1800 * DAVY_MIB, 30 * DAVY_S);
	davy_check4_port_each(s, DAVY_LOG_AER_CORRECTED, "0000:00:07.0", 45 * DAVY_S);
	davy_check4_port_each(s, DAVY_LOG_PME_SPURIOUS, "0000:00:07.0", 7 * DAVY_MIN);
	davy_check4_port_each(s, DAVY_LOG_PME_SPURIOUS, "0000:00:1c.4", 25 * DAVY_MIN);
}

/* A unit whose check of health is too strict: SIGTERM each six minutes, loaded to 95 % again. */
void davy_check7_health_restarts(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 2 * DAVY_S, 20464);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.6-27B-Q4_K_M.gguf", 17700 * DAVY_MIB, 16384);
	struct davy_check2_rounds rounds = {
		.count = 1,
		.status = DAVY_STATUS_TERM,
		.rate = 1500ull * 1024,
		.serve_ns = 6 * DAVY_MIN,
		.gap_ns = 12 * DAVY_S,
	};

	(void)arg;
	davy_check2_rounds(s, davy_check3_serve(s, d, &e, 940, 5 * DAVY_S)->p, &rounds);
}

/* Workers of a web service are killed at the limit of their cgroup, a model on the APU is not. */
void davy_check7_quota_workers(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 96);
	struct davy_check_engine e =
		davy_check_by_vulkan("gpt-oss-120b-mxfp4.gguf", 40 * DAVY_GIB, 65536);

	(void)arg;
	davy_check3_serve(s, d, &e, 610, 7 * DAVY_S);
	davy_check7_at_limit(s, davy_check6_service(s, "node"), 4 * DAVY_MIN);
	davy_check7_at_limit(s, davy_check6_service(s, "celery"), 11 * DAVY_MIN);
	davy_check_wander(s, &s->host_other, 12 * DAVY_GIB, 26 * DAVY_GIB, 35 * DAVY_S);
}

/*
 * A developer's -next kernel on an APU: warnings of a display, hogged workers, the NPU, user pages,
 * a VM's last numbers; none of it belongs to the model that answers.
 */
void davy_check7_next_kernel(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 64);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-30B-A3B-Q4_K_M.gguf", 18 * DAVY_GIB, 65536);
	struct davy_check2_visits builds = {
		.period_ns = 3 * DAVY_MIN,
		.stay_ns = 40 * DAVY_S,
		.bytes = 600 * DAVY_MIB,
		.status = DAVY_STATUS_EXIT1,
	};

	(void)arg;
	davy_check3_serve(s, d, &e, 400, 8 * DAVY_S);
	davy_check6_desktop(s, d, "sway", 200);
	davy_check2_visits(s, davy_check2_absent(s, d, "vkcube"), &builds);
	davy_check_line_each(s, DAVY_LOG_NPU, NULL, 3 * DAVY_MIN, 5);
	davy_check_line_each(s, DAVY_LOG_USER_PAGES_FAILED, NULL, 8 * DAVY_MIN, 12);
	davy_check_line_each(s, DAVY_LOG_RESET_CHATTER, d, 6 * DAVY_MIN, 4);
	davy_check_line_each(s, DAVY_LOG_DRIVER_WARNING, d, 2 * DAVY_H, 1);
	davy_check_line_each(s, DAVY_LOG_WORKER_HOGGED, NULL, 70 * DAVY_MIN, 1);
	davy_check_line_each(s, DAVY_LOG_VM_LEAK, d, 3 * DAVY_H, 1);
}

/* A card at 88 % in a workstation that sleeps between shifts of work: VRAM moves out and back. */
void davy_check7_s2idle_shifts(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16368);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3-14B-Q6_K.gguf", 12 * DAVY_GIB, 32768);
	struct davy_sim_load *l;

	(void)arg;
	d->memory.flags |= DAVY_MEMORY_MAY_SUSPEND;
	l = davy_check3_serve(s, d, &e, 840, 3 * DAVY_S);
	davy_check6_desktop(s, d, "plasmashell", 500);
	davy_check5_shifts(s, l, 5 * DAVY_MIN, 2 * DAVY_MIN);
	davy_check6_sleeps(s, d, 16 * DAVY_MIN, 12 * DAVY_MIN);
}

/*
 * CUDA programs are profiled and killed: Xid 43 and 45 of theirs, an allocation that is tried again
 * at times, clocks that are fixed; vLLM on the same card goes on.
 */
void davy_check7_nv_profilers(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check5_nvidia(s, 0, 49140);
	struct davy_check_engine e =
		davy_check6_vllm(DAVY_BACKEND_CUDA, "Qwen3-14B-FP8", 15 * DAVY_GIB, 65536);
	struct davy_check2_visits runs = {
		.period_ns = 70 * DAVY_S,
		.stay_ns = 20 * DAVY_S,
		.bytes = 2 * DAVY_GIB,
		.status = DAVY_STATUS_KILL,
	};
	struct davy_sim_process *p = davy_check3_serve(s, d, &e, 600, DAVY_S)->p;

	(void)arg;
	(void)p;
	p = davy_check2_absent(s, d, "ncu");
	davy_check2_visits(s, p, &runs);
	davy_check7_xid_each(s, p, 43, 4 * DAVY_MIN);
	davy_check7_xid_each(s, p, 45, 6 * DAVY_MIN);
	davy_check_line_each(s, DAVY_LOG_NV_NO_MEMORY, d, 50 * DAVY_MIN, 1);
	davy_check6_clocks(s, d, DAVY_CLOCK_SW_POWER_CAP, 30 * DAVY_S);
}
