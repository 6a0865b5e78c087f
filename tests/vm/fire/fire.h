/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of "fire", the user space side of the injector module: it lays out kernel
 * objects by the running kernel's BTF and sends the module's text commands. The first failure
 * is reported and kept in the session; everything after it does nothing, so callers check once.
 */
#ifndef FIRE_H
#define FIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIRE_ARGS_MAX  12 /* as many as the injector passes */
#define FIRE_CPUS_MAX  16
#define FIRE_VALUE_LEN 96 /* a value as the injector reads it: "&3+16", "sym:NAME", "-12" */
#define FIRE_SLOTS_MAX 256
#define FIRE_NAMED_MAX 24
#define FIRE_NAME_LEN  64

struct btf;

/* An argument of the hook. */
struct fire_root {
	char name[FIRE_NAME_LEN]; /* "" when BTF has none */
	uint32_t pointee;	  /* what it points to; 0 when it is no pointer, or a void one */
	bool pointer;
	char value[FIRE_VALUE_LEN];
};

/* Where a pointer lies, and which object it points to; no object: it leads elsewhere. */
struct fire_slot {
	int root;
	uint32_t holder, offset;
	uint32_t object, object_offset;
};

/* An object that the command line named: "@NAME". */
struct fire_named {
	char name[FIRE_NAME_LEN];
	uint32_t object, type;
};

struct fire_session {
	int fd; /* of the injector's device */
	struct btf *vmlinux;
	struct btf *btf; /* a module's on top of vmlinux's, or vmlinux's: all types are its */
	uint32_t next_id;
	int err; /* 0 or the first failure, -Exxx */
	int root_count, slot_count, named_count;
	struct fire_root roots[FIRE_ARGS_MAX];
	struct fire_slot slots[FIRE_SLOTS_MAX];
	struct fire_named named[FIRE_NAMED_MAX];
};

struct fire_field {
	uint32_t offset; /* in bytes from the structure's begin */
	uint32_t size;
	uint32_t type;	   /* BTF number, typedefs and qualifiers removed */
	uint8_t bit, bits; /* of a bit field inside its first byte; bits 0: whole bytes */
};

enum fire_kind {
	FIRE_TRACEPOINT,
	FIRE_FUNCTION, /* its body is skipped meanwhile */
	FIRE_CALL,     /* a function as it is */
};

struct fire_hook {
	enum fire_kind kind;
	const char *name;   /* alternatives are parted by '|' */
	const char *module; /* whose types and hooks come first; NULL: any */
	const char *cpus;   /* "0,1": from each of them at once; NULL: from here */
	int64_t ret;	    /* of a skipped body */
	uint64_t count;
	bool in_irq;
	char symbol[2 * FIRE_NAME_LEN]; /* found: "NAME" or "MODULE:NAME" */
};

/* Event options of the command line; see usage(). */
struct fire_options {
	const char *dev_name, *ring, *comm, *module, *cpus;
	uint64_t pasid, vmid, client, src, ring_id, addr, timestamp, ih;
	uint64_t bytes, from, to, pid, id, seqno, context, count, flags, ret;
	const char *casts[FIRE_ARGS_MAX];
	int cast_count;
	bool in_irq;
};

/* btf.c */
int fire_btf_open(struct fire_session *s, const char *module);
void fire_btf_close(struct fire_session *s);
int fire_hook_find(struct fire_session *s, struct fire_hook *h);
int fire_hooks_say(struct fire_session *s, char **words, int count);
uint32_t fire_type_plain(const struct btf *btf, uint32_t id);
uint32_t fire_type_find(const struct btf *btf, const char *name);
uint32_t fire_type_complete(const struct btf *btf, uint32_t id);
bool fire_type_is_char(const struct btf *btf, uint32_t id);
bool fire_enter_member(const struct btf *btf, struct fire_field *field, const char *name,
		       size_t len);
bool fire_enter_element(const struct btf *btf, struct fire_field *field, uint32_t index);
struct fire_field fire_field_of(struct fire_session *s, const char *type, const char *path);

/* object.c */
int fire_open(struct fire_session *s);
void fire_close(struct fire_session *s);
void fire_fail(struct fire_session *s, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void fire_send(struct fire_session *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
uint64_t fire_result(struct fire_session *s);
uint64_t fire_load(struct fire_session *s, uint32_t size, uint64_t address);
uint32_t fire_bytes_new(struct fire_session *s, uint32_t size);
void fire_put_text(struct fire_session *s, uint32_t object, uint32_t offset, const char *text,
		   size_t len);

/* path.c: "PATH=VALUE" */
void fire_assign(struct fire_session *s, const char *arg);
void fire_cast(struct fire_session *s, const char *arg);
void fire_value(struct fire_session *s, const char *text, char *ret_value);

/* hook.c */
void fire_hook_run(struct fire_session *s, struct fire_hook *h, char **args, int count);

/* events.c: one function per kind of event that has its own verb */
void fire_iv(struct fire_session *s, const struct fire_options *o);
void fire_bo_move(struct fire_session *s, const struct fire_options *o);
void fire_pasid(struct fire_session *s, const struct fire_options *o, bool freed);
void fire_job(struct fire_session *s, const struct fire_options *o, const char *stage);

/* nvidia.c: BTF for the stand-in of NVIDIA's module */
void fire_btf_write(struct fire_session *s, const char *path);

/* device.c: an amdgpu that is really bound */
void fire_fault(struct fire_session *s, const struct fire_options *o);
void fire_engine(struct fire_session *s, const char *pci);
void fire_impatient(struct fire_session *s, const char *pci);

#endif
