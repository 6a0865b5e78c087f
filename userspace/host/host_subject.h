/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a GPU of this host for the backend policy, from sysfs. Wakes no device. */
#ifndef DAVY_HOST_SUBJECT_H
#define DAVY_HOST_SUBJECT_H

#include "policy/subject.h"
#include "sensors/gpu/gpus.h"
#include "sensors/gpu/lockup_rules.h"

/* The same, with the lockup timeout as far as it is readable without a job. */
void davy_host_subject_read(const struct davy_gpu *gpu, struct davy_policy_subject *subject);

/* Only the kernel, for a host without a GPU. */
void davy_host_kernel(struct davy_policy_subject *subject);

/* Sets the members about the device and the kernel; the others are unchanged. */
void davy_host_subject(const struct davy_gpu *gpu, const struct davy_lockups *lockups,
		       struct davy_policy_subject *subject);

/*
 * The same for the GPU that most engines use: the first that is not integrated, otherwise the
 * first. Only the kernel if there is none.
 */
void davy_host_subject_choose(struct davy_policy_subject *subject);

/* True if "other", which precedes "best" in the host's order, is preferred. */
bool davy_host_subject_before(const struct davy_policy_subject *other,
			      const struct davy_policy_subject *best);

#endif
