/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resets of whole devices, and devices that are lost. */
#include <errno.h>

#include "lab/check5_parts.h"

/* of: the compositor */
static uint64_t reset_by_opcode(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t ns = davy_sim_between(s, 2200, 2300) * DAVY_MS;

	switch (a->stage++) {
	case 0:
		davy_check4_sign(s);
		davy_check3_stop(s, p);
		davy_check5_illegal(s, p);
		davy_check4_hold(s, p->ring, p);
		return s->now_ns + p->ring->timeout_ns;
	case 1:
		davy_check2_ring_timeout(s, p->device, p->ring, p);
		davy_check5_mode1(s, p, ns, davy_sim_between(s, 900, 2600) * DAVY_MS);
		return s->now_ns + ns;
	default:
		davy_check4_fails(s, p->device, p);
		return 0;
	}
}

/*
 * ublue-os/bazzite#5729 and HansKristian-Work/vkd3d-proton#3004, RX 7900 XTX: "Illegal opcode in
 * command stream" (gfx_v11_0_bad_op_irq) of kwin_wayland, then its ring times out, its reset always
 * fails, MODE1, VRAM is lost. A server by Vulkan loses its device too.
 */
void davy_check5_opcode_navi31(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 24560);
	struct davy_sim_process *p = davy_check_app(s, d, "kwin_wayland", 420 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check_by_vulkan("Mistral-Small-3.2-24B-Q4_K_M.gguf", 14300 * DAVY_MIB, 32768);

	(void)arg;
	davy_check_frames(s, p, 2 * DAVY_MS, 144);
	davy_check3_serve(s, d, &e, 690, 40 * DAVY_S);
	davy_check2_then(s, reset_by_opcode, p);
}

