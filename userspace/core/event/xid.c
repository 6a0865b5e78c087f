/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/log_kind.h"

static const struct {
	uint16_t xid;
	struct davy_log_meaning meaning;
} xids[] = {
#define FAILS(number, name, class)                                                                 \
	{                                                                                          \
		number,                                                                            \
		{                                                                                  \
			"Xid " #number ", " name, DAVY_PART_FAILURE, DAVY_CLASS_##class, 0, 0, 0   \
		}                                                                                  \
	}
#define ECHOES(number, name, class)                                                                \
	{                                                                                          \
		number,                                                                            \
		{                                                                                  \
			"Xid " #number ", " name, DAVY_PART_AFTERMATH, DAVY_CLASS_##class, 0, 0, 0 \
		}                                                                                  \
	}
#define WARNS(number, name, class, hazard, weight, leads)                                          \
	{                                                                                          \
		number,                                                                            \
		{                                                                                  \
			"Xid " #number ", " name, DAVY_PART_PRECURSOR, DAVY_CLASS_##class,         \
				DAVY_LOG_HZ_##hazard, weight, leads                                \
		}                                                                                  \
	}
/* No error of the GPU. */
#define SAYS(number, name)                                                                         \
	{                                                                                          \
		number,                                                                            \
		{                                                                                  \
			"Xid " #number ", " name, DAVY_PART_LOOKALIKE, 0, 0, 0, 0                  \
		}                                                                                  \
	}
/* As 13, of a copy engine: its channel is removed. */
#define COPY(number)                                                                               \
	WARNS(number, "copy engine exception", PAGE_FAULT, FAULT_STORM, 2,                         \
	      DAVY_CAN_PAGE_FAULT | DAVY_CAN_HANG)
/* Since Blackwell. Of two kinds, by the text: kmsg_xid.c makes a fatal one a failure. */
#define NVLINK5(number, name)                                                                      \
	WARNS(number, name, GPU_RESET, HARDWARE_ERROR, 2,                                          \
	      DAVY_CAN_GPU_RESET | DAVY_CAN_HANG | DAVY_CAN_DEVICE_LOST)
	FAILS(8, "GPU stopped processing", HANG), /* after "RC watchdog: GPU is probably locked" */
	WARNS(13, "graphics exception", PAGE_FAULT, FAULT_STORM, 2, DAVY_CAN_PAGE_FAULT),
	SAYS(16, "display: vblank late"),
	SAYS(19, "display: notifier missed"),
	FAILS(31, "MMU fault", PAGE_FAULT),
	WARNS(32, "invalid pushbuffer", HANG, JOB_STALL, 2, DAVY_CAN_HANG | DAVY_CAN_PAGE_FAULT),
	FAILS(38, "driver firmware error", HANG),
	COPY(39),
	COPY(40),
	COPY(41),
	ECHOES(43, "channel reset", RING_TIMEOUT), /* its program did it */
	FAILS(44, "fault in a context switch", RING_TIMEOUT),
	ECHOES(45, "channel removed", RING_TIMEOUT), /* after another error, or a kill */
	FAILS(48, "two-bit ECC error", GPU_RESET),
	FAILS(61, "PMU breakpoint", HANG),
	FAILS(62, "PMU halted", HANG),
	WARNS(63, "row remapped", GPU_RESET, HARDWARE_ERROR, 1, DAVY_CAN_GPU_RESET),
	WARNS(64, "row remapping failed", GPU_RESET, HARDWARE_ERROR, 2, DAVY_CAN_GPU_RESET),
	WARNS(69, "graphics class error", PAGE_FAULT, FAULT_STORM, 2, DAVY_CAN_PAGE_FAULT),
	COPY(70),
	COPY(71),
	COPY(72),
	FAILS(74, "NVLink error", GPU_RESET),
	COPY(75),
	COPY(76),
	COPY(77),
	FAILS(79, "GPU fell off the bus", DEVICE_LOST),
	COPY(85),
	SAYS(87, "driver report"),
	WARNS(92, "many single bit ECC errors", GPU_RESET, HARDWARE_ERROR, 1, DAVY_CAN_GPU_RESET),
	WARNS(94, "contained ECC error", GPU_RESET, HARDWARE_ERROR, 3, DAVY_CAN_GPU_RESET),
	FAILS(95, "uncontained ECC error", GPU_RESET),
	FAILS(109, "context switch timeout", RING_TIMEOUT),
	FAILS(110, "security fault", DEVICE_LOST), /* "RM will now shut down" */
	FAILS(119, "GSP does not answer", HANG),
	FAILS(120, "GSP error", HANG),
	WARNS(121, "C2C error", GPU_RESET, HARDWARE_ERROR, 2,
	      DAVY_CAN_GPU_RESET | DAVY_CAN_DEVICE_LOST),
	COPY(126),
	COPY(127),
	COPY(128),
	COPY(129),
	COPY(130),
	COPY(131),
	COPY(132),
	COPY(133),
	COPY(134),
	COPY(135),
	FAILS(140, "unrecovered ECC error", GPU_RESET),
	FAILS(143, "GPU initialization failed", DEVICE_LOST),
	NVLINK5(144, "NVLink SAW error"),
	NVLINK5(145, "NVLink RLW error"),
	NVLINK5(146, "NVLink TLW error"),
	NVLINK5(147, "NVLink TREX error"),
	NVLINK5(148, "NVLink NVLPW_CTRL error"),
	NVLINK5(149, "NVLink NETIR error"),
	NVLINK5(150, "NVLink MSE error"),
	ECHOES(154, "recovery action changed", GPU_RESET),
	WARNS(156, "memory retired", GPU_RESET, HARDWARE_ERROR, 1, DAVY_CAN_GPU_RESET),
	WARNS(157, "retirement failed", GPU_RESET, HARDWARE_ERROR, 2, DAVY_CAN_GPU_RESET),
	FAILS(158, "GPU fatal timeout", HANG),
	SAYS(162, "power smoothing on"),
	SAYS(163, "power smoothing off"),
	FAILS(167, "PCIe fatal timeout", DEVICE_LOST),
	WARNS(168, "reduced memory capacity", OOM_VRAM, ALLOC_FAILURE, 2, DAVY_CAN_OOM_VRAM),
	FAILS(171, "uncorrectable DRAM error", GPU_RESET),
	FAILS(172, "uncorrectable SRAM error", GPU_RESET),
	FAILS(173, "C2C link failure", GPU_RESET),
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

const char *davy_log_line_name(uint32_t kind, uint32_t code)
{
	const char *name = kind == DAVY_LOG_XID ? davy_xid_meaning(code)->name : NULL;

	return name ? name : davy_log_kind_name(kind);
}
