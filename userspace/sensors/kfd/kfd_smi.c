/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kfd/kfd_smi.h"

#include <errno.h>
#include <string.h>

#define PAGE_SIZE 4096ULL /* addresses and sizes are in CPU pages: x86-64 */

/*
 * The text after "EVENT ". Letters are fields, other characters match themselves:
 *   n time in ns   p pid   d thread, hex   a address, s size, in pages, hex
 *   f from, t to, hex   r trigger   e error, may be negative   k mask, hex   x hex, ignored
 *   w W or R   m M or U   q R or 0   N name, C cause: to the end   ? the line may end here
 */
static const char *const formats[DAVY_KFD_EVENT_COUNT] = {
	[DAVY_KFD_VM_FAULT] = "d:N",
	[DAVY_KFD_THERMAL_THROTTLE] = "k:x",
	[DAVY_KFD_RESET_BEGIN] = "x? C", /* 6.12: the cause */
	[DAVY_KFD_RESET_END] = "x? C",
	[DAVY_KFD_MIGRATE_BEGIN] = "n -p @a(s) f->t x:x r",
	[DAVY_KFD_MIGRATE_END] = "n -p @a(s) f->t r? e", /* 7.2: the error */
	[DAVY_KFD_PAGE_FAULT_BEGIN] = "n -p @a(x) w",
	[DAVY_KFD_PAGE_FAULT_END] = "n -p @a(x) m",
	[DAVY_KFD_QUEUES_EVICTED] = "n -p x r",
	[DAVY_KFD_QUEUES_RESTORED] = "n -p x? q", /* 6.1: a letter only for a retry */
	[DAVY_KFD_UNMAPPED] = "n -p @a(s) x r",
	[DAVY_KFD_PROCESS_BEGIN] = "d N",
	[DAVY_KFD_PROCESS_END] = "d N",
};

struct scan {
	const char *at;
	const char *end;
};

/* As printed by printf: no sign, lower case. */
static bool kfd_smi_number(struct scan *s, unsigned int base, uint64_t max, uint64_t *ret_value)
{
	const char *begin = s->at;
	uint64_t value = 0;

	for (; s->at < s->end; s->at++) {
		unsigned int digit = *s->at >= '0' && *s->at <= '9' ? (unsigned int)(*s->at - '0')
				     : base == 16 && *s->at >= 'a' && *s->at <= 'f'
					     ? (unsigned int)(*s->at - 'a') + 10
					     : base;

		if (digit == base)
			break;
		if (digit > max || value > (max - digit) / base)
			return false;
		value = value * base + digit;
	}
	*ret_value = value;
	return s->at > begin;
}

static bool kfd_smi_number32(struct scan *s, unsigned int base, uint64_t max, uint32_t *ret_value)
{
	uint64_t value;

	if (!kfd_smi_number(s, base, max, &value))
		return false;
	*ret_value = (uint32_t)value;
	return true;
}

static bool kfd_smi_pages(struct scan *s, uint64_t *ret_bytes)
{
	uint64_t value;

	if (!kfd_smi_number(s, 16, UINT64_MAX / PAGE_SIZE, &value))
		return false;
	*ret_bytes = value * PAGE_SIZE;
	return true;
}

static bool kfd_smi_error(struct scan *s, int32_t *ret_error)
{
	bool negative = s->at < s->end && *s->at == '-';
	uint64_t value;

	s->at += negative;
	if (!kfd_smi_number(s, 10, INT32_MAX, &value))
		return false;
	*ret_error = negative ? -(int32_t)value : (int32_t)value;
	return true;
}

static bool kfd_smi_letter(struct scan *s, char set, char unset, enum davy_kfd_flag flag,
			   uint32_t *flags)
{
	if (s->at == s->end || (*s->at != set && *s->at != unset))
		return false;
	*flags |= *s->at++ == set ? (uint32_t)flag : 0;
	return true;
}

static bool kfd_smi_text(struct scan *s, size_t size, char *ret_text)
{
	size_t len = (size_t)(s->end - s->at);

	if (len >= size)
		return false;
	memcpy(ret_text, s->at, len);
	ret_text[len] = 0;
	s->at = s->end;
	return true;
}

