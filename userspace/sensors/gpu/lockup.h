/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a driver lets a job run before it thinks that it hangs, as far as that can be read
 * without a job: from sysfs and from module parameters. What a ring's scheduler was seen to have is
 * added by who sees it (davy_lockups_update).
 */
#ifndef DAVY_LOCKUP_H
#define DAVY_LOCKUP_H

#include "sensors/gpu/gpus.h"
#include "sensors/gpu/lockup_rules.h"
#include "sensors/gpu/module_text.h"

#define DAVY_LOCKUP_PARAMETER_NAME "lockup_timeout"

/* Whether the driver's module has a parameter of that name, whose description is wanted. */
bool davy_lockup_is_described(const char *driver);

/*
 * amdgpu and radeon by their parameter ("text" NULL: its description could not be read), with
 * "kfd", which has none; i915 and xe by a class of engines ("rcs", "ccs"), the shortest of each;
 * nouveau tells nothing, which is told; other drivers have no entry. xe would be woken by being
 * asked: a sleeping one has none either.
 */
void davy_lockups_read(const struct davy_gpu *gpu, const struct davy_module_text *text,
		       struct davy_lockups *ret_lockups);

#endif
