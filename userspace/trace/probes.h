/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Uprobes on entry points, on the functions that make the dynamic linker's messages, and on return
 * addresses of calls (no uretprobes). They fire in every process that maps the file; the BPF
 * program checks whether it is followed.
 */
#ifndef DAVY_PROBES_H
#define DAVY_PROBES_H

#include <stdint.h>

#include "trace/start_step.h"

struct davy_probe_programs { /* descriptors */
	int call;
	int back;
	int signal_error;
	int exception;
	int exception_format;
	int loaded;
	int seen_files; /* a BPF map */
};

struct davy_probes;

int davy_probes_new(const struct davy_probe_programs *programs, struct davy_probes **ret_probes);
void davy_probes_free(struct davy_probes *p);

/*
 * Probes the file at "path". "name": the library name that was requested; NULL: an engine's own
 * file, any known function. Once per file. Returns the number of probes, or -errno.
 */
int davy_probes_library(struct davy_probes *p, const char *path, const char *name);

/* Probes the error functions of an ld.so. */
int davy_probes_linker(struct davy_probes *p, const char *path);

/* Probes all current mappings of process "pid". */
void davy_probes_process(struct davy_probes *p, uint32_t pid);

/* Probes the return address of a call. 0: already probed; -ENOENT: no file is mapped there. */
int davy_probes_site(struct davy_probes *p, const struct davy_start_step *call);

#endif
