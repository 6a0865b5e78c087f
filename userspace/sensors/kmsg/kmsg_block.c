/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kmsg/kmsg_host_block.h"

#include <string.h>

#define DAY_NS		   (86400 * DAVY_NS_PER_S)
#define XID_OF_THREE_LINES 31 /* in some reports; others have one line */

uint64_t davy_log_elapsed(uint64_t from_ns, uint64_t to_ns, uint8_t clock)
{
	if (clock == DAVY_KMSG_NO_CLOCK)
		return 0;
	if (to_ns >= from_ns)
		return to_ns - from_ns;
	return clock == DAVY_KMSG_DAY && from_ns < DAY_NS ? to_ns + DAY_NS - from_ns : 0;
}

/* Elapsed time on this slot's clock; 0 if "line" has another clock or none. */
static uint64_t kmsg_block_elapsed(const struct davy_log_slot *slot, uint64_t from_ns,
				   const struct davy_kmsg_line *line)
{
	return slot->clock == line->clock ? davy_log_elapsed(from_ns, line->at_ns, line->clock) : 0;
}

void davy_log_set_meaning(struct davy_log_event *ev, uint16_t kind)
{
	const struct davy_log_meaning *meaning = davy_log_meaning(kind);

	ev->kind = kind;
	ev->role = meaning->role;
	ev->class = meaning->class;
	ev->hazard = meaning->hazard;
	ev->weight = meaning->weight;
	ev->leads = meaning->leads;
}

static void kmsg_block_become_aftermath(struct davy_log_event *ev, uint8_t class)
{
	ev->role = DAVY_PART_AFTERMATH;
	ev->class = class;
	ev->hazard = 0;
	ev->weight = 0;
	ev->leads = 0;
}

void davy_log_name_process(struct davy_log_blocks *b, struct davy_log_event *ev,
			   const struct davy_kmsg_match *match)
{
	ev->pid = match->pid;
	ev->process = 0;
	memcpy(ev->comm, match->comm, sizeof(ev->comm));
	if (b->named && ev->pid)
		b->named(b->arg, ev);
}

struct davy_log_event davy_log_make_event(struct davy_log_blocks *b, uint16_t kind,
					  const char *device, const struct davy_kmsg_line *line,
					  const struct davy_kmsg_match *match)
{
	struct davy_log_event ev = { 0 };

	davy_log_set_meaning(&ev, kind);
	ev.at_ns = line->at_ns;
	ev.clock = line->clock;
	ev.seq = line->seq;
	ev.order = ++b->order;
	ev.addr = match->addr;
	ev.code = match->code;
	ev.error = match->error;
	davy_copy_name(ev.device, sizeof(ev.device), device);
	memcpy(ev.ring, match->ring, sizeof(ev.ring));
	memcpy(ev.stamp, line->stamp, sizeof(ev.stamp));
	davy_log_name_process(b, &ev, match);
	return ev;
}

void davy_log_close_block(struct davy_log_blocks *b, struct davy_log_slot *slot)
{
	struct davy_log_event *ev = &slot->ev;

	if (!slot->open)
		return;
	slot->open = false;
	if (slot->silent)
		return;
	if (ev->kind == DAVY_LOG_XID) {
		if (slot->undecodable)
			davy_log_set_meaning(ev, DAVY_LOG_XID_UNDECODABLE);
		else
			davy_log_judge_xid(ev, slot);
	}
	if (ev->role != DAVY_PART_LOOKALIKE)
		b->sink(b->arg, ev);
}

static void kmsg_block_report_dump(struct davy_log_blocks *b, struct davy_log_slot *slot)
{
	if (slot->dumping)
		b->sink(b->arg, &slot->dump);
	slot->dumping = false;
}

void davy_log_touch(struct davy_log_blocks *b, struct davy_log_slot *slot,
		    const struct davy_kmsg_line *line)
{
	slot->touched = ++b->touches;
	slot->last_ns = line->at_ns;
	slot->clock = line->clock;
}

