/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * davylamp-probe: short-lived, without privileges, answers with one JSON line. All code that talks
 * to engines or runs vendor code is here. A crash or a hang of it is a finding. Only
 * "nvml --follow" is resident and answers with records.
 */
#ifndef DAVY_PROBE_H
#define DAVY_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/probe_confine.h"

/* Runtimes to probe. */
enum davy_probe_runtime {
	DAVY_PROBE_ROCM = 0,
	DAVY_PROBE_LEVEL_ZERO = 1,
	DAVY_PROBE_NVML = 2,
};

struct davy_probe_options {
	struct davy_confine confine;
	bool stages;	     /* report each stage to the parent */
	uint32_t timeout_s;  /* of the whole probe (SIGALRM); 0: none */
	uint16_t port;	     /* engine */
	uint32_t wait_ms;    /* engine: time for /health to return 200 */
	uint32_t timeout_ms; /* engine: of the completion */
	const char *host;    /* engine: numeric address */
	uint16_t from_port;  /* engine: source port at that address; 0: any */
	const char *api;     /* engine: "ollama", "openai", "none"; NULL: llama-server's */
	const char *health;  /* engine: path of the health check; NULL: none */
	const char *models;  /* engine, models: path of the list of loaded models; NULL: none */
	uint32_t alive_ms;   /* engine, "none": how long the port must stay open */
	const char *model;   /* engine: if none is loaded; models: which; NULL: none */
	const char *api_key; /* engine, models; NULL: none */
	const char *act;     /* models: "unload", "derive", "restore" */
	uint32_t num_batch;  /* models, derive; 0: unchanged */
	uint32_t num_ctx;
	bool brief;	      /* engine: only the verdict */
	const char *slots;    /* engine: "save", "restore" or NULL */
	const char *prefix;   /* of the slots' files */
	uint64_t slot_set;    /* a bit for each slot; 0: all */
	const char *device;   /* vulkan: index or PCI address; NULL: all */
	uint32_t runtime;     /* enum davy_probe_runtime */
	char *const *command; /* runner */
	bool list;	      /* vulkan: list devices, submit no work */
	bool follow;	      /* nvml: answer requests until the agent ends */
};

/* Each prints its answer and returns the exit status: 0 with any answer. */
int davy_probe_engine(const struct davy_probe_options *options);
int davy_probe_slots(const struct davy_probe_options *options);
int davy_probe_models(const struct davy_probe_options *options);
int davy_probe_vulkan(const struct davy_probe_options *options);
int davy_probe_runtime(const struct davy_probe_options *options);

/* Answers the agent's requests about NVIDIA GPUs: sensors/gpu/nvml_record.h. */
int davy_probe_nvml_follow(const struct davy_probe_options *options);

/* Tries forbidden operations in the sandbox and prints the results. */
int davy_probe_confined(bool network);

#endif
