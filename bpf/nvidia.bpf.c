/* SPDX-License-Identifier: GPL-2.0 */
/*
 * NVIDIA's open kernel module, since 575.51: Xid errors. Runs in an interrupt thread without a
 * process: the kernel log line names one if the driver knows it.
 */
#include "wire.h"
#include "facts.bpf.h"
#include "compat.bpf.h"

char LICENSE[] SEC("license") = "GPL";

SEC("?tp_btf/nvidia_dev_xid")
int BPF_PROG(xid, struct pci_dev *pci, u32 code, const char *text)
{
	struct davy_wire_fact *e;

	if (!pci)
		return 0;
	e = fact_begin(DAVY_FACT_NVIDIA_XID,
		       (void *)pci + bpf_core_field_offset(struct pci_dev, dev));
	if (!e)
		return 0;
	e->detail = code;
	fact_name(e, text);
	bpf_ringbuf_submit(e, 0);
	return 0;
}
