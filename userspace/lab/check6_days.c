/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole days of hosts on which nothing fails. */
#include "lab/check6_parts.h"

/*
 * A family's PC, RX 9060 XT: a browser, homework with Ollama's keep-alive of 5 min, a game twice a
 * day, films; it suspends when it is idle.
 */
void davy_check6_family_pc(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16304);
	struct davy_check_engine e = davy_check_by_vulkan("qwen3:8b", 4900 * DAVY_MIB, 16384);
	const struct davy_check2_rounds rounds = { 1, DAVY_STATUS_KILL, 2 * DAVY_MIB, 9 * DAVY_MIN,
						   18 * DAVY_MIN };
	const struct davy_check2_tide game = {
		0, 5900 * DAVY_MIB, DAVY_MIB, 70 * DAVY_MIN, 150 * DAVY_MIN, false
	};
	struct davy_sim_process *p, *tabs;

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	p = davy_check3_serve(s, d, &e, 320, 20 * DAVY_S)->p;
	davy_check2_rounds(s, p, &rounds);
	davy_check6_desktop(s, d, "plasmashell", 500);
	tabs = davy_check6_desktop(s, d, "firefox", 700);
	davy_check_wander(s, &tabs->client.vram, 300 * DAVY_MIB, 1900 * DAVY_MIB, 14 * DAVY_S);
	davy_check2_tide(s, &davy_check6_desktop(s, d, "Baldur's Gate", 0)->client.vram, &game);
	davy_check3_suspends(s, d, 5 * DAVY_H, 50 * DAVY_MIN);
}

/*
 * An office of journalists, one APU with 96 GiB: interviews are written down, texts translated and
 * shortened; archives are indexed at night and stall the host a little.
 */
void davy_check6_newsroom(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 10 * DAVY_S, 96);
	struct davy_check_engine speech =
		davy_check_by_vulkan("ggml-large-v3.bin", 3 * DAVY_GIB, 4096);
	struct davy_check_engine chat =
		davy_check_by_vulkan("gemma-4-27b-it-Q6_K.gguf", 23 * DAVY_GIB, 65536);
	struct davy_check_engine words =
		davy_check_by_vulkan("Mistral-Nemo-12B-Q5_K_M.gguf", 8300 * DAVY_MIB, 16384);

	(void)arg;
	speech.comm = "whisper-server";
	speech.engine = DAVY_ENGINE_WHISPER_CPP;
	chat.ring = 2;
	words.ring = 3;
	davy_check5_shifts(s, davy_check3_serve(s, d, &speech, 45, 2 * DAVY_S), 50 * DAVY_MIN,
			   70 * DAVY_MIN);
	davy_check5_shifts(s, davy_check3_serve(s, d, &chat, 410, 12 * DAVY_S), 9 * DAVY_H,
			   90 * DAVY_MIN);
	davy_check3_serve(s, d, &words, 150, 30 * DAVY_S);
	davy_check_wander(s, &s->host_other, 9 * DAVY_GIB, 34 * DAVY_GIB, 4 * DAVY_MIN);
	davy_check5_pressure(s, 35, 40 * DAVY_S);
}

/*
 * A runner of CI with an AMD and an Intel card: builds, then llama-cli and sd answer once and end,
 * probes of the environment before each.
 */
void davy_check6_ci_smoke(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16368);
	struct davy_sim_device *arc = davy_check4_xe(s, 12216);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q8_0.gguf", 8600 * DAVY_MIB, 8192);
	const struct davy_check2_rounds rounds = { 2, 0, 3 * DAVY_MIB, 50 * DAVY_S, 45 * DAVY_S };
	const struct davy_check2_rounds short_ones = { 1, 0, 2 * DAVY_MIB, 25 * DAVY_S,
						       70 * DAVY_S };
	const struct davy_check2_visits visits = { 100 * DAVY_S, 2 * DAVY_S, 90 * DAVY_MIB, 0,
						   false };
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "llama-cli";
	e.engine = DAVY_ENGINE_LLAMA_CPP;
	e.role = DAVY_ROLE_TOOL;
	l = davy_check3_serve(s, d, &e, 560, 300 * DAVY_MS);
	e.model_bytes = 14200 * DAVY_MIB;
	davy_check3_serve(s, d, &e, 100, 300 * DAVY_MS);
	davy_check2_rounds(s, l->p, &rounds);
	e.ring = 0;
	e.model_bytes = 4900 * DAVY_MIB;
	l = davy_check3_serve(s, arc, &e, 430, 200 * DAVY_MS);
	davy_check2_rounds(s, l->p, &short_ones);
	davy_check2_visits(s, davy_check2_absent(s, d, "vulkaninfo"), &visits);
	davy_check2_visits(s, davy_check2_absent(s, arc, "clinfo"), &visits);
	davy_check_wander(s, &s->host_other, 5 * DAVY_GIB, 40 * DAVY_GIB, 90 * DAVY_S);
}

