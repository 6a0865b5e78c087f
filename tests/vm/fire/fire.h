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

struct btf;

struct fire_session {
	int fd; /* of the injector's device */
	struct btf *vmlinux;
	struct btf *btf; /* amdgpu's on top of vmlinux's: has all types used here */
	uint32_t next_id;
	int err; /* 0 or the first failure, -Exxx */
};

/* A zeroed structure in the kernel. Lives as long as the session. */
struct fire_object {
	struct fire_session *s;
	uint32_t id;
	const char *type; /* name of a struct in BTF, or NULL for plain bytes */
};

struct fire_field {
	uint32_t offset; /* in bytes from the structure's begin */
	uint32_t size;
	uint32_t type; /* BTF number, typedefs and qualifiers removed */
};

/* What the command line may say about an event; see usage(). */
struct fire_options {
	const char *dev_name, *ring, *comm;
	uint64_t pasid, vmid, client, src, ring_id, addr, timestamp, ih;
	uint64_t bytes, from, to, pid, id, seqno, context, count;
	bool in_irq;
};

/* btf.c */
int fire_btf_open(struct fire_session *s);
void fire_btf_close(struct fire_session *s);
uint32_t fire_size_of(struct fire_session *s, const char *type);
struct fire_field fire_field_of(struct fire_session *s, const char *type, const char *path);
bool fire_has_field(struct fire_session *s, const char *type, const char *path);
bool fire_has_tracepoint(struct fire_session *s, const char *module, const char *name);
bool fire_is_pointer(struct fire_session *s, struct fire_field field);

/* object.c */
int fire_open(struct fire_session *s);
void fire_close(struct fire_session *s);
void fire_send(struct fire_session *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
uint64_t fire_result(struct fire_session *s);
uint64_t fire_load(struct fire_session *s, uint32_t size, uint64_t address);
struct fire_object fire_object_new(struct fire_session *s, const char *type);
struct fire_object fire_bytes_new(struct fire_session *s, uint32_t size);
void fire_set(struct fire_object o, const char *path, uint64_t value);
void fire_set_text(struct fire_object o, const char *path, const char *text);
void fire_set_symbol(struct fire_object o, const char *path, const char *symbol);
void fire_point(struct fire_object o, const char *path, struct fire_object to, const char *to_path);
void fire_point_text(struct fire_object o, const char *path, const char *text);

/* events.c: one function per kind of event */
void fire_iv(struct fire_session *s, const struct fire_options *o);
void fire_bo_move(struct fire_session *s, const struct fire_options *o);
void fire_pasid(struct fire_session *s, const struct fire_options *o, bool freed);
void fire_job(struct fire_session *s, const struct fire_options *o, const char *stage);

/* device.c: a really bound amdgpu */
void fire_fault(struct fire_session *s, const struct fire_options *o);
void fire_engine(struct fire_session *s, const char *pci);

#endif