/* of: the bandwidth test; the server is the first process */
static uint64_t reset_at_restore(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of, *server = &s->process[0];
	struct davy_sim_device *d = p->device;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		davy_check_start_again(s, p);
		p->client.vram = 512 * DAVY_MIB;
		return s->now_ns + davy_sim_between(s, 1, 20) * DAVY_S;
	case 1: /* 196.550 */
		davy_check4_sign(s);
		davy_check2_page_fault(s, p, 0x7f0000002000, 20);
		return s->now_ns + davy_sim_between(s, 5000, 6000) * DAVY_MS;
	case 2:
		davy_check_evict_queues(s, server, 1); /* a user pointer is invalid */
		return s->now_ns + davy_sim_between(s, 400, 600) * DAVY_MS;
	case 3: /* 203.051 */
		davy_check2_lines(s, DAVY_LOG_MES_FAILED, d, NULL, 1);
		davy_check2_lines(s, DAVY_LOG_MES_UNRECOVERABLE, d, NULL, 1);
		davy_check2_lines(s, DAVY_LOG_RESTORE_FAILED, d, NULL, 3);
		davy_check_restore_queues(s, server, 500 * DAVY_MS, true);
		davy_check5_fact(s, DAVY_FACT_KFD_GPU_RESET, d, NULL, NULL, 0);
		return s->now_ns + davy_sim_between(s, 1, 3) * DAVY_MS;
	default:
		davy_synth_reset_device(s, d, davy_sim_between(s, 1500, 4500) * DAVY_MS, 0);
		davy_check4_fails(s, d, server);
		davy_sim_exit(s, p, DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * ROCm/ROCm#2205, two RX 7900 XTX: rocm-bandwidth-test in a loop faults (SDMA0), 6.5 s later
 * "failed to add hardware queue to MES", "Failed to restore queue 0", "Failed to restore process
 * queues", and the reset takes the queues of all other processes.
 */
void davy_check5_p2p_restore(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 24560), *second;
	struct davy_check_engine e =
		davy_check_by_rocm("llama-2-70b.Q4_K_M.gguf", 41400 * DAVY_MIB, 4096);
	struct davy_sim_process *p;

	(void)arg;
	second = davy_check3_second(s, 10 * DAVY_S, 24560);
	davy_check3_serve(s, d, &e, 880, 6 * DAVY_S);
	davy_check3_serve(s, second, &e, 880, 6 * DAVY_S);
	p = davy_check2_absent(s, d, "rocm-bandwidth-");
	p->by_kfd = true;
	davy_check2_then(s, reset_at_restore, p);
}

/* of: the worker on the failing card */
static uint64_t reset_after_rows(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_device *d = p->device;

	switch (a->stage++) {
	case 0: /* 15:17: a row is remapped at the next reset */
		davy_check4_sign(s);
		davy_check_xid(s, d, NULL, 63);
		return s->now_ns + davy_sim_between(s, 17, 23) * DAVY_MIN;
	case 1: /* 15:37 */
		davy_check_xid(s, d, p, 48);
		davy_check_xid(s, d, p, 171);
		davy_check_xid(s, d, NULL, 63);
		return s->now_ns + davy_sim_between(s, 100, 900) * DAVY_MS;
	case 2:
		for (uint32_t i = 0; i < 5; i++)
			davy_check_xid(s, d, p, 94);
		davy_check_xid(s, d, NULL, 154);
		davy_check4_fails(s, d, p);
		return s->now_ns + davy_sim_between(s, 1, 9) * DAVY_S;
	default:
		davy_sim_exit(s, p, DAVY_STATUS_EXIT1);
		return 0;
	}
}

/*
 * wtdcode/vllm-backport#62, A100 cards, TP: the HBM of one fails. Xid 63 (a new row is marked), 20
 * min later Xid 48, 171, a burst of Xid 94 and 154 ("Drain and Reset"). The engine's ranks hang.
 */
void davy_check5_hbm_rows(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3.8-27B", 54 * DAVY_GIB, 131072);
	struct davy_sim_load *l = NULL;

	(void)arg;
	e.comm = "VLLM::Worker_TP";
	e.engine = DAVY_ENGINE_VLLM;
	for (uint32_t bus = 0; bus < 3; bus++)
		l = davy_check3_serve(s, davy_check5_nvidia(s, bus, 81920), &e, 900, 3 * DAVY_S);
	davy_check2_then(s, reset_after_rows, l->p);
}

/* of: the game */
static uint64_t reset_by_game(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t ns = davy_sim_between(s, 2200, 2300) * DAVY_MS;

	switch (a->stage++) {
	case 0: /* 90311.660 */
		davy_check4_sign(s);
		davy_check3_stop(s, p);
		davy_check2_page_fault(s, p, 0x800001568000, 1);
		davy_check5_still(s, &p->client.vram);
		return s->now_ns + davy_sim_between(s, 380, 500) * DAVY_MS;
	case 1:
		davy_check4_hold(s, p->ring, p);
		return s->now_ns + p->ring->timeout_ns;
	case 2: /* 90322.099 */
		davy_check2_ring_timeout(s, p->device, p->ring, p);
		davy_check5_mode1(s, p, ns, davy_sim_between(s, 900, 2600) * DAVY_MS);
		return s->now_ns + ns;
	default:
		davy_check4_fails(s, p->device, p);
		return 0;
	}
}

/*
 * HansKristian-Work/vkd3d-proton#1276: a page fault of a game (SQC data), 10.44 s later its ring
 * times out; #3176, RX 6700 XT: such a fault ends in a full reset that loses VRAM, and with it the
 * model of a resting server.
 */
void davy_check5_game_fault(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 12272);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d), *game;
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q4_K_M.gguf", 4800 * DAVY_MIB, 8192);

	(void)arg;
	davy_check_frames(s, desktop, 2 * DAVY_MS, 60);
	davy_check3_serve(s, d, &e, 430, 2 * DAVY_MIN);
	game = davy_check_app(s, d, "Warframe.x64.ex", 4 * DAVY_GIB);
	davy_check_frames(s, game, 8 * DAVY_MS, 90);
	davy_check_wander(s, &game->client.vram, 3500 * DAVY_MIB, 5 * DAVY_GIB, 20 * DAVY_S);
	davy_check2_then(s, reset_by_game, game);
}

static struct davy_sim_device *reset_add_xe(struct davy_sim *s, const char *name)
{
	struct davy_sim_device *d = davy_sim_add_device(s, name, "xe", 24480 * DAVY_MIB, 0);
	struct davy_event ev = davy_sim_event(s, DAVY_EV_DEVICE, 0);

