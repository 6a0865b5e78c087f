/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/doctor_finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"

#define RAW_MAX 2048

struct dl_finding *dl_finding_add(struct dl_findings *f, const struct dl_check *check,
				  enum dl_diagnosis verdict, uint32_t backends, const char *about)
{
	/* The last place is the one that is thrown away. */
	struct dl_finding *at = &f->at[f->count];

	if (f->count < DL_FINDINGS_MAX - 1)
		f->count++;
	else
		f->left_out++;
	memset(at, 0, sizeof(*at));
	at->check = check;
	at->verdict = verdict;
	at->backends = backends;
	dl_text_safe(at->about, sizeof(at->about), about);
	return at;
}

/*
 * As dl_text_safe, but that a backslash stays one: parts of it were made safe by others before, and
 * would be harder to read each time.
 */
static void say(char *dst, size_t size, const char *format, va_list args)
{
	char raw[RAW_MAX], *at = raw;
	size_t used = 0;

	vsnprintf(raw, sizeof(raw), format, args);
	while (*at && used + 5 < size) {
		size_t len = dl_text_shown_length(at);

		if (len >= size - used) {
			len = size - used - 1;
			while (len && (at[len] & 0xc0) == 0x80) /* between characters */
				len--;
		}
		memcpy(dst + used, at, len);
		used += len;
		at += len;
		if (!*at || dl_text_shown_length(at) || used + 5 >= size)
			break;
		used += (size_t)snprintf(dst + used, size - used, "\\x%02x", (unsigned char)*at++);
	}
	dst[used] = 0;
}

void dl_finding_evidence(struct dl_finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(f->evidence, sizeof(f->evidence), format, args);
	va_end(args);
}

void dl_finding_fix(struct dl_finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(f->fix, sizeof(f->fix), format, args);
	va_end(args);
}

void dl_finding_verify(struct dl_finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(f->verify, sizeof(f->verify), format, args);
	va_end(args);
}

const char *dl_diagnosis_name(enum dl_diagnosis verdict)
{
	static const char *const names[DL_FOUND_COUNT] = {
		[DL_FOUND_NOT_NEEDED] = "not-needed",	  [DL_FOUND_OK] = "ok",
		[DL_FOUND_UNCHECKED] = "could-not-check", [DL_FOUND_WARNING] = "warning",
		[DL_FOUND_FAILURE] = "failure",
	};

	return (unsigned int)verdict < DL_FOUND_COUNT ? names[verdict] : "?";
}

const char *dl_doctor_layer_name(enum dl_doctor_layer layer)
{
	static const char *const titles[DL_DOCTOR_LAYERS] = {
		[DL_AT_SELF] = "davylamp itself",
		[DL_AT_DRIVER] = "driver",
		[DL_AT_NODES] = "device files",
		[DL_AT_ACCESS] = "permissions",
		[DL_AT_CONFIG] = "environment",
		[DL_AT_RUNTIME] = "runtime",
		[DL_AT_BUNDLE] = "the engine's libraries",
		[DL_AT_ENGINE] = "the engine",
		[DL_AT_MODEL] = "model and settings",
	};

	return (unsigned int)layer < DL_DOCTOR_LAYERS ? titles[layer] : "?";
}

enum dl_diagnosis dl_findings_worst(const struct dl_findings *f)
{
	enum dl_diagnosis worst = DL_FOUND_OK;

	for (size_t i = 0; i < f->count; i++)
		if (f->at[i].verdict > worst)
			worst = f->at[i].verdict;
	return worst;
}
