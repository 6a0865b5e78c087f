/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Services in the agent's care: each is a workload as long as it is adopted, whether it runs or
 * not. Only agent/ includes this.
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

/* What is under way for a unit; plan 0: nothing. */
struct davy_unit_act {
	uint32_t plan;
	uint8_t action;
	uint8_t undone; /* of an undo: the action */
	uint8_t hazard;
	char device[DAVY_DEVICE_LEN];
	struct davy_knobs knobs;
	bool tuned; /* the knobs are all that there are to be */
	enum davy_backend to_backend;
	uint64_t cap[2]; /* memory.high, CPU time; 0: left as it is */
	uint32_t cap_at;
	struct davy_adopted_unit before; /* to go back to */
	struct davy_environment told;	 /* what the new process is to have been told */
	bool written;
	bool stopped_told;
	uint32_t read_count;
	uint64_t verify_end_ms; /* 0: not begun */
	bool awaits;		/* the new process, to become an engine */
	int result;		/* why it goes back; 0: it does not */
};

struct davy_service {
	struct davy_agent *agent;
	char name[DAVY_UNIT_LEN]; /* "": empty */
	uint32_t workload;
	uint32_t main_pid; /* as systemd has it */
	uint32_t pid;	   /* of the engine, most often the same; 0: none */
	uint64_t start_ticks;
	enum davy_engine engine;
	enum davy_backend backend;
	enum davy_role role;
	uint16_t port;
	uint32_t parallel;
	char model[DAVY_MODEL_LEN]; /* the last that was seen there */
	char cgroup[DAVY_UNIT_CGROUP_LEN];
	struct davy_process_start *start; /* as the unit itself starts it; NULL: not seen running */
	struct davy_unit_state state;
	bool met; /* who that is has been told */
	uint32_t look_count;
	uint32_t backends;	 /* what it has loaded, 1 << enum davy_backend; 0: unseen */
	uint64_t begun_ns;	 /* when its process was met */
	uint64_t command_sum;	 /* of the unit's command, then */
	uint64_t rules_sum;	 /* of the environment that was written last; 0: none was */
	size_t rules_count;	 /* variables in it that rules told */
	uint64_t rules_retry_ns; /* it could not be written: not before */
	bool registered;
	bool left_told;
	bool settle_late; /* the reader was; once more on the next tick */
	bool asking;
	bool ask_again;
	struct davy_unit_act act;
};

struct davy_units {
	struct davy_systemd *systemd;
	struct davy_adopted adopted;
	int unread; /* why the list cannot be read: it must not be replaced; 0: it was */
	uint64_t tried_ns;
	struct davy_service unit[DAVY_ADOPTED_MAX];
	char dir[PATH_MAX]; /* of the environments: absolute, as unit files name it */
	uint64_t asked_ns;
	bool lost;   /* the connection: all are asked anew */
	bool silent; /* has been said */
};

/* units.c */
void davy_units_open(struct davy_agent *a);
void davy_units_close(struct davy_agent *a);
void davy_units_tick(struct davy_agent *a, uint64_t now_ns);

/* unit_table.c */
/* Where a workload is, a supervised engine or a unit; pid 0: it does not run. */
struct davy_place {
	uint32_t pid;
	uint64_t start_ticks;
	const char *cgroup; /* as /proc/PID/cgroup tells it, "": none of its own */
	const char *unit;   /* "": no unit */
};

bool davy_workload_place(struct davy_agent *a, uint32_t workload, struct davy_place *ret_place);
struct davy_service *davy_unit_of_workload(struct davy_agent *a, uint32_t workload);
struct davy_service *davy_unit_named(struct davy_agent *a, const char *name);
struct davy_adopted_unit *davy_unit_adopted(const struct davy_service *u); /* its row, or NULL */
/* 0: the cgroup is none of theirs. */
uint32_t davy_units_workload_of(const struct davy_agent *a, const char *cgroup);
struct davy_service *davy_unit_add(struct davy_agent *a, const char *name);
int davy_units_save(struct davy_agent *a); /* the list; an error has been logged */

/* unit_list.c: the list; an error has been logged. */
int davy_units_read(struct davy_agent *a);
void davy_units_read_tick(struct davy_agent *a, uint64_t now_ns);