/* The slot of a device. Created if "driver" is given; may replace the one silent longest. */
static struct davy_log_slot *kmsg_block_slot_of(struct davy_log_blocks *b, const char *device,
						uint8_t driver)
{
	struct davy_log_slot *oldest = &b->slots[0];

	for (size_t i = 0; i < DAVY_LOG_DEVICES; i++) {
		struct davy_log_slot *slot = &b->slots[i];

		if (slot->used && davy_same_name(slot->ev.device, device))
			return slot;
		if (!slot->used || (oldest->used && slot->touched < oldest->touched))
			oldest = slot;
	}
	if (!driver)
		return NULL;
	davy_log_close_block(b, oldest);
	kmsg_block_report_dump(b, oldest);
	memset(oldest, 0, sizeof(*oldest));
	oldest->used = true;
	oldest->driver = driver;
	davy_copy_name(oldest->ev.device, sizeof(oldest->ev.device), device);
	return oldest;
}

void davy_log_blocks_know(struct davy_log_blocks *b, const char *device, uint8_t driver)
{
	kmsg_block_slot_of(b, device, driver)->driver = driver;
}

void davy_log_blocks_forget(struct davy_log_blocks *b, const char *device)
{
	struct davy_log_slot *slot = kmsg_block_slot_of(b, device, 0);

	if (!slot)
		return;
	davy_log_close_block(b, slot);
	kmsg_block_report_dump(b, slot);
	memset(slot, 0, sizeof(*slot));
}

/*
 * The slot for a line without a device: the only device of its driver, otherwise the unnamed slot.
 */
static struct davy_log_slot *kmsg_block_only_device(struct davy_log_blocks *b, uint8_t driver)
{
	struct davy_log_slot *only = NULL;

	for (size_t i = 0; i < DAVY_LOG_DEVICES; i++) {
		struct davy_log_slot *slot = &b->slots[i];

		if (!slot->used || !slot->ev.device[0] ||
		    (driver != DAVY_KMSG_ANYBODY && slot->driver != driver))
			continue;
		if (only)
			return kmsg_block_slot_of(b, "", DAVY_KMSG_OTHER);
		only = slot;
	}
	return only ? only : kmsg_block_slot_of(b, "", DAVY_KMSG_OTHER);
}

static struct davy_log_slot *kmsg_block_event_slot(struct davy_log_blocks *b,
						   const struct davy_kmsg_line *line,
						   const struct davy_kmsg_match *match)
{
	uint8_t driver = line->driver ? line->driver : DAVY_KMSG_OTHER;
	struct davy_log_slot *slot;

	if (!match->device[0])
		return kmsg_block_only_device(b, line->driver);
	slot = kmsg_block_slot_of(b, match->device, driver);
	if (slot->driver == DAVY_KMSG_OTHER)
		slot->driver = driver;
	return slot;
}

/* A fault of VM 0 without PASID is the driver's own traffic. */
static bool kmsg_block_is_fault(uint16_t kind)
{
	return kind == DAVY_LOG_PAGE_FAULT || kind == DAVY_LOG_DRIVER_FAULT;
}

/* The head line to which a detail line belongs. */
static bool kmsg_block_belongs(uint16_t head, uint16_t detail)
{
	switch (detail) {
	case DAVY_LOG_FAULT_ADDRESS:
	case DAVY_LOG_FAULT_STATUS:
	case DAVY_LOG_FAULT_FLAGS:
	case DAVY_LOG_FAULT_PROCESS:
		return kmsg_block_is_fault(head);
	case DAVY_LOG_PROCESS_INFO:
		return kmsg_block_is_fault(head) || head == DAVY_LOG_RING_TIMEOUT;
	case DAVY_LOG_XID_DETAIL:
		return head == DAVY_LOG_XID;
	case DAVY_LOG_XE_FAULT_DETAIL:
	case DAVY_LOG_XE_FAULT_UNSERVED:
		return head == DAVY_LOG_XE_FAULT_UNSERVED;
	case DAVY_LOG_XE_JOB_TIMEOUT:
		return head == DAVY_LOG_XE_ENGINE_RESET || head == DAVY_LOG_XE_ENGINES_DEAD;
	case DAVY_LOG_I915_CONTEXT_RESET:
		return head == DAVY_LOG_I915_HANG;
	default:
		return false;
	}
}

