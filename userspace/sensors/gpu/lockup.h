/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lockup timeouts of a driver, as far as they are readable without a job: from sysfs and module
 * parameters. The timeout of a ring's scheduler is added when it is observed (davy_lockups_update).
 */
#ifndef DAVY_LOCKUP_H
#define DAVY_LOCKUP_H

#include "sensors/gpu/gpus.h"
#include "sensors/gpu/lockup_rules.h"
#include "sensors/gpu/module_text.h"

#define DAVY_LOCKUP_PARAMETER_NAME "lockup_timeout"

/* True if the driver's module has such a parameter, so that its description is needed. */
bool davy_lockup_is_described(const char *driver);

/*
 * amdgpu and radeon: from their parameter ("text" NULL: no description readable), with an entry
 * "kfd" without timeout. i915 and xe: per engine class ("rcs", "ccs"), the shortest of each.
 * nouveau: an entry without a value. Other drivers, and a suspended xe, which reading would wake:
 * no entry.
 */
void davy_lockups_read(const struct davy_gpu *gpu, const struct davy_module_text *text,
		       struct davy_lockups *ret_lockups);

#endif
