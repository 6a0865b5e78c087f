/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An account for people, and as the trackers of drivers and engines ask for it. */
#include "reporter/dossier.h"

#include <string.h>

#include "lib/message.h"
#include "lib/text.h"

#define LINE_SIZE 2048

static void text_put(FILE *out, const char *label, const json_t *account, const char *key)
{
	const json_t *value = json_object_get(account, key);
	char safe[LINE_SIZE];

	if (json_is_string(value))
		fprintf(out, "%-10s %s\n", label,
			davy_text_shown(safe, sizeof(safe), json_string_value(value)));
}

static void text_lines(FILE *out, const json_t *lines)
{
	const json_t *line;
	char safe[LINE_SIZE];
	size_t i;

	json_array_foreach(lines, i, line) fprintf(
		out, "%+10.3f s  %s\n", (double)davy_message_number(line, "after_ms", 0) / 1000,
		davy_text_shown(safe, sizeof(safe), davy_message_text(line, "text")));
}

static void text_versions(FILE *out, const json_t *versions)
{
	const char *key;
	json_t *value;
	char safe[LINE_SIZE];

	json_object_foreach((json_t *)versions, key, value)
	{
		fprintf(out, "%-14s %s\n", key,
			davy_text_shown(safe, sizeof(safe), json_string_value(value)));
	}
}

static void text_end(FILE *out, const json_t *account)
{
	if (json_is_true(json_object_get(account, "failed")))
		fprintf(out, "%-10s %s, %s", "failure", davy_message_text(account, "failure"),
			json_is_true(json_object_get(account, "foreseen")) ? "foreseen"
									   : "not foreseen");
	if (json_is_true(json_object_get(account, "foreseen")))
		fprintf(out, " %lld ms before",
			(long long)davy_message_number(account, "lead_ms", 0));
	if (json_is_true(json_object_get(account, "failed")))
		fputc('\n', out);
	if (json_object_get(account, "action"))
		fprintf(out, "%-10s %s, %s%s%s%s\n", "action", davy_message_text(account, "action"),
			davy_message_text(account, "verdict"),
			*davy_message_text(account, "refusal") ? ": " : "",
			davy_message_text(account, "refusal"),
			!json_object_get(account, "succeeded")		      ? ""
			: json_is_true(json_object_get(account, "succeeded")) ? "; done"
									      : "; failed");
}

void davy_account_text(const json_t *account, FILE *out)
{
	fprintf(out, "incident %lld: %s level %lld\n",
		(long long)davy_message_number(account, "id", 0),
		davy_message_text(account, "hazard"),
		(long long)davy_message_number(account, "level", 0));
	text_put(out, "begun", account, "begun");
	fprintf(out, "%-10s %lld ms%s\n", "lasted",
		(long long)davy_message_number(account, "lasted_ms", 0),
		json_is_true(json_object_get(account, "stands")) ? ", it stands" : "");
	text_put(out, "device", account, "device");
	text_put(out, "process", account, "process");
	text_put(out, "engine", account, "engine");
	text_put(out, "backend", account, "backend");
	text_put(out, "model", account, "model");
	text_end(out, account);
	fprintf(out, "\nversions\n");
	text_versions(out, json_object_get(account, "versions"));
	fprintf(out, "\ndecisions, seconds after the first alarm\n");
	text_lines(out, json_object_get(account, "decisions"));
	fprintf(out, "\nevents from 60 s before to 60 s after\n");
	text_lines(out, json_object_get(account, "events"));
}

/* The sections that the tracker's form asks for; '%' marks where the account's parts go. */
static const struct upstream {
	const char *tracker, *head, *where, *tail;
} upstreams[] = {
	{ "drm-amd", "## Brief summary of the problem\n",
	  "## Hardware and system\n\n- GPU: (lspci -nn, memory size)\n"
	  "- Mesa and firmware: (vulkaninfo --summary; "
	  "/sys/kernel/debug/dri/*/amdgpu_firmware_info)\n",
	  "## How to reproduce\n\n(steps; which model, context and load)\n\n"
	  "## Log files\n\nAttach the full dmesg, and devcoredump's data if there is one.\n" },
	{ "llama.cpp",
	  "### Name and Version\n\n(llama-server --version)\n\n### Problem description\n",
	  "### Operating systems\n\nLinux\n\n### GGML backends, hardware and models\n",
	  "### First Bad Commit\n\n(if known)\n\n"
	  "### Relevant log output\n\n(the server's output)\n" },
	{ "ollama", "### What is the issue?\n",
	  "### OS\n\nLinux\n\n### GPU, CPU and Ollama version\n\n(ollama --version)\n",
	  "### Relevant log output\n\n(journalctl -u ollama, with OLLAMA_DEBUG=1)\n" },
};

static void upstream_summary(const json_t *account, FILE *out)
{
	char model[LINE_SIZE];

	fprintf(out, "\n%s on %s (engine %s, backend %s, model %s)",
		davy_message_text(account, "hazard"), davy_message_text(account, "device"),
		davy_message_text(account, "engine"), davy_message_text(account, "backend"),
		davy_text_shown(model, sizeof(model), davy_message_text(account, "model")));
	if (json_is_true(json_object_get(account, "failed")))
		fprintf(out, ": %s", davy_message_text(account, "failure"));
	fprintf(out, ". Seen by davylamp, which watches the driver by eBPF.\n\n");
}

bool davy_account_upstream(const json_t *account, const char *tracker, FILE *out)
{
	for (size_t i = 0; i < sizeof(upstreams) / sizeof(upstreams[0]); i++) {
		const struct upstream *u = &upstreams[i];

		if (strcmp(u->tracker, tracker) != 0)
			continue;
		fputs(u->head, out);
		upstream_summary(account, out);
		fprintf(out, "```\n");
		text_lines(out, json_object_get(account, "decisions"));
		fprintf(out, "```\n\n%s\n```\n", u->where);
		text_put(out, "device", account, "device");
		text_put(out, "backend", account, "backend");
		text_put(out, "model", account, "model");
		text_versions(out, json_object_get(account, "versions"));
		fprintf(out, "```\n\n%s\n```\n", u->tail);
		text_lines(out, json_object_get(account, "events"));
		fprintf(out, "```\n");
		return true;
	}
	return false;
}
