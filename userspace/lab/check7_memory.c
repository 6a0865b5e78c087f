/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that is not given back, and starts that find no device. */
#include "lab/check7_parts.h"

#include <errno.h>

/* of: gmx; n: leaked bytes in a second */
static uint64_t memory_leaks(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t available = davy_sim_host_available(s);

	if (!a->stage++) {
		davy_sim_cause(s);
		a->n[0] = davy_sim_between(s, 20, 25) * DAVY_MIB; /* 72 to 90 GB an hour */
	}
	if (a->stage == 300)
		davy_check4_sign(s);
	if (available > 400 * DAVY_MIB) {
		s->host_other += davy_random_near(&s->random, a->n[0], 300);
		if (available < 3 * DAVY_GIB)
			s->pressure_permille = (uint32_t)davy_sim_between(s, 60, 700);
		return s->now_ns + DAVY_S;
	}
	davy_sim_log(s, DAVY_LOG_PAGE_ALLOC_FAILED, NULL, p, 0);
	davy_check4_fails(s, p->device, p);
	davy_check5_oom_kill(s, p, false);
	s->host_other = 8 * DAVY_GIB;
	return 0;
}

/*
 * ROCm/legacy-rocm-build#5915, MI210, amdgpu-dkms 6.16: under a compute load the host's memory
 * shrinks by 72 to 90 GB an hour, VRAM does not change; the host is out of memory.
 */
void davy_check7_dkms_leak(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d;
	struct davy_check_engine e =
		davy_check6_vllm(DAVY_BACKEND_ROCM, "Qwen3-32B-FP8", 33 * DAVY_GIB, 32768);
	struct davy_sim_process *p;

	(void)arg;
	s->host_total = 128 * DAVY_GIB;
	d = davy_check3_card(s, 10 * DAVY_S, 65520);
	davy_check3_serve(s, d, &e, 620, 2 * DAVY_S);
	p = davy_check6_torch(s, d, "gmx_mpi", 150, 152, 4 * DAVY_S);
	davy_check2_then(s, memory_leaks, p);
}

/* of: the embedding server; n: bytes at the begin */
static uint64_t memory_segments(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t bytes = davy_sim_between(s, 2, 60) * 2 * DAVY_MIB; /* a segment's page has 2 MiB */

	if (!a->stage) {
		davy_sim_cause(s);
		davy_check5_still(s, &p->client.vram);
		a->n[0] = p->client.vram;
		a->stage = 1;
	}
	if (p->client.vram - a->n[0] > DAVY_GIB)
		davy_check4_sign(s);
	p->client.busy_ns += davy_sim_between(s, 2, 9) * DAVY_S;
	if (davy_check_hip_allocate(s, p, bytes) == -ENOMEM) {
		davy_check4_fails(s, p->device, p);
		return 0;
	}
	if (davy_random_chance(&s->random, 30)) /* a quiet time */
		return davy_check6_in(s, 60000, 400000);
	return davy_check6_in(s, 4000, 24000);
}

/*
 * michaelfeil/infinity#661, W6800, expandable_segments: bge-m3's VRAM climbs from 2 to 4 GiB to
 * more than 28 of 32 within hours of normal traffic, and is never given back. The report ends
 * there; here the block that does not fit follows, sooner beside a chat model.
 */
void davy_check7_embed_segments(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 32752);
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-8B-Q8_0.gguf", 8 * DAVY_GIB, 32768);
	struct davy_check_engine infinity =
		davy_check_by_rocm("BAAI/bge-m3", 2300 * DAVY_MIB, 8192);
	struct davy_sim_process *p;

	(void)arg;
	infinity.comm = "infinity_emb";
	infinity.engine = DAVY_ENGINE_GENERIC;
	davy_check3_serve(s, d, &e, 310, 20 * DAVY_S);
	p = davy_check_engine(s, d, &infinity, 2800 * DAVY_MIB);
	davy_check_wander(s, &p->client.vram, 2600 * DAVY_MIB, 3400 * DAVY_MIB, 8 * DAVY_S);
	davy_check2_then(s, memory_segments, p);
}

/* of: the runner's load; the shell is the process after it; n: bytes to load, moves left */
static uint64_t memory_kept(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;
	uint64_t part = 160 * DAVY_MIB;

	switch (a->stage) {
	case 0: /* it is unloaded, some of its VRAM stays */
		davy_check3_stop(s, p);
		davy_sim_cause(s);
		davy_sim_exit(s, p, DAVY_STATUS_KILL);
		p->device->vram_other += davy_sim_between(s, 2300, 3900) * DAVY_MIB;
		if (a->n[2]++)
			davy_check4_sign(s);
		a->stage = 1;
		return davy_check6_in(s, 15000, 60000);
	case 1:
		davy_check_start_again(s, p);
		l->stopped = true;
		a->n[0] = p->info.model_bytes / 100 * 112;
		a->stage = 2;
		return davy_check6_in(s, 100, 900);
	case 2:
		davy_check_allocate(s, p, part);
		a->n[0] -= a->n[0] > part ? part : a->n[0];
		if (a->n[0])
			return s->now_ns + 100 * DAVY_MS;
		davy_check_go_on(s, l);
		a->n[1] = davy_sim_between(s, 8, 30);
		a->stage = p->client.gtt > p->info.model_bytes / 10 * 4 ? 3 : 0;
		return a->stage ? davy_check6_in(s, 1000, 6000) : davy_check6_in(s, 50000, 150000);
	default: /* no token any more, all move in and out */
		l->slow_permille = 20000;
		davy_sim_move_out(s, p[1].pid, p, part * 4);
		davy_sim_move_in(s, p->pid, p, part * 4);
		davy_sim_hot_fact(s, DAVY_FACT_VRAM_SPILL, p, part, 2);
		if (a->n[1] && !--a->n[1])
			davy_check4_fails(s, p->device, p);
		return davy_check6_in(s, 200, 900);
	}
}

