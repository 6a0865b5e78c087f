/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every text and file from outside: traces, learned policy, thresholds, probe answers, arguments.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../userspace/act/check.h"
#include "../../userspace/engines/engine.h"
#include "../../userspace/store/config_file.h"
#include "../../userspace/store/learned.h"
#include "../../userspace/store/trace.h"

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
	struct dl_engine_facts facts;
	struct dl_args args;
	size_t count = 0;

	memcpy(text, data, size);
	text[size] = 0;
	for (char *at = text; at <= text + size && count < 64; at += strlen(at) + 1)
		argv[count++] = at;
	argv[count] = NULL;
	dl_engine_recognise(argv, &facts);
	if (!dl_engine_to_cpu(DL_ENGINE_LLAMA_SERVER, argv, &args))
		dl_args_done(&args);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[128], error[DL_CONFIG_ERROR_LEN];
	struct dl_check_result result;
	struct dl_config config;
	static struct dl_learned learned;
	int line;

	if (size < 1)
		return 0;
	switch (data[0] % 5) {
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
		break;
	default:
		read_arguments(data + 1, size - 1);
		break;
	}
	return 0;
}
