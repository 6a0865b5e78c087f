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
	struct dl_trace_reader *r;
	struct dl_event ev;

	if (dl_trace_open(path, &r))
		return;
	for (int i = 0; i < 100000 && dl_trace_next(r, &ev) > 0; i++)
		if (!dl_event_valid(&ev))
			abort();
	dl_trace_reader_free(r);
}

static void read_arguments(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *argv[65];
	const struct dl_engine_look look = { .argv = argv, .exe = "", .parent = "" };
	static const struct dl_engine_wish wishes[] = {
		{ .backend = DL_BACKEND_CPU },
		{ .backend = DL_BACKEND_ROCM, .layers = 32, .knobs = { 64, 2048, 1, 2 } },
	};
	struct dl_engine_facts facts;
	struct dl_args args;
	size_t count = 0;

	memcpy(text, data, size);
	text[size] = 0;
	for (char *at = text; at <= text + size && count < 64; at += strlen(at) + 1)
		argv[count++] = at;
	argv[count] = NULL;
	dl_engine_identify(&look, &facts);
	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++)
		if (!dl_engine_command(&facts, argv, &wishes[i], &args))
			dl_args_done(&args);
	free(text);
}

/* What was taken is written, read back as the same, and says the same about everybody. */
static void read_policy(const char *text, size_t size)
{
	static struct dl_policy_layers layers;
	struct dl_policy_subject s = { .engine = DL_ENGINE_OLLAMA,
				       .backend = DL_BACKEND_VULKAN,
				       .context = 4096,
				       .compute_units = 8,
				       .lockup_ns = { [DL_BACKEND_VULKAN] = DL_NS_PER_S },
				       .model = "gpt-oss:20b",
				       .driver = "amdgpu",
				       .vendor = "amd",
				       .kind = "igpu",
				       .gfx = "gfx906",
				       .firmware = "mes 0x83" };
	const struct dl_policy_set set = dl_policy_set_of(&layers);
	struct dl_policy_layer *mine = &layers.at[DL_LAYER_PEOPLE];
	char error[DL_CONFIG_ERROR_LEN], *written;
	static struct dl_effective before, after;
	size_t written_size;

	dl_policy_layers_init(&layers);
	if (dl_policy_text_read(text, size, "x", DL_LAYER_PEOPLE, mine, error)) {
		if (strncmp(error, "x:", 2) != 0 || strlen(error) >= sizeof(error))
			abort();
		return;
	}
	dl_policy_effective(&set, &s, &before);
	if (dl_policy_text_write(mine, &written, &written_size, error))
		return; /* too long as we write it */
	if (dl_policy_text_read(written, written_size, "x", DL_LAYER_PEOPLE, mine, error))
		abort();
	dl_policy_effective(&set, &s, &after);
	if (before.backend != after.backend || before.backend_count != after.backend_count ||
	    before.environment_count != after.environment_count)
		abort();
	free(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[128], error[DL_CONFIG_ERROR_LEN];
	struct dl_check_result result;
	uint64_t slots, tokens;
	struct dl_config config;
	static struct dl_learned learned;
	static struct dl_adopted adopted;
	int line;

	if (size < 1)
		return 0;
	switch (data[0] < 240 ? data[0] % 6 : 6) {
	case 0:
		with_file(data + 1, size - 1, "t.trace", path, sizeof(path));
		read_trace(path);
		break;
	case 1:
		with_file(data + 1, size - 1, DL_LEARNED_NAME, path, sizeof(path));
		dl_learned_load(dir, &learned, &line);
		break;
	case 2:
		with_file(data + 1, size - 1, "hazards.conf", path, sizeof(path));
		dl_config_defaults(&config);
		dl_config_file_read(path, &config, error);
		break;
	case 3:
		dl_check_parse((const char *)data + 1, size - 1, &result);
		dl_slots_parse((const char *)data + 1, size - 1, &slots, &tokens);
		break;
	case 5:
		with_file(data + 1, size - 1, DL_ADOPTED_NAME, path, sizeof(path));
		dl_adopted_load(dir, &adopted, &line);
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
