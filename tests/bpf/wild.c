// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A CUDA kernel that writes to an unmapped address through the driver API: its fault is Xid 31.
 * Exits with 0 when the driver reports the fault (CUDA_ERROR_ILLEGAL_ADDRESS), with 77 without
 * CUDA.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

#define ILLEGAL_ADDRESS 700
#define SKIPPED		77

typedef int (*fn)();

static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
			  ".visible .entry wild()\n{\n.reg .u64 %a;\n.reg .u32 %v;\n"
			  "mov.u64 %a, 0x123450000000;\nmov.u32 %v, 1;\n"
			  "st.global.u32 [%a], %v;\nret;\n}\n";

static fn find(void *cuda, const char *name)
{
	fn f = (fn)dlsym(cuda, name);

	if (!f)
		fprintf(stderr, "wild: libcuda has no %s\n", name);
	return f;
}

int main(void)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL, *module = NULL,
	     *kernel = NULL;
	int device = 0, err;

	if (!cuda)
		return SKIPPED;
	err = find(cuda, "cuInit")(0);
	err = err ? err : find(cuda, "cuDeviceGet")(&device, 0);
	err = err ? err : find(cuda, "cuCtxCreate_v2")(&context, 0, device);
	err = err ? err : find(cuda, "cuModuleLoadData")(&module, ptx);
	err = err ? err : find(cuda, "cuModuleGetFunction")(&kernel, module, "wild");
	err = err ? err
		  : find(cuda, "cuLaunchKernel")(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	if (err) {
		fprintf(stderr, "wild: CUDA error %d before the kernel ran\n", err);
		return 1;
	}
	err = find(cuda, "cuCtxSynchronize")();
	printf("the kernel ended with CUDA error %d\n", err);
	return err == ILLEGAL_ADDRESS ? 0 : 1;
}
