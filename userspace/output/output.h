/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configuration made from rules of the backend policy, for engines that davylamp does not start
 * itself. Texts only: generated.h writes them. Names of models come from outside: what a
 * format cannot hold as it is is refused, and what only a part of it cannot hold is noted. To add a
 * format: a file with its "write", a row in formats.c.
 */
#ifndef DAVY_OUTPUT_H
#define DAVY_OUTPUT_H

#include <stdio.h>

#include "policy/told.h"
#include "store/generated.h"

#define DAVY_OUTPUT_NOTES_MAX 32
#define DAVY_OUTPUT_NOTE_LEN  256

struct davy_output_model {
	const char *name; /* as the engine calls it */
	const char *path; /* of its file; NULL: not known */
};

struct davy_output_request {
	struct davy_policy_set set;
	struct davy_policy_subject subject; /* of the device; engine and model are filled in */
	enum davy_engine engine;	    /* of an environment; NONE: llama-server */
	const char *server;		    /* the program that llama-swap starts */
	const struct davy_output_model *models;
	size_t model_count;
};

struct davy_output_result {
	char *body;	   /* whole lines; to be freed */
	size_t note_count; /* of what the rules say, what the text does not */
	char note[DAVY_OUTPUT_NOTES_MAX][DAVY_OUTPUT_NOTE_LEN];
	char why[DAVY_OUTPUT_NOTE_LEN]; /* of a refusal */
};

struct davy_output_format {
	const char *name;
	const char *what; /* for people */
	enum davy_generated_style style;
	bool one_model; /* and not less */
	bool no_model;
	int (*write)(const struct davy_output_request *r, FILE *out,
		     struct davy_output_result *result);
};

/* NULL beyond the last. */
const struct davy_output_format *davy_output_format(size_t index);
const struct davy_output_format *davy_output_format_named(const char *name);

/* 0; -EINVAL: refused, "why" tells; -ENOMEM. The caller frees result->body. */
int davy_output_make(const struct davy_output_format *format,
		     const struct davy_output_request *request,
		     struct davy_output_result *ret_result);

/* For the files of the formats. */
void davy_output_note(struct davy_output_result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int davy_output_refuse(struct davy_output_result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* One line of a comment: which rule says "what". */
void davy_output_origin(FILE *out, const char *what, const struct davy_policy_origin *origin);
/* Shown as it is: no control byte, valid UTF-8, none of "but" in it, no blank at either end. */
bool davy_output_writable(const char *text, const char *but);

extern const struct davy_output_format davy_output_env;
extern const struct davy_output_format davy_output_router_preset;
extern const struct davy_output_format davy_output_ollama;
extern const struct davy_output_format davy_output_llama_swap;
extern const struct davy_output_format davy_output_lemonade;

#endif
