/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Engines: recognises a process and changes its command line. One table row per engine and one file
 * per family. Pure: nothing here reads /proc or starts a program. To add an engine: a row of struct
 * davy_engine_ops in engine.c, and its name in types.c. Members missing from the row are
 * unsupported.
 */
#ifndef DAVY_ENGINE_H
#define DAVY_ENGINE_H

#include "core/event/plan.h"
#include "lib/api_key.h"

#define DAVY_ARGS_MAX 512

/* An argument list that owns its strings; always NULL-terminated. */
struct davy_args {
	size_t count;
	char *at[DAVY_ARGS_MAX + 1];
};

/* The observable facts of a process. */
struct davy_engine_look {
	char *const *argv;  /* may be empty */
	char *const *envp;  /* NULL: unknown */
	const char *exe;    /* path of the executable, "": unknown */
	const char *parent; /* comm of the parent, "": unknown */
	bool typed;	    /* a command that does not run yet: its wrappers are looked through */
};

/* The facts derived from them. Numbers are 0 if unknown. */
struct davy_engine_facts {
	enum davy_engine engine;
	enum davy_backend backend; /* set by the arguments, otherwise unknown */
	enum davy_role role;
	uint16_t port;
	bool port_given;       /* false: "port" is the engine's default */
	bool loads_model;      /* false: a discovery child, a router, --version */
	bool llama_cpp;	       /* loads GGUF as llama.cpp does, with its defaults */
	bool fixed_fit;	       /* an unset context is the model's, even if it does not fit */
	int32_t gpu_layers;    /* DAVY_LAYERS_AUTO, DAVY_LAYERS_ALL */
	uint32_t context_size; /* tokens, of all slots together */
	uint32_t batch;
	uint32_t ubatch;
	uint32_t parallel;
	char cache_k[DAVY_QUANT_LEN];
	char cache_v[DAVY_QUANT_LEN];
	char model[DAVY_MODEL_LEN];
	const char *model_path; /* NULL: none; in the look's strings, as the process wrote it */
	const char *models_dir; /* of Ollama, from its environment; NULL: unknown */
	const char *slot_dir;	/* directory for saved slots, as the process wrote it; NULL: none */
	char api_key[DAVY_API_KEY_LEN]; /* one that it accepts; "": none known. Never logged */
};

/* Changes for the next start; unknown and 0: as in its command. */
struct davy_engine_override {
	enum davy_backend backend;
	struct davy_start_settings settings;
	uint32_t layers; /* of the model, for gpu_layers_off; 0: unknown */
};

/*
 * How a program is recognised. Lists are words separated by blanks; a word may begin or end with
 * '*'. They are compared with the file name of the program, also behind a dynamic loader or Python.
 */
struct davy_engine_marks {
	const char *programs;
	const char *modules;   /* python -m; "vllm" also matches vllm.entrypoints */
	const char *titles;    /* prefixes of argv[0], as set by the process */
	const char *paths;     /* parts of the executable's or the script's path */
	const char *libraries; /* mapped files that identify it if nothing else does */
	bool python;	       /* "programs" may be Python scripts */
};

/* How an engine is asked whether it works. Paths of its HTTP server; NULL: none. */
struct davy_engine_api {
	const char *name;   /* of davylamp-probe's --api; "none": it generates no token */
	const char *health; /* 200 when the engine is ready; "none": then its open port counts */
	const char *models; /* lists loaded models */
};

struct davy_command;

struct davy_engine_ops {
	enum davy_engine engine;
	struct davy_engine_marks marks;
	/* Fills the facts; may set another engine. False: it is not this engine. */
	bool (*read)(const struct davy_engine_look *look, const struct davy_command *command,
		     struct davy_engine_facts *facts);
	/* Rewrites the command to use only the CPU; NULL: unsupported. */
	int (*to_cpu)(char *const argv[], struct davy_args *args);
	const char *const *cpu_unset; /* variables to unset for that, ends with NULL */
	bool cpu_by_variables; /* without to_cpu: it works on the CPU if variables hide all GPUs */
	/* Rewrites the command to use another GPU backend; NULL: unsupported. */
	int (*to_backend)(char *const argv[], enum davy_backend backend, struct davy_args *args);
	const struct davy_engine_api *api[DAVY_ROLE_COUNT]; /* by role; NULL: none */
	uint32_t backends; /* bit 1 << backend: those that options or variables can select */
	enum davy_engine configured_by; /* the engine whose settings and rules apply to it, too */
	/* Patterns of its backends' libraries, from the program's directory; ends with NULL. */
	const char *const *places;
	const char *libraries[DAVY_BACKEND_COUNT]; /* parts of the libraries' file names */
	/*
	 * Options for the settings, NULL: none; the last name of each is the one that is written.
	 */
	struct {
		const char *ubatch;
		const char *context;
		const char *parallel;
		const char *gpu_layers;
		const char *cache_k;
		const char *cache_v;
	} settings;
	/* Variables for sharing its port and for saving slots; NULL: unsupported. */
	const char *share_port;
	const char *save_slots;
};

/* Recognises a process; DAVY_ENGINE_NONE if no row matches. */
void davy_engine_identify(const struct davy_engine_look *look, struct davy_engine_facts *ret_facts);

/* The engine whose program or title has that comm. Other programs may have the same comm. */
enum davy_engine davy_engine_of_comm(const char *comm);

/* The engine that maps a file named "name"; DAVY_ENGINE_NONE if unknown. */
enum davy_engine davy_engine_of_library(const char *name);

/*
 * The command line for an override; "argv" may begin with wrappers (wrapper.h), which stay.
 * -EOPNOTSUPP: the engine does not support a part of it. Free the result with davy_args_done.
 */
int davy_engine_command(const struct davy_engine_facts *facts, char *const argv[],
			const struct davy_engine_override *override, struct davy_args *ret_args);

/* True if it can be restricted to the CPU. */
bool davy_engine_movable(enum davy_engine engine);

/* DAVY_CAN_SHRINK, SWITCH and KEEP; further bits depend on how the engine is supervised. */
uint8_t davy_engine_can(enum davy_engine engine);

/* Part of the name of the library that the engine maps with that backend; NULL: unknown. */
const char *davy_engine_library(enum davy_engine engine, enum davy_backend backend);

/* How to ask it; the API "none" if the row has none for that role. */
const struct davy_engine_api *davy_engine_api(enum davy_engine engine, enum davy_role role);

/* Bit 1 << backend: selectable, by options or variables. Unknown programs: all. */
uint32_t davy_engine_backends(enum davy_engine engine);

/* The engine that configures it, or DAVY_ENGINE_NONE. */
enum davy_engine davy_engine_configured_by(enum davy_engine engine);

/* The row's places; NULL: its backends are not beside the program. */
const char *const *davy_engine_places(enum davy_engine engine);

/* The variables of the row, or NULL. */
const char *davy_engine_share_port(enum davy_engine engine);
const char *davy_engine_save_slots(enum davy_engine engine);

/* Variables that must be unset for an engine restricted to the CPU; never NULL. */
const char *const *davy_engine_cpu_unset(enum davy_engine engine);

int davy_args_add(struct davy_args *args, const char *text);
void davy_args_done(struct davy_args *args);

/*
 * Sets the model's name: printable, truncated between characters, without characters that end a
 * value in an INI file. It is a key of the learned policy, so all callers must form it here.
 */
void davy_engine_set_model(struct davy_engine_facts *facts, const char *name);

#endif
