/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Engines: how a process is recognised and how its command line is changed. One table row per
 * engine and one file per family; functions of what they are given, nothing here reads /proc or
 * starts anything. To add an engine: a row of struct davy_engine_ops in engine.c, and its name in
 * types.c; what its row leaves out cannot be done to it.
 */
#ifndef DAVY_ENGINE_H
#define DAVY_ENGINE_H

#include "core/event/plan.h"

#define DAVY_ARGS_MAX 512

/* An argument list that owns its strings; always NULL-terminated. */
struct davy_args {
	size_t count;
	char *at[DAVY_ARGS_MAX + 1];
};

/* What is seen of a process from outside. */
struct davy_engine_look {
	char *const *argv;  /* may be empty */
	char *const *envp;  /* NULL: unknown */
	const char *exe;    /* path of the running file, "" unknown */
	const char *parent; /* comm of the parent, "" unknown */
};

/* What it says. Numbers are 0 where they are unknown. */
struct davy_engine_facts {
	enum davy_engine engine;
	enum davy_backend backend; /* forced by the arguments, else unknown */
	enum davy_role role;
	uint16_t port;
	bool port_given;       /* false: "port" is the engine's default */
	bool loads_model;      /* false: a discovery child, a router, --version */
	bool llama_cpp;	       /* loads GGUF as llama.cpp does, with its defaults */
	bool fixed_fit;	       /* an unset context is the model's, whatever fits */
	int32_t gpu_layers;    /* DAVY_LAYERS_AUTO, DAVY_LAYERS_ALL */
	uint32_t context_size; /* tokens, of all slots together */
	uint32_t batch;
	uint32_t ubatch;
	uint32_t parallel;
	char cache_k[DAVY_QUANT_LEN];
	char cache_v[DAVY_QUANT_LEN];
	char model[DAVY_MODEL_LEN];
	const char *model_path; /* NULL: none; into the look's strings, as the process wrote it */
	const char *models_dir; /* of Ollama, from its environment; NULL: unknown */
	const char *slot_dir;	/* where it saves its slots, as it names it; NULL: not */
};

/* How an engine is to be started; unknown and 0: as its command says. */
struct davy_engine_wish {
	enum davy_backend backend;
	struct davy_knobs knobs;
	uint32_t layers; /* of the model, for gpu_layers_off; 0: unknown */
};

/*
 * How a program is told. Lists are words separated by a blank; a word may begin or end with '*'.
 * The name compared is that of the file, or of what a dynamic loader or Python runs.
 */
struct davy_engine_marks {
	const char *programs;
	const char *modules;   /* python -m; "vllm" also is vllm.entrypoints */
	const char *titles;    /* beginnings of argv[0] as the process set it */
	const char *paths;     /* parts of the executable's or the script's path */
	const char *libraries; /* mapped files that tell it when nothing else does */
};

struct davy_command;

struct davy_engine_ops {
	enum davy_engine engine;
	struct davy_engine_marks marks;
	/* Fills the facts; false: it is not this one after all. May say another engine. */
	bool (*read)(const struct davy_engine_look *look, const struct davy_command *command,
		     struct davy_engine_facts *facts);
	/* Rewrites to run strictly on the CPU; NULL: cannot. */
	int (*to_cpu)(char *const argv[], struct davy_args *args);
	const char *const *cpu_unset; /* variables to unset with it, ends with NULL */
	/* Rewrites to run on another backend of a GPU; NULL: cannot. */
	int (*to_backend)(char *const argv[], enum davy_backend backend, struct davy_args *args);
	const char *libraries[DAVY_BACKEND_COUNT]; /* parts of their files' names */
	/* The options that hold the knobs, NULL: none; the last name of each is what we write. */
	struct {
		const char *ubatch;
		const char *context;
		const char *parallel;
		const char *gpu_layers;
		const char *cache_k;
		const char *cache_v;
	} knobs;
	/* Variables by which it shares its port, and may be told to save slots; NULL: cannot. */
	const char *share_port;
	const char *save_slots;
};

/* Recognises what is seen; engine is DAVY_ENGINE_NONE when nothing fits. */
void davy_engine_identify(const struct davy_engine_look *look, struct davy_engine_facts *ret_facts);

/* The engine whose program or title has that comm; a name that others may have too. */
enum davy_engine davy_engine_of_comm(const char *comm);

/* The engine that maps a file named "name"; DAVY_ENGINE_NONE when it tells nothing. */
enum davy_engine davy_engine_of_library(const char *name);

/*
 * The command line for a wish. -EOPNOTSUPP when the engine has no way to one part of it; the caller
 * frees with davy_args_done.
 */
int davy_engine_command(const struct davy_engine_facts *facts, char *const argv[],
			const struct davy_engine_wish *wish, struct davy_args *ret_args);

/* Whether there is a way to run it strictly on the CPU. */
bool davy_engine_movable(enum davy_engine engine);

/* Of DAVY_CAN_*: shrink, switch and keep; what else it can depends on who holds it. */
uint8_t davy_engine_can(enum davy_engine engine);

/* The library that an engine on that backend has mapped, in part; NULL: unknown. */
const char *davy_engine_library(enum davy_engine engine, enum davy_backend backend);

/* The row's variables, or NULL. */
const char *davy_engine_share_port(enum davy_engine engine);
const char *davy_engine_save_slots(enum davy_engine engine);

/* Variables that must not reach an engine meant for the CPU; never NULL. */
const char *const *davy_engine_cpu_unset(enum davy_engine engine);

int davy_args_add(struct davy_args *args, const char *text);
void davy_args_done(struct davy_args *args);

/*
 * Sets the model's name, made printable, of whole characters, and free of what ends a value in an
 * INI file: it is a key of the learned policy, and everybody who makes it makes it alike.
 */
void davy_engine_set_model(struct davy_engine_facts *facts, const char *name);


#endif
