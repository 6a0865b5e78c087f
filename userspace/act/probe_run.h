/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs davylamp-probe as a child in its own process group and reports the result. Never waits. A
 * child that survives SIGKILL is reported and no longer watched.
 */
#ifndef DAVY_PROBE_RUN_H
#define DAVY_PROBE_RUN_H

#include <systemd/sd-event.h>

#include "act/probe_finding.h"

struct davy_probe_request {
	const char *program;	      /* davylamp-probe's path */
	const char *const *arguments; /* argv[1] and following, NULL-terminated; copied */
	const char *api_key;	      /* for the engine; NULL or "": none. Not in the arguments */
	uint32_t limit_ms;	      /* wall time, then the group is killed */
	/* The finding and its pointers are valid until "done" returns. */
	void (*done)(void *arg, const struct davy_probe_finding *finding);
	void *arg;
};

/*
 * On success "done" is called once, from the loop. Otherwise returns -errno, and
 * davy_probe_not_started makes a finding of it.
 */
int davy_probe_start(sd_event *loop, const struct davy_probe_request *request);
void davy_probe_not_started(int error, struct davy_probe_finding *ret_finding);

/* davylamp-probe's path, in the directory of this program. -errno: it cannot be run. */
int davy_probe_path(char *buf, size_t size);

#endif
