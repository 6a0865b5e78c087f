/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page faults by the program itself, MANY for each call from userspace: one call takes 1 to 2 us,
 * so that two CPUs do not reach a million events a second with one event each. Run by hooks.c.
 */
#include "../../bpf/amdgpu.bpf.c"

#include "many.h"

struct fault {
	__u64 ih_index, iv;
};

static long one(__u32 i, struct fault *f)
{
	____iv_seen(NULL, (unsigned int)f->ih_index, (void *)f->iv);
	return 0;
}

SEC("?tp_btf/amdgpu_iv")
int iv_seen_many(unsigned long long *ctx)
{
	struct fault f = { ctx[0], ctx[1] };

	bpf_loop(MANY, one, &f, 0);
	return 0;
}
