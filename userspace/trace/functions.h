/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entry points that tell how far a start has come, and what their results mean. Pure. */
#ifndef DL_DISCOVERY_FUNCTIONS_H
#define DL_DISCOVERY_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order in which a start reaches them. */
enum dl_stage {
	DL_STAGE_NONE = 0,
	DL_STAGE_EXEC = 1,
	DL_STAGE_LIBRARY = 2,
	DL_STAGE_INIT = 3,
	DL_STAGE_DEVICES = 4,
	DL_STAGE_MEMORY = 5,
	DL_STAGE_GRAPH = 6,
	DL_STAGE_COUNT = 7,
};

enum dl_family {
	DL_FAMILY_NONE = 0,
	DL_FAMILY_GGML = 1, /* the engine's own */
	DL_FAMILY_NVML = 2,
	DL_FAMILY_CUDA = 3,
	DL_FAMILY_HSA = 4,
	DL_FAMILY_HIP = 5,
	DL_FAMILY_VULKAN = 6,
	DL_FAMILY_LEVEL_ZERO = 7,
	DL_FAMILY_COUNT = 8,
};

enum dl_result {
	DL_RESULT_NONE = 0, /* it has none, or one that tells nothing */
	DL_RESULT_POINTER,  /* NULL: failed */
	DL_RESULT_GGML,
	DL_RESULT_NVML,
	DL_RESULT_CUDA,
	DL_RESULT_CUDART,
	DL_RESULT_HSA,
	DL_RESULT_HIP,
	DL_RESULT_VULKAN,
	DL_RESULT_LEVEL_ZERO,
};

#define DL_NO_ARGUMENT 255

#define DL_CALL_SIZED 1 /* the second argument is a size in bytes */
#define DL_CALL_OPENS 2 /* makes a device ready for work, which none that looks for devices does */

/*
 * "library" is a name up to ".so". "text" and "count" are the arguments that are a text and a
 * pointer to a number of devices; of "limit" calls of one process each is told.
 */
struct dl_function {
	const char *library;
	const char *symbol;
	enum dl_family family;
	enum dl_stage stage;
	enum dl_result result;
	uint8_t text;
	uint8_t count;
	uint8_t limit;
	uint8_t flags;
};

#define DL_FUNCTIONS_MAX 96

extern const struct dl_function dl_functions[];
extern const size_t dl_function_count;

/* NULL past the end: a record may hold any number. */
const struct dl_function *dl_function_at(uint32_t index);

/* Libraries that matter, by their names up to ".so", also those without entry points. */
struct dl_known_library {
	const char *name;
	enum dl_family family;
	bool backend; /* one of ggml's for a GPU */
};

extern const struct dl_known_library dl_known_libraries[];
extern const size_t dl_known_library_count;

/* By a path or a name with or without a version; -1: none of them. */
int dl_known_library(const char *path);

const char *dl_stage_name(enum dl_stage stage);
const char *dl_family_name(enum dl_family family);

bool dl_result_ok(enum dl_result kind, uint64_t result);

/* "NVML_ERROR_DRIVER_NOT_LOADED (9)", "0x55.." ; into "buf", returned. */
const char *dl_result_text(enum dl_result kind, uint64_t result, char *buf, size_t size);

#endif
