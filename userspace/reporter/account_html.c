/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An account as one HTML file: no script, no request, light and dark. Every text is escaped. The
 * size is bounded: 200 decisions and 120 events of at most 1 KB, curves of at most 300 points.
 */
#include "reporter/dossier.h"

#include <stdlib.h>
#include <string.h>

#include "lib/message.h"
#include "lib/text.h"

#define WIDTH	    880
#define HEIGHT	    200
#define LEFT	    20
#define TOP	    14
#define BEFORE_NS   10000000000LL
#define AFTER_NS    5000000000LL
#define BUCKETS	    300
#define TEXT_SIZE   2048
#define MARKS_SHOWN 200

static const char style[] =
	":root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#667;--line:#d5d9de;"
	"--bad:#b3261e;--act:#7b3fb5;--c0:#1769aa;--c1:#2e7d32;--c2:#8a6d00;--c3:#b3261e}"
	"@media(prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e4e7ea;--dim:#9aa3ad;"
	"--line:#39404a;--bad:#ff8a80;--act:#cfa6ff;--c0:#64b5f6;--c1:#81c784;--c2:#ffd54f;"
	"--c3:#ff8a80}}"
	"body{background:var(--bg);color:var(--fg);font:15px/1.45 sans-serif;max-width:60rem;"
	"margin:1.5rem auto;padding:0 1rem}h1{font-size:1.4rem}h2{font-size:1.1rem}"
	"table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;"
	"padding:.15rem .5rem;border-bottom:1px solid var(--line);overflow-wrap:anywhere}"
	"th{color:var(--dim);font-weight:normal;white-space:nowrap}"
	"td.t{font-family:monospace;white-space:nowrap;text-align:right}"
	"svg{width:100%;height:auto}svg text{fill:var(--dim);font:11px sans-serif}";

static const struct {
	const char *name, *colour;
} curves[DAVY_CURVES] = {
	[DAVY_CURVE_VRAM] = { "VRAM", "--c0" },
	[DAVY_CURVE_GTT] = { "GTT", "--c1" },
	[DAVY_CURVE_HOST] = { "host memory", "--c2" },
	[DAVY_CURVE_JOB] = { "oldest job / lockup timeout", "--c3" },
	[DAVY_CURVE_EVICTED] = { "evictions (marks at the bottom)", "--dim" },
};

static void html_text(FILE *out, const char *text)
{
	char safe[TEXT_SIZE];

	davy_text_shown(safe, sizeof(safe), text);
	for (const char *at = safe; *at; at++) {
		if (*at == '<')
			fputs("&lt;", out);
		else if (*at == '>')
			fputs("&gt;", out);
		else if (*at == '&')
			fputs("&amp;", out);
		else if (*at == '"')
			fputs("&quot;", out);
		else if (*at == '\'')
			fputs("&#39;", out);
		else
			fputc(*at, out);
	}
}

static void html_row(FILE *out, const char *label, const char *text)
{
	if (!*text)
		return;
	fputs("<tr><th>", out);
	html_text(out, label);
	fputs("</th><td>", out);
	html_text(out, text);
	fputs("</td></tr>\n", out);
}

struct html_span {
	json_int_t from_ns, to_ns;
	const char *device; /* "": every one */
};

static double html_x(const struct html_span *s, json_int_t at_ns)
{
	return LEFT + (double)(at_ns - s->from_ns) * WIDTH / (double)(s->to_ns - s->from_ns);
}

static double html_y(int permille)
{
	return TOP + HEIGHT - (double)permille * HEIGHT / 1000;
}

static bool html_in(const struct html_span *s, const struct davy_point *p)
{
	return p->at_ns >= s->from_ns && p->at_ns <= s->to_ns &&
	       (!*s->device || !strcmp(p->device, s->device));
}

/* The maximum of each of BUCKETS parts of the time. Returns whether there is any point. */
static bool html_curve(FILE *out, const struct davy_dossier *d, const struct html_span *s,
		       enum davy_curve curve)
{
	int most[BUCKETS + 1];
	bool any = false;