/* The open block for a detail line; NULL if there is none or several match. */
static struct davy_log_slot *kmsg_block_open(struct davy_log_blocks *b,
					     const struct davy_kmsg_match *match)
{
	struct davy_log_slot *only = NULL;

	if (match->device[0]) {
		only = kmsg_block_slot_of(b, match->device, 0);
		return only && only->open && kmsg_block_belongs(only->ev.kind, match->kind) ? only
											    : NULL;
	}
	for (size_t i = 0; i < DAVY_LOG_DEVICES; i++) {
		struct davy_log_slot *slot = &b->slots[i];

		if (!slot->used || !slot->open || !kmsg_block_belongs(slot->ev.kind, match->kind))
			continue;
		if (only)
			return NULL;
		only = slot;
	}
	return only;
}

void davy_log_begin_block(struct davy_log_blocks *b, struct davy_log_slot *slot, uint16_t kind,
			  const struct davy_kmsg_line *line, const struct davy_kmsg_match *match)
{
	char device[DAVY_DEVICE_LEN];

	davy_log_close_block(b, slot);
	davy_copy_name(device, sizeof(device), slot->ev.device);
	slot->ev = davy_log_make_event(b, kind, device, line, match);
	slot->open = true;
	slot->silent = slot->mmu_fault = slot->undecodable = false;
	slot->reboot = slot->fatal = slot->complete = false;
	slot->has_process = match->pid != 0;
	slot->pasid = match->pasid;
	slot->line_count = 1;
	davy_log_touch(b, slot, line);
}

static void kmsg_block_read_xid(struct davy_log_slot *slot, const char *text)
{
	/* clang-format off */
	static const char *const faults[] = {
		"MMU Fault", "faulted @", "FAULT_", "Illegal Address", "Out Of Range Address",
		"Misaligned Address",
	};
	/* clang-format on */
	struct davy_kmsg_match match = { 0 };
	const char *at;

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		slot->mmu_fault |= strstr(text, faults[i]) != NULL;
	at = strstr(text, "faulted @ ");
	if (at && !slot->ev.addr && davy_kmsg_pattern("faulted @ %a", at, &match))
		slot->ev.addr = match.addr;
	slot->reboot |= strstr(text, "Reboot Required") != NULL;
	slot->fatal |= strstr(text, " Fatal ") != NULL;
	slot->undecodable |= strstr(text, "UNRECOGNIZED_CLIENT") != NULL ||
			     strstr(text, "UNRECOGNIZED_FAULT") != NULL;
	slot->complete |= slot->ev.code != XID_OF_THREE_LINES || strstr(text, "Fault is of type");
}

/* Adds the information of a line to an open block. */
static void kmsg_block_add(struct davy_log_blocks *b, struct davy_log_slot *slot,
			   const struct davy_kmsg_line *line, const struct davy_kmsg_match *match)
{
	struct davy_log_event *ev = &slot->ev;

	davy_log_touch(b, slot, line);
	slot->line_count++;
	if (!slot->has_process && match->pid) {
		slot->has_process = true;
		davy_log_name_process(b, ev, match);
	}
	if (!ev->addr)
		ev->addr = match->addr;
	if (!ev->error)
		ev->error = match->error;
	if (ev->kind == DAVY_LOG_XID)
		kmsg_block_read_xid(slot, line->text);
	if ((match->kind == DAVY_LOG_PROCESS_INFO && ev->kind == DAVY_LOG_RING_TIMEOUT) ||
	    match->kind == DAVY_LOG_XE_JOB_TIMEOUT || match->kind == DAVY_LOG_I915_CONTEXT_RESET ||
	    slot->complete || slot->line_count >= DAVY_LOG_BLOCK_LINES)
		davy_log_close_block(b, slot); /* the block is complete */
}

