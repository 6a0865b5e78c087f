/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entry points that mark the stages of a start, and the meaning of their results. Pure. */
#ifndef DAVY_FUNCTIONS_H
#define DAVY_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of a start. */
enum davy_stage {
	DAVY_STAGE_NONE = 0,
	DAVY_STAGE_EXEC = 1,
	DAVY_STAGE_LIBRARY = 2,
	DAVY_STAGE_INIT = 3,
	DAVY_STAGE_DEVICES = 4,
	DAVY_STAGE_MEMORY = 5,
	DAVY_STAGE_GRAPH = 6,
	DAVY_STAGE_COUNT = 7,
};

enum davy_family {
	DAVY_FAMILY_NONE = 0,
	DAVY_FAMILY_GGML = 1, /* the engine's own */
	DAVY_FAMILY_NVML = 2,
	DAVY_FAMILY_CUDA = 3,
	DAVY_FAMILY_HSA = 4,
	DAVY_FAMILY_HIP = 5,
	DAVY_FAMILY_VULKAN = 6,
	DAVY_FAMILY_LEVEL_ZERO = 7,
	DAVY_FAMILY_COUNT = 8,
};

enum davy_result {
	DAVY_RESULT_NONE = 0, /* none, or not meaningful */
	DAVY_RESULT_POINTER,  /* NULL: failed */
	DAVY_RESULT_GGML,
	DAVY_RESULT_NVML,
	DAVY_RESULT_CUDA,
	DAVY_RESULT_CUDART,
	DAVY_RESULT_HSA,
	DAVY_RESULT_HIP,
	DAVY_RESULT_VULKAN,
	DAVY_RESULT_LEVEL_ZERO,
};

#define DAVY_NO_ARGUMENT 255

#define DAVY_CALL_SIZED 1 /* the second argument is a size in bytes */
#define DAVY_CALL_OPENS 2 /* prepares a device for work; discovery never calls it */

/*
 * "library": name up to ".so". "text", "count": indices of the arguments that are a text and a
 * pointer to a number of devices. "limit": calls reported for each process.
 */
struct davy_function {
	const char *library;
	const char *symbol;
	enum davy_family family;
	enum davy_stage stage;
	enum davy_result result;
	uint8_t text;
	uint8_t count;
	uint8_t limit;
	uint8_t flags;
};

#define DAVY_FUNCTIONS_MAX 96

extern const struct davy_function davy_functions[];
extern const size_t davy_function_count;

/* NULL past the end: the index of a record is not validated. */
const struct davy_function *davy_function_at(uint32_t index);

/* Relevant libraries, named up to ".so"; includes those without entry points. */
struct davy_known_library {
	const char *name;
	enum davy_family family;
	bool backend; /* one of ggml's for a GPU */
};

extern const struct davy_known_library davy_known_libraries[];
extern const size_t davy_known_library_count;

/* Finds a path or a name, with or without a version; -1: not known. */
int davy_known_library(const char *path);

const char *davy_stage_name(enum davy_stage stage);
const char *davy_family_name(enum davy_family family);

bool davy_result_ok(enum davy_result kind, uint64_t result);

/* "NVML_ERROR_DRIVER_NOT_LOADED (9)", "0x55.."; writes to and returns "buf". */
const char *davy_result_text(enum davy_result kind, uint64_t result, char *buf, size_t size);

#endif
