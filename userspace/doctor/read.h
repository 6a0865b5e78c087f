/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What fills the facts, one file each. Whatever cannot be read is left as it is; nothing here
 * judges, and only who.h and spawn.h start anything.
 */
#ifndef DAVY_READ_H
#define DAVY_READ_H

#include "policy/effective.h"
#include "doctor/facts.h"
#include "doctor/who.h"

/* GPUs on the PCI bus and of DRM, drivers, KFD, memory; needs "engine" for the rules. */
void davy_read_gpus(struct davy_doctor_facts *facts);
void davy_read_rules(struct davy_doctor_facts *facts, const struct davy_policy_set *set);

/* Module parameters that modprobe.d or the command line set, and what came of it. */
void davy_read_parameters(struct davy_doctor_facts *facts);

/* BTF, tracefs, lockdown, capabilities, the host's memory. */
void davy_read_self(struct davy_doctor_facts *facts);

/* Which device files there should be, and a child like "who" that opens each. "facts": shared. */
void davy_read_nodes(struct davy_doctor_facts *facts, const struct davy_who *who);

/* Variables of "who", after the GPUs; and the Vulkan drivers that its loader would find. */
void davy_read_variables(struct davy_doctor_facts *facts, const struct davy_who *who);
void davy_read_icds(struct davy_doctor_facts *facts, const struct davy_who *who);

/* Runtimes by davylamp-probe, each as "who"; "program" is its path. */
void davy_read_runtimes(struct davy_doctor_facts *facts, const struct davy_who *who,
			const char *program, uint32_t limit_ms);

/*
 * The engine: "asked" is a path, a name, or NULL: that of who. Its libraries, and rocBLAS's
 * targets.
 */
void davy_read_engine(struct davy_doctor_facts *facts, const struct davy_who *who,
		      const char *asked);

/*
 * The engine's own look for devices, for each backend that it has; "command" (may be NULL) is run
 * as it is instead. "program" is davylamp-probe's path.
 */
void davy_read_runs(struct davy_doctor_facts *facts, const struct davy_who *who,
		    const char *program, char *const *command, uint32_t limit_ms);

/* The head of a GGUF file. */
void davy_read_model(struct davy_doctor_facts *facts, const char *path);

/* A regular file of at most size - 1 bytes, that nobody makes us wait for; -errno. */
ssize_t davy_read_regular(const char *path, char *buf, size_t size);

#endif
