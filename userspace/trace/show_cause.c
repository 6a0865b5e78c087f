/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "lib/text.h"
#include "trace/show.h"

#define SAFE (4 * DL_STAGES_PATH)

struct words {
	char what[SAFE];
	char of[SAFE];
	char detail[SAFE];
	char name[SAFE];
};

static void __attribute__((format(printf, 2, 3))) say(char *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(buf, DL_CAUSE_TEXT, format, args);
	va_end(args);
}

static const char *process_name(const struct dl_stages *s, uint32_t pid)
{
	const struct dl_start_process *p = dl_stages_process(s, pid);

	return p ? p->name : "";
}

static const char *signal_name(int sig)
{
	const char *name = sigabbrev_np(sig);

	return name ? name : "an unknown signal";
}

/* How many places the library was looked for in. */
static uint32_t places(const struct dl_stages *s, const struct dl_cause *c)
{
	const struct dl_library_search *search = dl_stages_search(s, c->pid, c->what);

	return search ? search->places : 0;
}

static void say_library(const struct dl_stages *s, const struct dl_cause *c, const struct words *w,
			char *buf)
{
	switch (c->kind) {
	case DL_CAUSE_LIBRARY_MISSING:
		say(buf, "library '%s' was not found (%s; %" PRIu32 " places)", w->what,
		    dl_error_text(c->code), places(s, c));
		break;
	case DL_CAUSE_DEPENDENCY_MISSING:
		say(buf,
		    "library '%s' was found, but '%s', which it needs, was not (%s; %" PRIu32
		    " places)",
		    w->of, w->what, dl_error_text(c->code), places(s, c));
		break;
	case DL_CAUSE_SYMBOL_UNDEFINED:
		say(buf, "symbol '%s' is undefined in '%s', %s", w->what, w->of, w->detail);
		break;
	case DL_CAUSE_LIBRARY_UNUSABLE:
		say(buf, "library '%s' cannot be loaded: %s", w->what, w->detail);
		break;
	case DL_CAUSE_NOT_IN_CHILD:
		say(buf,
		    "'%s' was loaded by '%s' (pid %" PRId32
		    ") but not by its child '%s' (pid %" PRIu32 ")%s%s",
		    w->what, w->of, c->code, w->name, c->pid, w->detail[0] ? ": " : "", w->detail);
		break;
	case DL_CAUSE_BACKEND_NOT_LOADED:
		say(buf,
		    "devices are known by %s, but backend '%s' was never loaded and nobody looked "
		    "for it",
		    dl_family_name(c->family), w->what);
		break;
	default:
		say(buf, "%s('%s') returned %s", w->what, w->of, w->detail);
		break;
	}
}

static void say_end(const struct dl_cause *c, const struct words *w, char *buf)
{
	switch (c->kind) {
	case DL_CAUSE_CRASHED:
		say(buf, "'%s' (pid %" PRIu32 ") crashed by SIG%s%s%s", w->of, c->pid,
		    signal_name(c->code), w->what[0] ? " in " : "", w->what);
		break;
	case DL_CAUSE_KILLED:
		say(buf, "'%s' (pid %" PRIu32 ") was ended by SIG%s of '%s'%s%s", w->of, c->pid,
		    signal_name(c->code), w->detail, w->what[0] ? " while in " : "", w->what);
		break;
	case DL_CAUSE_HANGS:
		say(buf, "'%s' (pid %" PRIu32 ") has not come back from %s", w->of, c->pid,
		    w->what);
		break;
	case DL_CAUSE_EXITED:
		say(buf, "'%s' (pid %" PRIu32 ") ended with status %" PRId32, w->of, c->pid,
		    c->code);
		break;
	default:
		say(buf, "no GPU runtime or backend was looked for");
		break;
	}
}

const char *dl_show_cause(const struct dl_stages *s, const struct dl_cause *c,
			  char buf[DL_CAUSE_TEXT])
{
	struct words w;

	dl_text_safe(w.what, sizeof(w.what), c->what);
	dl_text_safe(w.of, sizeof(w.of), c->of);
	dl_text_safe(w.detail, sizeof(w.detail), c->detail);
	dl_text_safe(w.name, sizeof(w.name), process_name(s, c->pid));
	switch (c->kind) {
	case DL_CAUSE_INIT_FAILED:
	case DL_CAUSE_QUERY_FAILED:
	case DL_CAUSE_MEMORY_FAILED:
	case DL_CAUSE_GRAPH_FAILED:
		say(buf, "%s of %s returned %s", w.what, w.of, w.detail);
		break;
	case DL_CAUSE_NO_DEVICE:
		say(buf, "%s of %s succeeded and told of 0 devices", w.what, w.of);
		break;
	case DL_CAUSE_NODE_REFUSED:
		say(buf, "'%s' could not be opened: %s", w.what, dl_error_text(c->code));
		break;
	case DL_CAUSE_CRASHED:
	case DL_CAUSE_KILLED:
	case DL_CAUSE_HANGS:
	case DL_CAUSE_EXITED:
	case DL_CAUSE_NOTHING_LOOKED_FOR:
	case DL_CAUSE_NONE:
	case DL_CAUSE_COUNT:
		say_end(c, &w, buf);
		break;
	default:
		say_library(s, c, &w, buf);
		break;
	}
	buf[dl_text_shown_length(buf)] = 0; /* it may have been cut within a character */
	return buf;
}