/* True if the line was handled as part of a block. */
static bool kmsg_block_take_detail(struct davy_log_blocks *b, const struct davy_kmsg_line *line,
				   const struct davy_kmsg_match *match)
{
	struct davy_log_slot *slot = kmsg_block_open(b, match);
	bool again = slot && slot->ev.addr && match->kind == DAVY_LOG_FAULT_ADDRESS;

	if (slot && !again) {
		kmsg_block_add(b, slot, line, match);
		return true;
	}
	switch (match->kind) {
	case DAVY_LOG_FAULT_ADDRESS:
	case DAVY_LOG_FAULT_STATUS:
	case DAVY_LOG_FAULT_PROCESS: /* details of a fault whose first line was lost */
		slot = slot ? slot : kmsg_block_event_slot(b, line, match);
		davy_log_begin_block(b, slot, DAVY_LOG_PAGE_FAULT, line, match);
		return true;
	case DAVY_LOG_XE_FAULT_DETAIL:
		davy_log_begin_block(b, kmsg_block_event_slot(b, line, match),
				     DAVY_LOG_XE_FAULT_UNSERVED, line, match);
		return true;
	case DAVY_LOG_IP_DUMP_BEGUN:
		slot = kmsg_block_event_slot(b, line, match);
		slot->dump = davy_log_make_event(b, DAVY_LOG_IP_DUMP_UNFINISHED, slot->ev.device,
						 line, match);
		slot->dumping = true;
		davy_log_touch(b, slot, line);
		return true;
	case DAVY_LOG_IP_DUMP_DONE:
		kmsg_block_event_slot(b, line, match)->dumping = false;
		return true;
	default:
		return davy_log_meaning(match->kind)->role == DAVY_PART_DETAIL;
	}
}

static void kmsg_block_follow_reset(struct davy_log_slot *slot, uint16_t kind,
				    const struct davy_kmsg_line *line)
{
	switch (kind) {
	case DAVY_LOG_RING_RESET_BEGUN:
		slot->reset = DAVY_LOG_IN_RING_RESET;
		break;
	case DAVY_LOG_GPU_RESET_BEGUN:
		slot->reset = DAVY_LOG_IN_GPU_RESET;
		break;
	case DAVY_LOG_GPU_RESET_DONE:
		slot->reset = DAVY_LOG_RECOVERING;
		break;
	case DAVY_LOG_RECOVERED:
		slot->reset = slot->reset == DAVY_LOG_IN_GPU_RESET ? DAVY_LOG_RECOVERING
								   : DAVY_LOG_NO_RESET;
		break;
	case DAVY_LOG_RING_RESET_DONE:
	case DAVY_LOG_RING_RESET_FAILED:
	case DAVY_LOG_GPU_RESET_FAILED:
		slot->reset = DAVY_LOG_NO_RESET;
		break;
	default:
		return;
	}
	slot->reset_ns = line->at_ns;
}

/* True if the message is a consequence of a running reset. */
static bool kmsg_block_due_to_reset(const struct davy_log_slot *slot, uint16_t kind)
{
	switch (kind) {
	case DAVY_LOG_MES_FAILED:
	case DAVY_LOG_HWS_HANG:
	case DAVY_LOG_QUEUE_CREATE_FAILED:
	case DAVY_LOG_QUEUE_EVICT_FAILED:
	case DAVY_LOG_QUIESCE_FAILED:
	case DAVY_LOG_KIQ_TIMEOUT:
	case DAVY_LOG_SMU_FAILED:
	case DAVY_LOG_WAVE_ERROR:
	case DAVY_LOG_DISPLAY_STALLED:
		return slot->reset == DAVY_LOG_IN_RING_RESET ||
		       slot->reset == DAVY_LOG_IN_GPU_RESET;
	case DAVY_LOG_RING_TIMEOUT:
	case DAVY_LOG_MES_UNRECOVERABLE:
		return slot->reset == DAVY_LOG_IN_GPU_RESET;
	default:
		return false;
	}
}

