/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The meaning of a run of davylamp-probe. Its output is untrusted, because vendor code has run in
 * the process. It writes stages before the answer, so that the place of a crash or a hang is known.
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
	DAVY_PROBE_REPORTED = 1, /* the probe worked; its answer has the fault */
	DAVY_PROBE_EXITED = 2,	 /* exited without an answer */
	DAVY_PROBE_SIGNAL = 3,
	DAVY_PROBE_TIMEOUT = 4,
	DAVY_PROBE_GARBAGE = 5, /* its output is not valid, or too long */
	DAVY_PROBE_MISSING = 6, /* it could not be started */
	DAVY_PROBE_KIND_COUNT = 7,
};

/* How the process ended. */
struct davy_probe_end {
	int error; /* -errno: never started */
	int signal;
	int exit;
	bool timed_out;
	bool stuck;    /* survived SIGKILL: blocked in the kernel */
	bool overflow; /* wrote more than DAVY_PROBE_OUTPUT_MAX */
	uint32_t ms;
};

struct davy_probe_finding {
	enum davy_probe_kind kind;
	int signal; /* SIGNAL */
	int exit;   /* EXITED */
	uint32_t ms;
	char stage[16];			/* the last one begun; "": none */
	char device[24];		/* its device: index, PCI address or "" */
	char text[DAVY_PROBE_TEXT_MAX]; /* message, one line */
	const char *answer;		/* the answer's line in the output; NULL: none */
	size_t answer_size;
};

/* "noise": its stderr; the last line is added to the message. */
void davy_probe_judge(const struct davy_probe_end *end, const char *output, size_t size,
		      const char *noise, struct davy_probe_finding *ret_finding);

const char *davy_probe_kind_name(enum davy_probe_kind kind);

/* All fields, the answer as an object; NULL: out of memory. */
json_t *davy_probe_finding_json(const struct davy_probe_finding *finding);

#endif
