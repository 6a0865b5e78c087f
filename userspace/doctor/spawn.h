/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Children that run as the service's user: in a process group of their own, with their output
 * caught, ended by SIGKILL after a limit. What even that does not end is left to the kernel.
 */
#ifndef DAVY_SPAWN_H
#define DAVY_SPAWN_H

#include "act/probe_finding.h"
#include "doctor/who.h"

#define DAVY_SPAWN_NOISE_MAX 4096
#define DAVY_SPAWN_TOLD_MS   2000 /* after so long people are told what is waited for */

struct davy_spawn {
	const struct davy_who *who;
	const char *program; /* also where the user may not look into its folder */
	char *const *argv;
	char *const *envp;
	const char *what; /* for people: "ROCm's runtime" */
	uint32_t limit_ms;
	bool held;   /* waits for davy_spawn_release before it becomes anybody */
	bool joined; /* output and noise are one: "noise" */
};

struct davy_spawned {
	const struct davy_spawn *spawn;
	pid_t pid;
	int output, noise, hold; /* -1: none */
	uint64_t began_ms;
	bool told;
	struct davy_probe_end end;
	size_t output_size, noise_size;
	char output_text[DAVY_PROBE_OUTPUT_MAX];
	char noise_text[DAVY_SPAWN_NOISE_MAX]; /* the last of it, ended by 0 */
};

/* -errno when there is no child. */
int davy_spawn_start(const struct davy_spawn *spawn, struct davy_spawned *ret_spawned);
void davy_spawn_release(struct davy_spawned *s);

/* Reads what is there, waits for more at most so long, tells people when it takes long. */
void davy_spawn_listen(struct davy_spawned *s, int wait_ms);

/* True once the limit is over; everything of its group is killed then. */
bool davy_spawn_over(struct davy_spawned *s);

/* Until it has ended; fills "end". */
void davy_spawn_wait(struct davy_spawned *s);

/* The wait status of the child, once it has ended; reads the rest. */
void davy_spawn_ended(struct davy_spawned *s, int status);
void davy_spawn_done(struct davy_spawned *s);

#endif
