/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a service's engine is told by its environment: the only thing that a drop-in changes. What a
 * flag on its command line says beats the environment with every engine here, so that is refused
 * with its reason. To add an engine: a row of struct dl_environment_ops in environment.c, a file.
 */
#ifndef DL_ENGINES_ENVIRONMENT_H
#define DL_ENGINES_ENVIRONMENT_H

#include "engines/engine.h"

#define DL_ENVIRONMENT_MAX     16
#define DL_ENVIRONMENT_VALUE   64
#define DL_ENVIRONMENT_WHY_LEN 160

struct dl_environment {
	size_t count;
	struct {
		const char *name;
		char value[DL_ENVIRONMENT_VALUE]; /* letters, digits and ",-_.": needs no quoting */
	} at[DL_ENVIRONMENT_MAX];
	char why[DL_ENVIRONMENT_WHY_LEN]; /* of a refusal */
};

/* An option and the variable that says the same. */
struct dl_environment_option {
	const char *names; /* words; NULL ends a list */
	const char *variable;
};

struct dl_environment_ops {
	enum dl_engine engine;
	/* "look" and "facts" are of the service's own start, without what we set. */
	int (*tell)(const struct dl_engine_look *look, const struct dl_engine_facts *facts,
		    const struct dl_engine_wish *wish, struct dl_environment *e);
	uint8_t can; /* DL_CAN_SHRINK, DL_CAN_SWITCH, DL_CAN_UNLOAD */
	bool movable;
	const char *cache_options;   /* that beat the variables; NULL: none does */
	const char *cache_variables; /* words: each holds the type; NULL: it cannot be told */
	const struct dl_environment_option *options; /* what else a rule may name; NULL: nothing */
};

/* -EOPNOTSUPP and "why" where the wish cannot be told; an empty wish always can. */
int dl_engine_environment(const struct dl_engine_look *look, const struct dl_engine_facts *facts,
			  const struct dl_engine_wish *wish,
			  struct dl_environment *ret_environment);

/*
 * The same of a rule's cache type and of an argument of a rule, which adds to "e": refused too
 * where the unit's own command line or environment says it already, which a rule does not overrule.
 */
int dl_engine_environment_cache(const struct dl_engine_look *look,
				const struct dl_engine_facts *facts, const char *type,
				struct dl_environment *e);
int dl_engine_environment_argument(const struct dl_engine_look *look,
				   const struct dl_engine_facts *facts, const char *option,
				   const char *value, struct dl_environment *e);

/* What can be done to a service of that engine, beside what its cgroup gives. */
uint8_t dl_engine_service_can(enum dl_engine engine);
bool dl_engine_service_movable(enum dl_engine engine);

bool dl_engine_wish_empty(const struct dl_engine_wish *wish);

/* For the files of the rows. */
void dl_environment_set(struct dl_environment *e, const char *name, const char *value);
void dl_environment_set_number(struct dl_environment *e, const char *name, uint32_t value);
int dl_environment_refuse(struct dl_environment *e, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

extern const struct dl_environment_ops dl_environment_llama_server;
extern const struct dl_environment_ops dl_environment_ollama;

#endif
