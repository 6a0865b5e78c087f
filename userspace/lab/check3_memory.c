/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that runs out, and memory that is where it should not be. */
#include <errno.h>

#include "lab/check3_parts.h"

static uint64_t memory_first_submission(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		davy_check3_load(s, p, 19 * DAVY_GIB, DAVY_MIB);
		return s->now_ns + davy_sim_between(s, 21, 40) * DAVY_S;
	default:
		davy_check3_fails(s, p->device, p);
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_IOCTL, -ENOMEM, 0, 1);
		davy_sim_log(s, DAVY_LOG_CS_NO_MEMORY, p->device, NULL, 0);
		davy_sim_throw(s, p, DAVY_LOST);
		davy_sim_exit(s, p, DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * amd-vk-011, Radeon 890M, 32 GiB, a GTT of 28 GiB: 9 GiB are free after the load, but the first
 * submission gets -ENOMEM, which RADV reports as a lost device. No precursor.
 */
void davy_check3_radeon_890m(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 32);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d);
	struct davy_check_engine e =
		davy_check_by_vulkan("gemma-4-31B-it-UD-Q4_K_XL.gguf", 18200 * DAVY_MIB, 8192);

	(void)arg;
	d->memory.gtt_total = 28 * DAVY_GIB;
	s->host_other = 4 * DAVY_GIB;
	e.comm = "llama-bench";
	e.engine = DAVY_ENGINE_LLAMA_CPP;
	e.role = DAVY_ROLE_TOOL;
	davy_check_frames(s, desktop, 5 * DAVY_MS, 60);
	davy_check_wander(s, &desktop->client.gtt, 100 * DAVY_MIB, 500 * DAVY_MIB, 10 * DAVY_S);
	davy_check2_then(s, memory_first_submission, davy_check3_later(s, d, &e));
}

static void memory_kills(struct davy_sim *s, struct davy_sim_process *p, uint32_t in_cgroup)
{
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_OOM_VICTIM, NULL, p);

	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), p->info.comm);
	ev.fact.bytes = p->client.system;
	ev.fact.detail = in_cgroup;
	davy_sim_tell(s, &ev);
	davy_sim_log(s, DAVY_LOG_OOM_KILL, NULL, p, 0);
	davy_sim_exit(s, p, DAVY_STATUS_KILL);
}

static uint64_t memory_scout(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t over_ns = davy_sim_between(s, 50, 110) * DAVY_S;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		davy_check_start_again(s, p);
		davy_sim_subject(s, p->device, p);
		davy_check_ramp(s, &p->client.vram, 11 * DAVY_GIB, s->now_ns, 20 * DAVY_S);
		davy_check_ramp(s, &p->client.system, davy_sim_host_available(s) - 120 * DAVY_MIB,
				s->now_ns, over_ns);
		return s->now_ns + over_ns + DAVY_S;
	case 1:
		davy_sim_precursor(s, s->now_ns);
		s->pressure_permille = 240;
		return s->now_ns + davy_sim_around(s, 40 * DAVY_S);
	default:
		davy_sim_log(s, DAVY_LOG_OOM_INVOKED, NULL, NULL, 0);
		davy_check2_lines(s, DAVY_LOG_MEMORY_REPORT, NULL, NULL, 3);
		davy_sim_failed(s);
		memory_kills(s, p, 0);
		return 0;
	}
}

/*
 * ollama/ollama#10739, a card of 12 GiB by CUDA, 62.6 GiB of host memory: 45 of 49 layers stay on
 * the CPU, which leaves 115 MiB; the next program that starts gets the runner killed. The precursor
 * is a host without memory; no sensor of a GPU sees it here.
 */
void davy_check3_scout_on_cuda(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_check_engine e = davy_check2_by(DAVY_BACKEND_CUDA, "llama4-scout-Q4_K_M.gguf",
						    62000 * DAVY_MIB, 8192);
	struct davy_check_engine small =
		davy_check2_by(DAVY_BACKEND_CUDA, "nomic-embed-text.gguf", 300 * DAVY_MIB, 2048);

	(void)arg;
	s->host_total = 62 * DAVY_GIB;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	davy_check3_serve(s, d, &small, 20, 6 * DAVY_S);
	davy_check2_then(s, memory_scout, davy_check3_later(s, d, &e));
}