	davy_copy_name(ev.device.device, sizeof(ev.device.device), d->name);
	davy_copy_name(ev.device.driver, sizeof(ev.device.driver), d->driver);
	ev.device.change = DAVY_DEVICE_ADDED;
	davy_sim_tell(s, &ev);
	davy_sim_add_ring(s, d, "ccs2", 5 * DAVY_S);
	return d;
}

static void reset_rank_lost(struct davy_sim *s, struct davy_sim_load *l)
{
	davy_check2_xe_timeout(s, l->p);
	davy_check4_fails(s, l->p->device, l->p);
	davy_synth_end_later(s, l->p, davy_sim_between(s, 100, 2500) * DAVY_MS, DAVY_STATUS_ABORT);
}

static uint64_t reset_in_allreduce(struct davy_sim *s, struct davy_sim_actor *a)
{
	(void)a;
	davy_sim_cause(s);
	for (size_t i = 0; i < s->load_count; i++) {
		s->load[i].fatal = true;
		davy_check3_stick(s, &s->load[i]);
	}
	return 0;
}

/*
 * uxlfoundation/oneCCL#215, vllm-project/vllm#50545, four Arc Pro B60, TP=4: after an allreduce of
 * 22 MB one of 64 KB does not return on any rank. Each card's job times out after 5 s, all ranks
 * abort with UR_RESULT_ERROR_DEVICE_LOST.
 */
void davy_check5_tp4_allreduce(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d[4] = { davy_check4_xe(s, 24480), NULL, NULL, NULL };
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_SYCL, "gemma-4-31B-it", 31 * DAVY_GIB, 8192);

	(void)arg;
	d[1] = davy_check4_second_xe(s, 24480);
	d[2] = reset_add_xe(s, "0000:8a:00.0");
	d[3] = reset_add_xe(s, "0000:8e:00.0");
	e.comm = "VLLM::Worker_TP";
	e.engine = DAVY_ENGINE_VLLM;
	e.ring = 0;
	e.ubatch = 4096;
	for (size_t i = 0; i < 4; i++)
		davy_check3_serve(s, d[i], &e, 900, 4 * DAVY_S)->timed_out = reset_rank_lost;
	davy_check2_then(s, reset_in_allreduce, NULL);
}

/* of: the load */
static uint64_t reset_of_aged_queue(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_device *d = l->p->device;

	switch (a->stage++) {
	case 0:
		davy_check_stuck(s, l);
		return s->now_ns + davy_sim_between(s, 180, 420) * DAVY_S;
	case 1:
		davy_sim_exit(s, l->p, DAVY_STATUS_KILL);
		davy_check5_fact(s, DAVY_FACT_XE_QUEUE_RESET, d, l->p, "ccs", 0);
		davy_sim_log(s, DAVY_LOG_XE_ENGINE_RESET, d, NULL, 0);
		return s->now_ns + davy_sim_between(s, 300, 2000) * DAVY_MS;
	case 2:
		davy_sim_log(s, DAVY_LOG_XE_GUC_SILENT, d, NULL, 0);
		davy_sim_log(s, DAVY_LOG_XE_GT_RESET, d, NULL, 0);
		return s->now_ns + davy_sim_between(s, 1000, 6000) * DAVY_MS;
	default:
		davy_sim_log(s, DAVY_LOG_XE_GT_RESET_FAILED, d, NULL, 0);
		davy_check5_wedged(s, d);
		davy_check4_fails(s, d, l->p);
		return 0;
	}
}

/*
 * intel/compute-runtime#962, Arc B570 beside an UHD 770: a kernel that never ends is never killed
 * (job_timeout_ms=5000 does not count for such a queue), 180 s and more without a line. When its
 * process is killed, the reset of the engine fails on the aged state and the GPU is wedged.
 */
void davy_check5_silent_ccs(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *igpu = davy_synth_intel(s, false);
	struct davy_sim_device *d = davy_check4_xe(s, 10184);
	struct davy_sim_process *desktop = davy_check_app(s, igpu, "gnome-shell", 220 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_SYCL, "Qwen3-8B-Q4_0.gguf", 4700 * DAVY_MIB, 16384);

	(void)arg;
	davy_check_wander(s, &desktop->client.gtt, 200 * DAVY_MIB, 900 * DAVY_MIB, 30 * DAVY_S);
	davy_check2_then(s, reset_of_aged_queue, davy_check3_serve(s, d, &e, 590, 8 * DAVY_S));
}
