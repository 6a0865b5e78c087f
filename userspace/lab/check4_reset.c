/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resets of a whole GPU, and devices that are lost. */
#include <errno.h>

#include "lab/check4_parts.h"

/* of: the compositor */
static uint64_t reset_of_compositor(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_load *l = &s->load[0];

	switch (a->stage++) {
	case 0:
		davy_check4_hold(s, p->ring, p);
		return s->now_ns + p->ring->timeout_ns;
	case 1: /* 312.522692 */
		davy_check2_ring_timeout(s, p->device, p->ring, p);
		return s->now_ns + 251828000;
	case 2: /* 312.774528 */
		davy_sim_ring_reset(s, p, -ETIMEDOUT);
		davy_check4_reset(s, p->device, davy_sim_around(s, 3308 * DAVY_MS), true);
		davy_check4_fails(s, p->device, p);
		return s->now_ns + 4 * DAVY_S;
	default:
		davy_sim_exit(s, p, DAVY_STATUS_ABORT);
		if (l->p->alive)
			davy_check4_lost(s, l->p);
		return 0;
	}
}

/*
 * pop-os/cosmic-epoch#3764, RX 5700 XT, kernel 7.0: a job of the compositor runs for 2 s, the reset
 * of its ring fails after 0.25 s, BACO takes 3.3 s, VRAM is lost.
 */
void davy_check4_cosmic_baco(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 2 * DAVY_S, 8176);
	struct davy_sim_process *p = davy_check_app(s, d, "cosmic-comp", 700 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-4B-Q4_K_M.gguf", 2500 * DAVY_MIB, 16384);

	(void)arg;
	davy_check_frames(s, p, 4 * DAVY_MS, 60);
	davy_check3_serve(s, d, &e, 520, 30 * DAVY_S);
	davy_check2_then(s, reset_of_compositor, p);
}