/*
 * A server of students, two cards with 48 GiB: notebooks of PyTorch hold their caches up to 92 %,
 * the hub ends those that rest, an assistant answers beside them.
 */
void davy_check6_students(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 60 * DAVY_S, 49136);
	struct davy_sim_device *second = davy_check3_second(s, 60 * DAVY_S, 49136);
	struct davy_check_engine note = davy_check_by_rocm("", 9 * DAVY_GIB, 4096);
	struct davy_check_engine tutor =
		davy_check6_vllm(DAVY_BACKEND_ROCM, "Qwen3-14B-AWQ", 12 * DAVY_GIB, 32768);
	const struct davy_check2_rounds rounds = { 3, DAVY_STATUS_TERM, DAVY_MIB, 14 * DAVY_MIN,
						   3 * DAVY_MIN };

	(void)arg;
	note.comm = "python3";
	note.engine = DAVY_ENGINE_GENERIC;
	davy_check6_torch(s, d, "python3", 60, 280, 25 * DAVY_S);
	davy_check6_torch(s, d, "python3", 120, 390, 70 * DAVY_S);
	davy_check6_torch(s, second, "python3", 100, 560, 40 * DAVY_S);
	davy_check5_shifts(s, davy_check3_serve(s, second, &tutor, 330, 4 * DAVY_S), 2 * DAVY_H,
			   40 * DAVY_MIN);
	note.model_bytes = 11 * DAVY_GIB;
	for (int i = 0; i < 3; i++)
		davy_check3_serve(s, d, &note, 190, 8 * DAVY_S);
	davy_check2_rounds(s, &s->process[s->process_count - 3], &rounds);
}

/*
 * A node of a render farm, two cards with 16 GiB: each scene fills 97 % for some minutes and ends,
 * denoisers run jobs of 3 to 6 s of 10 s, the other card writes captions.
 */
void davy_check6_render_farm(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16368);
	struct davy_sim_device *second = davy_check3_second(s, 10 * DAVY_S, 16368);
	struct davy_check_engine scene = davy_check_by_vulkan("", 14600 * DAVY_MIB, 2048);
	struct davy_check_engine words =
		davy_check_by_vulkan("Qwen3-VL-8B-Q6_K.gguf", 7 * DAVY_GIB, 16384);
	const struct davy_check2_rounds rounds = { 2, 0, 2 * DAVY_MIB, 7 * DAVY_MIN, 12 * DAVY_S };
	const struct davy_sim_pace pace = { .prompt_ns = 4300 * DAVY_MS,
					    .token_ns = 900 * DAVY_MS,
					    .noise_permille = 330 };
	const struct davy_sim_habit habit = { 512, 512, 1, 2, 0, 9 * DAVY_S };
	struct davy_sim_process *p = NULL;

	(void)arg;
	scene.comm = "blender";
	scene.engine = DAVY_ENGINE_GENERIC;
	for (int i = 0; i < 2; i++) {
		p = davy_check_engine(s, d, &scene, i ? 0 : 15700 * DAVY_MIB);
		davy_sim_add_load(s, p, &pace, &habit);
	}
	davy_check2_rounds(s, p - 1, &rounds);
	words.ring = 0;
	davy_check3_serve(s, second, &words, 560, 3 * DAVY_S);
}

/*
 * One user's laptop, an iGPU of Intel that draws and runs a small model, a card of NVIDIA for
 * larger ones: it sleeps often, the browser takes memory, buffers are shrunk.
 */
void davy_check6_one_laptop(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *igpu = davy_synth_intel(s, false);
	struct davy_sim_device *d = davy_check5_nvidia(s, 0, 8188);
	struct davy_check_engine small = davy_check2_by(
		DAVY_BACKEND_VULKAN, "gemma-4-4b-it-Q4_K_M.gguf", 2600 * DAVY_MIB, 8192);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3-8B-Q4_K_M.gguf", 4900 * DAVY_MIB, 16384);
	const struct davy_check2_rounds rounds = { 1, DAVY_STATUS_TERM, DAVY_MIB, 25 * DAVY_MIN,
						   35 * DAVY_MIN };
	struct davy_sim_process *tabs;

	(void)arg;
	davy_check6_desktop(s, igpu, "gnome-shell", 150);
	tabs = davy_check6_desktop(s, igpu, "firefox", 400);
	davy_check_wander(s, &tabs->client.gtt, 200 * DAVY_MIB, 1500 * DAVY_MIB, DAVY_MIN);
	davy_check6_shrinks(s, tabs, 55 * DAVY_S);
	davy_check3_serve(s, igpu, &small, 95, 80 * DAVY_S);
	davy_check2_rounds(s, davy_check3_serve(s, d, &e, 720, 20 * DAVY_S)->p, &rounds);
	davy_check_wander(s, &s->host_other, 6 * DAVY_GIB, 23 * DAVY_GIB, 3 * DAVY_MIN);
	davy_check5_pressure(s, 25, 50 * DAVY_S);
	davy_check3_suspends(s, igpu, 80 * DAVY_MIN, 40 * DAVY_MIN);
}
