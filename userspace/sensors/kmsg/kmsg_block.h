/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts log lines to events. Several lines about one thing form one event: a page fault with its
 * process, address and status; a ring timeout and the process of its job; an Xid of three lines.
 * Blocks are separated by PCI address, because blocks of several GPUs interleave. A line without an
 * address belongs to the only open block, otherwise to the only device of its driver.
 *
 * Deterministic: all times are those in the lines. Bounded: DAVY_LOG_DEVICES devices; a new device
 * replaces the one that was silent longest.
 */
#ifndef DAVY_KMSG_BLOCK_H
#define DAVY_KMSG_BLOCK_H

#include "sensors/kmsg/kmsg_table.h"

#define DAVY_LOG_DEVICES     16
#define DAVY_LOG_BLOCK_NS    (1 * DAVY_NS_PER_S)   /* without a line for so long, a block ends */
#define DAVY_LOG_RESET_NS    (60 * DAVY_NS_PER_S)  /* then a reset without an end is over */
#define DAVY_LOG_RECOVERY_NS (10 * DAVY_NS_PER_S)  /* consequences of a reset that has ended */
#define DAVY_LOG_DUMP_NS     (30 * DAVY_NS_PER_S)  /* dumping a GPU's state takes milliseconds */
#define DAVY_LOG_IOMMU_NS    (10 * DAVY_NS_PER_S)  /* two intervals of the kernel's rate limit */
#define DAVY_LOG_REPORT_NS   (10 * DAVY_NS_PER_S)  /* a memory report on a slow console */
#define DAVY_LOG_ENGINES_NS  (600 * DAVY_NS_PER_S) /* resets of two engines belong together */
#define DAVY_LOG_BLOCK_LINES 64

struct davy_log_event {
	uint64_t at_ns;	      /* of the first line, on "clock" */
	uint64_t seq;	      /* of the first line in /dev/kmsg, else 0 */
	uint64_t order;	      /* 1, 2, ...: order of first lines; a block is reported at its end */
	uint64_t addr;	      /* of a fault, 0: unknown */
	uint32_t pid;	      /* as in the line, 0: unknown */
	uint32_t process;     /* the process of "pid", set by davy_log_blocks.named; 0: unknown */
	uint64_t start_ticks; /* of "process" */
	uint32_t code;	      /* Xid, SXid, GuC id, "N times" */
	int32_t error;	      /* 0 or -errno */
	uint16_t kind;	      /* enum davy_log_kind */
	uint16_t leads;	      /* of a precursor: bits of enum davy_log_class_bit */
	uint8_t class;	      /* enum davy_log_class */
	uint8_t role;	      /* FAILURE, PRECURSOR or AFTERMATH of enum davy_log_role */
	uint8_t hazard;	      /* enum davy_log_hazard, of a precursor */
	uint8_t weight;	      /* of a precursor, 1 to 3 */
	uint8_t clock;	      /* enum davy_kmsg_clock */
	uint8_t pad[3];
	char device[DAVY_DEVICE_LEN]; /* PCI address, "": unknown */
	char comm[DAVY_COMM_LEN];     /* not sanitized */
	char ring[DAVY_RING_NAME_LEN];
	char stamp[DAVY_KMSG_STAMP_SIZE]; /* the timestamp as in the log */
};

enum davy_log_reset {
	DAVY_LOG_NO_RESET = 0,
	DAVY_LOG_IN_RING_RESET = 1,
	DAVY_LOG_IN_GPU_RESET = 2,
	DAVY_LOG_RECOVERING = 3,
};

struct davy_log_slot {
	bool used;
	bool open;
	bool silent; /* do not report the open block: a consequence, or of no known device */
	bool has_process;
	bool iommu_faulted;
	bool mmu_fault;	  /* Xid: the text reports a fault */
	bool reboot;	  /* Xid 154: the driver requests a reboot */
	bool fatal;	  /* Xid of an NVLink: the text reports a fatal error */
	bool complete;	  /* Xid: the text has all that is known about the error */
	bool undecodable; /* Xid 31: the driver knows neither client nor type */
	bool dumping;
	uint8_t driver; /* enum davy_kmsg_driver */
	uint8_t reset;	/* enum davy_log_reset */
	uint8_t clock;	/* of the times below */
	uint32_t line_count;
	uint32_t pasid;
	uint64_t last_ns;
	uint64_t reset_ns;
	uint64_t engine_ns;
	uint64_t iommu_ns;
	uint64_t touched;
	char engine[DAVY_RING_NAME_LEN]; /* xe: engine of the last reset */
	struct davy_log_event ev;
	struct davy_log_event dump;
};

struct davy_log_blocks {
	void (*sink)(void *arg, const struct davy_log_event *ev);
	/*
	 * NULL, or called when a line arrives that names the event's process ("pid", "comm"): the
	 * process may be gone when the event is complete.
	 */
	void (*named)(void *arg, struct davy_log_event *ev);
	void *arg;
	uint64_t order;
	uint64_t touches;
	struct davy_kmsg_before before;
	struct davy_log_slot host; /* lines that concern no device */
	struct davy_log_slot slots[DAVY_LOG_DEVICES];
};

void davy_log_blocks_init(struct davy_log_blocks *b,
			  void (*sink)(void *arg, const struct davy_log_event *ev), void *arg);

/* Adds a device. Lines of its driver without an address belong to it if it is the only one. */
void davy_log_blocks_know(struct davy_log_blocks *b, const char *device, uint8_t driver);
void davy_log_blocks_forget(struct davy_log_blocks *b, const char *device);

/* Processes one line, in log order. Calls the sink for each event that is now complete. */
void davy_log_blocks_feed(struct davy_log_blocks *b, const struct davy_kmsg_line *line);

/* Reports blocks without a line for DAVY_LOG_BLOCK_NS at "at_ns" of "clock". */
void davy_log_blocks_tick(struct davy_log_blocks *b, uint64_t at_ns, uint8_t clock);

/* Whether a block has begun and is not reported yet. */
bool davy_log_blocks_open(const struct davy_log_blocks *b);

/* Reports all open blocks at the end of the log. */
void davy_log_blocks_finish(struct davy_log_blocks *b);

/*
 * Sets class, role and other fields from an Xid's number (NVIDIA's catalogue of Xid errors) and
 * from what its text adds.
 */
void davy_log_judge_xid(struct davy_log_event *ev, const struct davy_log_slot *slot);

#endif
