/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kmsg/kmsg_pattern.h"

#include <errno.h>
#include <string.h>

#include "sensors/kmsg/kmsg_prefix.h"

#define STEPS_MAX   8192 /* a line of 1000 bytes with two gaps needs far fewer in real logs */
#define CHOICES_MAX 8
#define GAP_MAX	    300

/* A point to backtrack to: a gap that can grow, a name that can shrink. */
struct choice {
	const char *pattern; /* after the element */
	const char *begin;   /* of a name; NULL for a gap */
	const char *at;
	const char *limit;
};

struct cursor {
	const char *pattern;
	const char *at;
	struct choice choices[CHOICES_MAX];
	int count;
};

static const struct {
	const char *name;
	int error;
} errors[] = {
	{ "EPERM", EPERM },   { "ENOENT", ENOENT },	  { "EIO", EIO },
	{ "ENXIO", ENXIO },   { "EAGAIN", EAGAIN },	  { "ENOMEM", ENOMEM },
	{ "EFAULT", EFAULT }, { "EBUSY", EBUSY },	  { "ENODEV", ENODEV },
	{ "EINVAL", EINVAL }, { "ENOSPC", ENOSPC },	  { "ETIME", ETIME },
	{ "EPROTO", EPROTO }, { "ETIMEDOUT", ETIMEDOUT }, { "ECANCELED", ECANCELED },
};

static bool kmsg_pattern_word_char(char c)
{
	return davy_kmsg_alnum(c) || (c && strchr("_.:+-<>/@#'~", c));
}

