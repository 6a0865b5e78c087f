/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stand-in for libnvidia-ml.so.1 that answers as NVML of driver 580.159.04 did on an NVIDIA H200
 * (docs/device.md). The file $STANDIN_NVML says how, in lines "NAME VALUE":
 *   init, handle, memory N   the call returns error N
 *   hang CALL                the call does not return (init, memory)
 *   used MIB                 memory in use (616: reserved by the driver)
 *   absurd WHAT              impossible values: used, total, pid, place
 *   process PID MIB          a process that computes
 *   graphics PID MIB         a process that draws
 *   ecc N, throttle N        what the GPU reports
 *   escape 1                 the ECC count is the number of forbidden operations that succeeded
 * Built with -DOLD it lacks symbols, as old libraries do.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1ULL << 20)

/* The value of the first line with this name; "" without one. */
static const char *said(const char *name, unsigned int index)
{
	static char line[128], value[128];
	const char *path = getenv("STANDIN_NVML");
	FILE *file = path ? fopen(path, "r") : NULL;
	size_t length = strlen(name);

	value[0] = 0;
	while (file && !value[0] && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, name, length) && line[length] == ' ' && !index--)
			strcpy(value, line + length + 1);
	}
	if (file)
		fclose(file);
	return value;
}

static unsigned long long number(const char *name)
{
	return strtoull(said(name, 0), NULL, 0);
}

/* The call's error; never returns if it is to hang. */
static int result(const char *call)
{
	while (!strcmp(said("hang", 0), call))
		pause();
	return (int)number(call);
}

int nvmlInit_v2(void)
{
	return result("init");
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **device)
{
	*device = (void *)8;
	if (strcmp(address, "0000:00:06.0"))
		return 6; /* NVML_ERROR_NOT_FOUND */
	return result("handle");
}

#ifndef OLD
struct place {
	char old_text[16];
	unsigned int domain, bus, device, id, subsystem;
	char text[32];
};

int nvmlDeviceGetPciInfo_v3(void *device, struct place *place)
{
	(void)device;
	*place = (struct place){
		"0000:00:06.0", 0, 0, 6, 0x233510de, 0x18bf10de, "00000000:00:06.0"
	};
	if (!strcmp(said("absurd", 0), "place"))
		place->bus = 0xfffffff7;
	return 0;
}
#endif

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long memory[3])
{
	const char *absurd;

	(void)device;
	memory[0] = 143771 * MIB;
	memory[2] = number("used") * MIB;
	absurd = said("absurd", 0);
	if (!strcmp(absurd, "used"))
		memory[2] = memory[0] + 1;
	if (!strcmp(absurd, "total"))
		memory[0] = ~0ULL;
	memory[1] = memory[0] - memory[2];
	return result("memory");
}

struct process {
	unsigned int pid;
	unsigned long long bytes;
	unsigned int gpu_instance, compute_instance;
};

static int processes(const char *kind, unsigned int *count, struct process *list)
{
	unsigned int n = 0, pid, mib;

	while (n < *count && sscanf(said(kind, n), "%u %u", &pid, &mib) == 2) {
		list[n++] = (struct process){ pid, mib * MIB, ~0u, ~0u };
		if (!strcmp(said("absurd", 0), "pid"))
			list[n - 1].pid = 0x80000000u;
	}
	*count = n;
	return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned int *count, struct process *list)
{
	(void)device;
	return processes("process", count, list);
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned int *count,
					     struct process *list)
{
	(void)device;
	return processes("graphics", count, list);
}

static unsigned long long escapes(void)
{
	unsigned long long count = 0;
	pid_t child;
	int status;

	count += open("/dev/full", O_WRONLY | O_CLOEXEC) >= 0; /* mode 666, no device of NVIDIA */
	count += socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0;
	count += !setuid(0);
	count += !kill(getppid(), 0);
	child = fork();
	if (!child) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	return count + (child > 0 && waitpid(child, &status, 0) == child && !status);
}

int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter, unsigned long long *errors)
{
	(void)device;
	if (type != 1 || counter)
		return 2; /* NVML_ERROR_INVALID_ARGUMENT */
	*errors = number("escape") ? escapes() : number("ecc");
	return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
	(void)device;
	*reasons = number("throttle");
	return 0;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *celsius)
{
	(void)device;
	*celsius = 36;
	return sensor ? 2 : 0;
}