/* Kinds that open a block and wait for more lines. */
static bool kmsg_block_opens(uint16_t kind)
{
	return kind == DAVY_LOG_PAGE_FAULT || kind == DAVY_LOG_RING_TIMEOUT ||
	       kind == DAVY_LOG_XID || kind == DAVY_LOG_I915_HANG ||
	       kind == DAVY_LOG_XE_ENGINE_RESET || kind == DAVY_LOG_XE_FAULT_UNSERVED;
}

static void kmsg_block_open_event(struct davy_log_blocks *b, struct davy_log_slot *slot,
				  const struct davy_kmsg_line *line,
				  const struct davy_kmsg_match *match)
{
	bool resetting = slot->reset == DAVY_LOG_IN_GPU_RESET || slot->reset == DAVY_LOG_RECOVERING;

	if (match->kind == DAVY_LOG_PAGE_FAULT && slot->open &&
	    kmsg_block_is_fault(slot->ev.kind) && slot->line_count == 1 &&
	    slot->pasid == match->pasid && !match->pid) {
		davy_log_touch(b, slot,
			       line); /* the fault was repeated before its block was complete */
		return;
	}
	davy_log_begin_block(b, slot, match->kind, line, match);
	if (match->kind == DAVY_LOG_PAGE_FAULT && match->has_vm && !match->vmid && !match->pasid) {
		davy_log_set_meaning(&slot->ev, DAVY_LOG_DRIVER_FAULT);
		slot->silent = resetting;
	}
	if (match->kind == DAVY_LOG_XID)
		kmsg_block_read_xid(slot, line->text);
	if (slot->complete)
		davy_log_close_block(b, slot);
	if (match->kind == DAVY_LOG_RING_TIMEOUT && kmsg_block_due_to_reset(slot, match->kind))
		kmsg_block_become_aftermath(&slot->ev, DAVY_CLASS_GPU_RESET);
	if (match->kind != DAVY_LOG_XE_ENGINE_RESET)
		return;
	if (slot->engine[0] && !davy_same_name(slot->engine, match->ring) &&
	    kmsg_block_elapsed(slot, slot->engine_ns, line) <= DAVY_LOG_ENGINES_NS)
		davy_log_set_meaning(&slot->ev, DAVY_LOG_XE_ENGINES_DEAD);
	memcpy(slot->engine, match->ring, sizeof(slot->engine));
	slot->engine_ns = line->at_ns;
}

static void kmsg_block_take_event(struct davy_log_blocks *b, const struct davy_kmsg_line *line,
				  const struct davy_kmsg_match *match)
{
	struct davy_log_slot *slot = kmsg_block_event_slot(b, line, match);
	uint64_t limit_ns =
		slot->reset == DAVY_LOG_RECOVERING ? DAVY_LOG_RECOVERY_NS : DAVY_LOG_RESET_NS;
	struct davy_log_event ev;

	if (kmsg_block_elapsed(slot, slot->reset_ns, line) > limit_ns)
		slot->reset = DAVY_LOG_NO_RESET;
	if (kmsg_block_opens(match->kind)) {
		kmsg_block_open_event(b, slot, line, match);
		return;
	}
	davy_log_close_block(b, slot);
	davy_log_touch(b, slot, line);
	ev = davy_log_make_event(b, match->kind, slot->ev.device, line, match);
	if (kmsg_block_due_to_reset(slot, match->kind))
		kmsg_block_become_aftermath(&ev, slot->reset == DAVY_LOG_IN_GPU_RESET
							 ? DAVY_CLASS_GPU_RESET
							 : DAVY_CLASS_RING_TIMEOUT);
	kmsg_block_follow_reset(slot, match->kind, line);
	if (match->kind == DAVY_LOG_IOMMU_FAULT) {
		slot->iommu_faulted = true;
		slot->iommu_ns = line->at_ns;
	}
	b->sink(b->arg, &ev);
}

void davy_log_blocks_init(struct davy_log_blocks *b,
			  void (*sink)(void *arg, const struct davy_log_event *ev), void *arg)
{
	memset(b, 0, sizeof(*b));
	b->sink = sink;
	b->arg = arg;
	b->host.used = true;
}

