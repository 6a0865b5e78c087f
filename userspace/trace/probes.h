/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Uprobes on the entry points, on what makes the dynamic linker's messages, and on the places to
 * which calls return. Plain ones only. In every process that maps the file; the kernel program
 * looks whether one is followed.
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
	int seen_files; /* the map */
};

struct davy_probes;

int davy_probes_new(const struct davy_probe_programs *programs, struct davy_probes **ret_probes);
void davy_probes_free(struct davy_probes *p);

/*
 * What the file at "path" is to be watched for, known by "name", the name under which it was
 * asked for; NULL: an engine's own file, any of ours. Once per file. Returns how many probes were
 * put, or -errno.
 */
int davy_probes_library(struct davy_probes *p, const char *path, const char *name);

/* An ld.so's errors. */
int davy_probes_linker(struct davy_probes *p, const char *path);

/* All that process "pid" has mapped by now. */
void davy_probes_process(struct davy_probes *p, uint32_t pid);

/* Where a call returns to. 0: it was put before; -ENOENT: no file is mapped there. */
int davy_probes_site(struct davy_probes *p, const struct davy_start_step *call);

#endif
