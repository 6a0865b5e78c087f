/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A supervisor: one loop, one engine, and for the time of a handover a second one. It needs no
 * agent: what the agent has begun it finishes alone. Only supervise*.c and handover*.c include it.
 */
#ifndef DAVY_SUPERVISOR_H
#define DAVY_SUPERVISOR_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "act/slots.h"
#include "act/steer.h"
#include "cli/supervise.h"

/* The stages of a planned migration, in their order. */
enum davy_handover_stage {
	DAVY_HANDOVER_NONE = 0,
	DAVY_HANDOVER_LISTEN, /* beside the old one: until the new one has the port too */
	DAVY_HANDOVER_WARM,   /* until it has given a token */
	DAVY_HANDOVER_SAVE,   /* the old one's slots */
	DAVY_HANDOVER_RESTORE,
	DAVY_HANDOVER_DRAIN, /* the new one serves; the old one finishes what it has */
	DAVY_HANDOVER_END,   /* and is asked to end */
};

struct davy_handover {
	enum davy_handover_stage stage;
	bool beside;		     /* both live at once; else one after the other */
	bool alone;		     /* the old one is gone */
	uint32_t number;	     /* of this one; answers to questions of another are too late */
	struct davy_launched other;  /* up to RESTORE the new one, from DRAIN on the old one */
	struct davy_engine_wish was; /* what is gone back to */
	struct davy_engine_wish wish;
	char address[DAVY_ADDRESS_LEN];
	uint16_t from_port;
	int from_fd; /* holds it; -1: none */
	struct davy_slots slots;
	uint32_t load_ms;  /* the new one may load for so long */
	uint32_t token_ms; /* and its first token came after so long */
	uint64_t began_ms;
	uint64_t stage_ms; /* when the stage began */
	uint64_t told_ms;  /* of progress */
	unsigned int sent; /* of the signals that end it */
	sd_event_source *tick;
};

/* For what an order changed the engine: told to an agent that did not order it. */
struct davy_supervisor_why {
	char hazard[32];
	char backend[16]; /* that it ran on, by the agent */
	char device[DAVY_DEVICE_LEN];
};

struct davy_supervisor {
	struct davy_launch *launch;
	struct davy_supervise_options options;
	sd_event *loop;
	struct davy_launched engine; /* the one that serves, or is to */
	struct davy_handover handover;
	char probe_path[PATH_MAX];
	int agent_fd; /* -1: none */
	sd_event_source *agent;
	sd_event_source *patience;
	pid_t previous_pid;	  /* the child before this one */
	enum davy_backend before; /* the move to the CPU */
	struct davy_supervisor_why shrunk, moved;
	uint64_t started_ms;
	int status;  /* wait status of the engine that ended last */
	bool ending; /* we were told to end: no replacement any more */
	bool held;   /* the agent has something to come: wait for it as long as it lives */
	bool let_go;
};

/* supervise_agent.c: false when nobody was told. */
bool davy_supervisor_say(struct davy_supervisor *s, json_t *message);
/* What of the engine is not as its command says, as "left" of a register message. */
json_t *davy_supervisor_left(const struct davy_supervisor *s);
json_t *davy_supervisor_engine(const struct davy_supervisor *s, const char *op);
void davy_supervisor_failed(struct davy_supervisor *s, int err);
void davy_supervisor_look_for_agent(struct davy_supervisor *s);
/* To be known anew, when the agent's picture of the engine is wrong. */
void davy_supervisor_hang_up(struct davy_supervisor *s);

/* supervise_replace.c: an order of the agent's. */
void davy_supervisor_replace(struct davy_supervisor *s, const json_t *order);
void davy_supervisor_stop(struct davy_supervisor *s, const json_t *order);
/* Ends the engine and starts it as wished; the engine is gone when this fails. */
int davy_supervisor_restart(struct davy_supervisor *s, const struct davy_engine_wish *wish);

/*
 * handover.c. -EOPNOTSUPP: nothing can be kept here, and nothing was begun; the caller goes on as
 * without a plan.
 */
int davy_handover_begin(struct davy_supervisor *s, const struct davy_engine_wish *wish,
			uint32_t patience_ms);
/* The engine's or the other's end was seen; whose it was has no pid any more. */
void davy_handover_engine_gone(struct davy_supervisor *s);
void davy_handover_other_gone(struct davy_supervisor *s);
void davy_handover_cancel(struct davy_supervisor *s, int err);

/* handover_ask.c: a question put to the engines through davylamp-probe. */
void davy_handover_ask(struct davy_supervisor *s);
/* handover.c: and its answer. */
void davy_handover_warmed(struct davy_supervisor *s, bool healthy, const char *why);
void davy_handover_saved(struct davy_supervisor *s);
void davy_handover_restored(struct davy_supervisor *s);

#endif
