/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/runtime_api.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/text.h"

#define PING_MS	   5000
#define URL_MAX	   512
#define API_LETTER "0123456789."

struct runtime_answer {
	char *text;
	size_t used;
	bool too_long;
	char version[16]; /* of the header Api-Version */
};

static size_t runtime_take(char *data, size_t size, size_t count, void *arg)
{
	struct runtime_answer *a = arg;
	size_t bytes = size * count;

	if (bytes > DAVY_RUNTIME_BODY_MAX - a->used) {
		a->too_long = true;
		return 0;
	}
	memcpy(a->text + a->used, data, bytes);
	a->used += bytes;
	return bytes;
}

static size_t runtime_take_header(char *data, size_t size, size_t count, void *arg)
{
	static const char name[] = "api-version:";
	struct runtime_answer *a = arg;
	size_t bytes = size * count, at = sizeof(name) - 1, used = 0;

	if (bytes <= at || strncasecmp(data, name, at) != 0)
		return bytes;
	while (at < bytes && data[at] == ' ')
		at++;
	while (at < bytes && strchr(API_LETTER, data[at]) && used < sizeof(a->version) - 1)
		a->version[used++] = data[at++];
	a->version[used] = 0;
	return bytes;
}

static int runtime_fail(struct davy_runtime_api *r, int error, const char *what)
{
	snprintf(r->why, sizeof(r->why), "%s: %s", r->name, what);
	return error;
}

/* The runtime's own words, in its field "message". */
static int runtime_refused(struct davy_runtime_api *r, long status, const json_t *answer)
{
	const char *text = json_string_value(json_object_get(answer, "message"));
	char safe[DAVY_RUNTIME_WHY_LEN - 64], number[32];

	snprintf(number, sizeof(number), "status %ld", status);
	runtime_fail(r, 0, text && text[0] ? davy_text_safe(safe, sizeof(safe), text) : number);
	switch (status) {
	case 404:
		return -ENOENT;
	case 409:
		return -EEXIST;
	default:
		return -EIO;
	}
}

static int runtime_judge(struct davy_runtime_api *r, CURLcode code, long status,
			 struct runtime_answer *a, json_t **ret_answer)
{
	json_t *answer = NULL;

	if (a->too_long)
		return runtime_fail(r, -EBADMSG, "its answer is longer than 4 MiB");
	if (code == CURLE_OPERATION_TIMEDOUT)
		return runtime_fail(r, -ETIMEDOUT, "does not answer in time");
	if (code == CURLE_COULDNT_CONNECT)
		return runtime_fail(r, -ECONNREFUSED,
				    r->socket ? "does not run: nothing listens on its socket"
					      : "cannot be reached");
	if (code != CURLE_OK)
		return runtime_fail(r, -EBADMSG, curl_easy_strerror(code));
	a->text[a->used] = 0;
	if (a->used)
		answer = json_loadb(a->text, a->used, JSON_REJECT_DUPLICATES, NULL);
	r->unchanged = status == 304;
	if (r->unchanged) {
		json_decref(answer);
		return 0;
	}
	if (status < 200 || status > 299) {
		int err = runtime_refused(r, status, answer);

		json_decref(answer);
		return err;
	}
	if (ret_answer && a->used && !answer)
		return runtime_fail(r, -EBADMSG, "its answer is not valid JSON");
	if (ret_answer)
		*ret_answer = answer;
	else
		json_decref(answer);
	return 0;
}

static long runtime_perform(struct davy_runtime_api *r, const char *method, const char *path,
			    const char *body, uint32_t timeout_ms, struct runtime_answer *a,
			    CURLcode *ret_code)
{
	struct curl_slist *headers = NULL;
	CURL *curl = curl_easy_init();
	char url[URL_MAX];
	long status = 0;

	*ret_code = CURLE_FAILED_INIT;
	if (!curl)
		return 0;
	if (r->url)
		snprintf(url, sizeof(url), "%s%s", r->url, path);
	else if (r->version[0])
		snprintf(url, sizeof(url), "http://localhost/v%s%s", r->version, path);
	else
		snprintf(url, sizeof(url), "http://localhost%s", path);
	headers = curl_slist_append(NULL, strcmp(method, "PATCH") != 0
						  ? "Content-Type: application/json"
						  : "Content-Type: application/merge-patch+json");
	headers = curl_slist_append(headers, "Expect:");
	curl_easy_setopt(curl, CURLOPT_URL, url);
	if (r->socket) {
		curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, r->socket);
	} else {
		curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
		curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
		curl_easy_setopt(curl, CURLOPT_CAINFO, r->ca);
		curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
		curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, r->token);
	}
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, runtime_take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, a);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, runtime_take_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, a);
	if (!strcmp(method, "POST") || !strcmp(method, "PATCH"))
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body ? body : "");
	if (strcmp(method, "GET") != 0 && strcmp(method, "POST") != 0)
		curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
	*ret_code = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_slist_free_all(headers);
	curl_easy_cleanup(curl);
	return status;
}

int davy_runtime_call(struct davy_runtime_api *r, const char *method, const char *path,
		      json_t *body, uint32_t timeout_ms, json_t **ret_answer)
{
	struct runtime_answer a = { .text = malloc(DAVY_RUNTIME_BODY_MAX + 1) };
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	int err = -ENOMEM;

	if (ret_answer)
		*ret_answer = NULL;
	if (a.text && (text || !body)) {
		CURLcode code;
		long status = runtime_perform(r, method, path, text, timeout_ms, &a, &code);

		err = runtime_judge(r, code, status, &a, ret_answer);
	} else {
		runtime_fail(r, err, "out of memory");
	}
	if (!err && !r->version[0])
		snprintf(r->version, sizeof(r->version), "%s", a.version);
	json_decref(body);
	free(text);
	free(a.text);
	return err;
}

int davy_runtime_open(struct davy_runtime_api *r)
{
	int err;

	r->version[0] = 0;
	err = davy_runtime_call(r, "GET", "/_ping", NULL, PING_MS, NULL);
	if (!err && !r->version[0])
		err = runtime_fail(r, -EBADMSG, "its answer names no version of the API");
	return err;
}
