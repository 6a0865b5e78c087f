/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resident worker: answers the agent's requests for the memory of an NVIDIA GPU through NVML, which
 * blocks for ever when the GPU's firmware (GSP) has stopped. The agent kills a late worker. NVML is
 * loaded at the first request, so that a missing library is an answer. Only a requested GPU is
 * opened: a handle wakes its GPU. Declarations as in nvml.h 12.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/rights.h"
#include "probe/probe.h"
#include "sensors/gpu/nvml_record.h"

#define CPU_OF_A_REQUEST_S 20 /* longer than the agent's deadlines */
#define LISTED_MAX	   1024
#define UNKNOWN_BYTES	   UINT64_MAX /* NVML_VALUE_NOT_AVAILABLE */
#define UNCORRECTED	   1	      /* NVML_MEMORY_ERROR_TYPE_UNCORRECTED */
#define VOLATILE_ECC	   0
#define TEMPERATURE_GPU	   0

typedef void *nvml_device;

struct nvml_bytes {
	unsigned long long total, free, used;
};

struct nvml_place {
	char old_text[16];
	unsigned int domain, bus, device, id, subsystem;
	char text[32];
};

/* nvmlProcessInfo_t, since driver 450 (symbols with _v2 and _v3). */
struct nvml_user {
	unsigned int pid;
	unsigned long long bytes;
	unsigned int gpu_instance, compute_instance;
};

typedef int nvml_list_call(nvml_device device, unsigned int *count, struct nvml_user *list);

static struct {
	int (*init)(void);
	int (*handle)(const char *address, nvml_device *device);
	int (*place)(nvml_device device, struct nvml_place *place);
	int (*memory)(nvml_device device, struct nvml_bytes *memory);
	/* may be NULL */
	nvml_list_call *compute, *graphics;
	int (*ecc)(nvml_device device, int type, int counter, unsigned long long *count);
	int (*throttle)(nvml_device device, unsigned long long *reasons);
	int (*temperature)(nvml_device device, int sensor, unsigned int *celsius);
	bool ready;
} nvml;

/* The first symbol that the library has. */
static bool nvml_find(void *library, const char *name, const char *older, void *ret_call)
{
	void *call = dlsym(library, name);

	if (!call && older)
		call = dlsym(library, older);
	memcpy(ret_call, &call, sizeof(call));
	return call != NULL;
}

