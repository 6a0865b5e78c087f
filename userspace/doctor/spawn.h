/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Children that run as the service's user: in their own process group, with captured output, killed
 * at a time limit. A child that survives SIGKILL is no longer waited for.
 */
#ifndef DAVY_SPAWN_H
#define DAVY_SPAWN_H

#include "act/probe_finding.h"
#include "doctor/who.h"

#define DAVY_SPAWN_NOISE_MAX 4096
#define DAVY_SPAWN_REPORT_MS 2000 /* after this time a message says what is waited for */

struct davy_spawn {
	const struct davy_who *who;
	const char *program; /* the user need not see its folder */
	char *const *argv;
	char *const *envp;
	const char *what; /* for messages: "ROCm's runtime" */
	uint32_t limit_ms;
	bool starts_blocked; /* waits for davy_spawn_release before it changes its user */
	bool joined;	     /* stdout and stderr both go to "noise" */
};

struct davy_spawned {
	const struct davy_spawn *spawn;
	pid_t pid;
	int output, noise, release; /* -1: none */
	uint64_t began_ms;
	bool reported;
	struct davy_probe_end end;
	size_t output_size, noise_size;
	char output_text[DAVY_PROBE_OUTPUT_MAX];
	char noise_text[DAVY_SPAWN_NOISE_MAX]; /* its end, null-terminated */
};

/* -errno: no child was started. */
int davy_spawn_start(const struct davy_spawn *spawn, struct davy_spawned *ret_spawned);
void davy_spawn_release(struct davy_spawned *s);

/* Reads the output; waits up to wait_ms for more; logs a message if it takes long. */
void davy_spawn_listen(struct davy_spawned *s, int wait_ms);

/* True after the time limit; the process group is then killed. */
bool davy_spawn_over(struct davy_spawned *s);

/* Waits for the end; fills "end". */
void davy_spawn_wait(struct davy_spawned *s);

/* Takes the wait status of the ended child and reads the rest of its output. */
void davy_spawn_ended(struct davy_spawned *s, int status);
void davy_spawn_done(struct davy_spawned *s);

#endif
