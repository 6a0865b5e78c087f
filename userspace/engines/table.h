/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows that engine.c joins, and what some of them share. Only engines/ includes this. */
#ifndef DL_ENGINES_TABLE_H
#define DL_ENGINES_TABLE_H

#include "engines/command.h"

extern const struct dl_engine_ops dl_engine_llama_server;
extern const struct dl_engine_ops dl_engine_ollama;
extern const struct dl_engine_ops dl_engine_llama_swap;
extern const struct dl_engine_ops dl_engine_lemonade;
extern const struct dl_engine_ops dl_engine_localai;
extern const struct dl_engine_ops dl_engine_koboldcpp;
extern const struct dl_engine_ops dl_engine_vllm;
extern const struct dl_engine_ops dl_engine_sglang;
extern const struct dl_engine_ops dl_engine_tgi;
extern const struct dl_engine_ops dl_engine_whisper_cpp;
extern const struct dl_engine_ops dl_engine_sd_cpp;
extern const struct dl_engine_ops dl_engine_comfyui;
extern const struct dl_engine_ops dl_engine_llama_python;
extern const struct dl_engine_ops dl_engine_llama_tool;
extern const struct dl_engine_ops dl_engine_lm_studio;
extern const struct dl_engine_ops dl_engine_generic;

/* The first row of that engine, or NULL. */
const struct dl_engine_ops *dl_engine_ops_of(enum dl_engine engine);

/*
 * Copies argv[] without the options in "values", which take a word or "=value", and "flags". Lists
 * are words separated by a blank. What was added stays in "args" when this fails.
 */
int dl_args_without(char *const argv[], const char *values, const char *flags,
		    struct dl_args *args);

/* llama.cpp's common arguments and their LLAMA_ARG_* variables. */
void dl_llama_read(const struct dl_engine_look *look, const struct dl_command *command,
		   struct dl_engine_facts *facts);

/* A child of Ollama, or a process that has its arguments. */
bool dl_is_ollama_child(const struct dl_engine_look *look, const struct dl_command *command,
			const struct dl_engine_facts *facts);

/* A model that is a file: its path, and its name unless it has one. */
void dl_set_model_file(struct dl_engine_facts *facts, const char *path);

/* The port given, else the engine's own. */
void dl_set_port(struct dl_engine_facts *facts, const char *given, uint16_t otherwise);

#endif
