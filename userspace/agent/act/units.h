/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adopted services: each is a workload while it is adopted, whether it runs or not. Only agent/
 * includes this.
 */
#ifndef DAVY_UNITS_H
#define DAVY_UNITS_H

#include <jansson.h>
#include <limits.h>

#include "act/unit.h"
#include "core/event/plan.h"
#include "engines/environment.h"
#include "sensors/proc/process_start.h"
#include "store/adopted.h"

struct davy_agent;
struct davy_link;

/* The act in progress on a unit; plan 0: none. */
struct davy_unit_act {
	uint32_t plan;
	uint8_t action;
	uint8_t undone; /* for an undo: the action that is undone */
	uint8_t hazard;
	char device[DAVY_DEVICE_LEN];
	struct davy_start_settings settings;
	bool tuned; /* the settings are complete: they replace all others */
	enum davy_backend to_backend;
	uint64_t cap[2]; /* memory.high, CPU time; 0: unchanged */
	uint32_t cap_at;
	struct davy_adopted_unit before; /* restored on a failure */
	struct davy_environment applied; /* expected in the new process */
	bool written;
	bool stopped_reported;
	uint32_t read_count;
	uint64_t verify_end_ms; /* 0: not started */
	bool awaits;		/* the new process is expected to become an engine */
	int result;		/* reason of the rollback; 0: none */
};

struct davy_service {
	struct davy_agent *agent;
	char name[DAVY_UNIT_LEN]; /* "": empty */
	uint32_t workload;
	uint32_t main_pid; /* of the unit's main process */
	uint32_t pid;	   /* of the engine, usually the same; 0: none */
	uint64_t start_ticks;
	enum davy_engine engine;
	enum davy_backend backend;
	enum davy_role role;
	uint16_t port;
	uint32_t parallel;
	char model[DAVY_MODEL_LEN]; /* the last model that was seen */
	char cgroup[DAVY_UNIT_CGROUP_LEN];
	struct davy_process_start *start; /* of the unit itself; NULL: not seen running */
	struct davy_unit_state state;
	bool met; /* the process was reported to the core */
	uint32_t look_count;
	uint32_t backends;	 /* loaded backends, 1 << enum davy_backend; 0: unknown */
	uint64_t begun_ns;	 /* when its process was first seen */
	uint64_t command_sum;	 /* of the unit's command at that time */
	uint64_t rules_sum;	 /* of the last written environment; 0: none */
	size_t rules_count;	 /* number of variables from rules */
	uint64_t rules_retry_ns; /* after a failed write: next attempt */
	bool registered;
	bool restored_reported;
	bool settle_late; /* the reply of a reader is late; the next tick tries again */
	bool asking;
	bool ask_again;
	bool silent;	  /* that it does not answer was logged */
	bool reached;	  /* it has answered once */
	bool unreachable; /* nothing listens at the address of its container */
	bool releasing;	  /* its container is made as it was */
	struct davy_unit_act act;
};

#define DAVY_UNIT_LABELS 64

struct davy_units {
	struct davy_systemd *systemd;
	struct davy_adopted adopted;
	int unread; /* -errno of reading the list, which must not be replaced; 0: it was read */
	uint64_t tried_ns;
	struct davy_service unit[DAVY_ADOPTED_MAX];
	char dir[PATH_MAX]; /* of the environment files: an absolute path, for unit files */
	uint64_t asked_ns;
	char label[DAVY_UNIT_LABELS][DAVY_UNIT_DIGITS + 1]; /* containers asked about a label */
	uint32_t label_count;				    /* ever; the last one is the latest */
	bool label_asking;
	bool lost; /* connection lost: read the state of all units again */
};

/* units.c */
void davy_units_open(struct davy_agent *a);
void davy_units_close(struct davy_agent *a);
void davy_units_tick(struct davy_agent *a, uint64_t now_ns);

/* unit_table.c */
/* The process of a workload, supervised or adopted; pid 0: it does not run. */
struct davy_place {
	uint32_t pid;
	uint64_t start_ticks;
	const char *cgroup; /* as in /proc/PID/cgroup; "": it has none of its own */
	const char *unit;   /* "": no unit */
};

bool davy_workload_place(struct davy_agent *a, uint32_t workload, struct davy_place *ret_place);
struct davy_service *davy_unit_of_workload(struct davy_agent *a, uint32_t workload);
struct davy_service *davy_unit_named(struct davy_agent *a, const char *name);
struct davy_adopted_unit *davy_unit_adopted(const struct davy_service *u); /* its row, or NULL */
/* 0: it is not the cgroup of an adopted unit. */
uint32_t davy_units_workload_of(const struct davy_agent *a, const char *cgroup);
/*
 * The port at davy_unit_host() for "port" in the container: the published one, else "port" itself;
 * 0: not reachable. Of other units: "port".
 */
uint16_t davy_units_port_of(struct davy_agent *a, uint32_t workload, uint16_t port);
const char *davy_units_image_of(struct davy_agent *a, uint32_t workload); /* agent_hooks.h */
const char *davy_unit_host(const struct davy_service *u);		  /* where its port is */
struct davy_service *davy_unit_add(struct davy_agent *a, const char *name);
int davy_units_save(struct davy_agent *a); /* the list; errors are logged */

