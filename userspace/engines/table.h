/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows that engine.c joins, and shared functions. Only engines/ includes this. */
#ifndef DAVY_TABLE_H
#define DAVY_TABLE_H

#include "engines/command.h"

#define DAVY_BACKEND_BIT(name) (1u << DAVY_BACKEND_##name)
#define DAVY_BACKENDS_GPU                                                                          \
	(DAVY_BACKEND_BIT(VULKAN) | DAVY_BACKEND_BIT(ROCM) | DAVY_BACKEND_BIT(CUDA) |              \
	 DAVY_BACKEND_BIT(SYCL))
#define DAVY_BACKENDS_GGML (DAVY_BACKEND_BIT(CPU) | DAVY_BACKENDS_GPU)
#define DAVY_BACKENDS_TORCH                                                                        \
	(DAVY_BACKEND_BIT(ROCM) | DAVY_BACKEND_BIT(CUDA) | DAVY_BACKEND_BIT(SYCL))

/* Of llama-server with one model. */
extern const struct davy_engine_api davy_llama_server_api;

extern const struct davy_engine_ops davy_engine_llama_server;
extern const struct davy_engine_ops davy_engine_ollama;
extern const struct davy_engine_ops davy_engine_ollama_runner;
extern const struct davy_engine_ops davy_engine_llama_swap;
extern const struct davy_engine_ops davy_engine_lemonade;
extern const struct davy_engine_ops davy_engine_localai;
extern const struct davy_engine_ops davy_engine_koboldcpp;
extern const struct davy_engine_ops davy_engine_vllm;
extern const struct davy_engine_ops davy_engine_sglang;
extern const struct davy_engine_ops davy_engine_tgi;
extern const struct davy_engine_ops davy_engine_whisper_cpp;
extern const struct davy_engine_ops davy_engine_sd_cpp;
extern const struct davy_engine_ops davy_engine_comfyui;
extern const struct davy_engine_ops davy_engine_llama_python;
extern const struct davy_engine_ops davy_engine_llama_tool;
extern const struct davy_engine_ops davy_engine_lm_studio;
extern const struct davy_engine_ops davy_engine_generic;

/* The first row of that engine, or NULL. */
const struct davy_engine_ops *davy_engine_ops_of(enum davy_engine engine);

/*
 * Copies argv[] without the options in "values", which have a value ("=value" or the next word),
 * and without "flags". Lists are words separated by blanks. On failure, "args" keeps what was
 * added.
 */
int davy_args_without(char *const argv[], const char *values, const char *flags,
		      struct davy_args *args);

/*
 * Sets the last of "names" (words separated by blanks) to "value" and removes the others.
 * -EOPNOTSUPP without names, -ENOMEM, -E2BIG.
 */
int davy_args_set(const char *names, const char *value, struct davy_args *args);

/* llama.cpp's common arguments and their LLAMA_ARG_* variables. */
void davy_llama_read(const struct davy_engine_look *look, const struct davy_command *command,
		     struct davy_engine_facts *facts);

/* True for a child of Ollama, or a process with the arguments of one. */
bool davy_is_ollama_child(const struct davy_engine_look *look, const struct davy_command *command,
			  const struct davy_engine_facts *facts);

/* Sets a model file: its path, and its name unless there is one. */
void davy_set_model_file(struct davy_engine_facts *facts, const char *path);

/* Sets the given port, otherwise the default. */
void davy_set_port(struct davy_engine_facts *facts, const char *given, uint16_t otherwise);

#endif
