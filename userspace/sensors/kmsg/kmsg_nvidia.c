/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NVIDIA's modules: "Xid (PCI:ADDRESS[ GPU-I:..][ GPU-CI:..]): N[, pid=P, name=COMM], text" of
 * nv_report_error(), GSP's heartbeat of kernel_gsp.c, NVSwitch's SXid (open-gpu-kernel-modules 580
 * and 595; meaning of the numbers: NVIDIA's Xid catalogue). kmsg_xid.c classifies an Xid by number.
 */
#include "sensors/kmsg/kmsg_table.h"

static const struct davy_kmsg_row rows[] = {
	{ "Xid (PCI:%b*): %c, pid=%p, name=%n,", DAVY_LOG_XID },
	{ "Xid (PCI:%b*): %c, pid=%p", DAVY_LOG_XID },
	{ "Xid (PCI:%b*): %c", DAVY_LOG_XID },
	{ "Xid %c", DAVY_LOG_XID }, /* as users quote it */
	{ "MMU Fault: ENGINE", DAVY_LOG_XID_DETAIL },
	{ "Fault is of type", DAVY_LOG_XID_DETAIL },
	{ "SXid (PCI:%b*): %c", DAVY_LOG_SXID },
	{ "_kgspIsHeartbeatTimedOut: Heartbeat not timed out", DAVY_LOG_RESET_CHATTER },
	{ "_kgsp{RpcRecvPoll|IsHeartbeatTimedOut}: ", DAVY_LOG_GSP_DEAD },
	{ "GPU%d _kgsp{RpcRecvPoll|IsHeartbeatTimedOut}: ", DAVY_LOG_GSP_DEAD },
	{ "*{rpcSendMessage|rpcRecvPoll} failed with status 0x00000065", DAVY_LOG_GSP_DEAD },
	{ "*sanity check failed %w waiting for RPC response from GSP", DAVY_LOG_GSP_DEAD },
	{ "{GSP RM|LibOS} heartbeat timed out", DAVY_LOG_GSP_DEAD },
	{ "*Timeout after %d{s|us|ms} of waiting for RPC response from GPU", DAVY_LOG_GSP_DEAD },
	{ "*RC watchdog: GPU is probably locked", DAVY_LOG_NV_LOCKED },
	{ "GPU at PCI:%b*has fallen off the bus", DAVY_LOG_OFF_THE_BUS },
	{ "*has fallen off the bus", DAVY_LOG_OFF_THE_BUS },
	{ "The NVIDIA GPU %b*fallen off the bus and is not responding", DAVY_LOG_OFF_THE_BUS },
	{ "fallen off the bus and is not responding", DAVY_LOG_OFF_THE_BUS }, /* a saved log */
	{ "*Out of memory [NV_ERR_NO_MEMORY]", DAVY_LOG_NV_NO_MEMORY },
	{ "*{uvm encountered|Encountered a} global fatal error", DAVY_LOG_NV_UVM_FATAL },
	{ "ERROR: GPU:%d: Error while waiting for GPU progress", DAVY_LOG_NV_PROGRESS },
	{ "rm_init_adapter failed", DAVY_LOG_NV_INIT_FAILED },
	{ "ERROR: GPU:%d: {Idling display engine timed out|Failed to query display engine}",
	  DAVY_LOG_NV_PROGRESS },
	{ "{can't|Unable to} change power state*inaccessible", DAVY_LOG_OFF_THE_BUS },
	{ "*Detected a channel error, channel", DAVY_LOG_NV_UVM_FATAL },
	{ "API mismatch:", DAVY_LOG_NV_MISMATCH },
	{ "Version mismatch: nvidia.ko(", DAVY_LOG_NV_MISMATCH },
	{ "No NVIDIA GPU found", DAVY_LOG_NV_INIT_FAILED },
	{ "The NVIDIA probe routine failed", DAVY_LOG_NV_INIT_FAILED },
	{ "No NVIDIA devices probed", DAVY_LOG_NV_INIT_FAILED },
	{ "Fatal Error while attempting to resize PCIe BARs", DAVY_LOG_NV_INIT_FAILED },
	{ "*GPU does not have the necessary power cables", DAVY_LOG_NV_INIT_FAILED },
	{ "probe {of|with}*failed with error %e", DAVY_LOG_NV_INIT_FAILED },
	{ "RmInitAdapter failed", DAVY_LOG_NV_INIT_FAILED },
};

/* os-mlock.c writes no prefix. */
static const struct davy_kmsg_row bare_rows[] = {
	{ "Cannot map memory with base addr %w and size of %w pages", DAVY_LOG_NV_MAP_FAILED },
};

/* Users often quote an Xid without its "NVRM: ". */
static const struct davy_kmsg_row quoted_rows[] = {
	{ "Xid (PCI:%b*): %c, pid=%p, name=%n,", DAVY_LOG_XID },
	{ "Xid (PCI:%b*): %c", DAVY_LOG_XID },
	{ "Xid %c", DAVY_LOG_XID },
	{ "SXid (PCI:%b*): %c", DAVY_LOG_SXID },
	{ "MMU Fault: ENGINE", DAVY_LOG_XID_DETAIL },
	{ "Fault is of type", DAVY_LOG_XID_DETAIL },
};

const struct davy_kmsg_group davy_kmsg_nvidia = DAVY_KMSG_GROUP(rows, DAVY_KMSG_BIT(NVIDIA));
const struct davy_kmsg_group davy_kmsg_nvidia_bare =
	DAVY_KMSG_GROUP(bare_rows, DAVY_KMSG_BIT(ANYBODY) | DAVY_KMSG_BIT(NVIDIA));
const struct davy_kmsg_group davy_kmsg_nvidia_quoted =
	DAVY_KMSG_GROUP(quoted_rows, DAVY_KMSG_BIT(ANYBODY));
