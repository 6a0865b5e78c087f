/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Meaning of amdgpu interrupt vectors, for all hardware generations (soc15_ih_clientid.h, ivsrcid/
 * and the interrupt registrations of gmc_v*, gfx_v*, sdma_v*; identical from 6.1 to 7.2).
 */
#ifndef DAVY_AMDGPU_IV_BPF_H
#define DAVY_AMDGPU_IV_BPF_H

#include "ktypes.bpf.h"

/* Interrupt handler client ids; legacy (gfx6 to gfx8) uses only 0. */
enum ih_client {
	IH_LEGACY = 0x00,
	IH_VMC1 = 0x06,
	IH_GFX = 0x0a, /* gfx11, gfx12; on gfx9 a shader engine */
	IH_SE3 = 0x0d,
	IH_VMC = 0x12,
	IH_GRBM_CP = 0x14,
	IH_DF = 0x17,
	IH_VCE1 = 0x18,
	IH_UTCL2 = 0x1b,
};

#define SRC_LEGACY_INVALID_PAGE 146
#define SRC_LEGACY_PROTECTION	147
#define SRC_UTCL2_FAULT		0
#define SRC_UTCL2_RETRY		1 /* gfx12.1; other generations use the flag */
#define SRC_GFX_POISON		1 /* gfx11, gfx12: UTCL2 poison */
#define SRC_RLC_FED		128
#define SRC_CP_BAD_OPCODE	183
#define SRC_CP_PRIV_INSTR	185
#define SRC_CP_ECC		197
#define SRC_CP_FUE		201
#define SRC_SQ			239
#define SRC_SDMA4_ECC		220
#define SRC_SDMA4_PAGE_FAULT	221
#define SRC_SDMA4_SRAM_ECC	228
#define SRC_SDMA4_VM_HOLE	242
#define SRC_SDMA4_DOORBELL	244
#define SRC_SDMA4_POLL_TIMEOUT	246
#define SRC_SDMA6_PAGE_TIMEOUT	58
#define SRC_SDMA6_PAGE_FAULT	60
#define SRC_SDMA6_ECC		62
#define SRC_SDMA6_SRAM_ECC	64

#define IV_RETRY 0x80 /* src_data[1], gfx9 to gfx12.0 (gmc_v9_0.c, gmc_v10_0.c) */
#define IV_WRITE 0x20

struct iv_meaning {
	__u64 addr;
	__u16 fault_class; /* enum davy_fault_class */
	__u16 flags;	   /* DAVY_FAULT_WRITE, DAVY_FAULT_ADDR_KNOWN */
};

static __always_inline __u16 sdma4_class(__u32 src)
{
	if (src == SRC_SDMA4_ECC || src == SRC_SDMA4_SRAM_ECC)
		return DAVY_FAULT_ECC;
	if (src == SRC_SDMA4_PAGE_FAULT || src == SRC_SDMA4_VM_HOLE || src == SRC_SDMA4_DOORBELL ||
	    src == SRC_SDMA4_POLL_TIMEOUT)
		return DAVY_FAULT_SDMA;
	return DAVY_FAULT_NONE;
}

static __always_inline __u16 cp_class(__u32 src)
{
	if (src >= SRC_CP_BAD_OPCODE && src <= SRC_CP_PRIV_INSTR)
		return DAVY_FAULT_ILLEGAL;
	if (src == SRC_CP_ECC || src == SRC_CP_FUE)
		return DAVY_FAULT_ECC;
	return src == SRC_SQ ? DAVY_FAULT_WAVE : DAVY_FAULT_NONE;
}

/* Client 0x0a: since gfx11 the whole graphics engine, including SDMA 6 and 7; SQ on gfx9. */
static __always_inline __u16 gfx_class(__u32 src, bool retry)
{
	if (src == SRC_UTCL2_FAULT)
		return retry ? DAVY_FAULT_VM_RETRY : DAVY_FAULT_VM;
	if (src == SRC_GFX_POISON || src == SRC_RLC_FED || src == SRC_SDMA6_ECC ||
	    src == SRC_SDMA6_SRAM_ECC)
		return DAVY_FAULT_ECC;
	if (src >= SRC_SDMA6_PAGE_TIMEOUT && src <= SRC_SDMA6_PAGE_FAULT)
		return DAVY_FAULT_SDMA;
	return cp_class(src);
}

static __always_inline __u16 hub_class(__u32 src, bool retry)
{
	if (src == SRC_UTCL2_FAULT)
		return retry ? DAVY_FAULT_VM_RETRY : DAVY_FAULT_VM;
	return src == SRC_UTCL2_RETRY ? DAVY_FAULT_VM_RETRY : DAVY_FAULT_NONE;
}

static __always_inline __u16 iv_class(__u32 client, __u32 src, bool retry)
{
	if (client == IH_LEGACY)
		return src == SRC_LEGACY_INVALID_PAGE || src == SRC_LEGACY_PROTECTION ? DAVY_FAULT_VM :
											DAVY_FAULT_NONE;
	if (client == IH_VMC || client == IH_UTCL2)
		return hub_class(src, retry);
	if (client == IH_VMC1 && src == SRC_UTCL2_FAULT)
		return retry ? DAVY_FAULT_VM_RETRY : DAVY_FAULT_VM; /* otherwise SDMA3 of gfx10.3 */
	if (client == IH_GRBM_CP)
		return cp_class(src);
	if (client == IH_GFX)
		return gfx_class(src, retry);
	if (client > IH_GFX && client <= IH_SE3)
		return src == SRC_SQ ? DAVY_FAULT_WAVE : DAVY_FAULT_NONE;
	if (client == IH_DF)
		return src == 0 ? DAVY_FAULT_ECC : DAVY_FAULT_NONE;
	/*
	 * SDMA0 and SDMA1 are 8 and 9; SDMA2 to SDMA7 reuse the numbers of ACP, DCE, ISP, VCE,
	 * XDMA.
	 */
	return client <= IH_VCE1 ? sdma4_class(src) : DAVY_FAULT_NONE;
}

static __always_inline bool is_vm_fault(__u16 fault_class)
{
	return fault_class == DAVY_FAULT_VM || fault_class == DAVY_FAULT_VM_RETRY;
}

static __always_inline struct iv_meaning iv_decode(__u32 client, __u32 src, __u32 data0, __u32 data1)
{
	struct iv_meaning m = { .fault_class = iv_class(client, src, data1 & IV_RETRY) };

	if (client == IH_LEGACY || !is_vm_fault(m.fault_class))
		return m;
	m.addr = ((__u64)data0 << 12) | ((__u64)(data1 & 0xf) << 44);
	m.flags = DAVY_FAULT_ADDR_KNOWN | (data1 & IV_WRITE ? DAVY_FAULT_WRITE : 0);
	return m;
}

#endif