/* unit_list.c: the list; errors are logged. */
int davy_units_read(struct davy_agent *a);
void davy_units_read_tick(struct davy_agent *a, uint64_t now_ns);

/* unit_watch.c */
void davy_unit_watch_tick(struct davy_service *u);
void davy_unit_forget(struct davy_service *u);
void davy_unit_look(struct davy_service *u);
/*
 * Finds its process again: a process with the engine's name may become the engine only later, by an
 * exec.
 */
void davy_unit_look_again(struct davy_service *u);
/* Takes the state from systemd and reports started and exited processes to the core. */
void davy_unit_take(struct davy_service *u, const struct davy_unit_state *state);
/* An operator has stopped it: the agent must not start it. */
bool davy_unit_stopped_by_hand(const struct davy_unit_state *state);

/*
 * unit_rules.c: writes lines of the environment file, except for the names in "above"; returns
 * their number.
 */
size_t davy_unit_rules_put(struct davy_service *u, const struct davy_adopted_unit *of,
			   const struct davy_environment *above, FILE *out);
/* A rule about backends applies only after the engine has loaded its backends. */
bool davy_unit_rules_early(struct davy_service *u, const struct davy_adopted_unit *of);
uint64_t davy_unit_command_sum(const struct davy_unit_state *state);

/* unit_files.c: files of an adopted unit. -errno: the error was logged. */
/* The key that its engine accepts, by its command or environment; "": none known. Returns "key". */
const char *davy_unit_api_key(const struct davy_service *u, char key[DAVY_API_KEY_LEN]);

/*
 * The environment for the settings in "wanted", according to the unit's own command. Rules are not
 * included.
 */
int davy_unit_environment(struct davy_service *u, const struct davy_adopted_unit *wanted,
			  struct davy_environment *e);
int davy_unit_files_path(const struct davy_agent *a, const char *name, char *path, size_t size);
int davy_unit_files_make(struct davy_agent *a, struct davy_adopted_unit *u);
int davy_unit_files_remove(struct davy_agent *a, const struct davy_adopted_unit *u, json_t *kept);
int davy_unit_files_write(struct davy_agent *a, struct davy_adopted_unit *u,
			  const struct davy_environment *e);
int davy_unit_files_check(struct davy_agent *a, const struct davy_adopted_unit *u);
/* Checksum of what would be written: a new value means that the settings change. */
int davy_unit_files_sum(struct davy_agent *a, struct davy_adopted_unit *u,
			const struct davy_environment *e, uint64_t *ret_sum);
/*
 * Removes the variables of the environment file from a start: they are not the unit's own settings.
 */
void davy_unit_files_unset(struct davy_agent *a, const char *name,
			   struct davy_process_start *start);

/* unit_tell.c: writes the settings of rules when they change; nothing during an act. */
void davy_unit_tell_rules(struct davy_service *u);
void davy_units_tell_rules(struct davy_agent *a);

/* unit_proof.c */
/*
 * Whether the process has these variables: 1 or 0; "tell_why" logs a missing one. -EAGAIN: it
 * cannot be read, for example during an exec. -EINPROGRESS: the reply of its reader is late, so the
 * result is unknown.
 */
int davy_unit_applied(const struct davy_service *u, const struct davy_environment *e,
		      bool tell_why);
/* Marks its change as proven. */
void davy_unit_prove(struct davy_service *u);
/* A change of an earlier agent is kept if the process has it, else it is undone. */
void davy_unit_settle(struct davy_service *u);

/* act_unit_cap.c: false: the action is no cap. */
/* Restores the limits from before its first cap, without waiting; false: it has none. */
bool davy_unit_uncap(struct davy_agent *a, struct davy_adopted_unit *of);
unsigned int davy_units_uncap(struct davy_agent *a); /* all units; returns the number */
bool davy_unit_cap(struct davy_service *u, const struct davy_plan *plan);

/* act_models.c: false: it is not an action on models. */
bool davy_models_act(struct davy_service *u, const struct davy_plan *plan);
/* Calls "done" with the result; false: the request could not be sent. */
bool davy_models_restore(struct davy_service *u, const char *model,
			 void (*done)(void *arg, bool good), void *arg);

/* unit_label.c: adopts containers whose own definition asks for it. */
void davy_units_labels(struct davy_agent *a);

/* unit_adopt.c: NULL: the reply comes later. Otherwise the reason of the refusal. */
const char *davy_unit_adopt(struct davy_link *link, const json_t *message);
const char *davy_unit_release(struct davy_link *link, const json_t *message);
void davy_unit_adopt_by_label(struct davy_agent *a, const char *unit); /* the log has the result */
json_t *davy_units_list(const struct davy_agent *a);

/* act_unit.c: the actions that systemd performs on a unit; true, even if they fail. */
void davy_unit_act_tick(struct davy_service *u);
bool davy_unit_act(struct davy_service *u, const struct davy_plan *plan);

#endif
