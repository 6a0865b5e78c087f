/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Uprobes on the entry points, on what makes the dynamic linker's messages, and on the places to
 * which calls return. Plain ones only. In every process that maps the file; the kernel program
 * looks whether one is followed.
 */
#ifndef DL_DISCOVERY_PROBES_H
#define DL_DISCOVERY_PROBES_H

#include <stdint.h>

#include "trace/start_step.h"

struct dl_probe_programs { /* descriptors */
	int call;
	int back;
	int signal_error;
	int exception;
	int exception_format;
	int loaded;
	int seen_files; /* the map */
};

struct dl_probes;

int dl_probes_new(const struct dl_probe_programs *programs, struct dl_probes **ret_probes);
void dl_probes_free(struct dl_probes *p);

/*
 * What the file at "path" is to be watched for, known by "name", the name under which it was
 * asked for; NULL: an engine's own file, any of ours. Once per file. Returns how many probes were
 * put, or -errno.
 */
int dl_probes_library(struct dl_probes *p, const char *path, const char *name);

/* An ld.so's errors. */
int dl_probes_linker(struct dl_probes *p, const char *path);

/* All that process "pid" has mapped by now. */
void dl_probes_process(struct dl_probes *p, uint32_t pid);

/* Where a call returns to. 0: it was put before; -ENOENT: no file is mapped there. */
int dl_probes_site(struct dl_probes *p, const struct dl_start_step *call);

#endif
