/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stand-ins for vendors' runtimes, one library of each from this file (-DHSA, -DHIP, -DZE, -DNVML).
 * A variable of the service's environment selects their behaviour: ok, zero, error, abort, fault,
 * hang; for HIP: the stage at which it dies.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *override(const char *variable)
{
	const char *value = getenv(variable);

	return value ? value : "ok";
}

/* Handles every wish but success; returns the status. */
static int misbehave(const char *what)
{
	if (!strcmp(what, "abort")) {
		fprintf(stderr, "stand-in: assertion failed in init\n");
		abort();
	}
	if (!strcmp(what, "fault"))
		*(volatile int *)(uintptr_t)8 = 1;
	while (!strcmp(what, "hang"))
		pause();
	return strcmp(what, "error") ? 0 : 0x1000;
}

#ifdef HSA
typedef struct {
	uint64_t handle;
} agent_t;

int hsa_init(void)
{
	int fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return 0x1008; /* HSA_STATUS_ERROR_OUT_OF_RESOURCES */
	return misbehave(override("STANDIN_HSA"));
}

int hsa_iterate_agents(int (*each)(agent_t agent, void *arg), void *arg)
{
	int err = each((agent_t){ 1 }, arg);

	return err || !strcmp(override("STANDIN_HSA"), "zero") ? err : each((agent_t){ 2 }, arg);
}

#ifndef WITHOUT_INFO
int hsa_agent_get_info(agent_t agent, int what, void *value)
{
	if (what == 17)
		*(uint32_t *)value = agent.handle == 2;
	else
		strcpy(value, agent.handle == 2 ? "gfx906" : "cpu");
	return 0;
}
#endif
#endif

#ifdef HIP
int hip_standin(void);
int hip_standin(void)
{
	const char *stage = override("STANDIN_HIP");
	int fd;

	if (!strcmp(stage, "init"))
		return misbehave("abort");
	if (!strcmp(stage, "hang"))
		return misbehave("hang");
	fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (!strcmp(stage, "device"))
		return misbehave("fault");
	if (!strcmp(stage, "memory") &&
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0) != MAP_FAILED)
		return misbehave("fault");
	if (!strcmp(stage, "exit")) {
		fprintf(stderr, "ROCm error: no kernel image is available\x1b[31m\n");
		exit(3);
	}
	return 0;
}
#endif

#ifdef GGML /* a backend of ggml that opens the HIP stand-in */
#include <dlfcn.h>

void *ggml_backend_init(void);

__attribute__((constructor)) static void load(void)
{
	if (!strcmp(override("STANDIN_HIP"), "load"))
		raise(SIGILL);
}

void *ggml_backend_init(void)
{
	void *library = dlopen("libamdhip64.so.6", RTLD_NOW);
	int (*call)(void) = library ? (int (*)(void))dlsym(library, "hip_standin") : NULL;

	if (call)
		call();
	return NULL; /* no devices */
}
#endif

#ifdef ZE
uint32_t zeInit(uint32_t flags)
{
	(void)flags;
	return (uint32_t)misbehave(override("STANDIN_ZE"));
}

uint32_t zeDriverGet(uint32_t *count, void **list)
{
	if (list && *count)
		list[0] = (void *)8;
	*count = 1;
	return 0;
}

uint32_t zeDeviceGet(void *driver, uint32_t *count, void **list)
{
	(void)driver;
	if (list && *count)
		list[0] = (void *)16;
	*count = 1;
	return 0;
}

uint32_t zeDeviceGetProperties(void *device, void *properties)
{
	(void)device;
	*(uint32_t *)((char *)properties + 16) = 1;
	strcpy((char *)properties + 112, "Intel(R) Stand-in \x1b[31mGraphics\n");
	return 0;
}
#endif

#ifdef NVML
int nvmlInit_v2(void)
{
	return misbehave(override("STANDIN_NVML"));
}

int nvmlDeviceGetCount_v2(unsigned int *count)
{
	*count = strcmp(override("STANDIN_NVML"), "zero") ? 1 : 0;
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device)
{
	*device = (void *)(uintptr_t)(index + 1);
	return 0;
}

int nvmlDeviceGetName(void *device, char *name, unsigned int size)
{
	(void)device;
	snprintf(name, size, "NVIDIA Stand-in");
	return 0;
}

int nvmlDeviceGetPciInfo_v3(void *device, unsigned int *pci)
{
	(void)device;
	memset(pci, 0, 68);
	pci[5] = strtoul(override("STANDIN_NVML_BUS"), NULL, 16);
	return 0;
}

#ifndef WITHOUT_MEMORY
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *memory)
{
	(void)device;
	memory[0] = 16ULL << 30;
	return 0;
}
#endif
#endif
