/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include <signal.h>
#include <string.h>

#include "act/watch.h"
#include "lib/log.h"

#define LOOK_NS	    (60 * DAVY_NS_PER_S) /* an administrator may write to sysfs (i915, xe) */
#define PATIENCE_NS (60 * DAVY_NS_PER_S) /* timeout of a child that unpacks a module's file */

static void lockups_tell(struct davy_agent *a, struct davy_watched_gpu *w,
			 const struct davy_lockup *now)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_LOCKUP, 0);

	if (!davy_lockups_update(&w->lockups, now))
		return;
	davy_copy_name(ev.lockup.device, sizeof(ev.lockup.device), w->gpu.device);
	davy_copy_name(ev.lockup.queue, sizeof(ev.lockup.queue), now->queue);
	ev.lockup.timeout_ns = now->timeout_ns;
	ev.lockup.origin = now->origin;
	davy_agent_feed(a, &ev);
}

void davy_agent_lockups_ring(struct davy_agent *a, const char *device, const char *ring,
			     uint64_t timeout_ns)
{
	struct davy_watched_gpu *w = davy_agent_gpu(a, device);
	struct davy_lockup now = { .timeout_ns = timeout_ns, .origin = DAVY_LOCKUP_SCHEDULER };

	if (!w)
		return;
	davy_lockup_queue_of(w->gpu.driver, ring, now.queue, sizeof(now.queue));
	lockups_tell(a, w, &now);
}

static int lockups_on_answer(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct davy_module_asked *m = arg;

	(void)source;
	(void)events;
	m->readable = !davy_module_text_take(fd, &m->text);
	m->settled = true;
	m->source = sd_event_source_disable_unref(m->source);
	davy_child_leave(&m->child); /* it has closed its pipe and is about to exit */
	return 0;
}

static void lockups_ask(struct davy_agent *a, struct davy_module_asked *m, uint64_t now_ns)
{
	int fd = davy_module_text_ask(m->module, DAVY_LOCKUP_PARAMETER_NAME, &m->child);

	m->agent = a;
	m->asked_ns = now_ns;
	m->settled = fd < 0;
	if (fd < 0) {
		davy_log("module '%s': cannot read its documentation: %s", m->module,
			 strerror(-fd));
		return;
	}
	if (davy_watch(a->loop, &m->source, fd, lockups_on_answer, m) >= 0)
		return;
	davy_child_end(&m->child, 0);
	m->settled = true;
}

/* NULL: the table is full; there are fewer drivers with such a parameter. */
static struct davy_module_asked *module_of(struct davy_agent *a, const char *driver,
					   uint64_t now_ns)
{
	struct davy_module_asked *empty = NULL;

	for (size_t i = 0; i < DAVY_MODULES_ASKED; i++) {
		struct davy_module_asked *m = &a->modules[i];

		if (!strcmp(m->module, driver))
			return m;
		if (!m->module[0] && !empty)
			empty = m;
	}
	if (!empty)
		return NULL;
	memset(empty, 0, sizeof(*empty));
	davy_copy_name(empty->module, sizeof(empty->module), driver);
	lockups_ask(a, empty, now_ns);
	return empty;
}

static bool has_device(const struct davy_gpus *g, const char *driver)
{
	for (size_t i = 0; i < g->count; i++)
		if (!strcmp(g->gpu[i].gpu.driver, driver))
			return true;
	return false;
}

/* The next module of that name may be another version. */
static void forget_modules(struct davy_agent *a, uint64_t now_ns)
{
	for (size_t i = 0; i < DAVY_MODULES_ASKED; i++) {
		struct davy_module_asked *m = &a->modules[i];

		if (!m->module[0])
			continue;
		if (m->source && now_ns - m->asked_ns > PATIENCE_NS && !m->settled) {
			davy_child_kill(&m->child, SIGKILL); /* then its pipe closes */
			m->settled = true;
		}
		if (!m->source && !has_device(&a->gpus, m->module))
			m->module[0] = 0;
	}
}

static void lockups_look(struct davy_agent *a, struct davy_watched_gpu *w, uint64_t now_ns)
{
	const struct davy_module_text *text = NULL;
	struct davy_lockups now;

	if (davy_lockup_is_described(w->gpu.driver)) {
		const struct davy_module_asked *m = module_of(a, w->gpu.driver, now_ns);

		if (m && !m->settled)
			return; /* the next tick tries again */
		text = m && m->readable ? &m->text : NULL;
	}
	w->lockups_ns = now_ns;
	davy_lockups_read(&w->gpu, text, &now);
	for (size_t i = 0; i < now.count; i++)
		lockups_tell(a, w, &now.at[i]);
}

void davy_agent_lockups_tick(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_gpus *g = &a->gpus;

	forget_modules(a, now_ns);
	for (size_t i = 0; i < g->count; i++)
		if (!g->gpu[i].lockups_ns || now_ns - g->gpu[i].lockups_ns >= LOOK_NS)
			lockups_look(a, &g->gpu[i], now_ns);
}

void davy_agent_lockups_close(struct davy_agent *a)
{
	for (size_t i = 0; i < DAVY_MODULES_ASKED; i++) {
		struct davy_module_asked *m = &a->modules[i];

		if (!m->source)
			continue;
		m->source = sd_event_source_disable_unref(m->source);
		davy_child_end(&m->child, 0);
	}
}