/*
 * ROCm/legacy-rocm-build#5362, RX 7900 XTX with a desktop: VRAM increases in spite of unloads,
 * after five to seven prompts Ollama generates no tokens, minutes later the screen freezes.
 */
void davy_check7_never_unloads(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 24560);
	struct davy_check_engine e = davy_check_by_rocm("gpt-oss:20b", 11600 * DAVY_MIB, 16384);
	struct davy_check2_rounds rounds = {
		.count = 1,
		.status = DAVY_STATUS_KILL,
		.rate = DAVY_MIB,
		.serve_ns = 100 * DAVY_S,
		.gap_ns = 40 * DAVY_S,
	};
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	l = davy_check3_serve(s, d, &e, 540, 9 * DAVY_S);
	davy_check6_desktop(s, d, "gnome-shell", 700);
	davy_check6_desktop(s, d, "firefox", 900);
	davy_check2_rounds(s, l->p, &rounds);
	davy_check2_then(s, memory_kept, l);
}

/* of: the engine of the sweep */
static uint64_t memory_no_device(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0: /* 11:36:35, a copy engine */
		davy_check3_stop(s, p);
		if (!p->alive)
			davy_check_start_again(s, p);
		davy_check4_sign(s);
		davy_check_xid(s, p->device, p, 31);
		davy_synth_end_later(s, p, davy_sim_between(s, 200, 4000) * DAVY_MS,
				     DAVY_STATUS_EXIT1);
		return davy_check6_in(s, 122000, 126000);
	case 1: /* 11:38:39, of modprobe */
		davy_check_xid(s, p->device, NULL, 31);
		for (size_t i = 0; i < s->device_count; i++)
			davy_check_xid(s, &s->device[i], NULL, 154);
		davy_check_start_again(s, p);
		return davy_check6_in(s, 1500, 6000);
	default: /* cuInit() returns 3, no device */
		davy_check4_fails(s, p->device, p);
		davy_sim_exit(s, p, DAVY_STATUS_EXIT1);
		return 0;
	}
}

/*
 * amoghmunikote/cmpunlocker#31, three cards, a sweep of vLLM's parameters: Xid 31 of CE2, 124 s
 * later Xid 31 of CE4 and Xid 154 of all cards; cuInit() finds none, nvidia-smi lists all three.
 */
void davy_check7_cuinit_3(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check5_nvidia(s, 0, 65536);
	struct davy_check_engine e =
		davy_check6_vllm(DAVY_BACKEND_CUDA, "Qwen3.6-27B-FP8", 28 * DAVY_GIB, 32768);
	struct davy_check2_rounds rounds = {
		.count = 1,
		.status = DAVY_STATUS_TERM,
		.rate = DAVY_MIB * 2,
		.serve_ns = 3 * DAVY_MIN,
		.gap_ns = 8 * DAVY_S,
	};
	struct davy_sim_load *l;

	(void)arg;
	davy_check5_nvidia(s, 1, 65536);
	davy_check5_nvidia(s, 2, 65536);
	e.comm = "python3.12";
	l = davy_check3_serve(s, d, &e, 460, 200 * DAVY_MS);
	davy_check2_rounds(s, l->p, &rounds);
	davy_check2_then(s, memory_no_device, l->p);
}

/* of: the load; the discovery is the process after it */
static uint64_t memory_watchdog(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p, *child = p + 1;

	switch (a->stage++) {
	case 0: /* the model rests; /api/tags and /api/show only */
		if (l->phase != DAVY_SIM_IDLE) {
			a->stage = 0;
			return s->now_ns + 20 * DAVY_MS;
		}
		davy_check3_stop(s, child);
		if (child->alive)
			davy_sim_exit(s, child, 0);
		l->stopped = true;
		davy_check4_sign(s);
		davy_check_xid(s, p->device, p, 62);
		return davy_check6_in(s, 10, 900);
	case 1:
		davy_check_xid(s, p->device, NULL, 154);
		return davy_check6_in(s, 3000, 50000);
	case 2:
		davy_check_start_again(s, child);
		return davy_check6_in(s, 10000, 30000);
	default: /* "GPU discovery watchdog timed out" */
		davy_check4_fails(s, p->device, child);
		davy_sim_exit(s, child, DAVY_STATUS_KILL);
		return 0;
	}
}

/*
 * ollama/ollama#18144, RTX 5060 Ti: Xid 62 of an idle llama-server and Xid 154; the next discovery
 * does not end, its watchdog kills it, and no GPU is found.
 */
void davy_check7_xid62_watchdog(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check5_nvidia(s, 0, 16311);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "gpt-oss:20b", 11600 * DAVY_MIB, 32768);
	struct davy_check2_visits visits = {
		.period_ns = 2 * DAVY_MIN,
		.stay_ns = 700 * DAVY_MS,
	};
	struct davy_sim_process *child;
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 760, 40 * DAVY_S);
	child = davy_check2_absent(s, d, "llama-server");
	child->info.engine = DAVY_ENGINE_OLLAMA;
	child->info.role = DAVY_ROLE_DISCOVERY;
	child->info.flags = 0;
	davy_check2_visits(s, child, &visits);
	davy_check2_then(s, memory_watchdog, l);
}
