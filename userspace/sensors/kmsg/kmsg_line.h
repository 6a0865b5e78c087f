/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses one line of a kernel log: removes the prefixes of dmesg, journalctl, syslog and the
 * kernel, and determines driver and device. Pure: no clock, no file, no allocation. All input is
 * untrusted.
 */
#ifndef DAVY_KMSG_LINE_H
#define DAVY_KMSG_LINE_H

#include "core/event/types.h"

#define DAVY_KMSG_TEXT_SIZE   1024 /* longer text is truncated */
#define DAVY_KMSG_STAMP_SIZE  40
#define DAVY_KMSG_NO_PRIORITY 8

/* The source of a message; it selects the patterns to try. */
enum davy_kmsg_driver {
	DAVY_KMSG_ANYBODY = 0, /* no driver name before the message */
	DAVY_KMSG_OTHER = 1,   /* not a GPU driver */
	DAVY_KMSG_AMDGPU = 2,  /* and KFD */
	DAVY_KMSG_RADEON = 3,
	DAVY_KMSG_I915 = 4,
	DAVY_KMSG_XE = 5,
	DAVY_KMSG_NVIDIA = 6,
	DAVY_KMSG_NOUVEAU = 7,
	DAVY_KMSG_NPU = 8, /* amdxdna: not a GPU, but similar messages */
	DAVY_KMSG_DRIVER_COUNT = 9,
};

enum davy_kmsg_clock {
	DAVY_KMSG_NO_CLOCK = 0,
	DAVY_KMSG_PRINTK = 1, /* at_ns since boot without suspend, as in printk's stamps */
	DAVY_KMSG_DAY = 2,    /* at_ns since midnight: the common part of localised dates */
};

enum davy_kmsg_flag {
	DAVY_KMSG_SAVED = 1, /* from a saved log: lines may be cut or have extra words in front */
	DAVY_KMSG_NAMED =
		/* contains a process name where drivers have their name: no prefix was removed */
		2,
	DAVY_KMSG_FINE = 4,	/* from a saved log: printk stamp with microseconds */
	DAVY_KMSG_INDENTED = 8, /* from a saved log: begins with a blank */
};

struct davy_kmsg_line {
	uint64_t seq; /* of /dev/kmsg; 0 in a saved log */
	uint64_t at_ns;
	uint8_t clock;	  /* enum davy_kmsg_clock */
	uint8_t priority; /* 0 to 7, DAVY_KMSG_NO_PRIORITY: unknown */
	uint8_t driver;	  /* enum davy_kmsg_driver */
	uint8_t flags;	  /* of enum davy_kmsg_flag */
	uint32_t len;
	char stamp[DAVY_KMSG_STAMP_SIZE]; /* the timestamp as in the log, "": none */
	char device[DAVY_DEVICE_LEN];	  /* "0000:03:00.0", "": unknown */
	char text[DAVY_KMSG_TEXT_SIZE];	  /* the message without prefixes; any bytes except NUL */
};

/*
 * Parses a line of a saved log, without its newline. Accepts prefixes in any order and number:
 * "<4>", dmesg's "[  327.803487]", "[Wed Sep  2 09:32:42 2026]" and localised forms, "kern  :warn
 * :", Talos' "host: kern: err:", printk's caller "[   T3577]", syslog and journal "Aug 16 21:15:49
 * host kernel:", ISO stamps, a bare "kernel:", and combinations. Driver prefixes follow: "amdgpu
 * 0000:03:00.0: amdgpu:", "[drm:func [amdgpu]] *ERROR*", "NVRM:", "Tile0: GT0:".
 * A driver name counts only at the beginning of the message. Later in the text it may be an option
 * of mount(2), the path of a program or a product name, which users can choose. False if the line
 * is empty or from another program (journal tag "name[pid]:", facility not kern).
 */
bool davy_kmsg_line_parse(const char *data, size_t size, struct davy_kmsg_line *ret_line);

/*
 * Parses a record of /dev/kmsg: "prio,seq,usec,flags[,...];text\n SUBSYSTEM=pci\n
 * DEVICE=+pci:ADDRESS\n". Decodes the escapes \xNN (Documentation/ABI/testing/dev-kmsg). Users
 * choose process names, and the kernel writes them before "[pid]: segfault at". Therefore only text
 * of the kernel itself can name a driver. If the dictionary names a device on a non-GPU bus, the
 * source is no GPU driver. Returns 0; -EINVAL if it is not a record; -EPERM if its facility is not
 * the kernel's: a process wrote it to /dev/kmsg. Sets "seq" except with -EINVAL.
 */
int davy_kmsg_record_parse(const char *data, size_t size, struct davy_kmsg_line *ret_line);

/*
 * State for continuation lines. Text chosen by a user may contain newlines (an option of mount(2),
 * a path). In a saved log, the rest is on a separate line: with the same stamp if each line has one
 * (dmesg -S, syslog), otherwise indented without a stamp (journalctl).
 */
struct davy_kmsg_before {
	uint64_t at_ns;
	bool quotes; /* the line may contain text chosen by a user */
	bool fine;
	bool stamped;
};

/* True if "line" may continue the previous line and must be ignored. Updates "before". */
bool davy_kmsg_line_continues(struct davy_kmsg_before *before, const struct davy_kmsg_line *line);

/* The driver of a kernel module; DAVY_KMSG_OTHER if it is not a GPU driver. */
enum davy_kmsg_driver davy_kmsg_driver_of(const char *name);

/*
 * Parses a PCI address at "text": "0000:2b:00.0", or NVIDIA's "0000:2b:00", which gets ".0".
 * Returns its length in the text, 0 if there is none.
 */
size_t davy_kmsg_pci(const char *text, char ret_device[DAVY_DEVICE_LEN]);

#endif
