/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Engines: how a process is recognised and how its command line is changed. One table row per
 * engine and one file per family; functions of what they are given, nothing here reads /proc or
 * starts anything. To add an engine: a row of struct dl_engine_ops in engine.c, and its name in
 * types.c; what its row leaves out cannot be done to it.
 */
#ifndef DL_ENGINES_ENGINE_H
#define DL_ENGINES_ENGINE_H

#include "core/event/plan.h"

#define DL_ARGS_MAX 512

/* An argument list that owns its strings; always NULL-terminated. */
struct dl_args {
	size_t count;
	char *at[DL_ARGS_MAX + 1];
};

/* What is seen of a process from outside. */
struct dl_engine_look {
	char *const *argv;  /* may be empty */
	char *const *envp;  /* NULL: unknown */
	const char *exe;    /* path of the running file, "" unknown */
	const char *parent; /* comm of the parent, "" unknown */
};

/* What it says. Numbers are 0 where they are unknown. */
struct dl_engine_facts {
	enum dl_engine engine;
	enum dl_backend backend; /* forced by the arguments, else unknown */
	enum dl_role role;
	uint16_t port;
	bool port_given;       /* false: "port" is the engine's default */
	bool loads_model;      /* false: a discovery child, a router, --version */
	bool llama_cpp;	       /* loads GGUF as llama.cpp does, with its defaults */
	bool fixed_fit;	       /* an unset context is the model's, whatever fits */
	int32_t gpu_layers;    /* DL_LAYERS_AUTO, DL_LAYERS_ALL */
	uint32_t context_size; /* tokens, of all slots together */
	uint32_t batch;
	uint32_t ubatch;
	uint32_t parallel;
	char cache_k[DL_QUANT_LEN];
	char cache_v[DL_QUANT_LEN];
	char model[DL_MODEL_LEN];
	const char *model_path; /* NULL: none; into the look's strings, as the process wrote it */
	const char *models_dir; /* of Ollama, from its environment; NULL: unknown */
	const char *slot_dir;	/* where it saves its slots, as it names it; NULL: not */
};

/* How an engine is to be started; unknown and 0: as its command says. */
struct dl_engine_wish {
	enum dl_backend backend;
	struct dl_knobs knobs;
	uint32_t layers; /* of the model, for gpu_layers_off; 0: unknown */
};

/*
 * How a program is told. Lists are words separated by a blank; a word may begin or end with '*'.
 * The name compared is that of the file, or of what a dynamic loader or Python runs.
 */
struct dl_engine_marks {
	const char *programs;
	const char *modules;   /* python -m; "vllm" also is vllm.entrypoints */
	const char *titles;    /* beginnings of argv[0] as the process set it */
	const char *paths;     /* parts of the executable's or the script's path */
	const char *libraries; /* mapped files that tell it when nothing else does */
};

struct dl_command;

struct dl_engine_ops {
	enum dl_engine engine;
	struct dl_engine_marks marks;
	/* Fills the facts; false: it is not this one after all. May say another engine. */
	bool (*read)(const struct dl_engine_look *look, const struct dl_command *command,
		     struct dl_engine_facts *facts);
	/* Rewrites to run strictly on the CPU; NULL: cannot. */
	int (*to_cpu)(char *const argv[], struct dl_args *args);
	const char *const *cpu_unset; /* variables to unset with it, ends with NULL */
	/* Rewrites to run on another backend of a GPU; NULL: cannot. */
	int (*to_backend)(char *const argv[], enum dl_backend backend, struct dl_args *args);
	const char *libraries[DL_BACKEND_COUNT]; /* parts of their files' names */
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

/* Recognises what is seen; engine is DL_ENGINE_NONE when nothing fits. */
void dl_engine_identify(const struct dl_engine_look *look, struct dl_engine_facts *ret_facts);

/* The engine whose program or title has that comm; a name that others may have too. */
enum dl_engine dl_engine_of_comm(const char *comm);

/* The engine that maps a file named "name"; DL_ENGINE_NONE when it tells nothing. */
enum dl_engine dl_engine_of_library(const char *name);

/*
 * The command line for a wish. -EOPNOTSUPP when the engine has no way to one part of it; the caller
 * frees with dl_args_done.
 */
int dl_engine_command(const struct dl_engine_facts *facts, char *const argv[],
		      const struct dl_engine_wish *wish, struct dl_args *ret_args);

/* Whether there is a way to run it strictly on the CPU. */
bool dl_engine_movable(enum dl_engine engine);

/* Of DL_CAN_*: shrink, switch and keep; what else it can depends on who holds it. */
uint8_t dl_engine_can(enum dl_engine engine);

/* The library that an engine on that backend has mapped, in part; NULL: unknown. */
const char *dl_engine_library(enum dl_engine engine, enum dl_backend backend);

/* The row's variables, or NULL. */
const char *dl_engine_share_port(enum dl_engine engine);
const char *dl_engine_save_slots(enum dl_engine engine);

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

#endif
