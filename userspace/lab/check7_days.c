/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Days of real machines on which nothing fails. */
#include "lab/check7_parts.h"

/*
 * A photographer's desk, 16 GiB: darktable exports for a minute and leaves, a model writes captions
 * of pictures in jobs of very different length, a browser grows and is closed.
 */
void davy_check7_photo_agency(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16368);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-VL-8B-Q4_K_M.gguf", 6 * DAVY_GIB, 16384);
	struct davy_check2_visits exports = {
		.period_ns = 8 * DAVY_MIN,
		.stay_ns = 70 * DAVY_S,
		.bytes = 4 * DAVY_GIB,
	};
	struct davy_check2_tide tabs = {
		.low = 300 * DAVY_MIB,
		.high = 2600 * DAVY_MIB,
		.rate = 3000,
		.high_ns = 20 * DAVY_MIN,
		.low_ns = 12 * DAVY_MIN,
	};
	struct davy_sim_load *l;
	struct davy_sim_process *p;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 480, 7 * DAVY_S);
	davy_check5_unsteady(s, l, 700, 2600, 40 * DAVY_S);
	davy_check6_desktop(s, d, "kwin_wayland", 450);
	p = davy_check6_desktop(s, d, "chrome", 300);
	davy_check2_tide(s, &p->client.vram, &tabs);
	davy_check2_visits(s, davy_check2_absent(s, d, "darktable"), &exports);
}

/* A handheld console of 32 GiB: a small model, games on the same memory, it sleeps often. */
void davy_check7_handheld(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 32);
	struct davy_check_engine e =
		davy_check_by_vulkan("gemma-4-4b-it-Q4_K_M.gguf", 2600 * DAVY_MIB, 8192);
	struct davy_check2_tide game = {
		.low = 200 * DAVY_MIB,
		.high = 9 * DAVY_GIB,
		.rate = 400ull * 1024,
		.high_ns = 35 * DAVY_MIN,
		.low_ns = 9 * DAVY_MIN,
	};
	struct davy_sim_process *p;

	(void)arg;
	davy_check3_serve(s, d, &e, 130, 25 * DAVY_S);
	davy_check6_desktop(s, d, "gamescope", 250);
	p = davy_check6_desktop(s, d, "eldenring.exe", 200);
	davy_check2_tide(s, &p->client.gtt, &game);
	davy_check3_suspends(s, d, 22 * DAVY_MIN, 50 * DAVY_MIN);
}

/*
 * Two cards of a laboratory: notebooks by day on one, batch jobs without a pause on the other, each
 * ended by SIGTERM at its limit of time, at up to 94 %.
 */
void davy_check7_lab_queue(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 24560);
	struct davy_sim_device *second = davy_check3_second(s, 10 * DAVY_S, 24560);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3-14B-Q4_K_M.gguf", 9 * DAVY_GIB, 32768);
	struct davy_check_engine batch = davy_check_by_rocm("", 21000 * DAVY_MIB, 4096);
	struct davy_check2_rounds rounds = {
		.count = 2,
		.status = DAVY_STATUS_TERM,
		.rate = 700ull * 1024,
		.serve_ns = 6 * DAVY_MIN,
		.gap_ns = 25 * DAVY_S,
	};
	struct davy_sim_process *first;

	(void)arg;
	davy_check3_serve(s, d, &e, 420, 9 * DAVY_S);
	davy_check6_torch(s, d, "jupyter-noteboo", 40, 470, 25 * DAVY_S);
	batch.comm = "python3";
	batch.engine = DAVY_ENGINE_GENERIC;
	first = davy_check_engine(s, second, &batch, 21000 * DAVY_MIB);
	batch.model_bytes = 16 * DAVY_GIB;
	davy_check_engine(s, second, &batch, 16 * DAVY_GIB);
	davy_check2_rounds(s, first, &rounds);
}

