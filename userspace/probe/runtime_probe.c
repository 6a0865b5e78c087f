/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a runtime finds GPUs: ROCm's HSA, Level Zero, NVML. Each library is opened at run time
 * with our own declarations (hsa.h of ROCR 1.14, ze_api.h 1.9, nvml.h 12; these calls are as old as
 * the libraries), so that no headers are needed. Each step is a stage, which names the place of a
 * crash or a hang. No shutdown: the process ends.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "probe/answer.h"
#include "probe/probe.h"

#define DEVICES_MAX 64
#define NAME_LEN    96
#define CALLS_MAX   6

struct device {
	char name[NAME_LEN];
	const char *type; /* "gpu", "cpu", "other" */
	char pci[24];	  /* "" unknown */
	uint64_t memory;
};

struct runtime {
	void *call[CALLS_MAX];
	struct device device[DEVICES_MAX];
	uint32_t count; /* of GPUs */
	char why[192];	/* "": no error */
};

/* "call" has the addresses of the NULL-terminated "symbols". */
struct row {
	const char *library;
	const char *symbols[CALLS_MAX + 1];
	long (*init)(struct runtime *r);
	long (*count)(struct runtime *r);
	void (*query)(struct runtime *r);
};

static void runtime_probe_name_device(struct runtime *r, const char *name, const char *type,
				      uint64_t memory)
{
	struct device *d = &r->device[r->count];

	snprintf(d->name, sizeof(d->name), "%.95s", name);
	d->type = type;
	d->memory = memory;
	r->count++;
}

/* hsa_init, hsa_iterate_agents, hsa_agent_get_info; HSA_STATUS_INFO_BREAK is 1. */
#define HSA_AGENT_INFO_NAME   0
#define HSA_AGENT_INFO_DEVICE 17
#define HSA_DEVICE_TYPE_GPU   1

typedef struct {
	uint64_t handle;
} hsa_agent;

struct agents {
	hsa_agent agent[DEVICES_MAX];
	uint32_t count;
};

static struct agents hsa_agents;

static int take_agent(hsa_agent agent, void *arg)
{
	struct agents *a = arg;

	if (a->count < DEVICES_MAX)
		a->agent[a->count++] = agent;
	return 0;
}

static long rocm_init(struct runtime *r)
{
	int (*init)(void);

	memcpy(&init, &r->call[0], sizeof(init));
	return init();
}

/* Counts all agents including CPUs; the next stage selects the GPUs. */
static long rocm_count(struct runtime *r)
{
	int (*iterate)(int (*each)(hsa_agent agent, void *arg), void *arg);

	memcpy(&iterate, &r->call[1], sizeof(iterate));
	return iterate(take_agent, &hsa_agents);
}

static void rocm_query(struct runtime *r)
{
	int (*info)(hsa_agent agent, int what, void *value);

	memcpy(&info, &r->call[2], sizeof(info));
	for (uint32_t i = 0; i < hsa_agents.count; i++) {
		char name[64 + 1] = "";
		uint32_t type = 0;

		if (info(hsa_agents.agent[i], HSA_AGENT_INFO_DEVICE, &type) ||
		    type != HSA_DEVICE_TYPE_GPU)
			continue;
		if (info(hsa_agents.agent[i], HSA_AGENT_INFO_NAME, name))
			name[0] = 0;
		name[64] = 0;
		runtime_probe_name_device(r, name, "gpu", 0);
	}
}

/* zeInit, zeDriverGet, zeDeviceGet, zeDeviceGetProperties */
#define ZE_DEVICE_PROPERTIES 0x3
#define ZE_DRIVERS_MAX	     8

/* ze_device_properties_t. "rest": between flags and uuid; "spare": for later versions. */
struct ze_properties {
	uint32_t stype;
	void *next;
	uint32_t type; /* 1: GPU, 2: CPU */
	uint32_t vendor;
	uint32_t device;
	uint32_t flags;
	uint8_t rest[64];
	uint8_t uuid[16];
	char name[256];
	uint8_t spare[256];
};

static void *ze_devices[DEVICES_MAX];
static uint32_t ze_count;

static long ze_init(struct runtime *r)
{
	uint32_t (*init)(uint32_t flags);

	memcpy(&init, &r->call[0], sizeof(init));
	return (long)init(0);
}

