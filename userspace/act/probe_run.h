/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs davylamp-probe as a child in a process group of its own and tells what became of it. Nothing
 * here waits: reads take what is there, and a child that even SIGKILL does not end is left to the
 * kernel while its finding is told.
 */
#ifndef DAVY_PROBE_RUN_H
#define DAVY_PROBE_RUN_H

#include <systemd/sd-event.h>

#include "act/probe_finding.h"

struct davy_probe_request {
	const char *program;	      /* davylamp-probe's path */
	const char *const *arguments; /* from argv[1] on, ended by NULL; used at the start only */
	uint32_t limit_ms;	      /* of wall time; its group is killed then */
	/* The finding and what it points to are good until this returns. */
	void (*done)(void *arg, const struct davy_probe_finding *finding);
	void *arg;
};

/*
 * "done" is called once, from the loop, unless this fails: then with -errno, and
 * davy_probe_not_started makes a finding of it.
 */
int davy_probe_start(sd_event *loop, const struct davy_probe_request *request);
void davy_probe_not_started(int error, struct davy_probe_finding *ret_finding);

/* davylamp-probe lies beside this program. -errno when it cannot be run. */
int davy_probe_path(char *buf, size_t size);

#endif
