/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One line of a kernel log, taken apart: the message proper without what dmesg, journalctl, syslog
 * or the kernel itself put before it, and whom it is about. Pure: no clock, no file, no memory of
 * its own. Everything here is outside input.
 */
#ifndef DAVY_KMSG_LINE_H
#define DAVY_KMSG_LINE_H

#include "core/event/types.h"

#define DAVY_KMSG_TEXT_SIZE   1024 /* what is longer is cut */
#define DAVY_KMSG_STAMP_SIZE  40
#define DAVY_KMSG_NO_PRIORITY 8

/* Who speaks, as far as it decides which patterns are tried. */
enum davy_kmsg_driver {
	DAVY_KMSG_ANYBODY = 0, /* no name before the message */
	DAVY_KMSG_OTHER = 1,   /* a driver that is no GPU's */
	DAVY_KMSG_AMDGPU = 2,  /* and KFD */
	DAVY_KMSG_RADEON = 3,
	DAVY_KMSG_I915 = 4,
	DAVY_KMSG_XE = 5,
	DAVY_KMSG_NVIDIA = 6,
	DAVY_KMSG_NOUVEAU = 7,
	DAVY_KMSG_NPU = 8, /* amdxdna: not a GPU, speaks in a like way */
	DAVY_KMSG_DRIVER_COUNT = 9,
};

enum davy_kmsg_clock {
	DAVY_KMSG_NO_CLOCK = 0,
	DAVY_KMSG_PRINTK = 1, /* at_ns since boot, not counting suspend: what printk stamps */
	DAVY_KMSG_DAY = 2,    /* at_ns since midnight: all that localised dates have in common */
};

enum davy_kmsg_flag {
	DAVY_KMSG_SAVED =
		1, /* of a saved log: people cut lines, and put words of their own before */
	DAVY_KMSG_NAMED =
		2, /* holds a process's name where drivers have theirs: nothing was cut off */
	DAVY_KMSG_FINE = 4,	/* of a saved log: printk's stamp, to the microsecond */
	DAVY_KMSG_INDENTED = 8, /* of a saved log: begins with a blank */
};

struct davy_kmsg_line {
	uint64_t seq; /* of /dev/kmsg; 0 in a saved log */
	uint64_t at_ns;
	uint8_t clock;	  /* enum davy_kmsg_clock */
	uint8_t priority; /* 0 to 7, DAVY_KMSG_NO_PRIORITY unknown */
	uint8_t driver;	  /* enum davy_kmsg_driver */
	uint8_t flags;	  /* of enum davy_kmsg_flag */
	uint32_t len;
	char stamp[DAVY_KMSG_STAMP_SIZE]; /* the time as the log writes it, "" when it has none */
	char device[DAVY_DEVICE_LEN];	  /* "0000:03:00.0", "" unknown */
	char text[DAVY_KMSG_TEXT_SIZE];	  /* the message proper; may hold anything but NUL */
};

/*
 * A line of a saved log, without its newline. Prefixes in any order and number: "<4>", dmesg's
 * "[  327.803487]", "[Wed Sep  2 09:32:42 2026]" and its localised forms, "kern  :warn  :", Talos'
 * "host: kern: err:", printk's caller "[   T3577]", syslog and journal "Aug 16 21:15:49 host
 * kernel:", ISO stamps, a bare "kernel:", and several of them after another. Then the driver's own:
 * "amdgpu 0000:03:00.0: amdgpu:", "[drm:func [amdgpu]] *ERROR*", "NVRM:", "Tile0: GT0:".
 * A driver's name counts at the beginning of the message only. Behind other words it may be an
 * option of mount(2), the path of a program or a device's product name, which users choose. False
 * when the line is another program's (journal tag "name[pid]:", facility not kern) or empty.
 */
bool davy_kmsg_line_parse(const char *data, size_t size, struct davy_kmsg_line *ret_line);

/*
 * A record of /dev/kmsg: "prio,seq,usec,flags[,...];text\n SUBSYSTEM=pci\n DEVICE=+pci:ADDRESS\n",
 * with the escapes \xNN undone (Documentation/ABI/testing/dev-kmsg). Anybody may choose the name of
 * his process, and the kernel puts it in front of "[pid]: segfault at": only what the kernel itself
 * wrote names a driver. A dictionary that names a device of another bus than a GPU's says that no
 * GPU's driver speaks. 0; -EINVAL when it is none;
 * -EPERM when its facility is not the kernel's: somebody wrote it to /dev/kmsg. "seq" is set in
 * both cases but the first.
 */
int davy_kmsg_record_parse(const char *data, size_t size, struct davy_kmsg_line *ret_line);

/*
 * Text that a user chose may hold newlines (an option of mount(2), a path), and in a saved log what
 * follows one stands in a line of its own: with the same stamp when each line has one (dmesg -S,
 * syslog), or indented without one (journalctl).
 */
struct davy_kmsg_before {
	uint64_t at_ns;
	bool quotes; /* the line holds text that a user may have chosen */
	bool fine;
	bool stamped;
};

/* Whether "line" may be the rest of the line before it, and is to be ignored; "before" follows. */
bool davy_kmsg_line_continues(struct davy_kmsg_before *before, const struct davy_kmsg_line *line);

/* The driver of a kernel module's name; DAVY_KMSG_OTHER when it is no GPU's. */
enum davy_kmsg_driver davy_kmsg_driver_of(const char *name);

/*
 * A PCI address at "text": "0000:2b:00.0", or as NVIDIA writes it "0000:2b:00", which gets ".0".
 * How many bytes it has there, 0 when it is none.
 */
size_t davy_kmsg_pci(const char *text, char ret_device[DAVY_DEVICE_LEN]);

#endif
