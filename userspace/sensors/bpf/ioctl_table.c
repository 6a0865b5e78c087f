/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Read from the drivers of 6.1, 6.12 and 7.2. Commands are known by number: encoded sizes drift
 * between versions. An ioctl without a row is counted and reported without a verdict.
 */
#include "sensors/bpf/ioctl_table.h"

#include <errno.h>
#include <string.h>

#include "core/event/types.h"

#define ERRORS_MAX 6

struct command {
	const char *driver;
	const char *name;
	uint32_t number;
	int32_t matters[ERRORS_MAX];
	int32_t benign[ERRORS_MAX];
};

static const struct command commands[] = {
	/* Asked again by libdrm itself. */
	{ "", "", DAVY_IOCTL_ANY, { 0 }, { EINTR, EAGAIN, 512 /* ERESTARTSYS */ } },
	/* A wait with no time to wait: asked of the DRM core, whatever the driver. */
	{ "", "SYNCOBJ_WAIT", 0xc3, { 0 }, { ETIME } },
	{ "", "SYNCOBJ_TIMELINE_WAIT", 0xca, { 0 }, { ETIME } },
	{ "amdgpu", "", DAVY_IOCTL_ANY, { ENODEV, ECANCELED, EHWPOISON }, { 0 } },
	{ "amdgpu", "GEM_CREATE", 0x40, { ENOMEM, ENOSPC }, { 0 } },
	{ "amdgpu", "CTX", 0x42, { ENOMEM }, { 0 } },
	{ "amdgpu", "CS", 0x44, { ENOMEM, ECANCELED, ENODEV, EHWPOISON }, { 0 } },
	{ "amdgpu", "GEM_VA", 0x48, { ENOMEM }, { 0 } },
	{ "amdgpu", "WAIT_CS", 0x49, { ECANCELED, ETIME, ENODATA }, { 0 } },
	{ "amdgpu", "GEM_USERPTR", 0x51, { ENOMEM, EFAULT }, { 0 } },
	{ "amdgpu", "WAIT_FENCES", 0x52, { ECANCELED, ETIME, ENODATA }, { 0 } },
	{ "amdgpu", "USERQ", 0x56, { ENOMEM, EIO }, { 0 } },
	{ "i915", "", DAVY_IOCTL_ANY, { EIO, ENODEV }, { 0 } },
	{ "i915", "GEM_CREATE", 0x5b, { ENOMEM }, { 0 } },
	{ "i915", "EXECBUFFER2", 0x69, { EIO, ENOMEM, ENOSPC }, { 0 } },
	{ "i915", "GEM_WAIT", 0x6c, { EIO }, { ETIME } }, /* a wait with a timeout of its own */
	{ "i915", "GEM_CREATE_EXT", 0x7c, { ENOMEM, ENXIO, ENOSPC }, { 0 } },
	{ "xe", "", DAVY_IOCTL_ANY, { ECANCELED, ENODEV }, { 0 } },
	{ "xe", "GEM_CREATE", 0x41, { ENOMEM, ENOSPC }, { 0 } },
	/* -ENOBUFS of an array of bindings: Mesa splits it and goes on. */
	{ "xe", "VM_BIND", 0x45, { ENOMEM, ENOSPC, ENOENT }, { ENOBUFS } },
	{ "xe", "EXEC", 0x49, { ECANCELED, ENOENT, ENOMEM }, { EAGAIN } },
	{ "xe", "WAIT_USER_FENCE", 0x4a, { EIO }, { ETIME } },
	{ "kfd", "", DAVY_IOCTL_ANY, { ENODEV, EIO }, { 0 } },
	{ "kfd", "CREATE_QUEUE", 0x02, { ENOMEM, EIO, EINVAL }, { 0 } },
	{ "kfd", "ALLOC_MEMORY_OF_GPU", 0x16, { ENOMEM, EINVAL }, { 0 } },
	{ "kfd", "MAP_MEMORY_TO_GPU", 0x18, { ENOMEM, EFAULT }, { 0 } },
	/* -EPERM: the answer of a kernel that was built without SVM. */
	{ "kfd", "SVM", 0x20, { ENOMEM, EFAULT }, { EPERM, EAGAIN } },
	{ "radeon", "CS", 0x66, { ENOMEM, EIO }, { 0 } },
	{ "nouveau", "GEM_PUSHBUF", 0x81, { ENODEV, ENOMEM, EIO }, { 0 } },
};

bool davy_ioctl_row(size_t index, struct davy_ioctl_row *ret_row)
{
	size_t count = 0;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const struct command *c = &commands[i];

		for (size_t j = 0; j < (size_t)2 * ERRORS_MAX; j++) {
			bool benign = j >= ERRORS_MAX;
			int32_t error = benign ? c->benign[j - ERRORS_MAX] : c->matters[j];

			if (!error || count++ != index)
				continue;
			ret_row->driver = c->driver;
			ret_row->name = c->name;
			ret_row->number = c->number;
			ret_row->error = -error;
			ret_row->verdict = benign ? DAVY_IOCTL_BENIGN : DAVY_IOCTL_MATTERS;
			return true;
		}
	}
	return false;
}