/* of: the game */
static uint64_t reset_of_game(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_load *l = &s->load[0];

	switch (a->stage++) {
	case 0:
		davy_check4_hold(s, p->ring, p);
		return s->now_ns + p->ring->timeout_ns;
	case 1: /* 32554.992028 */
		davy_check2_ring_timeout(s, p->device, p->ring, p);
		return s->now_ns + 2263 * DAVY_MS;
	case 2: /* 32557.255387 */
		davy_sim_ring_reset(s, p, -ETIMEDOUT);
		davy_check4_reset(s, p->device, davy_sim_around(s, 7 * DAVY_S), true);
		davy_check4_fails(s, p->device, p);
		return s->now_ns + 6134 * DAVY_MS;
	default: /* 32563.390101 */
		davy_sim_log(s, DAVY_LOG_MES_FAILED, p->device, NULL, 0);
		davy_sim_exit(s, p, DAVY_STATUS_ABORT);
		davy_sim_exit(s, l->p, DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * ublue-os/bazzite#4464 (gfx12): a game's job runs for 10 s, the reset of its ring fails after
 * 2.26 s, then the whole GPU is reset; MES does not answer. A model rests in VRAM meanwhile.
 */
void davy_check4_game_mes(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16304);
	struct davy_check_engine e =
		davy_check_by_rocm("gemma-3-12b-it-Q4_K_M.gguf", 7300 * DAVY_MIB, 8192);
	struct davy_sim_process *game;

	(void)arg;
	davy_check3_serve(s, d, &e, 490, 4 * DAVY_MIN);
	game = davy_check_app(s, d, "Main", 4 * DAVY_GIB);
	davy_check_frames(s, game, 7 * DAVY_MS, 90);
	davy_check_wander(s, &game->client.vram, 3600 * DAVY_MIB, 5600 * DAVY_MIB, 6 * DAVY_S);
	davy_check2_then(s, reset_of_game, game);
}

static uint64_t reset_off_the_bus(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_device *d = l->p->device;

	switch (a->stage++) {
	case 0: /* 74785.660366: Replay Timer Timeout */
		davy_check4_sign(s);
		davy_check4_port_line(s, DAVY_LOG_AER_CORRECTED, "0000:00:02.0");
		return s->now_ns + davy_sim_between(s, 103500, 104300) * DAVY_MS;
	case 1: /* 74889.542031: Surprise Down Error */
		davy_check4_port_line(s, DAVY_LOG_AER, "0000:00:02.0");
		l->stick = true;
		return s->now_ns + 102 * DAVY_MS;
	case 2: /* 74889.644138 */
		davy_check_xid(s, d, NULL, 79);
		davy_sim_log(s, DAVY_LOG_OFF_THE_BUS, d, NULL, 0);
		davy_check4_fails(s, d, l->p);
		return s->now_ns + davy_sim_between(s, 5, 700) * DAVY_MS;
	default:
		davy_sim_exit(s, l->p, DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * wilicc/gpu-burn#1, nv-010: the root port corrects an error of the link, 104 s later a fatal one
 * "Surprise Down", 0.1 s after it Xid 79. Class as of nv-010.
 */
void davy_check4_aer_79(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3.6-27B-NVFP4.gguf", 15 * DAVY_GIB, 32768);
	struct davy_sim_load *l;

	(void)arg;
	davy_check2_vram(d, 16303, 300);
	l = davy_check3_serve(s, d, &e, 960, 2 * DAVY_S);
	davy_check2_then(s, reset_off_the_bus, l);
}

static void reset_firmware_fault(struct davy_sim *s, const struct davy_sim_process *p)
{
	struct davy_sim_process none = *p;

	none.pid = none.pasid = 0;
	davy_sim_fault(s, &none, DAVY_FAULT_VM, 0, 1);
	davy_sim_log(s, DAVY_LOG_PAGE_FAULT, p->device, NULL, 0);
}

/* of: the plug-in scanner */
static uint64_t reset_of_scanner(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_device *d = p->device;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		davy_check_start_again(s, p);
		p->client.vram = 60 * DAVY_MIB;
		return s->now_ns + davy_sim_between(s, 20, 300) * DAVY_MS;
	case 1:
		p->ring = &d->ring[2];
		davy_check4_hold(s, p->ring, p);
		return s->now_ns + p->ring->timeout_ns;
	case 2: /* 34.965321; the reset of the ring takes 0.2 ms */
		davy_check2_ring_timeout(s, d, p->ring, p);
		p->ring->began_ns = 0;
		davy_check4_recovered(s, p);
		reset_firmware_fault(s, p);
		return s->now_ns + davy_sim_between(s, 1, 30) * DAVY_MS;
	case 3: /* its next queue */
		p->ring = &d->ring[3];
		davy_check4_hold(s, p->ring, p);
		return s->now_ns + p->ring->timeout_ns;
	case 4: /* MES does not reset it in 2.2 s, as in amd-gr-003 */
		davy_check2_ring_timeout(s, d, p->ring, p);
		return s->now_ns + 2200 * DAVY_MS;
	case 5:
		davy_sim_ring_reset(s, p, -ETIMEDOUT);
		davy_check4_reset(s, d, davy_sim_around(s, 2 * DAVY_S), true);
		davy_check4_fails(s, d, p);
		return s->now_ns + 3 * DAVY_S;
	default:
		davy_sim_exit(s, p, DAVY_STATUS_ABORT);
		davy_sim_exit(s, s->load[0].p, DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * ROCm/legacy-rocm-build#6127, gfx1201: after a login gst-plugin-scan hangs comp_1.1.0 for 2 s, the
 * ring is reset well, firmware faults at address 0; another ring times out, MODE1 reset.
 */
void davy_check4_plugin_scan(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 2 * DAVY_S, 16304);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3-8B-Q6_K.gguf", 6700 * DAVY_MIB, 16384);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d);

	(void)arg;
	davy_check_frames(s, desktop, 3 * DAVY_MS, 60);
	davy_check3_serve(s, d, &e, 500, 25 * DAVY_S);
	davy_check2_then(s, reset_of_scanner, davy_check2_absent(s, d, "gst-plugin-scan"));
}

static uint64_t reset_of_slot(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_device *d = l->p->device;

	switch (a->stage++) {
	case 0: /* amdgpu_pci_error_detected(): the channel is frozen, all schedulers stop */
		davy_check4_sign(s);
		davy_check4_port_line(s, DAVY_LOG_AER, "0000:00:01.1");
		davy_sim_log(s, DAVY_LOG_PCI_ERROR, d, NULL, 0);
		l->stick = true;
		return s->now_ns + davy_sim_between(s, 1002, 1200) * DAVY_MS;
	case 1: /* amdgpu_pci_slot_reset() */
		davy_sim_log(s, DAVY_LOG_PCI_ERROR, d, NULL, 0);
		return s->now_ns + 500 * DAVY_MS + 100 * DAVY_MS;
	case 2: /* "PCIe error recovery failed, err:-62" */
		davy_sim_log(s, DAVY_LOG_PCI_ERROR, d, NULL, 0);
		davy_sim_log(s, DAVY_LOG_DEVICE_LOST, d, NULL, 0);
		davy_check4_fails(s, d, l->p);
		return s->now_ns + davy_sim_between(s, 1, 300) * DAVY_MS;
	default:
		davy_check4_lost(s, l->p);
		return 0;
	}
}

/*
 * amdgpu_device.c, amdgpu_pci_error_detected() and amdgpu_pci_slot_reset(): a fatal error of the
 * bus, the bridge is reset (1 s), the driver sleeps for 500 ms and waits for 100 ms, the size of
 * VRAM still reads as 0xffffffff: -ETIME, PCI_ERS_RESULT_DISCONNECT.
 */
void davy_check4_slot_reset(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 24560);
	struct davy_check_engine e = davy_check_by_vulkan(
		"Mistral-Small-3.2-24B-Instruct-Q6_K.gguf", 18 * DAVY_GIB, 32768);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 840, 8 * DAVY_S);
	davy_check2_then(s, reset_of_slot, l);
}

static void reset_decode_lost(struct davy_sim *s, struct davy_sim_load *l)
{
	davy_check2_xe_timeout(s, l->p);
	davy_check4_fails(s, l->p->device, l->p);
	davy_check4_lost(s, l->p);
}

/* of: the load; n: tokens generated before the request */
static uint64_t reset_at_token_595(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	uint64_t generated = l->p->progress.generated_count;

	if (!a->stage) {
		if (l->phase != DAVY_SIM_IDLE)
			return s->now_ns + 20 * DAVY_MS;
		l->want_prompt = 300;
		l->habit.answer_min = l->habit.answer_max = 2000;
		a->n[0] = generated;
		a->stage = 1;
		davy_sim_ask(s, l);
	}
	if (generated < a->n[0] + 595)
		return s->now_ns + 20 * DAVY_MS;
	davy_sim_cause(s);
	l->fatal = l->stick = true;
	return 0;
}

/*
 * PrismML-Eng/llama.cpp#89, Arc Pro B70, xe: 27.5 tokens a second, after 595 of them a job does not
 * end, 5 s later xe resets ccs, vk::DeviceLostError ends llama-server.
 */
void davy_check4_decode_595(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check4_xe(s, 32656);
	struct davy_check_engine e =
		davy_check_by_vulkan("Ternary-Bonsai-27B-Q2_0.gguf", 7800 * DAVY_MIB, 16384);
	struct davy_sim_load *l;

	(void)arg;
	e.ring = 0;
	l = davy_check3_serve(s, d, &e, 330, 15 * DAVY_S);
	l->pace.token_ns = 36 * DAVY_MS;
	l->pace.token_slope_ns = 100000;
	l->timed_out = reset_decode_lost;
	davy_check2_then(s, reset_at_token_595, l);
}

/* of: the runner */
static uint64_t reset_in_baco(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		if (p->alive)
			break;
		davy_check3_stop(s, p);
		return s->now_ns + davy_sim_between(s, 60, 300) * DAVY_S;
	case 1: /* a request; the card leaves BACO */
		davy_check4_sign(s);
		davy_sim_log(s, DAVY_LOG_SMU_BUSY, p->device, NULL, 0);
		davy_sim_log(s, DAVY_LOG_SMU_FAILED, p->device, NULL, 0);
		return s->now_ns + davy_sim_between(s, 8600, 9400) * DAVY_MS;
	case 2:
		davy_sim_log(s, DAVY_LOG_RESUME_FAILED, p->device, NULL, 0);
		davy_check4_fails(s, p->device, NULL);
		return s->now_ns + davy_sim_between(s, 1, 4) * DAVY_S;
	default:
		p->info.backend = DAVY_BACKEND_CPU;
		p->info.device[0] = '\0';
		davy_check_start_again(s, p);
		return 0;
	}
	a->stage--;
	return s->now_ns + DAVY_S;
}

/*
 * amd-oor-001 (INCIDENTS.md B2, row 24): a headless card leaves BACO for a request, "SMU: I'm not
 * done with your previous command" in the same second as its failure, 9 s later the PSP fails.
 */
void davy_check4_baco_exit(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16368);
	struct davy_check_engine e =
		davy_check_by_rocm("gpt-oss-20b-mxfp4.gguf", 11800 * DAVY_MIB, 16384);
	struct davy_sim_process *p;

	(void)arg;
	d->memory.flags |= DAVY_MEMORY_MAY_SUSPEND;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	p = davy_check_engine(s, d, &e, 12 * DAVY_GIB);
	davy_check_chat(s, p, 15 * DAVY_S);
	davy_check2_rounds(s, p,
			   &(struct davy_check2_rounds){ .count = 1,
							 .status = DAVY_STATUS_KILL,
							 .rate = DAVY_MIB,
							 .serve_ns = 6 * DAVY_MIN,
							 .gap_ns = 7 * DAVY_MIN });
	davy_check4_lines(s, DAVY_LOG_RESET_CHATTER, d, s->begin_ns + 20 * DAVY_MIN, 13 * DAVY_MIN,
			  2);
	davy_check2_then(s, reset_in_baco, p);
}
