/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One adopted container and the two that a change makes beside it:
 *
 *   NAME                   the owner's container; during a change, the one that replaces it
 *   NAME.davylamp-before   the owner's, stopped and kept as it is, during a change
 *   NAME.davylamp-next     the replacement before it takes the name, and after it has lost it
 *
 * The owner's container is never changed, except for its name and its restart policy, so that an
 * undo starts the same one again. The order of the steps is such that a runtime which is
 * restarted after any of them starts at most one, and that davy_container_recover() completes or
 * takes back what was interrupted after any of them.
 */
#ifndef DAVY_CONTAINER_H
#define DAVY_CONTAINER_H

#include "container/definition.h"
#include "container/runtime_api.h"

#define DAVY_CONTAINER_NAME_MAX 60
#define DAVY_CONTAINER_BEFORE	".davylamp-before"
#define DAVY_CONTAINER_NEXT	".davylamp-next"

struct davy_container {
	struct davy_runtime_api *api;
	const char *full_name;		 /* "docker:ollama" */
	const char *name;		 /* "ollama" */
	const char *dir;		 /* for the kept definition */
	bool by_id;			 /* "name" is the first digits of its id */
	bool with_size;			 /* also look at the size of "now", which takes time */
	json_t *now, *before, *next;	 /* as the runtime describes them; NULL: there is none */
	char note[DAVY_RUNTIME_WHY_LEN]; /* what an operator should know; "": nothing */
};

/* Letters, digits and "_.-" that are safe in a path; not a name of this program. */
bool davy_container_name_valid(const char *name);

/* Reads all three. 0 also if none exists. */
int davy_container_look(struct davy_container *c);
void davy_container_free(struct davy_container *c);

/*
 * True if the container with the name, or "next", replaces the owner's: its label has the id of
 * that one, which no image can know.
 */
bool davy_container_replaced(const struct davy_container *c);
bool davy_container_next_is_ours(const struct davy_container *c);
/* The owner's container, NULL: none exists. */
json_t *davy_container_original(const struct davy_container *c);
bool davy_container_runs(const json_t *inspect);

/*
 * All return 0 or -errno, with the reason in api->why, and leave the layout read anew.
 * -ECANCELED: the owner has stopped, removed or made the container meanwhile, which takes
 * precedence.
 */
int davy_container_recover(struct davy_container *c);
/*
 * Starts a container that differs from the owner's by "change"; the owner's runs again if that
 * fails.
 */
int davy_container_change(struct davy_container *c, const struct davy_definition_change *change);
/*
 * Removes the replacement, and starts the owner's container again if the replacement runs; nothing
 * is done without one. -ENOTSUP: the replacement has files that would be lost.
 */
int davy_container_back(struct davy_container *c);

/*
 * compose.c: a container of a project of Docker Compose is never made anew. The change becomes an
 * override file, and "why" has the command that applies it: -ENOTSUP.
 */
bool davy_compose_is(const json_t *original);
/* It was started with the override file. */
bool davy_compose_has(const json_t *original, const struct davy_definition_change *change);
int davy_compose_refuse(struct davy_container *c, const json_t *original,
			const struct davy_definition_change *change);
int davy_compose_path(const struct davy_container *c, char *path, size_t size);

/* Requests for one container. */
int davy_container_start(struct davy_container *c, const json_t *which);
int davy_container_stop(struct davy_container *c, const json_t *which);
int davy_container_restart(struct davy_container *c, const json_t *which);

/* The answer to "state", as act/container_unit.c reads it. */
json_t *davy_container_state(const struct davy_container *c);

#endif