/* llama-swap on an Arc card: four models in turns, a desktop whose addresses are bound again. */
void davy_check7_arc_router(struct davy_sim *s, uint64_t arg)
{
	static const struct {
		const char *model;
		uint64_t mib;
	} models[] = {
		{ "Qwen3-8B-Q4_K_M.gguf", 4800 },
		{ "gemma-4-12b-it-Q4_K_M.gguf", 7300 },
		{ "gpt-oss-20b-mxfp4.gguf", 11600 },
		{ "Qwen3-4B-Q8_0.gguf", 4300 },
	};
	struct davy_sim_device *d = davy_check4_xe(s, 16256);
	struct davy_sim_process *first = NULL, *p;

	(void)arg;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		uint64_t bytes = models[i].mib * DAVY_MIB;
		struct davy_check_engine e = davy_check_by_vulkan(models[i].model, bytes, 16384);

		e.ring = 0;
		p = davy_check_engine(s, d, &e, bytes);
		davy_check_chat(s, p, 6 * DAVY_S);
		if (!first)
			first = p;
	}
	davy_check_turns(s, first, 4, 900ull * 1024, 4 * DAVY_MIN);
	p = davy_check6_desktop(s, d, "gnome-shell", 500);
	p->ring = &d->ring[1];
	davy_check7_xe_churn(s, p, 15 * DAVY_S);
}

/* A clinic's reception: forms in a browser, a small model on i915, files of an archive are read. */
void davy_check7_clinic_igpu(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_intel(s, false);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-4B-Q4_K_M.gguf", 2500 * DAVY_MIB, 8192);
	struct davy_check2_tide archive = {
		.low = 5 * DAVY_GIB,
		.high = 22 * DAVY_GIB,
		.rate = 300ull * 1024,
		.high_ns = 15 * DAVY_MIN,
		.low_ns = 11 * DAVY_MIN,
	};
	struct davy_sim_process *p;

	(void)arg;
	davy_check3_serve(s, d, &e, 105, 30 * DAVY_S);
	p = davy_check6_desktop(s, d, "firefox", 600);
	davy_check_wander(s, &p->client.gtt, 300 * DAVY_MIB, 2 * DAVY_GIB, 50 * DAVY_S);
	davy_check6_shrinks(s, p, 25 * DAVY_S);
	davy_check2_tide(s, &s->host_other, &archive);
	davy_check3_suspends(s, d, 70 * DAVY_MIN, 3 * DAVY_H);
}

/*
 * A house that dubs films, two NVIDIA cards: a model translates all day, voices are made in rounds
 * of ten minutes; who stops one leaves Xid 45, the cards are at their limit of power.
 */
void davy_check7_dubbing_house(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check5_nvidia(s, 0, 24564);
	struct davy_sim_device *second = davy_check5_nvidia(s, 1, 24564);
	struct davy_check_engine e =
		davy_check6_vllm(DAVY_BACKEND_CUDA, "Qwen3-14B-AWQ", 10 * DAVY_GIB, 65536);
	struct davy_check_engine voice =
		davy_check2_by(DAVY_BACKEND_CUDA, "chatterbox", 5 * DAVY_GIB, 4096);
	struct davy_check2_rounds rounds = {
		.count = 1,
		.status = DAVY_STATUS_TERM,
		.rate = DAVY_MIB,
		.serve_ns = 9 * DAVY_MIN,
		.gap_ns = 90 * DAVY_S,
	};
	struct davy_sim_load *l;

	(void)arg;
	davy_check3_serve(s, d, &e, 910, DAVY_S);
	voice.comm = "python3";
	voice.engine = DAVY_ENGINE_GENERIC;
	l = davy_check3_serve(s, second, &voice, 220, 2 * DAVY_S);
	davy_check2_rounds(s, l->p, &rounds);
	davy_check7_xid_each(s, l->p, 45, 11 * DAVY_MIN);
	davy_check6_clocks(s, d, DAVY_CLOCK_SW_POWER_CAP, 20 * DAVY_S);
	davy_check6_clocks(s, second, DAVY_CLOCK_SW_POWER_CAP, 50 * DAVY_S);
}
