/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run of davylamp-probe means. Its output is outside input: vendor code has run in that
 * process. Stages come as lines before the answer, so that a crash or a hang is known by its place.
 */
#ifndef DAVY_PROBE_FINDING_H
#define DAVY_PROBE_FINDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DAVY_PROBE_OUTPUT_MAX (64 * 1024)
#define DAVY_PROBE_TEXT_MAX   512

enum davy_probe_kind {
	DAVY_PROBE_HEALTHY = 0,
	DAVY_PROBE_REPORTED = 1, /* the probe did its work, and its answer tells what is wrong */
	DAVY_PROBE_EXITED = 2,	 /* with a status, and no answer */
	DAVY_PROBE_SIGNAL = 3,
	DAVY_PROBE_TIMEOUT = 4,
	DAVY_PROBE_GARBAGE = 5, /* what it wrote is no answer, or too much */
	DAVY_PROBE_MISSING = 6, /* it could not be started */
	DAVY_PROBE_KIND_COUNT = 7,
};

/* How the process ended. */
struct davy_probe_end {
	int error; /* -errno: never started */
	int signal;
	int exit;
	bool timed_out;
	bool stuck;    /* SIGKILL did not end it: it sits in the kernel */
	bool overflow; /* wrote more than DAVY_PROBE_OUTPUT_MAX */
	uint32_t ms;
};

struct davy_probe_finding {
	enum davy_probe_kind kind;
	int signal; /* SIGNAL */
	int exit;   /* EXITED */
	uint32_t ms;
	char stage[16];			/* the last that began; "" when none was told */
	char device[24];		/* what it was about: an index or PCI address; "" */
	char text[DAVY_PROBE_TEXT_MAX]; /* for people, one line */
	const char *answer;		/* the answer's line, within the output; NULL: none */
	size_t answer_size;
};

/* "noise": what it said on stderr; its last line is told with what went wrong. */
void davy_probe_judge(const struct davy_probe_end *end, const char *output, size_t size,
		      const char *noise, struct davy_probe_finding *ret_finding);

const char *davy_probe_kind_name(enum davy_probe_kind kind);

/* Everything, the answer as an object; NULL when there is no memory. */
json_t *davy_probe_finding_json(const struct davy_probe_finding *finding);

#endif
