/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The price of an action that a precursor asks for, and the harm of the failure that may follow,
 * both as time without service. The harm is the outage of the failure times its probability. A
 * restart costs the time until the new process serves and has computed its context again; the
 * failure costs the same restart. A planned replacement has no outage. Slower service on the CPU is
 * not counted: the probation start ends it.
 */
#include "core/action/acts.h"

#define START_NS      (400 * DAVY_NS_PER_MS) /* README, demonstration: without loading a model */
#define BYTES_PER_MS  1000000u		     /* 1 GB/s from storage into VRAM */
#define PROMPT_FASTER 10u /* a prompt's tokens are computed together; at least so much faster */
#define DEPTH_MS_MOST 600000u

/*
 * Seconds until the engine serves again, without its restart. From the outcomes of 97 reports
 * (INCIDENTS.md): 600 s where an operator must notice it (the engine lives and fails, or serves
 * slowly or wrongly), 600 s for a reboot, 30 s where only the engine ends, each with its share of
 * the reports of the class.
 */
static const uint16_t outage_s[DAVY_CLASS_COUNT] = {
	[DAVY_CLASS_PAGE_FAULT] = 240,	     /* 5 of 16 hang, 1 took the desktop with it */
	[DAVY_CLASS_GPU_RESET] = 220,	     /* 3 of 15 stuck, 2 need a reboot */
	[DAVY_CLASS_HANG] = 500,	     /* 7 of 11 for ever, 2 need a reboot */
	[DAVY_CLASS_RING_TIMEOUT] = 200,     /* 2 of 10 answer errors for ever, 1 froze the host */
	[DAVY_CLASS_HOST_CRASH] = 600,	     /* 10 of 10 */
	[DAVY_CLASS_DEVICE_LOST] = 110,	     /* 1 of 7 answers errors for ever */
	[DAVY_CLASS_OOM_GTT_HOST] = 260,     /* 1 of 5 a crash, 1 kills other processes */
	[DAVY_CLASS_OOM_VRAM] = 140,	     /* 1 of 5 a freeze */
	[DAVY_CLASS_EVICTION_THRASH] = 600,  /* 5 of 5 serve slowly until a restart */
	[DAVY_CLASS_RUNNER_CRASH_INIT] = 30, /* 4 of 4 end */
	[DAVY_CLASS_DISCOVERY_MISS] = 600,   /* 4 of 4 run on the CPU without a message */
	[DAVY_CLASS_WRONG_OUTPUT] = 600,     /* 3 of 3 go on */
	[DAVY_CLASS_OTHER] = 30,
};

/* The time to compute the tokens of its context again; 0: unknown. */
static uint64_t price_context_ns(const struct davy_step *s, const struct davy_process *p)
{
	uint32_t speed = p ? davy_pace_usual(&s->core->world.paces, p->pid) : 0;
	uint64_t ms;

	if (!speed || !p->life.depth_known)
		return 0;
	ms = (uint64_t)p->life.progress.depth * 1000000 / speed / PROMPT_FASTER;
	return (ms < DEPTH_MS_MOST ? ms : DEPTH_MS_MOST) * DAVY_NS_PER_MS;
}

static uint64_t price_start_ns(const struct davy_step *s, const struct davy_workload *w)
{
	const struct davy_memory_client *c;

	if (w->start_ns)
		return w->start_ns;
	c = davy_memory_client_of(&s->core->world.memory, w->pid, w->device);
	return START_NS + (c ? c->bytes / BYTES_PER_MS * DAVY_NS_PER_MS : 0);
}

static uint64_t price_restart_ns(const struct davy_step *s, const struct davy_workload *w)
{
	return price_start_ns(s, w) +
	       price_context_ns(s, davy_world_process(&s->core->world, w->pid));
}

static uint64_t price_action_ns(const struct davy_step *s, const struct davy_workload *w,
				const struct davy_plan *plan)
{
	if (davy_action_freezes(plan->action))
		return plan->lease_ns / 1000 * (1000u - plan->on_permille);
	if (plan->action == DAVY_ACTION_UNLOAD)
		return price_start_ns(s, w);
	return davy_action_replaces(plan->action) && !plan->keeps ? price_restart_ns(s, w) : 0;
}

/* The mean outage of the classes that can follow: none is known to be more likely. */
static uint64_t price_outage_ns(uint32_t leads)
{
	uint64_t sum = 0, count = 0;

	for (uint32_t class = 0; class < DAVY_CLASS_COUNT; class ++) {
		if (!(leads & 1u << class))
			continue;
		sum += outage_s[class];
		count++;
	}
	return count ? sum * DAVY_NS_PER_S / count : 0;
}

/* No event reports that buffers thrash, so nothing confirms such an alarm: assume one in two. */
static uint32_t price_probability(const struct davy_step *s, const struct davy_plan *plan,
				  uint32_t leads)
{
	uint32_t counted =
		davy_foresight_probability(s, (enum davy_hazard)plan->hazard, plan->level);

	return leads & DAVY_CAN_EVICTION_THRASH && counted < 500 ? 500 : counted;
}

bool davy_price(const struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan)
{
	const struct davy_hazard_row *row = s->hazards[plan->hazard];
	uint32_t leads = davy_leads_of(&row->precursor, plan->form);
	uint64_t harm_ns;

	if (!leads || plan->action == DAVY_ACTION_UNDO)
		return true;
	harm_ns = price_outage_ns(leads) + price_restart_ns(s, w);
	harm_ns = harm_ns / 1000 * price_probability(s, plan, leads);
	plan->price_ms = (uint32_t)(price_action_ns(s, w, plan) / DAVY_NS_PER_MS);
	plan->harm_ms = (uint32_t)(harm_ns / DAVY_NS_PER_MS);
	return !plan->price_ms || plan->price_ms < plan->harm_ms;
}
