/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NVIDIA's modules: "Xid (PCI:ADDRESS[ GPU-I:..][ GPU-CI:..]): N[, pid=P, name=COMM], text" of
 * nv_report_error(), GSP's heartbeat of kernel_gsp.c, NVSwitch's SXid (open-gpu-kernel-modules 595;
 * what a number means: NVIDIA's Xid catalogue). kmsg_block.c judges an Xid by its number.
 */
#include "sensors/kmsg/kmsg_table.h"

static const struct dl_kmsg_row rows[] = {
	{ "Xid (PCI:%b*): %c, pid=%p, name=%n,", DL_LOG_XID },
	{ "Xid (PCI:%b*): %c, pid=%p", DL_LOG_XID },
	{ "Xid (PCI:%b*): %c", DL_LOG_XID },
	{ "Xid %c", DL_LOG_XID }, /* as people quote it */
	{ "MMU Fault: ENGINE", DL_LOG_XID_DETAIL },
	{ "Fault is of type", DL_LOG_XID_DETAIL },
	{ "SXid (PCI:%b*): %c", DL_LOG_SXID },
	{ "_kgsp{RpcRecvPoll|IsHeartbeatTimedOut}: ", DL_LOG_GSP_DEAD },
	{ "GPU%d _kgsp{RpcRecvPoll|IsHeartbeatTimedOut}: ", DL_LOG_GSP_DEAD },
	{ "*rpcSendMessage failed with status 0x00000065", DL_LOG_GSP_DEAD },
	{ "{GSP RM|LibOS} heartbeat timed out", DL_LOG_GSP_DEAD },
	{ "*Timeout after %d{s|us|ms} of waiting for RPC response from GPU", DL_LOG_GSP_DEAD },
	{ "GPU at PCI:%b*has fallen off the bus", DL_LOG_OFF_THE_BUS },
	{ "*has fallen off the bus", DL_LOG_OFF_THE_BUS },
	{ "*Out of memory [NV_ERR_NO_MEMORY]", DL_LOG_NV_NO_MEMORY },
	{ "uvm encountered global fatal error", DL_LOG_NV_UVM_FATAL },
	{ "ERROR: GPU:%d: Error while waiting for GPU progress", DL_LOG_NV_PROGRESS },
	{ "rm_init_adapter failed", DL_LOG_NV_INIT_FAILED },
	{ "ERROR: GPU:%d: {Idling display engine timed out|Failed to query display engine}",
	  DL_LOG_NV_PROGRESS },
	{ "{can't|Unable to} change power state*inaccessible", DL_LOG_OFF_THE_BUS },
	{ "API mismatch:", DL_LOG_NV_MISMATCH },
	{ "No NVIDIA GPU found", DL_LOG_NV_INIT_FAILED },
	{ "The NVIDIA probe routine failed", DL_LOG_NV_INIT_FAILED },
	{ "probe {of|with}*failed with error %e", DL_LOG_NV_INIT_FAILED },
	{ "RmInitAdapter failed", DL_LOG_NV_INIT_FAILED },
};

/* People quote an Xid without its "NVRM: ". */
static const struct dl_kmsg_row quoted_rows[] = {
	{ "Xid (PCI:%b*): %c, pid=%p, name=%n,", DL_LOG_XID },
	{ "Xid (PCI:%b*): %c", DL_LOG_XID },
	{ "Xid %c", DL_LOG_XID },
	{ "SXid (PCI:%b*): %c", DL_LOG_SXID },
	{ "MMU Fault: ENGINE", DL_LOG_XID_DETAIL },
	{ "Fault is of type", DL_LOG_XID_DETAIL },
};

const struct dl_kmsg_group dl_kmsg_nvidia = DL_KMSG_GROUP(rows, DL_KMSG_BIT(NVIDIA));
const struct dl_kmsg_group dl_kmsg_nvidia_quoted = DL_KMSG_GROUP(quoted_rows, DL_KMSG_BIT(ANYBODY));
