/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups decisions, as JSON, into incidents: the alarms of one device, process or workload that
 * follow each other, the actions against them, and how it ended. For programs that show incidents
 * to people (davylamp-top, davylamp-report).
 */
#ifndef DAVY_INCIDENTS_H
#define DAVY_INCIDENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define DAVY_INCIDENTS_TOLD 64	/* the oldest ended one is replaced */
#define DAVY_INCIDENT_LINES 200 /* decisions of one incident; further ones are counted */

struct davy_told_incident {
	json_int_t id; /* of its first decision */
	json_int_t begun_ns, last_ns;
	json_int_t first_sign_ns; /* may be earlier than begun_ns */
	json_int_t ended_ns;	  /* 0: it stands */
	int level;		  /* highest, 1 to 3; 0: only a failure without an alarm */
	char hazard[48];	  /* of the highest level, or the class of the failure */
	json_t *failure;	  /* the first decision about a failure; NULL: none */
	json_t *standing;	  /* object: its alarms that stand */
	json_t *subjects;	  /* object: its devices, pids and workloads */
	json_t *lines;		  /* array of {number, text, json}, in order */
	size_t unlisted;
};

struct davy_incidents {
	struct davy_told_incident at[DAVY_INCIDENTS_TOLD]; /* oldest first */
	size_t count;
};

/* "line" is {number, text, json: decision}, as in the agent's answer. Other lines are ignored. */
void davy_incidents_add(struct davy_incidents *all, json_t *line);
void davy_incidents_done(struct davy_incidents *all);

/* The last decision of the incident with that "rung" (NULL: an action); NULL: none. */
const json_t *davy_incident_last(const struct davy_told_incident *in, const char *rung);

/* True if the decision is a planned or refused action. */
bool davy_decision_acts(const json_t *decision);

#endif