	memset(most, -1, sizeof(most));
	for (size_t i = 0; i < d->point_count; i++) {
		const struct davy_point *p = &d->point[i];
		size_t bucket;

		if (p->curve != curve || !html_in(s, p))
			continue;
		bucket = (size_t)((html_x(s, p->at_ns) - LEFT) * BUCKETS / WIDTH);
		if (bucket <= BUCKETS && p->permille > most[bucket])
			most[bucket] = p->permille;
		any = true;
	}
	if (!any)
		return false;
	if (curve != DAVY_CURVE_EVICTED)
		fprintf(out, "<polyline fill='none' stroke='var(%s)' stroke-width='1.5' points='",
			curves[curve].colour);
	for (int i = 0; i <= BUCKETS; i++) {
		double x = LEFT + (double)i * WIDTH / BUCKETS;

		if (most[i] >= 0 && curve == DAVY_CURVE_EVICTED)
			fprintf(out, "<path d='M%.0f %dv-8' stroke='var(--dim)'/>", x,
				TOP + HEIGHT);
		else if (most[i] >= 0)
			fprintf(out, "%.0f,%.0f ", x, html_y(most[i]));
	}
	fputs(curve == DAVY_CURVE_EVICTED ? "\n" : "'/>\n", out);
	return true;
}

/* A vertical line for each alarm, action and failure; its text is shown on hover. */
static void html_marks(FILE *out, const json_t *account, const struct html_span *s)
{
	json_int_t begun_ns = davy_message_number(account, "begun_ns", 0);
	const json_t *line;
	size_t i;

	json_array_foreach(json_object_get(account, "decisions"), i, line)
	{
		const json_t *body = json_object_get(line, "json");
		const char *rung = davy_message_text(body, "rung");
		bool acts = davy_decision_acts(body), failed = !strcmp(rung, "failure");
		double x = html_x(s, begun_ns + davy_message_number(line, "after_ms", 0) * 1000000);

		if ((!acts && !failed && strcmp(rung, "note") != 0) || i >= MARKS_SHOWN)
			continue;
		fprintf(out, "<g><title>");
		html_text(out, davy_message_text(line, "text"));
		fprintf(out,
			"</title><path d='M%.1f %dV%d' stroke='var(%s)' stroke-dasharray='%s'/>"
			"<text x='%.1f' y='%d'>%c</text></g>\n",
			x, TOP, TOP + HEIGHT, acts ? "--act" : "--bad", failed ? "none" : "3 3",
			x - 3, TOP - 3,
			failed ? 'F'
			: acts ? 'A'
			       : (int)('0' + davy_message_number(body, "level", 0) % 10));
	}
}

static void html_time_line(FILE *out, const json_t *account, const struct davy_dossier *d,
			   const struct davy_told_incident *in)
{
	struct html_span s = { in->first_sign_ns - BEFORE_NS, in->last_ns + AFTER_NS, "" };
	int legend = LEFT, row = TOP + HEIGHT + 30;

	for (size_t i = 0; i < d->point_count; i++)
		if (!strcmp(d->point[i].device, davy_message_text(account, "device")))
			s.device = d->point[i].device;
	fprintf(out,
		"<h2>Time line</h2>\n<svg viewBox='0 0 %d %d' role='img' aria-label='time line'>\n"
		"<rect x='%d' y='%d' width='%d' height='%d' fill='none' stroke='var(--line)'/>\n",
		WIDTH + 2 * LEFT, TOP + HEIGHT + 40, LEFT, TOP, WIDTH, HEIGHT);
	for (int i = 0; i < DAVY_CURVES; i++) {
		if (!html_curve(out, d, &s, (enum davy_curve)i))
			continue;
		fprintf(out,
			"<path d='M%d %dh14' stroke='var(%s)' stroke-width='3'/>"
			"<text x='%d' y='%d'>%s</text>\n",
			legend, row - 4, curves[i].colour, legend + 18, row, curves[i].name);
		legend += 30 + 7 * (int)strlen(curves[i].name);
	}
	html_marks(out, account, &s);
	fprintf(out,
		"<text x='%d' y='%d'>%.1f s</text><text x='%d' y='%d' text-anchor='end'>"
		"%.1f s</text>\n</svg>\n",
		LEFT, TOP + HEIGHT + 14, (double)(s.from_ns - in->begun_ns) / 1e9, LEFT + WIDTH,
		TOP + HEIGHT + 14, (double)(s.to_ns - in->begun_ns) / 1e9);
	fprintf(out,
		"<p>Vertical lines: 1 to 3 alarms, A actions, F failures. Curves: part of what "
		"is there, from the bottom (none) to the top (all). %s</p>\n",
		d->point_count ? ""
			       : "The running agent keeps no curves: a trace has them "
				 "(davylamp run --record).");
}

