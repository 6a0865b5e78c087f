/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of the stand-in: an engine's process from outside. */
#ifndef STANDIN_H
#define STANDIN_H

#include <stddef.h>

#define STANDIN_ROUTES	  4
#define STANDIN_LIBRARIES 2
#define STANDIN_WORDS	  8
#define STANDIN_HANGS	  1 /* as a status: no answer */

enum standin_gpu {
	STANDIN_NO_GPU, /* its child has it */
	STANDIN_VULKAN,
	STANDIN_CUDA,
};

struct standin_route {
	const char *request; /* method and path */
	const char *body;    /* of status 200 */
	const char *asks;    /* a part of the request; NULL: any. Otherwise 404 */
	int wedged;	     /* the status after a device loss; 0: it still says 200 */
	const char *wedged_body;
};

struct standin_row {
	const char *name;
	const char *port_option; /* NULL: none */
	const char *port_variable;
	enum standin_gpu gpu;
	const char *libraries[STANDIN_LIBRARIES];
	const char *cpu_option;		  /* one or two words; NULL: only variables */
	const char *child_program;	  /* of the folder STANDIN_BIN */
	const char *child[STANDIN_WORDS]; /* its arguments */
	const char *child_row;
	struct standin_route routes[STANDIN_ROUTES];
};

extern const struct standin_row standin_rows[];
extern const size_t standin_row_count;

#endif
