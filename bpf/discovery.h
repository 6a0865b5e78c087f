/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contract between discovery.bpf.c and userspace/discovery: the steps of an engine's start as
 * the kernel sees them. Plain C, included by both. A record begins with struct davy_raw_head; texts
 * end with a NUL or at the end of their field and are hostile.
 */
#ifndef DAVY_DISCOVERY_H
#define DAVY_DISCOVERY_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define DAVY_RAW_RING	   (4 << 20) /* bytes */
#define DAVY_RAW_PATH	   512
#define DAVY_RAW_NAME	   64
#define DAVY_RAW_TEXT	   256
#define DAVY_RAW_CHUNK	   4096 /* bytes of arguments or environment in one record */
#define DAVY_RAW_CHUNKS	   16	/* of an environment; the rest is reported as cut */
#define DAVY_RAW_FUNCTIONS   96	/* entry points that can be watched */
#define DAVY_RAW_FOLLOWED	   16384
#define DAVY_RAW_UNIT	   256
#define DAVY_RAW_NO_ARGUMENT 255

/* Of READY and OPEN "number" 1: a file to be watched, not seen before. */
enum davy_raw_kind {
	DAVY_RAW_FORK = 1, /* number: the child's tgid */
	DAVY_RAW_EXEC = 2, /* begin of one: path; number: the parent's tgid */
	DAVY_RAW_ARGV = 3, /* chunks */
	DAVY_RAW_ENVP = 4,
	DAVY_RAW_READY = 5, /* end of one: before the program's first instruction */
	DAVY_RAW_EXIT = 6,  /* code: as from wait(2) */
	DAVY_RAW_OPEN = 7,  /* code: descriptor or -errno */
	DAVY_RAW_MAP = 8,	  /* a file mapped executable; code: 0 or -errno */
	DAVY_RAW_CALL = 9,  /* number: return address */
	DAVY_RAW_RETURN = 10,
	DAVY_RAW_LINK_ERROR = 11, /* of the dynamic linker */
	DAVY_RAW_SIGNAL = 12,	/* code: signal; number: sender's tgid, 0: the kernel */
	DAVY_RAW_LOADED = 13,	/* what was opened is mapped and runs next; held */
};

enum davy_raw_loss {
	DAVY_RAW_LOSS_RING = 0,	  /* steps that found no room */
	DAVY_RAW_LOSS_FOLLOWED = 1, /* children that found none: they are not followed */
	DAVY_RAW_LOSS_HOLD = 2,	  /* not attached in time: its first calls may be missing */
	DAVY_RAW_LOSS_COUNT = 3,
};

struct davy_raw_head {
	__u16 kind;
	__u16 held; /* 1: the thread waits until userspace has released it */
	__u32 tgid;
	__u32 tid;
	__s32 code;
	__u64 boot_ns;
	__u64 number;
};

#define DAVY_RAW_MINOR_BITS 20 /* include/linux/kdev_t.h */

/* A file as the kernel knows it; not what stat(2) tells on every file system. */
struct davy_raw_file {
	__u64 inode;
	__u32 device; /* major << DAVY_RAW_MINOR_BITS | minor */
	__u32 pad;
};

struct davy_raw_path { /* EXEC, OPEN */
	struct davy_raw_head head;
	struct davy_raw_file file;
	char path[DAVY_RAW_PATH];
};

struct davy_raw_map {
	struct davy_raw_head head;
	struct davy_raw_file file;
	char name[DAVY_RAW_NAME];
};

struct davy_raw_chunk { /* ARGV, ENVP */
	struct davy_raw_head head;
	__u32 offset;
	__u32 size;  /* of this chunk */
	__u32 total; /* of all of them */
	__u32 pad;
	char data[DAVY_RAW_CHUNK];
};

struct davy_raw_call { /* CALL, RETURN */
	struct davy_raw_head head;
	__u32 function;
	__u32 count; /* RETURN: what the function wrote as a number of devices */
	__u64 result;
	__u64 size; /* CALL: the second argument */
	__u64 entered_ns;
	__u64 vma_begin; /* CALL: of the mapping that it returns to; 0: unknown */
	__u64 vma_end;
	__u64 vma_page;
	char text[DAVY_RAW_TEXT];
};

struct davy_raw_link_error {
	struct davy_raw_head head; /* code: errno or 0 */
	char object[DAVY_RAW_TEXT];
	char format[DAVY_RAW_TEXT];
	char argument[3][DAVY_RAW_TEXT];
};

struct davy_raw_signal {
	struct davy_raw_head head; /* tgid: whose end it may be */
	char sender[16];
};

/* What the kernel program reads of a call, filled by userspace. */
struct davy_raw_function {
	__u8 text;   /* the argument that is a text, or DAVY_RAW_NO_ARGUMENT */
	__u8 count;  /* the argument that points to a number of devices */
	__u16 limit; /* so many calls of one process are told */
	__u32 pad;
};

struct davy_raw_site {
	__u64 address; /* where a call returns to */
	__u32 tgid;
	__u32 pad;
};

_Static_assert(sizeof(struct davy_raw_head) == 32, "wire layout");
_Static_assert(sizeof(struct davy_raw_path) == 560, "wire layout");
_Static_assert(sizeof(struct davy_raw_call) == 344, "wire layout");

/* FNV-1a of a library's name up to ".so", as both sides make it. */
#define DAVY_RAW_HASH_START 0xcbf29ce484222325ULL
#define DAVY_RAW_HASH_PRIME 0x100000001b3ULL

#endif
