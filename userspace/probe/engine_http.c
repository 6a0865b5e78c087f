/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine_http.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

static size_t take(char *data, size_t size, size_t count, void *arg)
{
	struct dl_reply *r = arg;
	size_t bytes = size * count;

	if (bytes > sizeof(r->text) - r->used)
		return 0; /* ends the transfer with an error */
	memcpy(r->text + r->used, data, bytes);
	r->used += bytes;
	return bytes;
}

long dl_http_request(uint16_t port, const char *path, const char *body, uint32_t timeout_ms,
		     struct dl_reply *reply)
{
	CURL *curl = curl_easy_init();
	struct curl_slist *headers = NULL;
	char url[64];
	long status = 0;

	reply->used = 0;
	if (!curl)
		return 0;
	snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", port, path);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "*"); /* always the engine itself */
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, reply);
	if (body) {
		headers = curl_slist_append(NULL, "Content-Type: application/json");
		curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	}
	if (curl_easy_perform(curl) == CURLE_OK)
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_slist_free_all(headers);
	curl_easy_cleanup(curl);
	return status;
}
