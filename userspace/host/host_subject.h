/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the backend policy wants to know of a GPU of this host: from sysfs, nothing is woken. */
#ifndef DAVY_HOST_SUBJECT_H
#define DAVY_HOST_SUBJECT_H

#include "policy/subject.h"
#include "sensors/gpu/gpus.h"
#include "sensors/gpu/lockup_rules.h"

/* The same, with what the driver tells without a job of its lockup timeout. */
void davy_host_subject_read(const struct davy_gpu *gpu, struct davy_policy_subject *subject);

/* The kernel alone, on a host without a GPU. */
void davy_host_kernel(struct davy_policy_subject *subject);

/* Fills what is of the device and of the kernel; the rest of *subject is left as it is. */
void davy_host_subject(const struct davy_gpu *gpu, const struct davy_lockups *lockups,
		       struct davy_policy_subject *subject);

/*
 * The same of the GPU of this host that an engine takes by itself, as most do: of several the first
 * that is no integrated one. The kernel alone where there is none.
 */
void davy_host_subject_choose(struct davy_policy_subject *subject);

/* Whether "other", which comes before "best" in the host's order, is taken rather than it. */
bool davy_host_subject_before(const struct davy_policy_subject *other,
			      const struct davy_policy_subject *best);

#endif
