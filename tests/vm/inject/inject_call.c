// SPDX-License-Identifier: GPL-2.0
/*
 * Calls: every probe attached to a tracepoint, or one function, with up to twelve scalars. All
 * arguments are passed in registers and stack slots of 8 bytes, so that one prototype fits all;
 * the callee ignores the rest.
 */
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/srcu.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

#include "inject.h"

#define COUNT_MAX 100000000u

typedef u64 (*call_fn)(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);
typedef void (*probe_fn)(void *, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);

struct job {
	struct irq_work work;
	struct tracepoint *tp; /* or */
	call_fn call;
	u64 *args;
	u64 result;
};

static u64 call_probes(const struct tracepoint *tp, const u64 *a)
{
	struct tracepoint_func *f = rcu_dereference_raw(tp->funcs);
	u64 count = 0;

	for (; f && f->func; f++, count++)
		((probe_fn)f->func)(f->data, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8],
				    a[9], a[10], a[11]);
	return count;
}

/* Like the kernel's own tracepoints: a probe that is removed is not freed during the call. */
static u64 fire_once(struct tracepoint *tp, const u64 *a)
{
	u64 count;

	preempt_disable_notrace();
	{
#ifdef INJECT_TRACEPOINTS_USE_SRCU /* Kbuild detects it: since 7.0 */
		guard(srcu_fast_notrace)(&tracepoint_srcu);
#endif
		count = call_probes(tp, a);
	}
	preempt_enable_notrace();
	return count;
}

static void job_run(struct job *j)
{
	u64 *a = j->args;

	if (j->tp)
		j->result += fire_once(j->tp, a);
	else
		j->result = j->call(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9],
				    a[10], a[11]);
}

static void job_irq(struct irq_work *work)
{
	job_run(container_of(work, struct job, work));
}

static void job_start(struct job *j, bool in_irq)
{
	if (!in_irq) {
		job_run(j);
		return;
	}
	j->work = IRQ_WORK_INIT_HARD(job_irq);
	irq_work_queue(&j->work);
	irq_work_sync(&j->work);
}

/* Reads "COUNT CTX NAME [VALUE...]" except the name, which is the third word. */
static int context_parse(struct inject_session *s, int argc, char **argv,
			 struct inject_context *ret_context)
{
	int i, err;

	memset(ret_context, 0, sizeof(*ret_context));
	if (kstrtou32(argv[0], 0, &ret_context->count) || ret_context->count > COUNT_MAX)
		return -EINVAL;
	if (!strcmp(argv[1], "irq"))
		ret_context->in_irq = true;
	else if (strcmp(argv[1], "task"))
		return -EINVAL;
	if (argc - 3 > INJECT_ARGS_MAX)
		return -E2BIG;
	for (i = 3; i < argc; i++) {
		err = inject_value(s, argv[i], &ret_context->args[i - 3]);
		if (err)
			return err;
	}
	return 0;
}

/* Other threads may use the session meanwhile; its objects live as long as the open file. */
static void job_repeat(struct inject_session *s, struct job *j,
		       const struct inject_context *context)
{
	u32 i;

	mutex_unlock(&s->lock);
	for (i = 0; i < context->count; i++) {
		job_start(j, context->in_irq);
		cond_resched();
		if (fatal_signal_pending(current))
			break;
	}
	mutex_lock(&s->lock);
	s->result = j->result;
}

int inject_fire(struct inject_session *s, int argc, char **argv)
{
	struct inject_context context;
	struct job j = { .args = context.args };
	struct module *owner;
	char symbol[128];
	int err;

	err = context_parse(s, argc - 1, argv + 1, &context);
	if (err)
		return err;
	if (snprintf(symbol, sizeof(symbol), "__tracepoint_%s", argv[3]) >= sizeof(symbol))
		return -EINVAL;
	j.tp = inject_symbol_pin(symbol, &owner);
	if (!j.tp)
		return -ENOENT;
	job_repeat(s, &j, &context);
	module_put(owner);
	return 0;
}

int inject_call(struct inject_session *s, int argc, char **argv)
{
	struct inject_context context;
	struct job j = { .args = context.args };
	struct module *owner;
	int err;

	err = context_parse(s, argc - 1, argv + 1, &context);
	if (err)
		return err;
	j.call = inject_symbol_pin(argv[3], &owner);
	if (!j.call)
		return -ENOENT;
	job_repeat(s, &j, &context);
	module_put(owner);
	return 0;
}

int inject_load(struct inject_session *s, int argc, char **argv)
{
	u64 from, value = 0;
	u32 size;
	int err;

	if (kstrtou32(argv[1], 0, &size) || !size || size > sizeof(value))
		return -EINVAL;
	err = inject_value(s, argv[2], &from);
	if (!err)
		err = copy_from_kernel_nofault(&value, (void *)from, size);
	if (!err)
		s->result = value;
	return err;
}