/* unit_watch.c */
void davy_unit_watch_tick(struct davy_service *u);
void davy_unit_forget(struct davy_service *u);
void davy_unit_look(struct davy_service *u);
/* Who its process is by now: what bears the engine's name may become it only later, by an exec. */
void davy_unit_look_again(struct davy_service *u);
/* What systemd said of it; processes that ended and began are told to the core. */
void davy_unit_take(struct davy_service *u, const struct davy_unit_state *state);
/* It has ended because somebody wanted it to, and must not be started by us. */
bool davy_unit_stopped_by_hand(const struct davy_unit_state *state);

/* unit_rules.c: lines of the environment file, but for names that are "above"; how many. */
size_t davy_unit_rules_put(struct davy_service *u, const struct davy_adopted_unit *of,
			   const struct davy_environment *above, FILE *out);
/* A rule about backends waits for the engine to have loaded its own. */
bool davy_unit_rules_early(struct davy_service *u, const struct davy_adopted_unit *of);
uint64_t davy_unit_command_sum(const struct davy_unit_state *state);

/* unit_files.c: of an adopted unit; -errno, and what went wrong has been said. */
/* What "wanted" is told beside the rules, by how the unit itself starts its engine. */
int davy_unit_environment(struct davy_service *u, const struct davy_adopted_unit *wanted,
			  struct davy_environment *e);
int davy_unit_files_path(const struct davy_agent *a, const char *name, char *path, size_t size);
int davy_unit_files_make(struct davy_agent *a, struct davy_adopted_unit *u);
int davy_unit_files_remove(struct davy_agent *a, const struct davy_adopted_unit *u, json_t *kept);
int davy_unit_files_write(struct davy_agent *a, struct davy_adopted_unit *u,
			  const struct davy_environment *e);
int davy_unit_files_check(struct davy_agent *a, const struct davy_adopted_unit *u);
/* Of what would be written: another one means that something is told anew. */
int davy_unit_files_sum(struct davy_agent *a, struct davy_adopted_unit *u,
			const struct davy_environment *e, uint64_t *ret_sum);
/* The variables that it tells are taken out of a start: they are not the unit's words. */
void davy_unit_files_unset(struct davy_agent *a, const char *name,
			   struct davy_process_start *start);

/* unit_tell.c: writes what rules say, when it is new; nothing while an act is under way. */
void davy_unit_tell_rules(struct davy_service *u);
void davy_units_tell_rules(struct davy_agent *a);

/* unit_proof.c */
/*
 * The process has these in its environment: 1, or 0; what it has not is said if "tell_why".
 * -EAGAIN: it cannot be read, as in the middle of an exec; -EINPROGRESS: its reader is late, and
 * nothing can be said.
 */
int davy_unit_told(const struct davy_service *u, const struct davy_environment *e, bool tell_why);
/* Its change is no longer unproven. */
void davy_unit_prove(struct davy_service *u);
/* A change that an agent left half done stays when the process has been told, else it goes. */
void davy_unit_settle(struct davy_service *u);

/* act_unit_cap.c: false: the action is no cap. */
/* Without waiting, what it had before its first cap; false: it has none. */
bool davy_unit_uncap(struct davy_agent *a, struct davy_adopted_unit *of);
unsigned int davy_units_uncap(struct davy_agent *a); /* all of them; how many */
bool davy_unit_cap(struct davy_service *u, const struct davy_plan *plan);

/* act_models.c: false: the action is not done to its models. */
bool davy_models_act(struct davy_service *u, const struct davy_plan *plan);
/* "done" with whether it worked; false: it could not be asked. */
bool davy_models_restore(struct davy_service *u, const char *model,
			 void (*done)(void *arg, bool good), void *arg);

/* unit_adopt.c: NULL, and the answer comes later; or why not. */
const char *davy_unit_adopt(struct davy_link *link, const json_t *message);
const char *davy_unit_release(struct davy_link *link, const json_t *message);
json_t *davy_units_list(const struct davy_agent *a);

/* act_unit.c: those actions that systemd does to a unit; true, even when they fail. */
void davy_unit_act_tick(struct davy_service *u);
bool davy_unit_act(struct davy_service *u, const struct davy_plan *plan);

#endif
