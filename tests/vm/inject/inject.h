/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of the injector module, a laboratory tool for virtual machines: it fires
 * tracepoints, calls kernel functions and overwrites function bodies on command. Never load it on
 * a real machine. It has no knowledge of drivers: user space takes sizes, offsets
 * and prototypes from the running kernel's BTF. See inject_main.c for the commands.
 */
#ifndef INJECT_H
#define INJECT_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/xarray.h>

#define INJECT_ARGS_MAX	 12 /* scalars of one call: enough for every tracepoint */
#define INJECT_WORDS_MAX 24 /* words of one command */

struct module;

/* State of one open file of the device. */
struct inject_session {
	struct mutex lock;     /* one command at a time, except the calls of "fire" and "call" */
	struct xarray objects; /* struct inject_object by number */
	u64 result;	       /* of the last command, for read() */
};

struct inject_context {
	u32 count;
	bool in_irq; /* call in a hard interrupt, not in the writing task */
	u64 args[INJECT_ARGS_MAX];
};

/* inject_symbol.c: symbols that the kernel does not export to modules. */
int inject_symbol_init(void);
void *inject_symbol(const char *name);
void *inject_symbol_pin(const char *name, struct module **ret_owner);
struct module *inject_module_of(const void *addr);
int inject_text_write(void *addr, const void *code, size_t size);

/* inject_object.c: memory built by user space, and the values in commands. */
int inject_object_new(struct inject_session *s, int argc, char **argv);
int inject_object_put(struct inject_session *s, int argc, char **argv);
void inject_object_free_all(struct inject_session *s);
int inject_value(struct inject_session *s, char *word, u64 *ret_value);

/* inject_call.c: tracepoints, functions, and raw memory. */
int inject_fire(struct inject_session *s, int argc, char **argv);
int inject_call(struct inject_session *s, int argc, char **argv);
int inject_load(struct inject_session *s, int argc, char **argv);

/* inject_skip.c: functions whose body is skipped. */
int inject_skip(struct inject_session *s, int argc, char **argv);
int inject_unskip(struct inject_session *s, int argc, char **argv);
int inject_skip_init(void);
void inject_skip_done(void);

/* inject_engine.c: a stand-in for the GPU's engines, which signals amdgpu's fences. */
int inject_engine(struct inject_session *s, int argc, char **argv);
int inject_engine_init(void);
void inject_engine_done(void);

#endif