static uint64_t memory_image(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_sim_precursor(s, s->now_ns);
	if (!davy_check_hip_allocate(s, p, davy_sim_between(s, 60, 180) * DAVY_MIB))
		return s->now_ns + davy_sim_around(s, 30 * DAVY_S);
	davy_sim_failed(s);
	davy_sim_exit(s, p, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * ggml-org/llama.cpp#23446 and #19639 (CUDA; HIP is built of the same code), a 24 GiB card: each
 * picture of a conversation leaves some VRAM taken, until an allocation fails.
 */
void davy_check3_image_growth(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 24560);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3.6-27B-Q4_K_M.gguf", 16400 * DAVY_MIB, 65536);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 830, 12 * DAVY_S);
	davy_sim_subject(s, d, l->p);
	davy_check2_then(s, memory_image, l->p);
}

/* n: leaks left */
static uint64_t memory_cancel(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_device *d = p->device;
	uint64_t over_ns = davy_sim_between(s, 20, 40) * DAVY_MIN;

	switch (a->stage++) {
	case 0:
	case 2: /* stopped while it generates */
		d->vram_other += p->client.vram / 4;
		davy_sim_precursor(s, s->now_ns);
		davy_sim_exit(s, p, DAVY_STATUS_KILL);
		return s->now_ns + davy_sim_between(s, 4, 30) * DAVY_S;
	case 1:
		davy_check3_load(s, p, 11200 * DAVY_MIB, DAVY_MIB);
		return s->now_ns + davy_sim_between(s, 60, 200) * DAVY_S;
	case 3: /* the desktop's programs: what they free stays taken */
		davy_check_ramp(s, &d->vram_other, 12600 * DAVY_MIB, s->now_ns, over_ns);
		return s->now_ns + over_ns + davy_sim_around(s, 2 * DAVY_MIN);
	case 4:
		davy_check_start_again(s, p);
		davy_sim_subject(s, d, p);
		return s->now_ns + 2 * DAVY_S;
	default:
		break;
	}
	if (!davy_check_hip_allocate(s, p, 512 * DAVY_MIB))
		return s->now_ns + davy_sim_between(s, 150, 400) * DAVY_MS;
	davy_sim_failed(s);
	davy_sim_exit(s, p, 2 << 8);
	return 0;
}

/*
 * ROCm/legacy-rocm-build#5362 and ollama#13018, RX 7800 XT 16 GiB: an answer is stopped and the
 * model changed, twice; VRAM that belongs to no process stays taken and grows for half an hour to
 * 12.6 GiB, the next model cannot be loaded.
 */
void davy_check3_cancel_leak(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 16368);
	struct davy_check_engine e =
		davy_check_by_rocm("gpt-oss-20b-mxfp4.gguf", 11600 * DAVY_MIB, 8192);
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	l = davy_check3_serve(s, d, &e, 690, 30 * DAVY_S);
	davy_check2_then(s, memory_cancel, l->p);
}

static uint64_t memory_spills(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	davy_sim_cause(s);
	davy_check_allocate(s, p, davy_sim_between(s, 20, 60) * DAVY_MIB);
	if (p->client.gtt < 100 * DAVY_MIB)
		return s->now_ns + davy_sim_around(s, 8 * DAVY_S);
	davy_sim_precursor(s, s->now_ns);
	l->slow_permille += (uint32_t)davy_sim_between(s, 40, 120);
	if (l->slow_permille % 5 == 0) {
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_IOCTL, -ENOMEM, 0, 1);
		davy_sim_log(s, DAVY_LOG_CS_NO_MEMORY, p->device, NULL, 0);
	}
	if (l->slow_permille % 7 == 0)
		davy_sim_log(s, DAVY_LOG_PIN_FAILED, p->device, NULL, 0);
	if (l->slow_permille >= 3000)
		davy_sim_failed(s);
	return s->now_ns + davy_sim_around(s, 20 * DAVY_S);
}

/*
 * amd-ev-004, ggml-org/llama.cpp#22898, RX 9060 XT 16 GiB, a model with its picture encoder: with
 * the context's length buffers go to GTT, "Not enough memory for command submission" at times,
 * and 27 tokens/s become 9 until a restart.
 */
void davy_check3_long_context(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16304);
	struct davy_check_engine e =
		davy_check_by_vulkan("gemma-4-26B-A4B-UD-Q5_K_XL.gguf", 14100 * DAVY_MIB, 131072);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 950, 10 * DAVY_S);
	l->habit.keep_permille = 950;
	davy_sim_subject(s, d, l->p);
	davy_check2_then(s, memory_spills, l);
}

/* n: end of the first minute */
static uint64_t memory_restore_loop(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage) {
	case 0:
		a->stage = 1;
		davy_sim_cause(s);
		davy_check_ramp(s, &s->host_other,
				s->host_other + davy_sim_host_available(s) - 2600 * DAVY_MIB,
				s->now_ns, davy_sim_around(s, 15 * DAVY_MIN));
		return s->now_ns + 30 * DAVY_MIN;
	case 1: /* its pages are swapped out */
		a->stage = 2;
		s->pressure_permille = (uint32_t)davy_sim_between(s, 60, 150);
		davy_sim_precursor(s, s->now_ns);
		a->n[0] = s->now_ns + davy_sim_around(s, 5 * DAVY_MIN);
		return a->n[0];
	default:
		break;
	}
	davy_check_evict_queues(s, p, 0); /* SVM */
	davy_check_restore_queues(s, p, 0, true);
	p->kfd.evicted_ms += 150;
	if (s->now_ns >= a->n[0] + DAVY_MIN)
		davy_sim_failed(s);
	return s->now_ns + davy_sim_between(s, 100, 300) * DAVY_MS;
}

/*
 * amd-svm-003, ROCm/TheRock#7956, Strix Halo 128 GiB: pages of a server that rests for days are
 * swapped out under pressure, and KFD tries for ever to map them. No request, no line of the log.
 */
void davy_check3_swapped_idle(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 128);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3.6-35B-A3B-Q8_0.gguf", 37800 * DAVY_MIB, 32768);
	struct davy_check_engine small =
		davy_check_by_vulkan("gemma-4-4b-it-Q4_K_M.gguf", 2600 * DAVY_MIB, 8192);
	struct davy_sim_process *p;

	(void)arg;
	e.found = true;
	p = davy_check_engine(s, d, &e, 39 * DAVY_GIB);
	davy_check3_serve(s, d, &small, 35, 90 * DAVY_S);
	davy_sim_subject(s, d, p);
	davy_check2_then(s, memory_restore_loop, p);
}
