/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Validates the NVML worker's records. Makes no system call. */
#include "sensors/gpu/nvml_record.h"

#include <stdio.h>
#include <string.h>

#define TOTAL_MAX	(1ULL << 46) /* 64 TiB */
#define ERROR_MAX	999	     /* NVML_ERROR_UNKNOWN */
#define TEMPERATURE_MAX 300	     /* degrees Celsius */
#define PID_MAX_LIMIT	(1U << 22)   /* include/linux/threads.h */

static bool nvml_processes_valid(const struct davy_nvml_record *r)
{
	if (r->process_count > DAVY_NVML_PROCESSES ||
	    (r->process_count && !(r->has & DAVY_NVML_HAS_PROCESSES)))
		return false;
	for (uint32_t i = 0; i < r->process_count; i++) {
		const struct davy_nvml_process *p = &r->process[i];

		if (!p->pid || p->pid > PID_MAX_LIMIT || p->bytes > r->total)
			return false;
		for (uint32_t j = 0; j < i; j++)
			if (r->process[j].pid == p->pid)
				return false;
	}
	return true;
}

bool davy_nvml_record_valid(const struct davy_nvml_record *r, const struct davy_nvml_request *q)
{
	if (r->serial != q->serial || memcmp(r->device, q->device, sizeof(r->device)) != 0 ||
	    r->stage >= DAVY_NVML_STAGE_COUNT || r->error > ERROR_MAX)
		return false;
	if (r->stage != DAVY_NVML_DONE)
		return !r->has && !r->total && !r->used && !r->process_count;
	if (r->error || !r->total || r->total > TOTAL_MAX || r->used > r->total)
		return false;
	if (r->has & ~(uint32_t)DAVY_NVML_HAS_ALL || r->temperature_c > TEMPERATURE_MAX)
		return false;
	return nvml_processes_valid(r);
}

/* nvmlReturn_t (nvml.h 12). */
static const struct {
	uint32_t error;
	const char *text;
} errors[] = {
	{ 2, "NVML does not find this GPU" },
	{ 3, "NVML does not support it on this GPU" },
	{ 4, "no permission: check the mode of /dev/nvidiactl and /dev/nvidia0" },
	{ 6, "NVML does not find this GPU" },
	{ 9, "driver not loaded, or /dev/nvidiactl is missing: run nvidia-modprobe" },
	{ 15, "the GPU is lost" },
	{ 18, "module and library have different versions: reboot, or install matching packages" },
};

static const char *nvml_error_text(uint32_t error)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].error == error)
			return errors[i].text;
	return "";
}

void davy_nvml_reason(uint32_t stage, uint32_t error, char ret_reason[DAVY_REASON_LEN])
{
	static const char *const calls[DAVY_NVML_STAGE_COUNT] = {
		[DAVY_NVML_INIT] = "nvmlInit_v2",
		[DAVY_NVML_DEVICE] = "nvmlDeviceGetHandleByPciBusId_v2",
		[DAVY_NVML_MEMORY] = "nvmlDeviceGetMemoryInfo",
	};
	const char *text = nvml_error_text(error);

	if (stage == DAVY_NVML_LOAD)
		snprintf(ret_reason, DAVY_REASON_LEN,
			 "%s is missing: install the driver's library (Debian: libnvidia-ml1)",
			 DAVY_NVML_LIBRARY);
	else if (stage == DAVY_NVML_SYMBOLS)
		snprintf(ret_reason, DAVY_REASON_LEN,
			 "%s is too old: install that of driver 450 or later", DAVY_NVML_LIBRARY);
	else
		snprintf(ret_reason, DAVY_REASON_LEN, "%s: error %u%s%s",
			 stage < DAVY_NVML_DONE ? calls[stage] : "NVML", error, *text ? ", " : "",
			 text);
}
