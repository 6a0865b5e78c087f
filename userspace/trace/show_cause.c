/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "lib/text.h"
#include "trace/show.h"

#define SAFE (4 * DAVY_STAGES_PATH)

struct words {
	char what[SAFE];
	char of[SAFE];
	char detail[SAFE];
	char name[SAFE];
};

static void __attribute__((format(printf, 2, 3))) show_cause_say(char *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(buf, DAVY_CAUSE_TEXT, format, args);
	va_end(args);
}

static const char *process_name(const struct davy_stages *s, uint32_t pid)
{
	const struct davy_start_process *p = davy_stages_process(s, pid);

	return p ? p->name : "";
}

static const char *signal_name(int sig)
{
	const char *name = sigabbrev_np(sig);

	return name ? name : "an unknown signal";
}

/* The number of places searched for the library. */
static uint32_t show_cause_places(const struct davy_stages *s, const struct davy_cause *c)
{
	const struct davy_library_search *search = davy_stages_search(s, c->pid, c->what);

	return search ? search->places : 0;
}

static void say_library(const struct davy_stages *s, const struct davy_cause *c,
			const struct words *w, char *buf)
{
	switch (c->kind) {
	case DAVY_CAUSE_LIBRARY_MISSING:
		show_cause_say(buf, "library '%s' was not found (%s; %" PRIu32 " places)", w->what,
			       davy_error_text(c->code), show_cause_places(s, c));
		break;
	case DAVY_CAUSE_DEPENDENCY_MISSING:
		show_cause_say(
			buf,
			"library '%s' was found, but '%s', which it needs, was not (%s; %" PRIu32
			" places)",
			w->of, w->what, davy_error_text(c->code), show_cause_places(s, c));
		break;
	case DAVY_CAUSE_SYMBOL_UNDEFINED:
		show_cause_say(buf, "symbol '%s' is undefined in '%s', %s", w->what, w->of,
			       w->detail);
		break;
	case DAVY_CAUSE_LIBRARY_UNUSABLE:
		show_cause_say(buf, "library '%s' cannot be loaded: %s", w->what, w->detail);
		break;
	case DAVY_CAUSE_NOT_IN_CHILD:
		show_cause_say(buf,
			       "'%s' was loaded by '%s' (pid %" PRId32
			       ") but not by its child '%s' (pid %" PRIu32 ")%s%s",
			       w->what, w->of, c->code, w->name, c->pid, w->detail[0] ? ": " : "",
			       w->detail);
		break;
	case DAVY_CAUSE_BACKEND_NOT_LOADED:
		show_cause_say(buf,
			       "devices are known by %s, but backend '%s' was neither loaded nor "
			       "searched for",
			       davy_family_name(c->family), w->what);
		break;
	default:
		show_cause_say(buf, "%s('%s') returned %s", w->what, w->of, w->detail);
		break;
	}
}

static void show_cause_say_end(const struct davy_cause *c, const struct words *w, char *buf)
{
	switch (c->kind) {
	case DAVY_CAUSE_CRASHED:
		show_cause_say(buf, "'%s' (pid %" PRIu32 ") crashed by SIG%s%s%s", w->of, c->pid,
			       signal_name(c->code), w->what[0] ? " in " : "", w->what);
		break;
	case DAVY_CAUSE_KILLED:
		show_cause_say(buf, "'%s' (pid %" PRIu32 ") was ended by SIG%s from '%s'%s%s",
			       w->of, c->pid, signal_name(c->code), w->detail,
			       w->what[0] ? " while in " : "", w->what);
		break;
	case DAVY_CAUSE_HANGS:
		show_cause_say(buf, "'%s' (pid %" PRIu32 ") has not returned from %s", w->of,
			       c->pid, w->what);
		break;
	case DAVY_CAUSE_EXITED:
		show_cause_say(buf, "'%s' (pid %" PRIu32 ") exited with status %" PRId32, w->of,
			       c->pid, c->code);
		break;
	default:
		show_cause_say(buf, "the start searched for no GPU runtime or backend");
		break;
	}
}

const char *davy_show_cause(const struct davy_stages *s, const struct davy_cause *c,
			    char buf[DAVY_CAUSE_TEXT])
{
	struct words w;

	davy_text_safe(w.what, sizeof(w.what), c->what);
	davy_text_safe(w.of, sizeof(w.of), c->of);
	davy_text_safe(w.detail, sizeof(w.detail), c->detail);
	davy_text_safe(w.name, sizeof(w.name), process_name(s, c->pid));
	switch (c->kind) {
	case DAVY_CAUSE_INIT_FAILED:
	case DAVY_CAUSE_QUERY_FAILED:
	case DAVY_CAUSE_MEMORY_FAILED:
	case DAVY_CAUSE_GRAPH_FAILED:
		show_cause_say(buf, "%s of %s returned %s", w.what, w.of, w.detail);
		break;
	case DAVY_CAUSE_NO_DEVICE:
		show_cause_say(buf, "%s of %s succeeded and reported 0 devices", w.what, w.of);
		break;
	case DAVY_CAUSE_NODE_REFUSED:
		show_cause_say(buf, "'%s' could not be opened: %s", w.what,
			       davy_error_text(c->code));
		break;
	case DAVY_CAUSE_CRASHED:
	case DAVY_CAUSE_KILLED:
	case DAVY_CAUSE_HANGS:
	case DAVY_CAUSE_EXITED:
	case DAVY_CAUSE_NOTHING_LOOKED_FOR:
	case DAVY_CAUSE_NONE:
	case DAVY_CAUSE_COUNT:
		show_cause_say_end(c, &w, buf);
		break;
	default:
		say_library(s, c, &w, buf);
		break;
	}
	buf[davy_text_shown_length(buf)] = 0; /* it may be cut within a character */
	return buf;
}
