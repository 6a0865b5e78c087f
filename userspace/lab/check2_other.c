/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Second held-out set: NVIDIA's cards, discovery, heat. */
#include "lab/check2_parts.h"

/* n[0]: the soak's length. */
static uint64_t check2_soak(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_device *d = l->p->device;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		l->habit.think_ns = 50 * DAVY_MS;
		return s->now_ns + davy_sim_between(s, 210, 270) * DAVY_S;
	case 1:
		davy_sim_precursor(s, s->now_ns);
		davy_check2_lines(s, DAVY_LOG_AER_CORRECTED, d, NULL, 2);
		return s->now_ns + davy_sim_between(s, 40, 900) * DAVY_MS;
	default:
		davy_check_xid(s, d, l->p, 79);
		davy_sim_log(s, DAVY_LOG_OFF_THE_BUS, d, NULL, 0);
		davy_sim_failed(s);
		davy_synth_end_later(s, l->p, davy_sim_between(s, 100, 2500) * DAVY_MS,
				     DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * nv-010: an RTX 5080 falls off the bus 3.5 to 4.5 minutes into each soak (power, not heat). A
 * corrected error of the link is logged in the moment of its death.
 */
void davy_check2_off_the_bus(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3-14B", 9 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_sim_process *p;

	(void)arg;
	p = davy_check_engine(s, d, &e, 12 * DAVY_GIB);
	davy_check2_then(s, check2_soak, davy_check_chat(s, p, 25 * DAVY_S));
	davy_sim_subject(s, d, p);
}

static uint64_t check2_iommu_bursts(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_sim_precursor(s, s->now_ns);
	davy_check2_lines(s, DAVY_LOG_IOMMU_FAULT, &s->device[s->device_count - 1], NULL,
			  (uint32_t)davy_sim_between(s, 4, 12));
	if (a->stage++ < a->n[0])
		return s->now_ns + davy_sim_between(s, 200, 2500) * DAVY_MS;
	davy_sim_failed(s);
	davy_sim_exit(s, p, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * nv-011: three RTX PRO 6000 on an AMD host, a model over all of them. Bursts of AMD-Vi
 * IO_PAGE_FAULT of one card, then the server aborts with a CUDA error. A new build is the cause.
 */
void davy_check2_nvidia_iommu(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "DeepSeek-V4-Flash", 160 * DAVY_GIB, 65536);
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_sim_process *p;

	(void)arg;
	davy_synth_nvidia(s, 1);
	davy_synth_nvidia(s, 2);
	p = davy_check_engine(s, d, &e, 22 * DAVY_GIB);
	davy_copy_name(p->info.more_devices[0], sizeof(p->info.more_devices[0]), "0000:41:00.0");
	davy_copy_name(p->info.more_devices[1], sizeof(p->info.more_devices[1]), "0000:81:00.0");
	davy_check_chat(s, p, 6 * DAVY_S);
	davy_check2_then(s, check2_iommu_bursts, p)->n[0] = davy_sim_between(s, 1, 7);
	davy_sim_subject(s, &s->device[s->device_count - 1], p);
}

static uint64_t check2_xid31(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *core = a->of, *server = core - 1;

	davy_sim_precursor(s, s->now_ns);
	davy_check_xid(s, core->device, core, 31);
	davy_sim_failed(s);
	davy_sim_exit(s, core, DAVY_STATUS_EXIT1);
	davy_synth_end_later(s, server, davy_sim_between(s, 800, 4000) * DAVY_MS, 0);
	return 0;
}

/*
 * nv-003 (vllm#53726): Xid 31 out of nothing; the engine's core ends, and the API server ends with
 * status 0, as if it had been asked to.
 */
void davy_check2_vllm_exit_zero(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3-Next-80B", 80 * DAVY_GIB, 131072);
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_sim_process *server, *core;

	(void)arg;
	server = davy_sim_add_process(s, NULL, "vllm");
	server->info.engine = DAVY_ENGINE_VLLM;
	server->info.role = DAVY_ROLE_MANAGER;
	server->info.port = 8000;
	davy_sim_start(s, server);
	e.comm = "VLLM::EngineCor";
	e.engine = DAVY_ENGINE_VLLM;
	core = davy_check_engine(s, d, &e, 90 * DAVY_GIB);
	davy_check_chat(s, core, 700 * DAVY_MS);
	davy_check2_then(s, check2_xid31, core);
	davy_sim_subject(s, d, core);
}

static uint64_t check2_just_lost(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	if (l->phase != DAVY_SIM_ANSWER || l->depth < a->n[0])
		return s->now_ns + 50 * DAVY_MS;
	davy_sim_precursor(s, s->now_ns);
	davy_sim_failed(s);
	davy_sim_throw(s, l->p, DAVY_LOST);
	l->p->graph.failed_count++;
	davy_sim_exit(s, l->p, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * nv-017: llama-server by Vulkan on an NVIDIA card loses its device in a long context, at random.
 * No Xid, no line; its maintainer calls it a crash of the driver.
 */
void davy_check2_vulkan_on_nvidia(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_VULKAN, "gemma-4-27b", 16 * DAVY_GIB, 65536);
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_sim_habit habit = davy_synth_chats;
	struct davy_sim_pace pace;
	struct davy_sim_process *p;

	(void)arg;
	p = davy_check_engine(s, d, &e, 20 * DAVY_GIB);
	pace = davy_synth_pace(s, p);
	habit.prompt_max = 6000;
	habit.keep_permille = 950;
	davy_check2_then(s, check2_just_lost, davy_sim_add_load(s, p, &pace, &habit))->n[0] =
		davy_sim_between(s, 12000, 40000);
	davy_sim_subject(s, d, p);
}

/* n: the number of faults until the child dies */
static uint64_t check2_child_faults(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *child = a->of, *runner = child - 1;

	if (!a->stage++) {
		davy_sim_cause(s);
		davy_sim_exit(s, runner, DAVY_STATUS_KILL);
		davy_check_start_again(s, child);
		davy_sim_subject(s, child->device, child);
		return s->now_ns + davy_sim_between(s, 700, 2500) * DAVY_MS;
	}
	if (a->stage <= a->n[0] + 1) {
		davy_sim_precursor(s, s->now_ns);
		davy_check2_page_fault(s, child, 0, (uint32_t)davy_sim_between(s, 1, 4));
		return s->now_ns + davy_sim_around(s, 700 * DAVY_MS);
	}
	davy_sim_failed(s);
	davy_sim_exit(s, child, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * amd-ri-004 (and pf-008): HSA_OVERRIDE_GFX_VERSION=10.3.0 was set on an MI50 and the service
 * restarted. The child of the discovery faults at address 0, each 0.7 s, and aborts: no model was
 * loaded yet.
 */
void davy_check2_discovery_faults(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-14B", 9 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_dgpu(s, 10 * DAVY_S);
	struct davy_sim_process *p, *child;

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	p = davy_check_engine(s, d, &e, 10 * DAVY_GIB);
	davy_check_chat(s, p, 15 * DAVY_S);
	child = davy_sim_add_process(s, d, "ollama");
	child->info.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	child->info.role = DAVY_ROLE_DISCOVERY;
	child->info.backend = DAVY_BACKEND_ROCM;
	child->by_kfd = true;
	davy_check2_then(s, check2_child_faults, child)->n[0] = davy_sim_between(s, 1, 7);
	davy_sim_subject(s, d, child);
}

static uint64_t check2_new_library(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *daemon = a->of, *runner = daemon + 1, *child = daemon + 2;

	switch (a->stage++) {
	case 0: /* apt has replaced the library; needrestart restarts the service */
		davy_sim_cause(s);
		davy_sim_exit(s, runner, DAVY_STATUS_KILL);
		davy_sim_exit(s, daemon, DAVY_STATUS_TERM);
		return s->now_ns + davy_sim_between(s, 3000, 5000) * DAVY_MS;
	case 1:
		davy_check_start_again(s, daemon);
		return s->now_ns + davy_sim_between(s, 100, 400) * DAVY_MS;
	case 2:
		davy_check_start_again(s, child);
		return s->now_ns + davy_sim_between(s, 50, 300) * DAVY_MS;
	case 3:
		davy_sim_precursor(s, s->now_ns);
		davy_sim_log(s, DAVY_LOG_NV_MISMATCH, NULL, NULL, 0);
		return s->now_ns + davy_sim_between(s, 300, 1800) * DAVY_MS;
	case 4:
		davy_sim_exit(s, child, DAVY_STATUS_KILL);
		return s->now_ns + davy_sim_around(s, 45 * DAVY_S); /* the next request */
	default:
		runner->device = NULL;
		runner->info.device[0] = 0;
		runner->info.backend = DAVY_BACKEND_CPU;
		davy_check_start_again(s, runner);
		davy_sim_subject(s, child->device, runner);
		davy_sim_failed(s);
		return 0;
	}
}

/*
 * ENGINES.md A5.1 and A7, FIELD.md section 4, 4: the driver's library is updated under the loaded
 * module ("API mismatch" of nvidia). Ollama's discovery finds no card, its next runner computes on
 * the CPU.
 */
void davy_check2_nvidia_mismatch(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3-14B", 9 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_sim_process *daemon, *runner, *child;

	(void)arg;
	daemon = davy_sim_add_process(s, NULL, "ollama");
	daemon->info.engine = DAVY_ENGINE_OLLAMA;
	daemon->info.role = DAVY_ROLE_MANAGER;
	davy_sim_start(s, daemon);
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	runner = davy_check_engine(s, d, &e, 11 * DAVY_GIB);
	davy_check_chat(s, runner, 20 * DAVY_S);
	child = davy_sim_add_process(s, d, "llama-server");
	child->info.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	child->info.role = DAVY_ROLE_DISCOVERY;
	davy_check2_then(s, check2_new_library, daemon);
	davy_sim_subject(s, d, runner);
}

/* n: throttling events until the limit */
static uint64_t check2_heats(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	davy_sim_precursor(s, s->now_ns);
	if (a->stage++ < a->n[0]) {
		davy_sim_kfd(s, DAVY_KFD_THERMAL_THROTTLE, l->p, 0, 0);
		l->slow_permille += 15;
		return s->now_ns + davy_sim_around(s, 12 * DAVY_S);
	}
	davy_sim_log(s, DAVY_LOG_OVER_TEMPERATURE, l->p->device, NULL, 0);
	davy_sim_failed(s);
	davy_synth_end_later(s, l->p, davy_sim_between(s, 300, 1500) * DAVY_MS, 0);
	return 0;
}

/*
 * amdgpu of 7.2, amd/pm (swctf_delayed_work and its like): a fan stops, the firmware throttles, as
 * KFD's SMI event 2 says, and at the software limit (SW CTF) the kernel powers the host off.
 */
void davy_check2_heat(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-14B", 9 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p;

	(void)arg;
	p = davy_check_engine(s, d, &e, 10 * DAVY_GIB);
	davy_check2_then(s, check2_heats, davy_check_chat(s, p, DAVY_S))->n[0] =
		davy_sim_between(s, 8, 45);
	davy_sim_subject(s, d, p);
}
