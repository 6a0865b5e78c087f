/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kmsg/kmsg_block.h"

/* NVLink 5: "149, NETIR_LINK_EVT Fatal   XC0 i0 Link 11", "145, RLW_REMAP Nonfatal XC1 ..." */
static bool kmsg_xid_is_nvlink5(uint32_t xid)
{
	return xid >= 144 && xid <= 150;
}

static void kmsg_xid_becomes_failure(struct davy_log_event *ev)
{
	ev->role = DAVY_PART_FAILURE;
	ev->hazard = 0;
	ev->weight = 0;
	ev->leads = 0;
}

void davy_log_judge_xid(struct davy_log_event *ev, const struct davy_log_slot *slot)
{
	const struct davy_log_meaning *found = davy_xid_meaning(ev->code);

	ev->role = found->role;
	ev->class = slot->reboot && ev->role == DAVY_PART_AFTERMATH ? DAVY_CLASS_HOST_CRASH
								    : found->class;
	ev->hazard = found->hazard;
	ev->weight = found->weight;
	ev->leads = found->leads;
	if ((slot->mmu_fault && found->class == DAVY_CLASS_PAGE_FAULT) ||
	    (slot->fatal && kmsg_xid_is_nvlink5(ev->code)))
		kmsg_xid_becomes_failure(ev);
}
