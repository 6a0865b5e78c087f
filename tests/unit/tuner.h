/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of the tuner: one host, one model, and what happens to it. */
#ifndef DAVY_TESTS_TUNER_H
#define DAVY_TESTS_TUNER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/tuner/tuner.h"

#define MINUTE ((uint64_t)60)
#define HOUR   ((uint64_t)3600)
#define DAY    ((uint64_t)86400)
#define AWHILE (30 * MINUTE) /* no soak, and not at once */

static struct davy_tuner tuner;
static struct davy_tuner_bounds bounds;
static struct davy_tuner_setting setting;
static struct davy_tuner_reason reason;
static uint64_t now;

/* llama-server with a ubatch of 512 and 32768 tokens in four slots, on Vulkan, ROCm or the CPU. */
static inline void begin(void)
{
	static const struct davy_tuner_bounds usual = {
		.range = {
			[DAVY_TUNER_UBATCH] = { 64, 512, 64 },
			[DAVY_TUNER_CONTEXT] = { 4096, 32768, 2048 },
			[DAVY_TUNER_PARALLEL] = { 1, 4, 1 },
			[DAVY_TUNER_CACHE_TYPE] = { 1, 3, 1 },
			[DAVY_TUNER_LAYERS] = { 4, 33, 1 },
		},
		.backends = { DAVY_BACKEND_VULKAN, DAVY_BACKEND_ROCM, DAVY_BACKEND_CPU },
	};

	memset(&tuner, 0, sizeof(tuner));
	bounds = usual;
	bounds.times = davy_tuner_times;
	now = 1000000;
	davy_tuner_environment(&tuner, 1);
	davy_tuner_next(&tuner, now, &bounds, &setting, &reason);
}

static inline void pin_all_but(uint32_t which)
{
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		if (i != which)
			bounds.range[i].floor = bounds.range[i].ceiling;
	davy_tuner_next(&tuner, now, &bounds, &setting, &reason);
}

static inline void ask(void)
{
	struct davy_tuner_setting again;
	struct davy_tuner_reason again_reason;

	davy_tuner_next(&tuner, now, &bounds, &setting, &reason);
	davy_tuner_next(&tuner, now, &bounds, &again, &again_reason);
	assert_memory_equal(&setting, &again, sizeof(setting));
	assert_true(davy_tuner_valid(&tuner));
}

/* The setting in force, with the command's values. */
static inline uint32_t size(uint32_t which)
{
	return setting.size[which] ? setting.size[which] : bounds.range[which].ceiling;
}

/* It works for so long, and dies. */
static inline void fails_after(uint64_t seconds, uint32_t depth, enum davy_log_class class)
{
	now += seconds;
	davy_tuner_soak(&tuner, now, seconds, depth);
	davy_tuner_trouble(&tuner, now, depth, class);
	ask();
}

static inline void soaks(uint64_t seconds, uint32_t depth)
{
	now += seconds;
	davy_tuner_soak(&tuner, now, seconds, depth);
	ask();
}

static inline bool is_probation(void)
{
	return reason.why == DAVY_TUNER_RAISE || reason.why == DAVY_TUNER_AGAIN ||
	       reason.why == DAVY_TUNER_OTHER_AGAIN;
}

#endif
