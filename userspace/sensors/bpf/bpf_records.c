/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ring records to events: sizes checked, names terminated, units converted; no judgement. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "sensors/bpf/bpf_state.h"

#define BATCH_MAX 4096 /* records read in one go */

#define NS_PER_TICK (DAVY_NS_PER_S / 100) /* USER_HZ, the unit of /proc/PID/stat */

static struct davy_event bpf_records_begin(const struct davy_wire_head *head,
					   enum davy_event_kind kind)
{
	struct davy_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.at_ns = head->boot_ns;
	ev.kind = kind;
	ev.pid = head->tgid;
	return ev;
}

/* Wire names are terminated by the kernel side; a foreign map's content need not be. */
#define COPY(dst, src)                                                                             \
	do {                                                                                       \
		char text_[sizeof(src) + 1];                                                       \
		memcpy(text_, src, sizeof(src));                                                   \
		text_[sizeof(src)] = 0;                                                            \
		davy_copy_name(dst, sizeof(dst), text_);                                           \
	} while (0)

static void on_exit_record(struct davy_bpf *b, const struct davy_wire_exit *w)
{
	struct davy_event ev = bpf_records_begin(&w->head, DAVY_EV_PROCESS_EXIT);

	ev.process_exit.start_ticks = w->start_boot_ns / NS_PER_TICK;
	ev.process_exit.status = w->status;
	davy_bpf_forget_engine(b, w->head.tgid);
	davy_sensor_say(b, &ev);
}

static void on_throw(struct davy_bpf *b, const struct davy_wire_throw *w)
{
	struct davy_event ev = bpf_records_begin(&w->head, DAVY_EV_THROW);

	davy_bpf_poll_engine(b, w->head.tgid, w->head.boot_ns);
	COPY(ev.thrown.type, w->type);
	davy_sensor_say(b, &ev);
}

static void on_moved(struct davy_bpf *b, const struct davy_wire_bo_moved *w)
{
	struct davy_seen *reported = davy_seen_mover(b, w->device, w->head.tgid, w->owner_tgid);
	struct davy_event ev = bpf_records_begin(&w->head, DAVY_EV_BO_MOVED);

	if (w->out_bytes + w->in_bytes <= reported->value)
		return; /* the map already reported a larger value */
	reported->value = w->out_bytes + w->in_bytes;
	COPY(ev.bo_moved.device, w->dev);
	ev.bo_moved.owner_pid = w->owner_tgid;
	ev.bo_moved.owner_pasid = w->owner_pasid;
	ev.bo_moved.out_bytes = w->out_bytes;
	ev.bo_moved.in_bytes = w->in_bytes;
	ev.bo_moved.out_count = w->out_count;
	ev.bo_moved.in_count = w->in_count;
	davy_sensor_say(b, &ev);
}

static void on_timeout(struct davy_bpf *b, const struct davy_wire_job_timeout *w)
{
	struct davy_event ev = bpf_records_begin(&w->head, DAVY_EV_JOB_TIMEOUT);

	ev.pid = w->owner_tgid; /* current is a kworker */
	COPY(ev.job_timeout.device, w->dev);
	COPY(ev.job_timeout.ring, w->ring);
	ev.job_timeout.fence_context = w->fence_context;
	ev.job_timeout.fence_seqno = w->fence_seqno;
	ev.job_timeout.age_ns = w->age_ns;
	ev.job_timeout.pasid = w->pasid;
	davy_sensor_say(b, &ev);
}

static void on_reset(struct davy_bpf *b, const struct davy_wire_gpu_reset *w)
{
	struct davy_event ev = bpf_records_begin(&w->head, DAVY_EV_RESET);

	ev.pid = 0;
	COPY(ev.reset.device, w->dev);
	ev.reset.result = w->result;
	ev.reset.begun = w->begun;
	davy_sensor_say(b, &ev);
}

