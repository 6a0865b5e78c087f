/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/log_kind.h"

static const struct {
	uint16_t xid;
	struct davy_log_meaning meaning;
} xids[] = {
#define FAILS(number, class)                                                                       \
	{                                                                                          \
		number,                                                                            \
		{                                                                                  \
			0, DAVY_PART_FAILURE, DAVY_CLASS_##class, 0, 0, 0                          \
		}                                                                                  \
	}
#define ECHOES(number, class)                                                                      \
	{                                                                                          \
		number,                                                                            \
		{                                                                                  \
			0, DAVY_PART_AFTERMATH, DAVY_CLASS_##class, 0, 0, 0                        \
		}                                                                                  \
	}
#define WARNS(number, class, hazard, weight, leads)                                                \
	{                                                                                          \
		number,                                                                            \
		{                                                                                  \
			0, DAVY_PART_PRECURSOR, DAVY_CLASS_##class, DAVY_LOG_HZ_##hazard, weight,  \
				leads                                                              \
		}                                                                                  \
	}
	FAILS(8, RING_TIMEOUT),					    /* it stopped processing */
	WARNS(13, PAGE_FAULT, FAULT_STORM, 2, DAVY_CAN_PAGE_FAULT), /* exception of a shader */
	FAILS(31, PAGE_FAULT),
	WARNS(32, HANG, JOB_STALL, 2, DAVY_CAN_HANG | DAVY_CAN_PAGE_FAULT), /* pushbuffer */
	FAILS(38, HANG),						    /* driver firmware */
	ECHOES(43, RING_TIMEOUT), /* a channel was reset because of its program */
	FAILS(44, RING_TIMEOUT),  /* context switch */
	ECHOES(45, RING_TIMEOUT), /* removal after another error, or a kill */
	FAILS(48, GPU_RESET),	  /* double bit ECC */
	FAILS(61, HANG),	  /* PMU */
	FAILS(62, HANG),
	WARNS(63, GPU_RESET, HARDWARE_ERROR, 1, DAVY_CAN_GPU_RESET), /* row remapped */
	WARNS(64, GPU_RESET, HARDWARE_ERROR, 2, DAVY_CAN_GPU_RESET),
	WARNS(69, PAGE_FAULT, FAULT_STORM, 2, DAVY_CAN_PAGE_FAULT),  /* class error */
	FAILS(74, GPU_RESET),					     /* NVLink */
	FAILS(79, DEVICE_LOST),					     /* off the bus */
	WARNS(92, GPU_RESET, HARDWARE_ERROR, 1, DAVY_CAN_GPU_RESET), /* many single bit errors */
	WARNS(94, GPU_RESET, HARDWARE_ERROR, 3, DAVY_CAN_GPU_RESET), /* contained ECC */
	FAILS(95, GPU_RESET),					     /* uncontained ECC */
	FAILS(109, RING_TIMEOUT),				     /* context switch timeout */
	FAILS(119, HANG),					     /* GSP does not answer */
	FAILS(120, HANG),					     /* GSP error */
	WARNS(121, GPU_RESET, HARDWARE_ERROR, 2,
	      DAVY_CAN_GPU_RESET | DAVY_CAN_DEVICE_LOST),	   /* C2C */
	FAILS(140, GPU_RESET),					   /* ECC, cannot be repaired */
	FAILS(143, DEVICE_LOST),				   /* initialization */
	ECHOES(154, GPU_RESET),					   /* the action changed */
	FAILS(158, HANG),					   /* fatal timeout */
	FAILS(167, DEVICE_LOST),				   /* PCIe */
	WARNS(168, OOM_VRAM, ALLOC_FAILURE, 2, DAVY_CAN_OOM_VRAM), /* less memory than before */
	FAILS(171, GPU_RESET),					   /* DRAM, SRAM */
	FAILS(172, GPU_RESET),
};

const struct davy_log_meaning *davy_xid_meaning(uint32_t xid)
{
	/* an unknown number: some error */
	static const struct davy_log_meaning unknown = { 0,
							 DAVY_PART_PRECURSOR,
							 DAVY_CLASS_GPU_RESET,
							 DAVY_LOG_HZ_HARDWARE_ERROR,
							 1,
							 DAVY_CAN_GPU_RESET | DAVY_CAN_HANG |
								 DAVY_CAN_DEVICE_LOST };

	for (size_t i = 0; i < sizeof(xids) / sizeof(xids[0]); i++)
		if (xids[i].xid == xid)
			return &xids[i].meaning;
	return &unknown;
}
