/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Held-out failures of hardware: memory errors, NVIDIA's Xids, the IOMMU. */
#include "lab/check_parts.h"

static struct davy_check_engine check_cuda(const char *comm, uint32_t engine)
{
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3-32B-AWQ", 19 * (uint64_t)DAVY_GIB, 32768);

	e.comm = comm;
	e.engine = engine;
	e.backend = DAVY_BACKEND_CUDA;
	return e;
}

static uint64_t check_ras(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_event ev;

	if (a->stage++ < a->n[0]) {
		davy_sim_log(s, DAVY_LOG_RAS_PAGES, p->device, NULL, 0);
		davy_sim_precursor(s, s->now_ns);
		p->device->memory.vram_total -= 2 * DAVY_MIB;
		return s->now_ns + davy_sim_around(s, 20 * DAVY_MIN);
	}
	if (a->stage == a->n[0] + 1) {
		davy_sim_log(s, DAVY_LOG_RAS_UNCORRECTABLE, p->device, NULL, 1);
		davy_sim_fault(s, p, DAVY_FAULT_ECC, 0, 1);
		ev = davy_sim_fact(s, DAVY_FACT_KFD_POISON, p->device, NULL);
		ev.fact.pasid = p->pasid;
		davy_sim_tell(s, &ev);
		davy_sim_log(s, DAVY_LOG_POISON_SIGNAL, p->device, p, 0);
		davy_synth_end_later(s, p, 20 * DAVY_MS, 7); /* SIGBUS */
		return s->now_ns + davy_sim_between(s, 100, 3000) * DAVY_MS;
	}
	ev = davy_sim_fact(s, DAVY_FACT_RAS_RESET, p->device, NULL);
	davy_sim_tell(s, &ev);
	davy_sim_log(s, DAVY_LOG_RAS_RESET, p->device, NULL, 0);
	davy_synth_reset_device(s, p->device, 4 * DAVY_S, 0);
	davy_sim_failed(s);
	return 0;
}

/*
 * KERNEL 4.2 and 14 (amdgpu_ras.c, amdgpu_ras_eeprom.c of 6.12 and 7.2): pages are retired, some in
 * an hour, until one error cannot be corrected: poison, SIGBUS, a reset. A vLLM server on one GPU.
 */
void davy_check_ras_pages(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-32B", 40 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_dgpu(s, 10 * DAVY_S);
	struct davy_sim_process *p;

	(void)arg;
	s->host_total = 256 * DAVY_GIB;
	d->memory.vram_total = d->memory.visible_total = 65520 * DAVY_MIB;
	e.comm = "VLLM::EngineCor";
	e.engine = DAVY_ENGINE_VLLM;
	p = davy_check_engine(s, d, &e, 58 * DAVY_GIB);
	davy_check_chat(s, p, 3 * DAVY_S);
	davy_sim_add_actor(s, check_ras, p, davy_synth_when(s))->n[0] = davy_sim_between(s, 2, 4);
	davy_sim_subject(s, d, p);
}

