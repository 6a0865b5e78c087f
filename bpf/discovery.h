/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contract between discovery.bpf.c and userspace/discovery: the steps of an engine's start as
 * seen by the kernel. Plain C, included by both. A record begins with struct davy_raw_head. Texts
 * end with a NUL or at the end of their field, and are untrusted.
 */
#ifndef DAVY_DISCOVERY_H
#define DAVY_DISCOVERY_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define DAVY_RAW_RING	     (4 << 20) /* bytes */
#define DAVY_RAW_PATH	     512
#define DAVY_RAW_NAME	     64
#define DAVY_RAW_TEXT	     256
#define DAVY_RAW_CHUNK	     4096 /* bytes of arguments or environment in one record */
#define DAVY_RAW_CHUNKS	     16	  /* per environment; the rest is reported as truncated */
#define DAVY_RAW_FUNCTIONS   96	  /* maximum of watched entry points */
#define DAVY_RAW_FOLLOWED    16384
#define DAVY_RAW_UNIT	     256
#define DAVY_RAW_NO_ARGUMENT 255

/* READY and OPEN: "number" 1 marks a file that is to be watched and was not seen before. */
enum davy_raw_kind {
	DAVY_RAW_FORK = 1, /* number: the child's tgid */
	DAVY_RAW_EXEC = 2, /* start of an exec: path; number: the parent's tgid */
	DAVY_RAW_ARGV = 3, /* chunks */
	DAVY_RAW_ENVP = 4,
	DAVY_RAW_READY = 5, /* end of an exec: before the program's first instruction */
	DAVY_RAW_EXIT = 6,  /* code: as from wait(2) */
	DAVY_RAW_OPEN = 7,  /* code: descriptor or -errno */
	DAVY_RAW_MAP = 8,   /* a file was mapped executable; code: 0 or -errno */
	DAVY_RAW_CALL = 9,  /* number: return address */
	DAVY_RAW_RETURN = 10,
	DAVY_RAW_LINK_ERROR = 11, /* from the dynamic linker */
	DAVY_RAW_SIGNAL = 12,	  /* code: signal; number: sender's tgid, 0: the kernel */
	DAVY_RAW_LOADED = 13,	  /* the opened libraries are mapped and run next; delayed */
};

enum davy_raw_loss {
	DAVY_RAW_LOSS_RING = 0,	    /* steps that did not fit */
	DAVY_RAW_LOSS_FOLLOWED = 1, /* children that did not fit: they are not followed */
	DAVY_RAW_LOSS_DELAY = 2,    /* probes not attached in time: first calls may be missing */
	DAVY_RAW_LOSS_COUNT = 3,
};

struct davy_raw_head {
	__u16 kind;
	__u16 delayed; /* 1: the thread waits until userspace releases it */
	__u32 tgid;
	__u32 tid;
	__s32 code;
	__u64 boot_ns;
	__u64 number;
};

#define DAVY_RAW_MINOR_BITS 20 /* include/linux/kdev_t.h */

/* File identity in the kernel; on some file systems stat(2) reports other values. */
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
	__u32 total; /* sum of all chunks */
	__u32 pad;
	char data[DAVY_RAW_CHUNK];
};

struct davy_raw_call { /* CALL, RETURN */
	struct davy_raw_head head;
	__u32 function;
	__u32 count; /* RETURN: the number of devices that the function wrote */
	__u64 result;
	__u64 size; /* CALL: the second argument */
	__u64 entered_ns;
	__u64 vma_begin; /* CALL: start of the mapping of the caller; 0: unknown */
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
	struct davy_raw_head head; /* tgid: the process that the signal may end */
	char sender[16];
};

/* What to read from a call, set by userspace. */
struct davy_raw_function {
	__u8 text;   /* index of the text argument, or DAVY_RAW_NO_ARGUMENT */
	__u8 count;  /* index of the argument that points to a number of devices */
	__u16 limit; /* maximum number of reported calls per process */
	__u32 pad;
};

struct davy_raw_site {
	__u64 address; /* return address of a call */
	__u32 tgid;
	__u32 pad;
};

_Static_assert(sizeof(struct davy_raw_head) == 32, "wire layout");
_Static_assert(sizeof(struct davy_raw_path) == 560, "wire layout");
_Static_assert(sizeof(struct davy_raw_call) == 344, "wire layout");

/* FNV-1a of a library's name up to ".so"; both sides must compute it alike. */
#define DAVY_RAW_HASH_START 0xcbf29ce484222325ULL
#define DAVY_RAW_HASH_PRIME 0x100000001b3ULL

#endif