/* Decimal, or hexadecimal after 0x. Returns the bytes used, 0 if there is no number. Saturates. */
static size_t kmsg_pattern_number(const char *p, uint64_t *ret_value)
{
	uint64_t value = 0;
	bool hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X') && davy_kmsg_hex(p[2]) >= 0;
	size_t i = hex ? 2 : 0, first = i;

	for (; hex ? davy_kmsg_hex(p[i]) >= 0 : davy_kmsg_digit(p[i]); i++) {
		uint64_t digit = (uint64_t)davy_kmsg_hex(p[i]);

		if (__builtin_mul_overflow(value, hex ? 16u : 10u, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			value = UINT64_MAX;
	}
	*ret_value = value;
	return i > first ? i : 0;
}

static size_t kmsg_pattern_number32(const char *p, uint32_t *ret_value)
{
	uint64_t value;
	size_t used = kmsg_pattern_number(p, &value);

	if (used)
		*ret_value = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
	return used;
}

static size_t kmsg_pattern_address(const char *p, uint64_t *ret_value)
{
	uint64_t value = 0;
	size_t i = p[0] == '0' && p[1] == 'x' ? 2 : 0, first = i;

	for (; davy_kmsg_hex(p[i]) >= 0 || (i > first && p[i] == '_'); i++)
		if (p[i] != '_')
			value = value << 4 | (uint64_t)davy_kmsg_hex(p[i]);
	*ret_value = value;
	return i > first ? i : 0;
}

static size_t kmsg_pattern_error(const char *p, int32_t *ret_error)
{
	size_t sign = *p == '-', used;
	uint64_t value;

	used = kmsg_pattern_number(p + sign, &value);
	if (used) {
		*ret_error = value < 4096 ? -(int32_t)value : -1;
		return used + sign;
	}
	if (!sign || p[1] != 'E')
		return 0;
	for (used = 1; davy_kmsg_alnum(p[used]); used++)
		;
	*ret_error = -1;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strlen(errors[i].name) == used - 1 && !memcmp(errors[i].name, p + 1, used - 1))
			*ret_error = -errors[i].error;
	return used;
}

static size_t kmsg_pattern_word(const char *p)
{
	size_t i = 0;

	while (kmsg_pattern_word_char(p[i]))
		i++;
	return i;
}

/* A PCI address, or without its domain, which is then the first: "03:00.0". */
static size_t kmsg_pattern_device(const char *p, char ret_device[DAVY_DEVICE_LEN])
{
	char whole[] = "0000:00:00.0";
	size_t used = davy_kmsg_pci(p, ret_device), bus = strlen("00:00.0");

	if (used || strnlen(p, bus) < bus)
		return used;
	memcpy(whole + strlen("0000:"), p, bus);
	return davy_kmsg_pci(whole, ret_device) == sizeof(whole) - 1 ? bus : 0;
}

static void kmsg_pattern_keep(char *dst, size_t size, const char *p, size_t len)
{
	if (len >= size)
		len = size - 1;
	memcpy(dst, p, len);
	dst[len] = 0;
}

/* Tries one element. Returns the bytes used, 0 if it does not match. */
static size_t kmsg_pattern_convert(char what, const char *p, struct davy_kmsg_match *m)
{
	uint64_t ignored;
	size_t used;

	switch (what) {
	case 'p':
		used = kmsg_pattern_number32(p, &m->pid);
		if (used && !m->pid)
			m->comm[0] = 0; /* "process  pid 0 thread  pid 0": no process */
		return used;
	case 'c':
		return kmsg_pattern_number32(p, &m->code);
	case 'v':
		m->has_vm = 1;
		return kmsg_pattern_number32(p, &m->vmid);
	case 'q':
		return kmsg_pattern_number32(p, &m->pasid);
	case 'd':
		used = kmsg_pattern_number(p + (*p == '-'), &ignored);
		return used ? used + (*p == '-') : 0;
	case 'a':
		return kmsg_pattern_address(p, &m->addr);
	case 'e':
		return kmsg_pattern_error(p, &m->error);
	case 'b':
		return kmsg_pattern_device(p, m->device);
	case 'r':
		used = kmsg_pattern_word(p);
		kmsg_pattern_keep(m->ring, sizeof(m->ring), p, used);
		return used;
	case 'w':
		return kmsg_pattern_word(p);
	default:
		return 0;
	}
}

/* "{a|b|}": takes the first literal that matches; false if none does. */
static bool kmsg_pattern_alternatives(struct cursor *c)
{
	const char *end = strchr(c->pattern, '}'), *p = c->pattern + 1;

	while (p <= end) {
		size_t len = strcspn(p, "|}");

		if (!strncmp(p, c->at, len)) {
			c->at += len;
			c->pattern = end + 1;
			return true;
		}
		p += len + 1;
	}
	return false;
}

static bool kmsg_pattern_push(struct cursor *c, size_t skip, const char *begin, const char *at,
			      const char *limit)
{
	if (c->count == CHOICES_MAX)
		return false;
	c->choices[c->count++] = (struct choice){ c->pattern + skip, begin, at, limit };
	return true;
}

/* Backtracks to the latest choice and tries its next value. */
static bool kmsg_pattern_backtrack(struct cursor *c, struct davy_kmsg_match *m)
{
	struct choice *choice;

	if (!c->count)
		return false;
	choice = &c->choices[c->count - 1];
	c->pattern = choice->pattern;
	c->at = choice->at;
	if (!choice->begin) {
		if (choice->at == choice->limit)
			c->count--;
		else
			choice->at++;
		return true;
	}
	if (choice->pattern[-1] == 'n')
		kmsg_pattern_keep(m->comm, sizeof(m->comm), choice->begin,
				  (size_t)(choice->at - choice->begin));
	if (choice->at == choice->begin)
		c->count--;
	else
		choice->at--;
	return true;
}

/* Starts a choice for a gap or a name. */
static bool kmsg_pattern_choose(struct cursor *c, struct davy_kmsg_match *m)
{
	if (*c->pattern == '*') {
		if (!kmsg_pattern_push(c, 1, NULL, c->at, c->at + strnlen(c->at, GAP_MAX)))
			return false;
	} else if (!kmsg_pattern_push(c, 2, c->at, c->at + strnlen(c->at, DAVY_COMM_LEN - 1),
				      NULL)) {
		return false;
	}
	return kmsg_pattern_backtrack(c, m);
}

/* Advances by one element; false if it does not match. */
static bool kmsg_pattern_step(struct cursor *c, struct davy_kmsg_match *m)
{
	const char *p = c->pattern;
	size_t used;

	if (*p == '*' || (*p == '%' && (p[1] == 'n' || p[1] == 'N')))
		return kmsg_pattern_choose(c, m);
	if (*p == '{')
		return kmsg_pattern_alternatives(c);
	if (*p == '%' && p[1] != '%') {
		used = kmsg_pattern_convert(p[1], c->at, m);
		c->pattern += 2;
		c->at += used;
		return used > 0;
	}
	if (*p == ' ') {
		bool one = p[1] == '%' && (p[2] == 'n' || p[2] == 'N');

		if (!davy_kmsg_blank(*c->at))
			return false;
		c->at = one ? c->at + 1 : davy_kmsg_skip_blanks(c->at);
		c->pattern++;
		return true;
	}
	if (*c->at != *p)
		return false;
	c->at++;
	c->pattern += *p == '%' ? 2 : 1;
	return true;
}

bool davy_kmsg_pattern(const char *pattern, const char *text, struct davy_kmsg_match *match)
{
	struct cursor c = { .pattern = pattern, .at = text };
	for (int i = 0; i < STEPS_MAX; i++) {
		if (!*c.pattern)
			return true;
		if (!kmsg_pattern_step(&c, match) && !kmsg_pattern_backtrack(&c, match))
			return false;
	}
	return false;
}
