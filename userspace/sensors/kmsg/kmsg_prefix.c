/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kmsg/kmsg_prefix.h"

#include <stdio.h>
#include <string.h>

static const char *const levels[] = { "emerg", "alert",	 "crit", "err",
				      "warn",  "notice", "info", "debug" };

/* "21:15:49" at "p": seconds since midnight, or -1. */
static long kmsg_prefix_time_of_day(const char *p)
{
	int part[3];

	for (int i = 0; i < 3; i++, p += 3) {
		if (!davy_kmsg_digit(p[0]) || !davy_kmsg_digit(p[1]))
			return -1;
		part[i] = (p[0] - '0') * 10 + p[1] - '0';
		if (i < 2 && p[2] != ':')
			return -1;
	}
	if (part[0] > 23 || part[1] > 59 || part[2] > 60)
		return -1;
	return (part[0] * 60 + part[1]) * 60L + part[2];
}

/* The first time of day before "end" that starts a word; NULL if none. */
static const char *kmsg_prefix_find_time(const char *p, const char *end, long *ret_s)
{
	for (const char *at = p; at + 8 <= end; at++) {
		if (at > p && !davy_kmsg_blank(at[-1]) && at[-1] != 'T')
			continue;
		*ret_s = kmsg_prefix_time_of_day(at);
		if (*ret_s >= 0)
			return at;
	}
	return NULL;
}

static void kmsg_prefix_set_stamp(struct davy_kmsg_line *line, const char *p, const char *end)
{
	size_t len = (size_t)(end - p);

	if (line->stamp[0])
		return; /* keep the first one: users know that stamp */
	if (len >= sizeof(line->stamp))
		len = sizeof(line->stamp) - 1;
	memcpy(line->stamp, p, len);
	line->stamp[len] = 0;
}

static void kmsg_prefix_set_day_time(struct davy_kmsg_line *line, long s, const char *fraction)
{
	uint64_t ns = 0, unit = DAVY_NS_PER_S / 10;

	if (line->clock == DAVY_KMSG_PRINTK)
		return; /* keep it: finer resolution */
	if (*fraction == '.' || *fraction == ',')
		for (fraction++; davy_kmsg_digit(*fraction) && unit; fraction++, unit /= 10)
			ns += unit * (uint64_t)(*fraction - '0');
	line->at_ns = (uint64_t)s * DAVY_NS_PER_S + ns;
	line->clock = DAVY_KMSG_DAY;
}

/* "  327.803487", also followed by dmesg -d's "<    0.000012>". */
static bool kmsg_prefix_since_boot(const char *p, const char *end, struct davy_kmsg_line *line)
{
	uint64_t s = 0, ns = 0, unit = DAVY_NS_PER_S / 10;

	while (p < end && *p == ' ')
		p++;
	if (p == end || !davy_kmsg_digit(*p))
		return false;
	for (; p < end && davy_kmsg_digit(*p); p++)
		s = s < 10000000000u ? s * 10 + (uint64_t)(*p - '0') : s;
	if (p == end || *p++ != '.')
		return false;
	for (; p < end && davy_kmsg_digit(*p); p++, unit /= 10)
		ns += unit * (uint64_t)(*p - '0');
	if (unit < 1000) /* six digits */
		line->flags |= DAVY_KMSG_FINE;
	for (; p < end; p++)
		if (!davy_kmsg_digit(*p) && !strchr(" .<>+", *p))
			return false;
	if (s > 10000000000u)
		s = 10000000000u;
	line->at_ns = s * DAVY_NS_PER_S + ns;
	line->clock = DAVY_KMSG_PRINTK;
	return true;
}

/* "   T3577", "     C12": printk's caller (CONFIG_PRINTK_CALLER). */
static bool kmsg_prefix_is_caller(const char *p, const char *end)
{
	while (p < end && *p == ' ')
		p++;
	if (end - p < 2 || (*p != 'T' && *p != 'C'))
		return false;
	for (p++; p < end; p++)
		if (!davy_kmsg_digit(*p))
			return false;
	return true;
}

/* "  +0.000012" and "Sep 8 13:34": dmesg -H. */
static bool kmsg_prefix_is_relative(const char *p, const char *end)
{
	while (p < end && *p == ' ')
		p++;
	if (end - p < 3)
		return false;
	if (*p == '+')
		return davy_kmsg_digit(p[1]);
	return end - p > 8 && end - p < 20 && end[-3] == ':' && davy_kmsg_digit(end[-1]) &&
	       davy_kmsg_digit(end[-2]) && davy_kmsg_digit(end[-4]) && end[-6] == ' ';
}

/* Skips a bracket with a time or a caller; NULL if there is none. */
static const char *kmsg_prefix_bracket(const char *p, struct davy_kmsg_line *line)
{
	const char *end, *at;
	long s;

	if (*p != '[')
		return NULL;
	end = strchr(p, ']');
	if (!end || end - p > 60)
		return NULL;
	at = kmsg_prefix_find_time(p + 1, end, &s);
	if (!kmsg_prefix_since_boot(p + 1, end, line)) {
		if (kmsg_prefix_is_caller(p + 1, end))
			return end + 1;
		if (!at && !kmsg_prefix_is_relative(p + 1, end))
			return NULL;
		if (at)
			kmsg_prefix_set_day_time(line, s, at + 8);
	}
	kmsg_prefix_set_stamp(line, davy_kmsg_skip_blanks(p + 1), end);
	return end + (end[1] == ':' ? 2 : 1);
}

