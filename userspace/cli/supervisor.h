/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A supervisor: one loop, one engine, and for the time of a handover a second one. It needs no
 * agent: what the agent has begun it finishes alone. Only supervise*.c and handover*.c include it.
 */
#ifndef DL_VERBS_SUPERVISOR_H
#define DL_VERBS_SUPERVISOR_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "act/slots.h"
#include "act/steer.h"
#include "cli/supervise.h"

/* The stages of a planned migration, in their order. */
enum dl_handover_stage {
	DL_HANDOVER_NONE = 0,
	DL_HANDOVER_LISTEN, /* beside the old one: until the new one has the port too */
	DL_HANDOVER_WARM,   /* until it has given a token */
	DL_HANDOVER_SAVE,   /* the old one's slots */
	DL_HANDOVER_RESTORE,
	DL_HANDOVER_DRAIN, /* the new one serves; the old one finishes what it has */
	DL_HANDOVER_END,   /* and is asked to end */
};

struct dl_handover {
	enum dl_handover_stage stage;
	bool beside;		   /* both live at once; else one after the other */
	bool alone;		   /* the old one is gone */
	uint32_t number;	   /* of this one; answers to questions of another are too late */
	struct dl_launched other;  /* up to RESTORE the new one, from DRAIN on the old one */
	struct dl_engine_wish was; /* what is gone back to */
	struct dl_engine_wish wish;
	char address[DL_ADDRESS_LEN];
	uint16_t from_port;
	int from_fd; /* holds it; -1: none */
	struct dl_slots slots;
	uint32_t load_ms;  /* the new one may load for so long */
	uint32_t token_ms; /* and its first token came after so long */
	uint64_t began_ms;
	uint64_t stage_ms; /* when the stage began */
	uint64_t told_ms;  /* of progress */
	unsigned int sent; /* of the signals that end it */
	sd_event_source *tick;
};

/* For what an order changed the engine: told to an agent that did not order it. */
struct dl_supervisor_why {
	char hazard[32];
	char backend[16]; /* that it ran on, by the agent */
	char device[DL_DEVICE_LEN];
};

struct dl_supervisor {
	struct dl_launch *launch;
	struct dl_supervise_options options;
	sd_event *loop;
	struct dl_launched engine; /* the one that serves, or is to */
	struct dl_handover handover;
	char probe_path[PATH_MAX];
	int agent_fd; /* -1: none */
	sd_event_source *agent;
	sd_event_source *patience;
	pid_t previous_pid;	/* the child before this one */
	enum dl_backend before; /* the move to the CPU */
	struct dl_supervisor_why shrunk, moved;
	uint64_t started_ms;
	int status;  /* wait status of the engine that ended last */
	bool ending; /* we were told to end: no replacement any more */
	bool held;   /* the agent has something to come: wait for it as long as it lives */
	bool let_go;
};

/* supervise_agent.c: false when nobody was told. */
bool dl_supervisor_say(struct dl_supervisor *s, json_t *message);
/* What of the engine is not as its command says, as "left" of a register message. */
json_t *dl_supervisor_left(const struct dl_supervisor *s);
json_t *dl_supervisor_engine(const struct dl_supervisor *s, const char *op);
void dl_supervisor_failed(struct dl_supervisor *s, int err);
void dl_supervisor_look_for_agent(struct dl_supervisor *s);
/* To be known anew, when the agent's picture of the engine is wrong. */
void dl_supervisor_hang_up(struct dl_supervisor *s);

/* supervise_replace.c: an order of the agent's. */
void dl_supervisor_replace(struct dl_supervisor *s, const json_t *order);
void dl_supervisor_stop(struct dl_supervisor *s, const json_t *order);
/* Ends the engine and starts it as wished; the engine is gone when this fails. */
int dl_supervisor_restart(struct dl_supervisor *s, const struct dl_engine_wish *wish);

/*
 * handover.c. -EOPNOTSUPP: nothing can be kept here, and nothing was begun; the caller goes on as
 * without a plan.
 */
int dl_handover_begin(struct dl_supervisor *s, const struct dl_engine_wish *wish,
		      uint32_t patience_ms);
/* The engine's or the other's end was seen; whose it was has no pid any more. */
void dl_handover_engine_gone(struct dl_supervisor *s);
void dl_handover_other_gone(struct dl_supervisor *s);
void dl_handover_cancel(struct dl_supervisor *s, int err);

/* handover_ask.c: a question put to the engines through davylamp-probe. */
void dl_handover_ask(struct dl_supervisor *s);
/* handover.c: and its answer. */
void dl_handover_warmed(struct dl_supervisor *s, bool healthy, const char *why);
void dl_handover_saved(struct dl_supervisor *s);
void dl_handover_restored(struct dl_supervisor *s);

#endif