/* DAVY_NVML_DONE, or the stage that failed. */
static uint32_t nvml_open(uint32_t *ret_error)
{
	void *library = dlopen(DAVY_NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	int err;

	if (!library)
		return DAVY_NVML_LOAD;
	if (!nvml_find(library, "nvmlInit_v2", NULL, &nvml.init) ||
	    !nvml_find(library, "nvmlDeviceGetHandleByPciBusId_v2", NULL, &nvml.handle) ||
	    !nvml_find(library, "nvmlDeviceGetPciInfo_v3", NULL, &nvml.place) ||
	    !nvml_find(library, "nvmlDeviceGetMemoryInfo", NULL, &nvml.memory))
		return DAVY_NVML_SYMBOLS;
	nvml_find(library, "nvmlDeviceGetComputeRunningProcesses_v3",
		  "nvmlDeviceGetComputeRunningProcesses_v2", &nvml.compute);
	nvml_find(library, "nvmlDeviceGetGraphicsRunningProcesses_v3",
		  "nvmlDeviceGetGraphicsRunningProcesses_v2", &nvml.graphics);
	nvml_find(library, "nvmlDeviceGetTotalEccErrors", NULL, &nvml.ecc);
	nvml_find(library, "nvmlDeviceGetCurrentClocksThrottleReasons",
		  "nvmlDeviceGetCurrentClocksEventReasons", &nvml.throttle);
	nvml_find(library, "nvmlDeviceGetTemperature", NULL, &nvml.temperature);
	err = nvml.init();
	*ret_error = (uint32_t)err;
	nvml.ready = !err;
	return err ? DAVY_NVML_INIT : DAVY_NVML_DONE;
}

struct user_list {
	struct davy_nvml_process at[2 * LISTED_MAX];
	size_t count;
};

static int by_pid(const void *one, const void *other)
{
	const struct davy_nvml_process *a = one, *b = other;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

static int by_bytes(const void *one, const void *other)
{
	const struct davy_nvml_process *a = one, *b = other;

	return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

/* A process is listed once per instance of a partitioned GPU (MIG): adds these up. */
static void users_join(struct user_list *u, size_t from)
{
	size_t count = from;

	qsort(u->at + from, u->count - from, sizeof(u->at[0]), by_pid);
	for (size_t i = from; i < u->count; i++) {
		if (count > from && u->at[count - 1].pid == u->at[i].pid)
			u->at[count - 1].bytes += u->at[i].bytes;
		else
			u->at[count++] = u->at[i];
	}
	u->count = count;
}

/* A process with compute and graphics is in both lists, with all of its memory. */
static void users_unite(struct user_list *u)
{
	size_t count = 0;

	qsort(u->at, u->count, sizeof(u->at[0]), by_pid);
	for (size_t i = 0; i < u->count; i++) {
		struct davy_nvml_process *last = count ? &u->at[count - 1] : NULL;

		if (!last || last->pid != u->at[i].pid)
			u->at[count++] = u->at[i];
		else if (last->bytes < u->at[i].bytes)
			last->bytes = u->at[i].bytes;
	}
	u->count = count;
}

/* False: the library has no such list, or it is too long. */
static bool users_list(nvml_list_call *call, nvml_device device, struct user_list *u)
{
	static struct nvml_user list[LISTED_MAX];
	unsigned int count = LISTED_MAX;
	size_t from = u->count;

	if (!call || call(device, &count, list) || count > LISTED_MAX)
		return false;
	for (unsigned int i = 0; i < count; i++)
		if (list[i].pid && list[i].bytes != UNKNOWN_BYTES)
			u->at[u->count++] = (struct davy_nvml_process){ .bytes = list[i].bytes,
									.pid = list[i].pid };
	users_join(u, from);
	return true;
}

static void nvml_users(nvml_device device, struct davy_nvml_record *r)
{
	static struct user_list users;
	bool known;

	users.count = 0;
	known = users_list(nvml.compute, device, &users);
	known |= users_list(nvml.graphics, device, &users);
	if (!known)
		return;
	users_unite(&users);
	qsort(users.at, users.count, sizeof(users.at[0]), by_bytes);
	r->has |= DAVY_NVML_HAS_PROCESSES;
	for (size_t i = 0; i < users.count && r->process_count < DAVY_NVML_PROCESSES; i++)
		if (users.at[i].bytes <= r->total)
			r->process[r->process_count++] = users.at[i];
}

static void nvml_health(nvml_device device, struct davy_nvml_record *r)
{
	unsigned long long value;
	unsigned int celsius;

	if (nvml.ecc && !nvml.ecc(device, UNCORRECTED, VOLATILE_ECC, &value)) {
		r->has |= DAVY_NVML_HAS_ECC;
		r->ecc_count = value;
	}
	if (nvml.throttle && !nvml.throttle(device, &value)) {
		r->has |= DAVY_NVML_HAS_THROTTLE;
		r->throttle = value;
	}
	if (nvml.temperature && !nvml.temperature(device, TEMPERATURE_GPU, &celsius)) {
		r->has |= DAVY_NVML_HAS_TEMPERATURE;
		r->temperature_c = celsius;
	}
}

/* Fills the record; returns the stage that failed, or DAVY_NVML_DONE. */
static uint32_t nvml_look(const struct davy_nvml_request *q, struct davy_nvml_record *r)
{
	struct nvml_place place = { 0 };
	struct nvml_bytes memory = { 0 };
	uint32_t stage = nvml.ready ? DAVY_NVML_DONE : nvml_open(&r->error);
	nvml_device device = NULL;

	if (stage != DAVY_NVML_DONE)
		return stage;
	r->error = (uint32_t)nvml.handle(q->device, &device);
	if (!r->error)
		r->error = (uint32_t)nvml.place(device, &place);
	if (r->error)
		return DAVY_NVML_DEVICE;
	/* NVML has no function number: a GPU is function 0. */
	snprintf(r->device, sizeof(r->device), "%04x:%02x:%02x.0", place.domain, place.bus & 0xffu,
		 place.device & 0x1fu);
	r->error = (uint32_t)nvml.memory(device, &memory);
	if (r->error)
		return DAVY_NVML_MEMORY;
	r->total = memory.total;
	r->used = memory.used;
	nvml_users(device, r);
	nvml_health(device, r);
	return DAVY_NVML_DONE;
}

int davy_probe_nvml_follow(const struct davy_probe_options *options)
{
	struct davy_nvml_request q;
	ssize_t n;

	(void)options;
	while ((n = recv(DAVY_NVML_FD, &q, sizeof(q), 0)) != 0) {
		struct davy_nvml_record r = { 0 };

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			davy_log("--follow: descriptor %d is no socket; davylamp starts this mode",
				 DAVY_NVML_FD);
		if (n != sizeof(q) || q.version != DAVY_NVML_VERSION)
			return 1;
		q.device[sizeof(q.device) - 1] = 0;
		davy_rights_limit_cpu(CPU_OF_A_REQUEST_S);
		r.serial = q.serial;
		memcpy(r.device, q.device, sizeof(r.device));
		r.stage = nvml_look(&q, &r);
		if (send(DAVY_NVML_FD, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
			return 1;
	}
	return 0;
}
