/* SPDX-License-Identifier: GPL-2.0 */
/* The tracepoint that NVIDIA's open kernel module has since 575.51, with the same arguments. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvidia

#if !defined(NVIDIA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NVIDIA_TRACE_H

#include <linux/pci.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

TRACE_EVENT(nvidia_dev_xid, TP_PROTO(const struct pci_dev *pdev, u32 error_code, const char *msg),
	    TP_ARGS(pdev, error_code, msg),
	    TP_STRUCT__entry(__array(char, dev, 16) __field(u32, error_code)
				     __array(char, msg, 64)),
	    TP_fast_assign(strscpy(__entry->dev, pci_name(pdev), sizeof(__entry->dev));
			   __entry->error_code = error_code;
			   strscpy(__entry->msg, msg, sizeof(__entry->msg));),
	    TP_printk("Xid (PCI:%s): %u, %s", __entry->dev, __entry->error_code, __entry->msg));

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE nvidia_trace
#include <trace/define_trace.h>
