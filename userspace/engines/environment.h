/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a service's engine is told by its environment: the only thing that a drop-in changes. What a
 * flag on its command line says beats the environment with every engine here, so that is refused
 * with its reason. To add an engine: a row of struct davy_environment_ops in environment.c, a file.
 */
#ifndef DAVY_ENVIRONMENT_H
#define DAVY_ENVIRONMENT_H

#include "engines/engine.h"

#define DAVY_ENVIRONMENT_MAX	 16
#define DAVY_ENVIRONMENT_VALUE	 64
#define DAVY_ENVIRONMENT_WHY_LEN 160

struct davy_environment {
	size_t count;
	struct {
		const char *name;
		char value
			[DAVY_ENVIRONMENT_VALUE]; /* letters, digits and ",-_.": needs no quoting */
	} at[DAVY_ENVIRONMENT_MAX];
	char why[DAVY_ENVIRONMENT_WHY_LEN]; /* of a refusal */
};

/* An option and the variable that says the same. */
struct davy_environment_option {
	const char *names; /* words; NULL ends a list */
	const char *variable;
};

struct davy_environment_ops {
	enum davy_engine engine;
	/* "look" and "facts" are of the service's own start, without what we set. */
	int (*tell)(const struct davy_engine_look *look, const struct davy_engine_facts *facts,
		    const struct davy_engine_wish *wish, struct davy_environment *e);
	uint8_t can; /* DAVY_CAN_SHRINK, DAVY_CAN_SWITCH, DAVY_CAN_UNLOAD */
	bool movable;
	const char *cache_options;   /* that beat the variables; NULL: none does */
	const char *cache_variables; /* words: each holds the type; NULL: it cannot be told */
	const struct davy_environment_option
		*options; /* what else a rule may name; NULL: nothing */
};

/* -EOPNOTSUPP and "why" where the wish cannot be told; an empty wish always can. */
int davy_engine_environment(const struct davy_engine_look *look,
			    const struct davy_engine_facts *facts,
			    const struct davy_engine_wish *wish,
			    struct davy_environment *ret_environment);

/*
 * The same of a rule's cache type and of an argument of a rule, which adds to "e": refused too
 * where the unit's own command line or environment says it already, which a rule does not overrule.
 */
int davy_engine_environment_cache(const struct davy_engine_look *look,
				  const struct davy_engine_facts *facts, const char *type,
				  struct davy_environment *e);
int davy_engine_environment_argument(const struct davy_engine_look *look,
				     const struct davy_engine_facts *facts, const char *option,
				     const char *value, struct davy_environment *e);

/* What can be done to a service of that engine, beside what its cgroup gives. */
uint8_t davy_engine_service_can(enum davy_engine engine);
bool davy_engine_service_movable(enum davy_engine engine);

bool davy_engine_wish_empty(const struct davy_engine_wish *wish);

/* For the files of the rows. */
void davy_environment_set(struct davy_environment *e, const char *name, const char *value);
void davy_environment_set_number(struct davy_environment *e, const char *name, uint32_t value);
int davy_environment_refuse(struct davy_environment *e, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

extern const struct davy_environment_ops davy_environment_llama_server;
extern const struct davy_environment_ops davy_environment_ollama;

#endif
