/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What fills the facts, one file each. Whatever cannot be read is left as it is; nothing here
 * judges, and only who.h and spawn.h start anything.
 */
#ifndef DL_DOCTOR_READ_H
#define DL_DOCTOR_READ_H

#include "policy/effective.h"
#include "doctor/facts.h"
#include "doctor/who.h"

/* GPUs on the PCI bus and of DRM, drivers, KFD, memory; needs "engine" for the rules. */
void dl_read_gpus(struct dl_doctor_facts *facts);
void dl_read_rules(struct dl_doctor_facts *facts, const struct dl_policy_set *set);

/* Module parameters that modprobe.d or the command line set, and what came of it. */
void dl_read_parameters(struct dl_doctor_facts *facts);

/* BTF, tracefs, lockdown, capabilities, the host's memory. */
void dl_read_self(struct dl_doctor_facts *facts);

/* Which device files there should be, and a child like "who" that opens each. "facts": shared. */
void dl_read_nodes(struct dl_doctor_facts *facts, const struct dl_who *who);

/* Variables of "who", after the GPUs; and the Vulkan drivers that its loader would find. */
void dl_read_variables(struct dl_doctor_facts *facts, const struct dl_who *who);
void dl_read_icds(struct dl_doctor_facts *facts, const struct dl_who *who);

/* Runtimes by davylamp-probe, each as "who"; "program" is its path. */
void dl_read_runtimes(struct dl_doctor_facts *facts, const struct dl_who *who, const char *program,
		      uint32_t limit_ms);

/*
 * The engine: "asked" is a path, a name, or NULL: that of who. Its libraries, and rocBLAS's
 * targets.
 */
void dl_read_engine(struct dl_doctor_facts *facts, const struct dl_who *who, const char *asked);

/*
 * The engine's own look for devices, for each backend that it has; "command" (may be NULL) is run
 * as it is instead. "program" is davylamp-probe's path.
 */
void dl_read_runs(struct dl_doctor_facts *facts, const struct dl_who *who, const char *program,
		  char *const *command, uint32_t limit_ms);

/* The head of a GGUF file. */
void dl_read_model(struct dl_doctor_facts *facts, const char *path);

/* A regular file of at most size - 1 bytes, that nobody makes us wait for; -errno. */
ssize_t dl_read_regular(const char *path, char *buf, size_t size);

#endif
