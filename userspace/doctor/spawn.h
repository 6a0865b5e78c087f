/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Children that run as the service's user: in a process group of their own, with their output
 * caught, ended by SIGKILL after a limit. What even that does not end is left to the kernel.
 */
#ifndef DL_DOCTOR_SPAWN_H
#define DL_DOCTOR_SPAWN_H

#include "act/probe_finding.h"
#include "doctor/who.h"

#define DL_SPAWN_NOISE_MAX 4096
#define DL_SPAWN_TOLD_MS   2000 /* after so long people are told what is waited for */

struct dl_spawn {
	const struct dl_who *who;
	const char *program; /* also where the user may not look into its folder */
	char *const *argv;
	char *const *envp;
	const char *what; /* for people: "ROCm's runtime" */
	uint32_t limit_ms;
	bool held;   /* waits for dl_spawn_release before it becomes anybody */
	bool joined; /* output and noise are one: "noise" */
};

struct dl_spawned {
	const struct dl_spawn *spawn;
	pid_t pid;
	int output, noise, hold; /* -1: none */
	uint64_t began_ms;
	bool told;
	struct dl_probe_end end;
	size_t output_size, noise_size;
	char output_text[DL_PROBE_OUTPUT_MAX];
	char noise_text[DL_SPAWN_NOISE_MAX]; /* the last of it, ended by 0 */
};

/* -errno when there is no child. */
int dl_spawn_start(const struct dl_spawn *spawn, struct dl_spawned *ret_spawned);
void dl_spawn_release(struct dl_spawned *s);

/* Reads what is there, waits for more at most so long, tells people when it takes long. */
void dl_spawn_listen(struct dl_spawned *s, int wait_ms);

/* True once the limit is over; everything of its group is killed then. */
bool dl_spawn_over(struct dl_spawned *s);

/* Until it has ended; fills "end". */
void dl_spawn_wait(struct dl_spawned *s);

/* The wait status of the child, once it has ended; reads the rest. */
void dl_spawn_ended(struct dl_spawned *s, int status);
void dl_spawn_done(struct dl_spawned *s);

#endif
