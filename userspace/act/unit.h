/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * systemd through its private socket, as systemctl uses it for root: state of units, jobs, reload.
 * Never waits: each call is answered once by "done", from the loop, within its time limit, with a
 * reason on failure. If systemd does not answer, the connection is closed; the next call opens a
 * new one. Calls about one unit also take a container ("docker:NAME"): act/container_unit.h.
 */
#ifndef DAVY_UNIT_H
#define DAVY_UNIT_H

#include <systemd/sd-event.h>

#include "core/event/types.h"

#define DAVY_UNIT_CGROUP_LEN 512
#define DAVY_UNIT_WHY_LEN    512
#define DAVY_UNIT_ENV_LEN    2048
#define DAVY_UNIT_EXEC_LEN   4096
#define DAVY_UNIT_PORTS	     16
#define DAVY_UNIT_DIGITS     12 /* of an id of a container or an image, as in 'docker ps' */

/* Texts are systemd's; "": not set. */
struct davy_unit_state {
	char id[DAVY_UNIT_LEN]; /* differs from the requested name if that is an alias */
	char load[16];
	char active[16];
	char sub[24];
	char result[24]; /* of its last run: "success", "exit-code", "signal", "timeout", ... */
	char type[16];
	char cgroup[DAVY_UNIT_CGROUP_LEN]; /* "": none */
	char environment
		[DAVY_UNIT_ENV_LEN]; /* Environment=; null-terminated texts, then one more NUL */
	char command[DAVY_UNIT_EXEC_LEN]; /* first ExecStart=, same format; "": too long */
	uint32_t main_pid;		  /* 0: none */
	int32_t exit_code; /* of the last main process: si_code, CLD_EXITED and so on */
	int32_t exit_status;
	uint64_t memory_high; /* bytes; UINT64_MAX: none */
	uint64_t cpu_quota;   /* us of CPU time a second; UINT64_MAX: none */
	uint32_t job;	      /* queued or running; 0: none */
	/* Of a container only: */
	char consent[DAVY_UNIT_LEN];	  /* its unit, if its label wants it to be adopted */
	char image[DAVY_UNIT_DIGITS + 1]; /* of its image's id */
	bool own_network; /* its ports are not those of this host, except for these: */
	char address[16]; /* of it in its network, IPv4; "": none */
	uint32_t port_count;
	uint16_t port[DAVY_UNIT_PORTS][2]; /* in the container, on this host */
	char note[DAVY_UNIT_WHY_LEN];	   /* what an operator should know; "": nothing */
};

struct davy_unit_answer {
	int error;		       /* 0 or -errno; -ETIMEDOUT: systemd does not answer */
	const char *why;	       /* message; "" without an error */
	struct davy_unit_state *state; /* of davy_unit_ask, else NULL */
};

typedef void (*davy_unit_done)(void *arg, const struct davy_unit_answer *answer);

/* Members may be NULL. */
struct davy_unit_hooks {
	const char *dir; /* environment files of containers; not copied */
	void (*changed)(void *arg, const char *unit); /* a loaded unit has changed */
	void (*lost)(void *arg);		      /* connection lost: changes are not seen */
	void *arg;
};

struct davy_systemd;

/* Connects at the first call. "hooks" are copied. */
int davy_systemd_new(sd_event *loop, const struct davy_unit_hooks *hooks,
		     struct davy_systemd **ret_s);
void davy_systemd_free(struct davy_systemd *s); /* pending calls are never answered */

/* -ENOENT: this host does not run systemd. On an error "done" is not called. */
int davy_unit_ask(struct davy_systemd *s, const char *unit, davy_unit_done done, void *arg);

/*
 * "StartUnit", "StopUnit", "RestartUnit"; answered at the job's end; cancelled after "limit_ms".
 * Of a container also "AdoptUnit", "ApplyUnit" (nothing if it runs so already), and
 * "ReleaseUnit" (as its owner made it).
 */
int davy_unit_job(struct davy_systemd *s, const char *method, const char *unit, uint32_t limit_ms,
		  davy_unit_done done, void *arg);

/*
 * Sets MemoryHigh or CPUQuotaPerSecUSec until the next boot; UINT64_MAX: no limit. -EOPNOTSUPP
 * for a container.
 */
int davy_unit_limit(struct davy_systemd *s, const char *unit, const char *property, uint64_t value,
		    davy_unit_done done, void *arg);

/* Sets both; "done" is called for each one that was sent. */
int davy_unit_limits(struct davy_systemd *s, const char *unit, uint64_t memory_high,
		     uint64_t cpu_quota, davy_unit_done done, void *arg);

/* Reads all unit files again; requests during a reload share the next one. */
int davy_systemd_reload(struct davy_systemd *s, davy_unit_done done, void *arg);

/*
 * A service name that is safe in paths and unit files: "ollama.service", "llm@7b.service"; or a
 * container's, "docker:ollama".
 */
bool davy_unit_name_valid(const char *name);

#endif