static void html_lines(FILE *out, const char *title, const json_t *lines)
{
	const json_t *line;
	size_t i;

	fprintf(out, "<h2>%s</h2>\n<table>\n", title);
	json_array_foreach(lines, i, line)
	{
		fprintf(out, "<tr><td class='t'>%+.3f s</td><td>",
			(double)davy_message_number(line, "after_ms", 0) / 1000);
		html_text(out, davy_message_text(line, "text"));
		fputs("</td></tr>\n", out);
	}
	fputs("</table>\n", out);
}

static void html_facts(FILE *out, const json_t *account)
{
	static const char *const keys[] = { "begun", "device",	"process", "engine",  "backend",
					    "model", "failure", "action",  "verdict", "refusal" };
	const char *key;
	json_t *value;
	char text[64];

	fputs("<table>\n", out);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		html_row(out, keys[i], davy_message_text(account, keys[i]));
	if (json_is_true(json_object_get(account, "foreseen"))) {
		snprintf(text, sizeof(text), "%lld ms before",
			 (long long)davy_message_number(account, "lead_ms", 0));
		html_row(out, "foreseen", text);
	}
	if (json_object_get(account, "succeeded"))
		html_row(out, "outcome",
			 json_is_true(json_object_get(account, "succeeded")) ? "done" : "failed");
	snprintf(text, sizeof(text), "%lld ms%s",
		 (long long)davy_message_number(account, "lasted_ms", 0),
		 json_is_true(json_object_get(account, "stands")) ? ", it stands" : "");
	html_row(out, "lasted", text);
	json_object_foreach(json_object_get(account, "versions"), key, value)
	{
		html_row(out, key, json_string_value(value) ? json_string_value(value) : "");
	}
	fputs("</table>\n", out);
}

void davy_account_html(const json_t *account, const struct davy_dossier *d,
		       const struct davy_told_incident *in, FILE *out)
{
	fprintf(out,
		"<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
		"<meta http-equiv='Content-Security-Policy' "
		"content=\"default-src 'none'; img-src data:; "
		"style-src 'unsafe-inline'\">"
		"<meta name='viewport' content='width=device-width'><link rel='icon' href='data:,'>"
		"<title>davylamp incident %lld</title><style>%s</style></head><body>\n<h1>",
		(long long)davy_message_number(account, "id", 0), style);
	fprintf(out, "Incident %lld: ", (long long)davy_message_number(account, "id", 0));
	html_text(out, davy_message_text(account, "hazard"));
	fprintf(out, ", level %lld</h1>\n", (long long)davy_message_number(account, "level", 0));
	html_facts(out, account);
	html_time_line(out, account, d, in);
	html_lines(out, "Decisions, seconds after the first alarm",
		   json_object_get(account, "decisions"));
	html_lines(out, "Events from 60 s before to 60 s after",
		   json_object_get(account, "events"));
	fputs("</body></html>\n", out);
}
