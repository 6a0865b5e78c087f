/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One incident with what surrounds it, from a trace or from the running agent, and its forms. Only
 * reporter/ includes this.
 */
#ifndef DAVY_DOSSIER_H
#define DAVY_DOSSIER_H

#include <jansson.h>
#include <stdio.h>

#include "report/incidents.h"

#define DAVY_DOSSIER_POINTS 200000 /* samples kept of a trace */
#define DAVY_DOSSIER_EVENTS 20000  /* printed events kept of a trace */
#define DAVY_DOSSIER_SHOWN  120	   /* events shown of one incident */

enum davy_curve {
	DAVY_CURVE_VRAM = 0,
	DAVY_CURVE_GTT,
	DAVY_CURVE_HOST,
	DAVY_CURVE_JOB,	    /* oldest job against its timeout */
	DAVY_CURVE_EVICTED, /* no curve: a mark where buffers were evicted */
	DAVY_CURVES,
};

struct davy_point {
	json_int_t at_ns;
	unsigned char curve;
	short permille;
	char device[32];
};

struct davy_dossier {
	struct davy_incidents incidents;
	json_t *events; /* array of {number, text, json} */
	struct davy_point *point;
	size_t point_count;
	json_int_t clock_ns, clock_s; /* a wall clock of the trace or agent; 0: unknown */
	json_t *versions;	      /* object: what is known of kernel, drivers, davylamp */
	char source[256];	      /* where it comes from, for a reader */
};

/* gather.c. 0 or -errno. */
int davy_dossier_of_trace(struct davy_dossier *d, const char *path);
int davy_dossier_of_agent(struct davy_dossier *d, const char *socket_path);
void davy_dossier_done(struct davy_dossier *d);

/*
 * account.c: the incident as one JSON object: what, where, who, since when, failure, actions, time
 * line, events around it, versions. "redact": names become "process-1" or "model-1", and only
 * known kinds of values are kept: no text of strangers, no path, no address.
 */
json_t *davy_account(const struct davy_dossier *d, const struct davy_told_incident *in,
		     bool redact);

/* The forms of an account. */
void davy_account_text(const json_t *account, FILE *out);
void davy_account_html(const json_t *account, const struct davy_dossier *d,
		       const struct davy_told_incident *in, FILE *out);
/* "drm-amd", "llama.cpp", "ollama"; false: unknown. */
bool davy_account_upstream(const json_t *account, const char *tracker, FILE *out);

/* report_log.c, report_replay.c, report_schema.c: return the exit status. */
int davy_report_log(int argc, char **argv);
int davy_report_replay(int argc, char **argv);
int davy_report_schema(int argc, char **argv);

#endif
