/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the backend policy wants to know of a GPU of this host: from sysfs, nothing is woken. */
#ifndef DL_AGENT_HOST_SUBJECT_H
#define DL_AGENT_HOST_SUBJECT_H

#include "../policy/subject.h"
#include "../sensors/gpus.h"
#include "../sensors/lockup_rules.h"

/* The same, with what the driver tells without a job of its lockup timeout. */
void dl_host_subject_read(const struct dl_gpu *gpu, struct dl_policy_subject *subject);

/* The kernel alone, on a host without a GPU. */
void dl_host_kernel(struct dl_policy_subject *subject);

/* Fills what is of the device and of the kernel; the rest of *subject is left as it is. */
void dl_host_subject(const struct dl_gpu *gpu, const struct dl_lockups *lockups,
		     struct dl_policy_subject *subject);

#endif
