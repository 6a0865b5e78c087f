/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/doctor_finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"

#define RAW_MAX 2048

struct davy_finding *davy_finding_add(struct davy_findings *f, const struct davy_check *check,
				      enum davy_diagnosis verdict, uint32_t backends,
				      const char *about)
{
	/* The last place is scratch space for findings that do not fit. */
	struct davy_finding *at = &f->at[f->count];

	if (f->count < DAVY_FINDINGS_MAX - 1)
		f->count++;
	else
		f->left_out++;
	memset(at, 0, sizeof(*at));
	at->check = check;
	at->verdict = verdict;
	at->backends = backends;
	davy_text_safe(at->about, sizeof(at->about), about);
	return at;
}

/*
 * Like davy_text_safe, but keeps backslashes: parts of the text are sanitized already, and escaping
 * them twice would make them unreadable.
 */
static void doctor_finding_say(char *dst, size_t size, const char *format, va_list args)
{
	char raw[RAW_MAX], *at = raw;
	size_t used = 0;

	vsnprintf(raw, sizeof(raw), format, args);
	while (*at && used + 5 < size) {
		size_t len = davy_text_shown_length(at);

		if (len >= size - used) {
			len = size - used - 1;
			while (len && (at[len] & 0xc0) == 0x80) /* cut between characters */
				len--;
		}
		memcpy(dst + used, at, len);
		used += len;
		at += len;
		if (!*at || davy_text_shown_length(at) || used + 5 >= size)
			break;
		used += (size_t)snprintf(dst + used, size - used, "\\x%02x", (unsigned char)*at++);
	}
	dst[used] = 0;
}

void davy_finding_evidence(struct davy_finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	doctor_finding_say(f->evidence, sizeof(f->evidence), format, args);
	va_end(args);
}

void davy_finding_fix(struct davy_finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	doctor_finding_say(f->fix, sizeof(f->fix), format, args);
	va_end(args);
}

void davy_finding_verify(struct davy_finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	doctor_finding_say(f->verify, sizeof(f->verify), format, args);
	va_end(args);
}

void davy_check_not_needed(struct davy_findings *findings, const struct davy_check *check,
			   const char *why)
{
	davy_finding_evidence(davy_finding_add(findings, check, DAVY_FOUND_NOT_NEEDED, 0, ""), "%s",
			      why);
}

const char *davy_diagnosis_name(enum davy_diagnosis verdict)
{
	static const char *const names[DAVY_FOUND_COUNT] = {
		[DAVY_FOUND_NOT_NEEDED] = "not-needed",	    [DAVY_FOUND_OK] = "ok",
		[DAVY_FOUND_UNCHECKED] = "could-not-check", [DAVY_FOUND_WARNING] = "warning",
		[DAVY_FOUND_FAILURE] = "failure",
	};

	return (unsigned int)verdict < DAVY_FOUND_COUNT ? names[verdict] : "?";
}

const char *davy_doctor_layer_name(enum davy_doctor_layer layer)
{
	static const char *const titles[DAVY_DOCTOR_LAYERS] = {
		[DAVY_AT_SELF] = "davylamp itself",
		[DAVY_AT_DRIVER] = "driver",
		[DAVY_AT_NODES] = "device files",
		[DAVY_AT_ACCESS] = "permissions",
		[DAVY_AT_CONFIG] = "environment",
		[DAVY_AT_RUNTIME] = "runtime",
		[DAVY_AT_BUNDLE] = "the engine's libraries",
		[DAVY_AT_ENGINE] = "the engine",
		[DAVY_AT_MODEL] = "model and settings",
	};

	return (unsigned int)layer < DAVY_DOCTOR_LAYERS ? titles[layer] : "?";
}

enum davy_diagnosis davy_findings_worst(const struct davy_findings *f)
{
	enum davy_diagnosis worst = DAVY_FOUND_OK;

	for (size_t i = 0; i < f->count; i++)
		if (f->at[i].verdict > worst)
			worst = f->at[i].verdict;
	return worst;
}
