/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * systemd, by its private socket as systemctl uses it for root: what a unit is in, jobs, reload.
 * Nothing waits: every call is answered by "done" from the loop, once, with a reason where it
 * failed, and not later than its limit. A systemd that does not answer loses its connection, and
 * the next call makes a new one.
 */
#ifndef DL_ACT_UNIT_H
#define DL_ACT_UNIT_H

#include <systemd/sd-event.h>

#include "core/event/types.h"

#define DL_UNIT_CGROUP_LEN 512
#define DL_UNIT_WHY_LEN	   256
#define DL_UNIT_ENV_LEN	   2048
#define DL_UNIT_EXEC_LEN   4096

/* Texts are systemd's own words, and "" where it tells nothing. */
struct dl_unit_state {
	char id[DL_UNIT_LEN]; /* not the name asked for where that is an alias */
	char load[16];
	char active[16];
	char sub[24];
	char result[24]; /* of its last run: "success", "exit-code", "signal", "timeout", ... */
	char type[16];
	char cgroup[DL_UNIT_CGROUP_LEN];   /* "" while it has none */
	char environment[DL_UNIT_ENV_LEN]; /* Environment=; a 0 behind each, one more */
	char command[DL_UNIT_EXEC_LEN];	   /* first ExecStart=, the same; "": too long */
	uint32_t main_pid;		   /* 0: none */
	int32_t exit_code; /* of the last main process: si_code, CLD_EXITED and so on */
	int32_t exit_status;
	uint64_t memory_high; /* bytes; UINT64_MAX: none */
	uint64_t cpu_quota;   /* us of CPU time a second; UINT64_MAX: none */
	uint32_t job;	      /* queued or running for it; 0: none */
};

struct dl_unit_answer {
	int error;		     /* 0 or -errno; -ETIMEDOUT: systemd does not answer */
	const char *why;	     /* for people; "" without an error */
	struct dl_unit_state *state; /* of dl_unit_ask, else NULL */
};

typedef void (*dl_unit_done)(void *arg, const struct dl_unit_answer *answer);

/* NULL: nobody wants to know. */
struct dl_unit_hooks {
	void (*changed)(void *arg, const char *unit); /* a unit that somebody has loaded */
	void (*lost)(void *arg);		      /* the connection: changes are unseen */
	void *arg;
};

struct dl_systemd;

/* Connects at the first call. "hooks" are copied. */
int dl_systemd_new(sd_event *loop, const struct dl_unit_hooks *hooks, struct dl_systemd **ret_s);
void dl_systemd_free(struct dl_systemd *s); /* what is under way is never answered */

/* -ENOENT: this host is not run by systemd. Then, as with all errors here, "done" is not called. */
int dl_unit_ask(struct dl_systemd *s, const char *unit, dl_unit_done done, void *arg);

/* "StartUnit", "StopUnit", "RestartUnit"; done when the job is, and cancelled after "limit_ms". */
int dl_unit_job(struct dl_systemd *s, const char *method, const char *unit, uint32_t limit_ms,
		dl_unit_done done, void *arg);

/* "MemoryHigh", "CPUQuotaPerSecUSec" of its cgroup, until the next boot; UINT64_MAX: no limit. */
int dl_unit_limit(struct dl_systemd *s, const char *unit, const char *property, uint64_t value,
		  dl_unit_done done, void *arg);

/* Both of them; "done" for each that could be asked for. */
int dl_unit_limits(struct dl_systemd *s, const char *unit, uint64_t memory_high, uint64_t cpu_quota,
		   dl_unit_done done, void *arg);

/* Reads all unit files again: once for all who ask while one is under way. */
int dl_systemd_reload(struct dl_systemd *s, dl_unit_done done, void *arg);

/* A service's name that may stand in a path and a unit file: "ollama.service", "llm@7b.service". */
bool dl_unit_name_valid(const char *name);

#endif