static long ze_get(struct runtime *r)
{
	uint32_t (*drivers)(uint32_t * count, void **list);
	uint32_t (*devices)(void *driver, uint32_t *count, void **list);
	void *driver[ZE_DRIVERS_MAX];
	uint32_t driver_count = ZE_DRIVERS_MAX;
	long err;

	memcpy(&drivers, &r->call[1], sizeof(drivers));
	memcpy(&devices, &r->call[2], sizeof(devices));
	err = (long)drivers(&driver_count, driver);
	for (uint32_t i = 0; !err && i < driver_count && i < ZE_DRIVERS_MAX; i++) {
		uint32_t room = DEVICES_MAX - ze_count;

		err = room ? (long)devices(driver[i], &room, ze_devices + ze_count) : 0;
		if (!err)
			ze_count += room;
		if (ze_count > DEVICES_MAX)
			ze_count = DEVICES_MAX;
	}
	return err;
}

static void ze_query(struct runtime *r)
{
	uint32_t (*properties)(void *device, struct ze_properties *p);

	memcpy(&properties, &r->call[3], sizeof(properties));
	for (uint32_t i = 0; i < ze_count; i++) {
		struct ze_properties p = { .stype = ZE_DEVICE_PROPERTIES };

		if (properties(ze_devices[i], &p) || p.type != 1)
			continue;
		p.name[sizeof(p.name) - 1] = 0;
		runtime_probe_name_device(r, p.name, "gpu", 0);
	}
}

/*
 * nvmlInit_v2, nvmlDeviceGetCount_v2, ...GetHandleByIndex_v2, ...GetName, ...GetMemoryInfo,
 * ...GetPciInfo_v3
 */
struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_pci {
	char old_text[16];
	unsigned int domain, bus, device, id, subsystem;
	char text[32];
};

static unsigned int nvml_count;

static long nvml_init(struct runtime *r)
{
	int (*init)(void);

	memcpy(&init, &r->call[0], sizeof(init));
	return init();
}

static long nvml_get(struct runtime *r)
{
	int (*count)(unsigned int *count);

	memcpy(&count, &r->call[1], sizeof(count));
	return count(&nvml_count);
}

static void nvml_query(struct runtime *r)
{
	int (*handle)(unsigned int index, void **device);
	int (*name)(void *device, char *name, unsigned int size);
	int (*memory)(void *device, struct nvml_memory *memory);
	int (*place)(void *device, struct nvml_pci *pci);

	memcpy(&handle, &r->call[2], sizeof(handle));
	memcpy(&name, &r->call[3], sizeof(name));
	memcpy(&memory, &r->call[4], sizeof(memory));
	memcpy(&place, &r->call[5], sizeof(place));
	for (unsigned int i = 0; i < nvml_count && i < DEVICES_MAX; i++) {
		struct nvml_memory m = { 0 };
		struct nvml_pci pci = { 0 };
		char text[NAME_LEN] = "";
		void *device = NULL;
		int err = handle(i, &device);

		if (!err)
			err = name(device, text, sizeof(text));
		if (!err)
			err = memory(device, &m);
		if (!err)
			err = place(device, &pci);
		text[sizeof(text) - 1] = 0;
		if (err)
			snprintf(r->why, sizeof(r->why), "device %u returns error %d", i, err);
		runtime_probe_name_device(r, text, "gpu", m.total);
		if (!err) /* NVML has no function number: a GPU is function 0 */
			snprintf(r->device[r->count - 1].pci, sizeof(r->device[0].pci),
				 "%04x:%02x:%02x.0", pci.domain & 0xffffu, pci.bus & 0xffu,
				 pci.device & 0x1fu);
	}
}

static const struct row rows[] = {
	[DAVY_PROBE_ROCM] = { "libhsa-runtime64.so.1",
			      { "hsa_init", "hsa_iterate_agents", "hsa_agent_get_info" },
			      rocm_init,
			      rocm_count,
			      rocm_query },
	[DAVY_PROBE_LEVEL_ZERO] = { "libze_loader.so.1",
				    { "zeInit", "zeDriverGet", "zeDeviceGet",
				      "zeDeviceGetProperties" },
				    ze_init,
				    ze_get,
				    ze_query },
	[DAVY_PROBE_NVML] = { "libnvidia-ml.so.1",
			      { "nvmlInit_v2", "nvmlDeviceGetCount_v2",
				"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetName",
				"nvmlDeviceGetMemoryInfo", "nvmlDeviceGetPciInfo_v3" },
			      nvml_init,
			      nvml_get,
			      nvml_query },
};

