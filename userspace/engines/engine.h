/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Engines: how a command line is recognised and how it is changed. One table row and one file per
 * engine; functions of the argument list only, nothing here reads /proc or starts anything.
 * To add an engine: a file with the functions of struct dl_engine_ops, a row in engine.c.
 */
#ifndef DL_ENGINES_ENGINE_H
#define DL_ENGINES_ENGINE_H

#include "../core/types.h"

#define DL_ARGS_MAX 512

/* An argument list that owns its strings; always NULL-terminated. */
struct dl_args {
	size_t count;
	char *at[DL_ARGS_MAX + 1];
};

/* What a command line says. */
struct dl_engine_facts {
	enum dl_engine engine;
	enum dl_backend backend; /* forced by the arguments, else unknown */
	uint16_t port;		 /* 0: unknown */
	bool loads_model;	 /* false: discovery child, router without a model, --version */
	char model[DL_MODEL_LEN];
};

struct dl_engine_ops {
	enum dl_engine engine;
	/* Whether "argv" is this engine; fills the facts. */
	bool (*recognise)(char *const argv[], struct dl_engine_facts *facts);
	/* Rewrites to run strictly on the CPU; NULL: cannot. */
	int (*to_cpu)(char *const argv[], struct dl_args *args);
	const char *const *cpu_unset; /* variables to unset with it, ends with NULL */
};

/* Recognises "argv"; engine is DL_ENGINE_NONE when nothing fits. */
void dl_engine_recognise(char *const argv[], struct dl_engine_facts *ret_facts);

/* -EOPNOTSUPP when the engine has no way; the caller frees with dl_args_done. */
int dl_engine_to_cpu(enum dl_engine engine, char *const argv[], struct dl_args *ret_args);

/* Whether there is a way to run it strictly on the CPU. */
bool dl_engine_movable(enum dl_engine engine);

/* Variables that must not reach an engine meant for the CPU; never NULL. */
const char *const *dl_engine_cpu_unset(enum dl_engine engine);

int dl_args_add(struct dl_args *args, const char *text);
void dl_args_done(struct dl_args *args);

/*
 * Sets the model's name, made printable, of whole characters, and free of what ends a value in an
 * INI file: it is a key of the learned policy, and everybody who makes it makes it alike.
 */
void dl_engine_set_model(struct dl_engine_facts *facts, const char *name);

/* Last path component, never empty unless "path" is. */
const char *dl_base_name(const char *path);

extern const struct dl_engine_ops dl_engine_llama_server;

#endif
