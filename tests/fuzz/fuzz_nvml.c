/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of the NVML worker of any content: what is believed is possible and within bounds. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sensors/gpu/nvml_record.h"

static void must(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct davy_nvml_request q = { .device = "0000:00:06.0" };
	struct davy_nvml_record r = { 0 };
	char reason[DAVY_REASON_LEN];

	memcpy(&r, data, size < sizeof(r) ? size : sizeof(r));
	q.serial = r.serial;
	davy_nvml_reason(r.stage, r.error, reason);
	must(memchr(reason, 0, sizeof(reason)) && reason[0]);
	if (!davy_nvml_record_valid(&r, &q))
		return 0;
	must(!strcmp(r.device, q.device) && r.process_count <= DAVY_NVML_PROCESSES);
	if (r.stage != DAVY_NVML_DONE) {
		must(!r.total && !r.process_count);
		return 0;
	}
	must(r.total && r.used <= r.total && !r.error);
	for (uint32_t i = 0; i < r.process_count; i++)
		must(r.process[i].pid && r.process[i].bytes <= r.total);
	return 0;
}
