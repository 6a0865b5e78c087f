/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kmsg/kmsg_block.h"

void davy_log_judge_xid(struct davy_log_event *ev, bool mmu_fault, bool reboot)
{
	const struct davy_log_meaning *found = davy_xid_meaning(ev->code);

	ev->role = found->role;
	ev->class =
		reboot && ev->role == DAVY_PART_AFTERMATH ? DAVY_CLASS_HOST_CRASH : found->class;
	ev->hazard = found->hazard;
	ev->weight = found->weight;
	ev->leads = found->leads;
	if (mmu_fault && found->class == DAVY_CLASS_PAGE_FAULT) {
		ev->role = DAVY_PART_FAILURE;
		ev->hazard = 0;
		ev->weight = 0;
		ev->leads = 0;
	}
}
