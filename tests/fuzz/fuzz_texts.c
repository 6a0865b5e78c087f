/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every text and file from outside: traces, learned policy, adopted units, thresholds, rules of the
 * backend policy, probe answers, arguments.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "act/check.h"
#include "act/slots.h"
#include "engines/engine.h"
#include "store/adopted.h"
#include "store/config_file.h"
#include "store/learned.h"
#include "store/policy_file.h"
#include "store/trace.h"

static char dir[64];

static void with_file(const uint8_t *data, size_t size, const char *name, char *path,
		      size_t path_size)
{
	FILE *file;

	if (!dir[0]) {
		snprintf(dir, sizeof(dir), "/dev/shm/davylamp-fuzz-%d", (int)getpid());
		if (mkdir(dir, 0700))
			abort();
	}
	snprintf(path, path_size, "%s/%s", dir, name);
	file = fopen(path, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		abort();
}

static void read_trace(const char *path)
{
	struct davy_trace_reader *r;
	struct davy_event ev;

	if (davy_trace_open(path, &r))
		return;
	for (int i = 0; i < 100000 && davy_trace_next(r, &ev) > 0; i++)
		if (!davy_event_valid(&ev))
			abort();
	davy_trace_reader_free(r);
}

static void read_arguments(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *argv[65];
	const struct davy_engine_look look = { .argv = argv, .exe = "", .parent = "" };
	static const struct davy_engine_override overrides[] = {
		{ .backend = DAVY_BACKEND_CPU },
		{ .backend = DAVY_BACKEND_ROCM, .layers = 32, .settings = { 64, 2048, 1, 2 } },
	};
	struct davy_engine_facts facts;
	struct davy_args args;
	size_t count = 0;

	memcpy(text, data, size);
	text[size] = 0;
	for (char *at = text; at <= text + size && count < 64; at += strlen(at) + 1)
		argv[count++] = at;
	argv[count] = NULL;
	davy_engine_identify(&look, &facts);
	for (size_t i = 0; i < sizeof(overrides) / sizeof(overrides[0]); i++)
		if (!davy_engine_command(&facts, argv, &overrides[i], &args))
			davy_args_done(&args);
	free(text);
}

/* An accepted policy is written, and reads back as the same with the same answers. */
static void read_policy(const char *text, size_t size)
{
	static struct davy_policy_layers layers;
	struct davy_policy_subject s = { .engine = DAVY_ENGINE_OLLAMA,
					 .backend = DAVY_BACKEND_VULKAN,
					 .context = 4096,
					 .compute_units = 8,
					 .lockup_ns = { [DAVY_BACKEND_VULKAN] = DAVY_NS_PER_S },
					 .model = "gpt-oss:20b",
					 .driver = "amdgpu",
					 .vendor = "amd",
					 .kind = "igpu",
					 .gfx = "gfx906",
					 .firmware = "mes 0x83" };
	const struct davy_policy_set set = davy_policy_set_of(&layers);
	struct davy_policy_layer *mine = &layers.at[DAVY_LAYER_ADMIN];
	char error[DAVY_CONFIG_ERROR_LEN], *written;
	static struct davy_effective before, after;
	size_t written_size;

	davy_policy_layers_init(&layers);
	if (davy_policy_text_read(text, size, "x", DAVY_LAYER_ADMIN, mine, error)) {
		if (strncmp(error, "x:", 2) != 0 || strlen(error) >= sizeof(error))
			abort();
		return;
	}
	davy_policy_effective(&set, &s, &before);
	if (davy_policy_text_write(mine, &written, &written_size, error))
		return; /* too long as we write it */
	if (davy_policy_text_read(written, written_size, "x", DAVY_LAYER_ADMIN, mine, error))
		abort();
	davy_policy_effective(&set, &s, &after);
	if (before.backend != after.backend || before.backend_count != after.backend_count ||
	    before.environment_count != after.environment_count)
		abort();
	free(written);
}

/* An imported text reads back as it was written. */
static void read_units(void)
{
	static struct davy_adopted adopted, again;
	int err = davy_adopted_load(dir, &adopted);

	if (err)
		return;
	if (davy_adopted_save(dir, &adopted) || davy_adopted_load(dir, &again) ||
	    memcmp(&adopted, &again, sizeof(adopted)) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[128], error[DAVY_CONFIG_ERROR_LEN];
	struct davy_check_result result;
	uint64_t slots, tokens;
	struct davy_config config;
	static struct davy_learned learned;
	int line;

	if (size < 1)
		return 0;
	switch (data[0] < 240 ? data[0] % 6 : 6) {
	case 0:
		with_file(data + 1, size - 1, "t.trace", path, sizeof(path));
		read_trace(path);
		break;
	case 1:
		with_file(data + 1, size - 1, DAVY_LEARNED_NAME, path, sizeof(path));
		davy_learned_load(dir, &learned, &line);
		break;
	case 2:
		with_file(data + 1, size - 1, "hazards.conf", path, sizeof(path));
		davy_config_defaults(&config);
		davy_config_file_read(path, &config, error);
		break;
	case 3:
		davy_check_parse((const char *)data + 1, size - 1, &result);
		davy_slots_parse((const char *)data + 1, size - 1, &slots, &tokens);
		break;
	case 5:
		with_file(data + 1, size - 1, DAVY_ADOPTED_OLD_NAME, path, sizeof(path));
		read_units();
		break;
	case 6:
		read_policy((const char *)data + 1, size - 1);
		break;
	default:
		read_arguments(data + 1, size - 1);
		break;
	}
	return 0;
}
