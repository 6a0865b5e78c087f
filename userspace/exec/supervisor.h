/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A supervisor: one loop, one engine, and during a handover a second one. It completes what the
 * agent has begun even if the agent dies. Only supervise*.c and handover*.c include it.
 */
#ifndef DAVY_SUPERVISOR_H
#define DAVY_SUPERVISOR_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "act/slots.h"
#include "act/steer.h"
#include "exec/supervise.h"
#include "sensors/proc/process_start.h"

/* The stages of a planned migration, in their order. */
enum davy_handover_stage {
	DAVY_HANDOVER_NONE = 0,
	DAVY_HANDOVER_LISTEN, /* until the new one listens on the port too */
	DAVY_HANDOVER_WARM,   /* until it has generated a token */
	DAVY_HANDOVER_SAVE,   /* the old one saves its slots */
	DAVY_HANDOVER_RESTORE,
	DAVY_HANDOVER_DRAIN, /* the new one serves; the old one finishes its requests */
	DAVY_HANDOVER_END,   /* the old one is terminated */
};

struct davy_handover {
	enum davy_handover_stage stage;
	bool beside;			 /* both run at once, else one after the other */
	bool alone;			 /* the old one has ended */
	uint32_t number;		 /* of this handover; answers for another one are late */
	struct davy_launched other;	 /* up to RESTORE the new one, from DRAIN on the old one */
	struct davy_engine_override was; /* the settings to return to */
	struct davy_engine_override override;
	char address[DAVY_ADDRESS_LEN];
	uint16_t from_port;
	int from_fd; /* -1: none */
	struct davy_slots slots;
	uint32_t load_ms;  /* time limit for loading */
	uint32_t token_ms; /* measured time to the first token */
	uint64_t began_ms;
	uint64_t stage_ms;    /* when the stage began */
	uint64_t reported_ms; /* time of the last progress message */
	unsigned int sent;    /* number of ending signals sent */
	sd_event_source *tick;
};

/* Why an order changed the engine: reported to a later agent. */
struct davy_supervisor_why {
	char hazard[32];
	char backend[16]; /* in use before, as seen by the agent */
	char device[DAVY_DEVICE_LEN];
};

struct davy_supervisor {
	struct davy_launch *launch;
	struct davy_supervise_options options;
	sd_event *loop;
	struct davy_launched engine; /* the one that serves, or will serve */
	struct davy_handover handover;
	char probe_path[PATH_MAX];
	int agent_fd; /* -1: none */
	sd_event_source *agent;
	sd_event_source *patience;
	struct davy_process_start *start; /* of launch->look; NULL: none */
	struct davy_engine_look look;
	sd_event_source *tree;	  /* looks for the engine below the child */
	pid_t tree_pid;		  /* the child that it looks at */
	uint64_t tree_us;	  /* interval of the looks */
	bool tree_found;	  /* the engine of that child */
	pid_t previous_pid;	  /* the engine before this one */
	enum davy_backend before; /* the move to the CPU */
	struct davy_supervisor_why shrunk, moved;
	uint64_t started_ms;
	uint64_t ended_ms;
	int status;	   /* wait status of the engine that ended last */
	bool ending;	   /* a signal asked us to end: no replacement */
	bool awaits_order; /* the agent announced an order: wait while it runs */
	bool released;
};

/*
 * supervise.c: whether the engine that has ended rejected our additions to its environment; then it
 * is started without them. Asked after the agent, which may know another reason.
 */
bool davy_supervisor_without_additions(struct davy_supervisor *s);

/* supervise_agent.c: false: not sent. */
bool davy_supervisor_say(struct davy_supervisor *s, json_t *message);
/* Effects in force on the engine, "left" in a register message. */
json_t *davy_supervisor_effects(const struct davy_supervisor *s);
json_t *davy_supervisor_engine(const struct davy_supervisor *s, const char *op);
void davy_supervisor_failed(struct davy_supervisor *s, int err);
void davy_supervisor_look_for_agent(struct davy_supervisor *s);
/* Disconnects, to register again with the engine's current state. */
void davy_supervisor_hang_up(struct davy_supervisor *s);

/* supervise_replace.c: orders of the agent. */
void davy_supervisor_replace(struct davy_supervisor *s, const json_t *order);
void davy_supervisor_stop(struct davy_supervisor *s, const json_t *order);
/* The agent has received a token: reports whether an engine moved by variables is on the CPU. */
void davy_supervisor_confirm(struct davy_supervisor *s);
/* Restarts the engine with these settings; on failure no engine runs. */
int davy_supervisor_restart(struct davy_supervisor *s, const struct davy_engine_override *override);

/* supervise_tree.c: looks at each new child until the engine is found. */
int davy_became_open(struct davy_supervisor *s);
void davy_became_follow(struct davy_supervisor *s);

/* handover.c. -EOPNOTSUPP: nothing can be kept, nothing was begun; the caller restarts instead. */
int davy_handover_begin(struct davy_supervisor *s, const struct davy_engine_override *override,
			uint32_t patience_ms);
/* One of the two engines has ended; its pid is 0. */
void davy_handover_engine_gone(struct davy_supervisor *s);
void davy_handover_other_gone(struct davy_supervisor *s);
void davy_handover_cancel(struct davy_supervisor *s, int err);

/* handover_ask.c: asks an engine through davylamp-probe. */
void davy_handover_ask(struct davy_supervisor *s);
/* handover.c: the answers. */
void davy_handover_warmed(struct davy_supervisor *s, bool healthy, const char *why);
void davy_handover_saved(struct davy_supervisor *s);
void davy_handover_restored(struct davy_supervisor *s);

#endif