/*
 * Messages of an IOMMU and of a PCIe port concern any device. "callbacks suppressed" names none:
 * it is printed with the first fault after the five seconds of a rate limit (lib/ratelimit.c), for
 * a device that faulted before. A saved log with only that line was probably saved because of a
 * GPU.
 */
static bool kmsg_block_of_gpu(struct davy_log_blocks *b, const struct davy_kmsg_line *line,
			      struct davy_kmsg_match *match)
{
	if (match->device[0])
		return line->driver > DAVY_KMSG_OTHER || kmsg_block_slot_of(b, match->device, 0);
	for (size_t i = 0; i < DAVY_LOG_DEVICES; i++) {
		struct davy_log_slot *slot = &b->slots[i];

		if (slot->used && slot->iommu_faulted &&
		    kmsg_block_elapsed(slot, slot->iommu_ns, line) <= DAVY_LOG_IOMMU_NS) {
			davy_copy_name(match->device, sizeof(match->device), slot->ev.device);
			return true;
		}
	}
	return line->flags & DAVY_KMSG_SAVED;
}

void davy_log_blocks_feed(struct davy_log_blocks *b, const struct davy_kmsg_line *line)
{
	struct davy_kmsg_match match;
	struct davy_log_slot *slot;

	if (davy_kmsg_line_continues(&b->before, line))
		return;
	davy_log_blocks_tick(b, line->at_ns, line->clock);
	if (!davy_kmsg_match(line, &match)) {
		slot = line->device[0] ? kmsg_block_slot_of(b, line->device, 0) : NULL;
		if (slot)
			davy_log_close_block(
				b, slot); /* the block has ended: this line starts something else */
		match = (struct davy_kmsg_match){ 0 };
		davy_log_host_follows(b, line, &match);
		return;
	}
	if (davy_log_host_follows(b, line, &match))
		return;
	if (davy_log_meaning(match.kind)->role == DAVY_PART_LOOKALIKE) {
		slot = match.device[0] ? kmsg_block_slot_of(b, match.device, 0) : NULL;
		if (slot)
			davy_log_close_block(b, slot);
		return;
	}
	if (kmsg_block_take_detail(b, line, &match))
		return;
	if ((match.kind == DAVY_LOG_IOMMU_FAULT ||
	     (match.kind == DAVY_LOG_AER && line->driver == DAVY_KMSG_OTHER)) &&
	    !kmsg_block_of_gpu(b, line, &match))
		return;
	if (match.kind >= DAVY_LOG_OOM_KILL && match.kind != DAVY_LOG_IOMMU_FAULT)
		davy_log_host_take(b, line, &match);
	else
		kmsg_block_take_event(b, line, &match);
}

void davy_log_blocks_tick(struct davy_log_blocks *b, uint64_t at_ns, uint8_t clock)
{
	for (size_t i = 0; i <= DAVY_LOG_DEVICES; i++) {
		struct davy_log_slot *slot = i < DAVY_LOG_DEVICES ? &b->slots[i] : &b->host;

		if (slot->clock != clock)
			continue;
		if (slot->open &&
		    davy_log_elapsed(slot->last_ns, at_ns, clock) >= DAVY_LOG_BLOCK_NS)
			davy_log_close_block(b, slot);
		if (slot->dumping &&
		    davy_log_elapsed(slot->dump.at_ns, at_ns, clock) >= DAVY_LOG_DUMP_NS)
			kmsg_block_report_dump(b, slot);
	}
}

bool davy_log_blocks_open(const struct davy_log_blocks *b)
{
	for (size_t i = 0; i < DAVY_LOG_DEVICES; i++)
		if (b->slots[i].open)
			return true;
	return b->host.open;
}

void davy_log_blocks_finish(struct davy_log_blocks *b)
{
	for (size_t i = 0; i < DAVY_LOG_DEVICES; i++) {
		davy_log_close_block(b, &b->slots[i]);
		kmsg_block_report_dump(b, &b->slots[i]);
	}
	davy_log_close_block(b, &b->host);
}