static void on_pasid(struct davy_bpf *b, const struct davy_wire_pasid *w)
{
	struct davy_event ev = bpf_records_begin(&w->head, DAVY_EV_PASID);

	if (w->head.tgid == b->self)
		return; /* the agent itself, which asks for the device's counters now and then */
	ev.pasid.pasid = w->pasid;
	ev.pasid.freed = w->freed;
	davy_sensor_say(b, &ev);
}

static void on_module(struct davy_bpf *b, const struct davy_wire_module *w)
{
	char name[DAVY_MODULE_NAME_LEN];

	COPY(name, w->name);
	davy_bpf_module_changed(b, name, w->loaded, w->head.boot_ns);
}

static void bpf_records_dispatch(struct davy_bpf *b, const struct davy_wire_head *head)
{
	const void *w = head;

	switch (head->kind) {
	case DAVY_WIRE_EXEC:
		b->kinds_seen[DAVY_EV_PROCESS]++;
		b->hooks.exec_seen(b->hooks.arg, head->tgid, head->boot_ns);
		break;
	case DAVY_WIRE_EXIT:
		on_exit_record(b, w);
		break;
	case DAVY_WIRE_FORK:
		b->hooks.fork_seen(b->hooks.arg, head->tgid,
				   ((const struct davy_wire_fork *)w)->child_tgid, head->boot_ns);
		break;
	case DAVY_WIRE_THROW:
		on_throw(b, w);
		break;
	case DAVY_WIRE_BO_MOVED:
		on_moved(b, w);
		break;
	case DAVY_WIRE_JOB_TIMEOUT:
		on_timeout(b, w);
		break;
	case DAVY_WIRE_GPU_RESET:
		on_reset(b, w);
		break;
	case DAVY_WIRE_PASID:
		on_pasid(b, w);
		break;
	case DAVY_WIRE_FACT:
		davy_bpf_fact(b, w);
		break;
	case DAVY_WIRE_MODULE:
		on_module(b, w);
		break;
	case DAVY_WIRE_VRAM:
		davy_bpf_vram_record(b, w);
		break;
	case DAVY_WIRE_FTRACE:
		b->functions_due = true;
		break;
	case DAVY_WIRE_JOB:
		b->job_reported_ns = head->boot_ns;
		b->tells_jobs = false;
		break;
	default:
		break;
	}
}

static size_t size_of_kind(uint16_t kind)
{
	static const size_t sizes[] = {
		[DAVY_WIRE_EXEC] = sizeof(struct davy_wire_exec),
		[DAVY_WIRE_EXIT] = sizeof(struct davy_wire_exit),
		[DAVY_WIRE_FORK] = sizeof(struct davy_wire_fork),
		[DAVY_WIRE_THROW] = sizeof(struct davy_wire_throw),
		[DAVY_WIRE_BO_MOVED] = sizeof(struct davy_wire_bo_moved),
		[DAVY_WIRE_JOB_TIMEOUT] = sizeof(struct davy_wire_job_timeout),
		[DAVY_WIRE_GPU_RESET] = sizeof(struct davy_wire_gpu_reset),
		[DAVY_WIRE_PASID] = sizeof(struct davy_wire_pasid),
		[DAVY_WIRE_MODULE] = sizeof(struct davy_wire_module),
		[DAVY_WIRE_FACT] = sizeof(struct davy_wire_fact),
		[DAVY_WIRE_VRAM] = sizeof(struct davy_wire_vram),
		[DAVY_WIRE_JOB] = sizeof(struct davy_wire_head),
		[DAVY_WIRE_FTRACE] = sizeof(struct davy_wire_head),
	};

	return kind < sizeof(sizes) / sizeof(sizes[0]) ? sizes[kind] : 0;
}

int davy_bpf_record(void *arg, void *data, size_t size)
{
	const struct davy_wire_head *head = data;

	if (size < sizeof(*head) || head->size > size || !head->kind ||
	    head->size != size_of_kind(head->kind))
		return 0; /* of another build's programs: not ours to read */
	bpf_records_dispatch(arg, head);
	/* A storm must not keep the tick waiting: the ring stays readable, the loop comes back. */
	return ++((struct davy_bpf *)arg)->batch >= BATCH_MAX ? -EAGAIN : 0;
}