/* "<4>" or "<132>" of dmesg -r; the facility must be kern. */
static const char *kmsg_prefix_priority(const char *p, struct davy_kmsg_line *line, bool *foreign)
{
	unsigned int value = 0;
	const char *at = p + 1;

	if (*p != '<')
		return NULL;
	for (; davy_kmsg_digit(*at) && at < p + 4; at++)
		value = value * 10 + (unsigned int)(*at - '0');
	if (at == p + 1 || *at != '>')
		return NULL;
	*foreign = value > 7;
	line->priority = (uint8_t)(value & 7);
	return at + 1;
}

static const char *kmsg_prefix_word_and_colon(const char *p, const char *word)
{
	if (strncmp(p, word, strlen(word)) != 0)
		return NULL;
	p += strlen(word);
	while (*p == ' ')
		p++;
	return *p == ':' ? p + 1 : NULL;
}

/* "kern  :warn  :" of dmesg -x, "host: kern: err:" of Talos. */
static const char *kmsg_prefix_facility(const char *p, struct davy_kmsg_line *line, bool *foreign)
{
	static const char *const others[] = { "user", "daemon", "auth", "syslog", "cron" };
	const char *at = p, *level = NULL, *rest;

	while (davy_kmsg_alnum(*at) || *at == '-' || *at == '.')
		at++;
	rest = kmsg_prefix_word_and_colon(p, "kern");
	if (!rest && *at == ':' && at[1] == ' ')
		rest = kmsg_prefix_word_and_colon(at + 2, "kern");
	for (size_t i = 0; !rest && i < sizeof(others) / sizeof(others[0]); i++) {
		rest = kmsg_prefix_word_and_colon(p, others[i]);
		*foreign = rest != NULL;
	}
	if (!rest)
		return NULL;
	while (*rest == ' ')
		rest++;
	for (uint8_t i = 0; i < 8 && !level; i++) {
		level = kmsg_prefix_word_and_colon(rest, levels[i]);
		if (level)
			line->priority = i;
	}
	*foreign = *foreign && level;
	return level;
}

/* What the prefixes so far say about the origin of the line. */
struct origin {
	bool foreign; /* another program */
	bool kernel;  /* "kernel:" was present: a following name belongs to the message */
	bool bare;    /* the time has no brackets: syslog, journal */
};

/* "ollama[4711]:" */
static bool kmsg_prefix_is_program(const char *word, const char *end)
{
	if (!strncmp(end, " segfault at ", 13))
		return false; /* the kernel's own words, also after a blank in the name */
	return end - word > 4 && *word != '[' && *word != '(' && end[-1] == ':' && end[-2] == ']' &&
	       davy_kmsg_digit(end[-3]);
}

/*
 * "host kernel:", "kernel:". "host name[pid]:" is another program. After a time in brackets and
 * without a host, name[pid] is a process in a kernel message ("segfault at").
 */
static const char *kmsg_prefix_tag(const char *p, const struct davy_kmsg_line *line,
				   struct origin *origin)
{
	const char *word = p;

	if (origin->kernel)
		return NULL;
	for (int i = 0; i < 2; i++) {
		const char *end = word;

		origin->kernel = !strncmp(word, "kernel: ", 8);
		if (origin->kernel)
			return word + 8;
		origin->kernel = !strncmp(word, "kernel[", 7) && strstr(word, "]: ");
		if (origin->kernel)
			return strstr(word, "]: ") + 3;
		while (*end && !davy_kmsg_blank(*end))
			end++;
		origin->foreign =
			line->stamp[0] && (origin->bare || i) && kmsg_prefix_is_program(word, end);
		if (origin->foreign)
			return end;
		word = davy_kmsg_skip_blanks(end);
	}
	return NULL;
}

/* Text before the time of day in an unbracketed stamp: words in any language, a date. */
static bool kmsg_prefix_is_date(const char *p, const char *end)
{
	for (; p < end; p++)
		if (!davy_kmsg_alnum(*p) && !strchr(" ,.-/", *p) && !(*p & 0x80))
			return false;
	return true;
}

/* "Aug 16 21:15:49", "2024-08-18T01:19:27.141093+00:00", "08-04 06:43:55", "19:14:43". */
static const char *kmsg_prefix_bare_stamp(const char *p, struct davy_kmsg_line *line)
{
	const char *limit = p + strnlen(p, 48), *at, *end;
	long s;

	at = kmsg_prefix_find_time(p, limit, &s);
	if (!at || at - p > 36 || !kmsg_prefix_is_date(p, at))
		return NULL;
	end = at + 8;
	if (*end == '.' || *end == ',')
		for (end++; davy_kmsg_digit(*end); end++)
			;
	if (*end == 'Z') {
		end++;
	} else if (*end == '+' || *end == '-') {
		for (end++; davy_kmsg_digit(*end) || *end == ':'; end++)
			;
	}
	if (*end && !davy_kmsg_blank(*end) && *end != ':')
		return NULL;
	kmsg_prefix_set_stamp(line, p, end);
	kmsg_prefix_set_day_time(line, s, at + 8);
	return *end == ':' ? end + 1 : end;
}

const char *davy_kmsg_prefix(const char *text, struct davy_kmsg_line *line)
{
	const char *p = text + strspn(text, " \t\r>|`"); /* quotation marks of mails and forums */
	struct origin origin = { 0 };

	for (int i = 0; i < 8; i++) {
		const char *next = kmsg_prefix_bracket(p, line);

		if (!next)
			next = kmsg_prefix_priority(p, line, &origin.foreign);
		if (!next)
			next = kmsg_prefix_facility(p, line, &origin.foreign);
		if (!next)
			next = kmsg_prefix_tag(p, line, &origin);
		if (!next && !line->stamp[0]) {
			next = kmsg_prefix_bare_stamp(p, line);
			origin.bare = next != NULL;
		}
		if (origin.foreign)
			return NULL;
		if (!next)
			break;
		p = davy_kmsg_skip_blanks(next);
	}
	return p;
}
