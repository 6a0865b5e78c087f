/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * systemd, by its private socket as systemctl uses it for root: what a unit is in, jobs, reload.
 * Nothing waits: every call is answered by "done" from the loop, once, with a reason where it
 * failed, and not later than its limit. A systemd that does not answer loses its connection, and
 * the next call makes a new one.
 */
#ifndef DAVY_UNIT_H
#define DAVY_UNIT_H

#include <systemd/sd-event.h>

#include "core/event/types.h"

#define DAVY_UNIT_CGROUP_LEN 512
#define DAVY_UNIT_WHY_LEN    256
#define DAVY_UNIT_ENV_LEN    2048
#define DAVY_UNIT_EXEC_LEN   4096

/* Texts are systemd's own words, and "" where it tells nothing. */
struct davy_unit_state {
	char id[DAVY_UNIT_LEN]; /* not the name asked for where that is an alias */
	char load[16];
	char active[16];
	char sub[24];
	char result[24]; /* of its last run: "success", "exit-code", "signal", "timeout", ... */
	char type[16];
	char cgroup[DAVY_UNIT_CGROUP_LEN];   /* "" while it has none */
	char environment[DAVY_UNIT_ENV_LEN]; /* Environment=; a 0 behind each, one more */
	char command[DAVY_UNIT_EXEC_LEN];    /* first ExecStart=, the same; "": too long */
	uint32_t main_pid;		     /* 0: none */
	int32_t exit_code; /* of the last main process: si_code, CLD_EXITED and so on */
	int32_t exit_status;
	uint64_t memory_high; /* bytes; UINT64_MAX: none */
	uint64_t cpu_quota;   /* us of CPU time a second; UINT64_MAX: none */
	uint32_t job;	      /* queued or running for it; 0: none */
};

struct davy_unit_answer {
	int error;		       /* 0 or -errno; -ETIMEDOUT: systemd does not answer */
	const char *why;	       /* for people; "" without an error */
	struct davy_unit_state *state; /* of davy_unit_ask, else NULL */
};

typedef void (*davy_unit_done)(void *arg, const struct davy_unit_answer *answer);

/* NULL: nobody wants to know. */
struct davy_unit_hooks {
	void (*changed)(void *arg, const char *unit); /* a unit that somebody has loaded */
	void (*lost)(void *arg);		      /* the connection: changes are unseen */
	void *arg;
};

struct davy_systemd;

/* Connects at the first call. "hooks" are copied. */
int davy_systemd_new(sd_event *loop, const struct davy_unit_hooks *hooks,
		     struct davy_systemd **ret_s);
void davy_systemd_free(struct davy_systemd *s); /* what is under way is never answered */

/* -ENOENT: this host is not run by systemd. Then, as with all errors here, "done" is not called. */
int davy_unit_ask(struct davy_systemd *s, const char *unit, davy_unit_done done, void *arg);

/* "StartUnit", "StopUnit", "RestartUnit"; done when the job is, and cancelled after "limit_ms". */
int davy_unit_job(struct davy_systemd *s, const char *method, const char *unit, uint32_t limit_ms,
		  davy_unit_done done, void *arg);

/* "MemoryHigh", "CPUQuotaPerSecUSec" of its cgroup, until the next boot; UINT64_MAX: no limit. */
int davy_unit_limit(struct davy_systemd *s, const char *unit, const char *property, uint64_t value,
		    davy_unit_done done, void *arg);

/* Both of them; "done" for each that could be asked for. */
int davy_unit_limits(struct davy_systemd *s, const char *unit, uint64_t memory_high,
		     uint64_t cpu_quota, davy_unit_done done, void *arg);

/* Reads all unit files again: once for all who ask while one is under way. */
int davy_systemd_reload(struct davy_systemd *s, davy_unit_done done, void *arg);

/* A service's name that may stand in a path and a unit file: "ollama.service", "llm@7b.service". */
bool davy_unit_name_valid(const char *name);

#endif
