/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that fill the facts, one file each. Facts that cannot be read stay unchanged. They do
 * not judge. Only who.h and spawn.h start processes.
 */
#ifndef DAVY_READ_H
#define DAVY_READ_H

#include <sys/types.h>

#include "policy/effective.h"
#include "doctor/facts.h"
#include "doctor/who.h"

/* GPUs on the PCI bus and of DRM, drivers, KFD, memory; needs "engine" for the rules. */
void davy_read_gpus(struct davy_doctor_facts *facts);
void davy_read_rules(struct davy_doctor_facts *facts, const struct davy_policy_set *set);

/* Module parameters set by modprobe.d or the command line, and their values in the kernel. */
void davy_read_parameters(struct davy_doctor_facts *facts);

/* BTF, function tracing, lockdown, capabilities, the host's memory. */
void davy_read_self(struct davy_doctor_facts *facts);

/* Running engines, at most "max". */
size_t davy_running_find(struct davy_doctor_running *list, size_t max);

/* The running engines, and what the agent on this socket says about them. */
void davy_read_lamp(struct davy_doctor_facts *facts, const char *socket_path);

/* The expected device files; a child like "who" opens each. "facts": shared memory. */
void davy_read_nodes(struct davy_doctor_facts *facts, const struct davy_who *who);

/* Variables of "who" (call after davy_read_gpus), and the Vulkan drivers of its loader. */
void davy_read_variables(struct davy_doctor_facts *facts, const struct davy_who *who);
void davy_read_icds(struct davy_doctor_facts *facts, const struct davy_who *who);

/* Runs davylamp-probe ("program": its path) for each runtime, as "who". */
void davy_read_runtimes(struct davy_doctor_facts *facts, const struct davy_who *who,
			const char *program, uint32_t limit_ms);

/* The engine, its libraries and rocBLAS's targets. "asked": path, name or NULL (that of "who"). */
void davy_read_engine(struct davy_doctor_facts *facts, const struct davy_who *who,
		      const char *asked);

/*
 * Runs the engine's device discovery for each of its backends, or instead "command" if not NULL.
 * "program" is davylamp-probe's path.
 */
void davy_read_runs(struct davy_doctor_facts *facts, const struct davy_who *who,
		    const char *program, char *const *command, uint32_t limit_ms);

/* The header of a GGUF file. */
void davy_read_model(struct davy_doctor_facts *facts, const char *path);

/* Reads a regular file of at most size - 1 bytes without blocking; -errno. */
ssize_t davy_read_regular(const char *path, char *buf, size_t size);

#endif