static bool find_symbols(const struct row *row, void *library, struct runtime *r)
{
	for (size_t i = 0; row->symbols[i]; i++) {
		r->call[i] = dlsym(library, row->symbols[i]);
		if (r->call[i])
			continue;
		snprintf(r->why, sizeof(r->why), "%s has no symbol '%s'", row->library,
			 row->symbols[i]);
		return false;
	}
	return true;
}

/* Meaning of common error numbers: hsa.h, ze_api.h and nvml.h. */
static const struct {
	const char *call;
	long error;
	const char *meaning;
} errors[] = {
	{ "hsa_init", 0x1000, "HSA_STATUS_ERROR" },
	{ "hsa_init", 0x1008, "HSA_STATUS_ERROR_OUT_OF_RESOURCES: usually no access to /dev/kfd" },
	{ "zeInit", 0x78000001, "ZE_RESULT_ERROR_UNINITIALIZED: no Level Zero driver" },
	{ "nvmlInit_v2", 4, "NVML_ERROR_NO_PERMISSION" },
	{ "nvmlInit_v2", 9, "NVML_ERROR_DRIVER_NOT_LOADED" },
	{ "nvmlInit_v2", 18, "NVML_ERROR_LIB_RM_VERSION_MISMATCH: module and library differ" },
	{ "nvmlInit_v2", 999, "NVML_ERROR_UNKNOWN" },
};

static void runtime_probe_tell_error(struct runtime *r, const char *call, long error)
{
	const char *meaning = "";

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].error == error && !strcmp(errors[i].call, call))
			meaning = errors[i].meaning;
	snprintf(r->why, sizeof(r->why), "%s failed with 0x%lx%s%s%s", call, error,
		 *meaning ? " (" : "", meaning, *meaning ? ")" : "");
}

/* On an error "why" is set, and the last stage is its place. */
static void runtime_probe_look(const struct row *row, struct runtime *r)
{
	void *library;
	long err;

	davy_answer_stage("load", NULL);
	library = dlopen(row->library, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		const char *error = dlerror();

		snprintf(r->why, sizeof(r->why), "%s", error ? error : row->library);
		return;
	}
	davy_answer_stage("symbols", NULL);
	if (!find_symbols(row, library, r))
		return;
	davy_answer_stage("init", NULL);
	err = row->init(r);
	if (err) {
		runtime_probe_tell_error(r, row->symbols[0], err);
		return;
	}
	davy_answer_stage("count", NULL);
	err = row->count(r);
	if (err) {
		runtime_probe_tell_error(r, row->symbols[1], err);
		return;
	}
	davy_answer_stage("query", NULL);
	row->query(r);
	if (r->why[0] || r->count)
		return;
	davy_answer_stage("count", NULL);
	snprintf(r->why, sizeof(r->why), "%s finds no GPU", row->library);
}

int davy_probe_runtime(const struct davy_probe_options *options)
{
	static struct runtime r;
	json_t *answer = json_object(), *list = json_array();

	runtime_probe_look(&rows[options->runtime], &r);
	for (uint32_t i = 0; i < r.count; i++) {
		json_t *o = json_pack("{s:o*, s:s}", "name", davy_answer_text(r.device[i].name),
				      "type", r.device[i].type);

		if (r.device[i].pci[0])
			json_object_set_new(o, "pci", json_string(r.device[i].pci));
		if (r.device[i].memory)
			json_object_set_new(o, "memory",
					    json_integer((json_int_t)r.device[i].memory));
		json_array_append_new(list, o);
	}
	json_object_set_new(answer, "devices", list);
	json_object_set_new(answer, "ok", json_boolean(!r.why[0]));
	json_object_set_new(answer, "stage",
			    json_string(r.why[0] ? davy_answer_last_stage() : "done"));
	if (r.why[0])
		json_object_set_new(answer, "why", davy_answer_text(r.why));
	return davy_answer_give(answer);
}