static uint64_t check_dbe(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_sim_precursor(s, s->now_ns);
	davy_check_xid(s, p->device, NULL, 48);
	davy_sim_failed(s);
	davy_check_xid(s, p->device, p, 45);
	davy_check_xid(s, p->device, NULL, 154);
	davy_synth_end_later(s, p, 60 * DAVY_MS, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * Xid 48, an error of two bits (NVIDIA's catalogue; nverror.h of 580.142): a particle, without a
 * precursor. Nothing can foresee it: the label's precursor is the failure.
 */
void davy_check_double_bit(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = check_cuda("llama-server", DAVY_ENGINE_LLAMA_SERVER);
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_sim_process *p = davy_check_engine(s, d, &e, 21 * DAVY_GIB);

	(void)arg;
	davy_check_chat(s, p, 10 * DAVY_S);
	davy_sim_add_actor(s, check_dbe, p, davy_synth_when(s));
	davy_sim_subject(s, d, p);
}

static uint64_t check_wave_of_31(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++) {
		davy_sim_precursor(s, s->now_ns);
		davy_check_xid(s, p->device, NULL, 13);
		return s->now_ns + davy_sim_around(s, 51 * DAVY_S);
	}
	for (size_t i = 0; i < s->device_count; i++) {
		davy_check_xid(s, &s->device[(i + 1) % s->device_count], p, 31);
		davy_sim_log(s, DAVY_LOG_XID_UNDECODABLE, &s->device[i], p, 31);
	}
	davy_sim_failed(s);
	davy_synth_end_later(s, p, davy_sim_between(s, 100, 900) * DAVY_MS, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * nv-004: SGLang with FlashInfer. 19:14:43 Xid 13 (graphics exception, ESR 0x57e7b0) on one GPU;
 * 19:15:34, 51 s later, Xid 31 of an UNRECOGNIZED_CLIENT on all: python3 ends, the node reboots.
 */
void davy_check_xid13_then_31(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = check_cuda("sglang::schedul", DAVY_ENGINE_SGLANG);
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_sim_process *p;

	(void)arg;
	davy_synth_nvidia(s, 1);
	davy_synth_nvidia(s, 2);
	p = davy_check_engine(s, d, &e, 22 * DAVY_GIB);
	davy_check_chat(s, p, DAVY_S);
	davy_sim_add_actor(s, check_wave_of_31, p, davy_synth_when(s));
	davy_sim_subject(s, &s->device[1], p);
}

static uint64_t check_gsp(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++) {
		davy_check_stuck(s, davy_check_load_of(s, p));
		return s->now_ns + davy_sim_around(s, 79682 * DAVY_MS);
	}
	davy_sim_log(s, DAVY_LOG_GSP_DEAD, p->device, NULL, 0);
	davy_check_xid(s, p->device, NULL, 119);
	davy_sim_failed(s);
	davy_check_xid(s, p->device, NULL, 154);
	return 0;
}

/*
 * nv-008: RTX 5080, kernel 6.8, Qwen3-14B, about an hour of constant load at 38 to 57 C, then the
 * heartbeat of GSP is 79,682 ms old (limit 5,200): "GSP RM heartbeat timed out", Xid 119, 154
 * "GPU Reset Required". Until then only a job that does not end.
 */
void davy_check_gsp_silent(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = check_cuda("VLLM::EngineCor", DAVY_ENGINE_VLLM);
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_sim_process *p = davy_check_engine(s, d, &e, 15 * DAVY_GIB);

	(void)arg;
	davy_check_chat(s, p, 400 * DAVY_MS);
	davy_sim_add_actor(s, check_gsp, p, davy_synth_when(s));
	davy_sim_subject(s, d, p);
}

static uint64_t check_garbage(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_event ev = davy_sim_log_of(s, DAVY_LOG_IOMMU_FAULT, &s->device[1], NULL);

	if (!a->stage)
		davy_sim_ask(s, davy_check_load_of(s, p));
	davy_sim_precursor(s, s->now_ns);
	ev.log.addr = davy_sim_between(s, 1, 0xffffff) * 4096;
	ev.log.repeats = a->stage ? (uint32_t)davy_sim_between(s, 10, 80000) : 0;
	davy_sim_log_event(s, &ev);
	if (a->stage++ < a->n[0])
		return s->now_ns + davy_sim_between(s, 20, 5200) * DAVY_MS;
	davy_sim_failed(s);
	return 0;
}

/*
 * amd-io-001 and amd-io-003: two RX 7900 XTX behind an IOMMU that forbids peer-to-peer. In the same
 * second as the first answer over both: AMD-Vi IO_PAGE_FAULT, "821417 callbacks suppressed"; the
 * answer is garbage. The failure is the end of the answer.
 */
void davy_check_iommu_garbage(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_rocm("mixtral-8x7b-Q4_K_S.gguf", 26 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_dgpu(s, 10 * DAVY_S), *second;
	struct davy_event ev = davy_sim_event(s, DAVY_EV_DEVICE, 0);
	struct davy_sim_process *p;

	(void)arg;
	d->memory.vram_total = d->memory.visible_total = 24560 * DAVY_MIB;
	second = davy_sim_add_device(s, "0000:0a:00.0", "amdgpu", 24560 * DAVY_MIB, 0);
	second->vram_other = 14 * DAVY_GIB; /* its half of the model */
	davy_copy_name(ev.device.device, sizeof(ev.device.device), second->name);
	davy_copy_name(ev.device.driver, sizeof(ev.device.driver), second->driver);
	ev.device.change = DAVY_DEVICE_ADDED;
	davy_sim_tell(s, &ev);
	p = davy_check_engine(s, d, &e, 14 * DAVY_GIB);
	davy_check_chat(s, p, 45 * DAVY_S);
	davy_sim_add_actor(s, check_garbage, p, davy_synth_when(s))->n[0] =
		davy_sim_between(s, 2, 9);
	davy_sim_subject(s, second, p);
}
