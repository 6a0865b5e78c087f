/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings for a service's engine through its environment, the only thing that a drop-in changes.
 * In all these engines, a flag on the command line overrides the environment. Such a change is
 * refused with a reason. To add an engine: a row of struct davy_environment_ops in environment.c,
 * and a file.
 */
#ifndef DAVY_ENVIRONMENT_H
#define DAVY_ENVIRONMENT_H

#include "engines/engine.h"

#define DAVY_ENVIRONMENT_MAX	 24
#define DAVY_ENVIRONMENT_VALUE	 64
#define DAVY_ENVIRONMENT_WHY_LEN 160

struct davy_environment {
	size_t count;
	struct {
		const char *name;
		char value
			[DAVY_ENVIRONMENT_VALUE]; /* letters, digits and ",-_.": needs no quoting */
	} at[DAVY_ENVIRONMENT_MAX];
	char why[DAVY_ENVIRONMENT_WHY_LEN]; /* reason of a refusal */
};

/* An option and its variable. */
struct davy_environment_option {
	const char *names; /* words; NULL: end of the list */
	const char *variable;
};

struct davy_environment_ops {
	enum davy_engine engine;
	/* "look" and "facts" are those of the service's start without davylamp's settings. */
	int (*configure)(const struct davy_engine_look *look, const struct davy_engine_facts *facts,
			 const struct davy_engine_override *override, struct davy_environment *e);
	uint8_t can;	     /* DAVY_CAN_SHRINK, DAVY_CAN_SWITCH, DAVY_CAN_UNLOAD */
	uint8_t manager_can; /* in addition, a process that starts others for its models */
	bool movable;
	const char *cache_options;   /* options that override the variables; NULL: none */
	const char *cache_variables; /* words: each holds the type; NULL: unsupported */
	const struct davy_environment_option
		*options; /* other options that a rule may name; NULL: none */
};

/* -EOPNOTSUPP and "why" if the override is unsupported. An empty override is always supported. */
int davy_engine_environment(const struct davy_engine_look *look,
			    const struct davy_engine_facts *facts,
			    const struct davy_engine_override *override,
			    struct davy_environment *ret_environment);

/*
 * The same for a rule's cache type and for an argument of a rule; adds to "e". Also refused if the
 * unit's command line or environment already sets it: a rule does not override that.
 */
int davy_engine_environment_cache(const struct davy_engine_look *look,
				  const struct davy_engine_facts *facts, const char *type,
				  struct davy_environment *e);
int davy_engine_environment_argument(const struct davy_engine_look *look,
				     const struct davy_engine_facts *facts, const char *option,
				     const char *value, struct davy_environment *e);

/* Actions that this engine supports as a service, in addition to those of its cgroup. */
uint8_t davy_engine_service_can(enum davy_engine engine, enum davy_role role);
bool davy_engine_service_movable(enum davy_engine engine);

/*
 * For an engine that must use only the CPU: with these variables no driver of a GPU is loaded, or
 * it finds no device. A driver in a CPU engine opens the GPU's nodes, and blocks while a GPU hangs.
 * "name" NULL: end of the list.
 */
struct davy_environment_variable {
	const char *name;
	const char *value;
};

extern const struct davy_environment_variable davy_environment_no_gpu[];
void davy_environment_hide_gpus(struct davy_environment *e);

/* True if the process was started with them. */
bool davy_environment_hides_gpus(const struct davy_engine_look *look);

bool davy_engine_override_empty(const struct davy_engine_override *override);

/* For the files of the rows. */
void davy_environment_set(struct davy_environment *e, const char *name, const char *value);
void davy_environment_set_number(struct davy_environment *e, const char *name, uint32_t value);
int davy_environment_refuse(struct davy_environment *e, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

extern const struct davy_environment_ops davy_environment_llama_server;
extern const struct davy_environment_ops davy_environment_ollama;

#endif