static bool kfd_smi_field(struct scan *s, char what, struct davy_kfd_said *said)
{
	struct davy_ev_kfd *k = &said->kfd;
	uint64_t ignored;

	switch (what) {
	case 'n':
		return kfd_smi_number(s, 10, INT64_MAX, &k->driver_ns);
	case 'p':
		return kfd_smi_number32(s, 10, INT32_MAX, &said->pid);
	case 'd':
		said->thread = true;
		return kfd_smi_number32(s, 16, INT32_MAX, &said->pid);
	case 'a':
		return kfd_smi_pages(s, &k->addr);
	case 's':
		return kfd_smi_pages(s, &k->bytes);
	case 'x':
		return kfd_smi_number(s, 16, UINT64_MAX, &ignored);
	case 'f':
		return kfd_smi_number32(s, 16, UINT32_MAX, &k->from);
	case 't':
		return kfd_smi_number32(s, 16, UINT32_MAX, &k->to);
	case 'r':
		return kfd_smi_number32(s, 10, INT32_MAX, &k->trigger);
	case 'e':
		return kfd_smi_error(s, &k->error);
	case 'k':
		return kfd_smi_number(s, 16, UINT64_MAX, &k->mask);
	case 'w':
		return kfd_smi_letter(s, 'W', 'R', DAVY_KFD_WRITE, &k->flags);
	case 'm':
		return kfd_smi_letter(s, 'M', 'U', DAVY_KFD_MIGRATED, &k->flags);
	case 'q':
		return kfd_smi_letter(s, 'R', '0', DAVY_KFD_RESCHEDULED, &k->flags);
	case 'N':
		return kfd_smi_text(s, DAVY_COMM_LEN, k->detail);
	case 'C':
		return kfd_smi_text(s, sizeof(k->detail), k->detail);
	default:
		return s->at < s->end && *s->at++ == what;
	}
}

static bool kfd_smi_payload(struct scan *s, const char *format, struct davy_kfd_said *said)
{
	for (; *format; format++) {
		if (*format == '?') {
			if (s->at == s->end)
				return true;
			continue;
		}
		if (!kfd_smi_field(s, *format, said))
			return false;
	}
	return s->at == s->end;
}

int davy_kfd_smi_parse(const char *line, size_t len, struct davy_kfd_said *ret_said)
{
	struct scan s = { line, line + len };
	struct davy_kfd_said said;
	bool whole;

	memset(&said, 0, sizeof(said));
	whole = !memchr(line, 0, len) &&
		kfd_smi_number32(&s, 16, DAVY_KFD_EVENT_COUNT - 1, &said.kfd.event) &&
		said.kfd.event && kfd_smi_field(&s, ' ', &said) &&
		kfd_smi_payload(&s, formats[said.kfd.event], &said);
	if (!whole)
		return -EBADMSG;
	*ret_said = said;
	return 0;
}

static bool kfd_smi_take(struct davy_kfd_smi *s, const char *line, size_t len,
			 davy_kfd_said_fn *report, void *arg)
{
	struct davy_kfd_said said;

	if (len < s->name_left) { /* with the newline before it, the line may be part of the name */
		s->name_left -= len + 1;
		s->refused_count++;
		return false;
	}
	s->name_left = 0;
	if (davy_kfd_smi_parse(line, len, &said)) {
		s->refused_count++;
		return false;
	}
	if (said.thread) /* these events have a name */
		s->name_left = DAVY_COMM_LEN - 1 - strlen(said.kfd.detail);
	report(arg, &said);
	return true;
}

/* Completes a line that began in an earlier piece. */
static bool kfd_smi_take_rest(struct davy_kfd_smi *s, const char *data, size_t len,
			      davy_kfd_said_fn *report, void *arg)
{
	bool too_long = s->too_long || len >= sizeof(s->rest) - s->rest_len;
	size_t whole = s->rest_len + len;

	s->too_long = false;
	s->rest_len = 0;
	if (too_long) {
		s->name_left = 0;
		s->refused_count++;
		return false;
	}
	memcpy(s->rest + whole - len, data, len);
	return kfd_smi_take(s, s->rest, whole, report, arg);
}

static void kfd_smi_keep(struct davy_kfd_smi *s, const char *data, size_t len)
{
	if (len >= sizeof(s->rest) - s->rest_len)
		s->too_long = true;
	if (s->too_long) {
		s->rest_len = 0;
		return;
	}
	memcpy(s->rest + s->rest_len, data, len);
	s->rest_len += len;
}

size_t davy_kfd_smi_feed(struct davy_kfd_smi *s, const char *data, size_t size,
			 davy_kfd_said_fn *report, void *arg)
{
	const char *end;
	size_t count = 0;

	while ((end = memchr(data, '\n', size))) {
		size_t len = (size_t)(end - data);

		count += kfd_smi_take_rest(s, data, len, report, arg);
		data += len + 1;
		size -= len + 1;
	}
	kfd_smi_keep(s, data, size);
	return count;
}
