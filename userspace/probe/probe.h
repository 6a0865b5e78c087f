/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * davylamp-probe: short-lived, without privileges, one JSON line as its answer. Everything that
 * talks to engines or runs vendor code is here and nowhere else; a crash or a hang of it is a
 * finding.
 */
#ifndef DAVY_PROBE_H
#define DAVY_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/probe_confine.h"

/* Of the probes of a runtime. */
enum davy_probe_runtime {
	DAVY_PROBE_ROCM = 0,
	DAVY_PROBE_LEVEL_ZERO = 1,
	DAVY_PROBE_NVML = 2,
};

struct davy_probe_options {
	struct davy_confine confine;
	bool stages;	     /* tell each stage as it begins, for a parent */
	uint32_t timeout_s;  /* of the whole probe, by SIGALRM; 0: none */
	uint16_t port;	     /* engine */
	uint32_t wait_ms;    /* engine: for /health to be 200 */
	uint32_t timeout_ms; /* engine: of the completion */
	const char *host;    /* engine: numeric address */
	uint16_t from_port;  /* engine: of the same address, to come from; 0: any */
	const char *api;     /* engine: "ollama", "openai"; NULL: llama-server's */
	const char *model;   /* engine: should none be loaded; models: which; NULL: none named */
	const char *act;     /* models: "unload", "derive", "restore" */
	uint32_t num_batch;  /* models, derive: 0: as it is */
	uint32_t num_ctx;
	bool brief;	      /* engine: the verdict, and nothing that takes time beside it */
	const char *slots;    /* engine: "save" or "restore" instead; NULL: neither */
	const char *prefix;   /* of the slots' files */
	uint64_t slot_set;    /* a bit for each slot; 0: all */
	const char *device;   /* vulkan: index or PCI address; NULL: all */
	uint32_t runtime;     /* enum davy_probe_runtime */
	char *const *command; /* runner: what is run */
	bool list;	      /* vulkan: what there is, and no work for it */
};

/* Each prints its answer and returns the exit status: 0 when there is an answer, bad or good. */
int davy_probe_engine(const struct davy_probe_options *options);
int davy_probe_slots(const struct davy_probe_options *options);
int davy_probe_models(const struct davy_probe_options *options);
int davy_probe_vulkan(const struct davy_probe_options *options);
int davy_probe_runtime(const struct davy_probe_options *options);

/* Tries from inside what the sandbox is to forbid, and tells what happened. */
int davy_probe_confined(bool network);

#endif
