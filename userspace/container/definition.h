/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A container's definition: what its runtime reports (GET /containers/NAME/json) as the body of
 * a request that creates an equal one (POST /containers/create), with a changed environment.
 */
#ifndef DAVY_DEFINITION_H
#define DAVY_DEFINITION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define DAVY_LABEL_ADOPT   "io.davylamp.adopt"	 /* enforce: see davylamp.conf(5) */
#define DAVY_LABEL_OF	   "io.davylamp.of"	 /* id of the container that this one replaces */
#define DAVY_LABEL_RESTART "io.davylamp.restart" /* its restart policy, as JSON */

#define DAVY_DEFINITION_ENV_MAX	  64
#define DAVY_DEFINITION_LAYER_MAX ((json_int_t)64 * 1024 * 1024) /* bytes that may be lost */

/* What the next container has and the original has not. */
struct davy_definition_change {
	const char *env[DAVY_DEFINITION_ENV_MAX]; /* "NAME=VALUE" */
	size_t env_count;
	bool cpu_only;	     /* leave out its GPUs */
	bool apply;	     /* a container that has this change already is not restarted */
	bool keep_policy;    /* else it is made without a restart policy */
	const char *restart; /* the owner's restart policy, as JSON; NULL: that of the original */
};

/* Text of a member, "" if it is missing or no text. */
const char *davy_definition_text(const json_t *object, const char *key);
const json_t *davy_definition_label(const json_t *inspect, const char *name); /* NULL: none */

/*
 * Why this container cannot be replaced by an equal one, NULL if it can. "inspect" was requested
 * with size=1; "fixed_policy": the runtime cannot change its restart policy. Returns "why".
 */
const char *davy_definition_refusal(const json_t *inspect, bool fixed_policy, char *why,
				    size_t size);

/*
 * The body for "original". Without keep_policy the caller sets the restart policy of the label
 * DAVY_LABEL_RESTART when the new container runs. "image": how the request names the image.
 * NULL: out of memory.
 */
json_t *davy_definition_make(const json_t *original, const struct davy_definition_change *change,
			     const char *image);

/*
 * The networks that the body does not contain, by name, with the settings of POST
 * /networks/NAME/connect.
 */
json_t *davy_definition_networks(const json_t *original);

/*
 * Whether the runtime has made what "body" asks for, with the mounts and networks of "original":
 * 0, or -ENOTSUP with the names of what differs in "why".
 */
int davy_definition_check(const json_t *original, const json_t *body, const json_t *made, char *why,
			  size_t size);

#endif
