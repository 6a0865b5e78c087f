/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/engine_http.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/api_key.h"

#define CONNECT_MS 1000

static size_t engine_http_take(char *data, size_t size, size_t count, void *arg)
{
	struct davy_reply *r = arg;
	size_t bytes = size * count;

	if (bytes > sizeof(r->text) - r->used)
		return 0; /* too long: fail the transfer */
	memcpy(r->text + r->used, data, bytes);
	r->used += bytes;
	return bytes;
}

/*
 * SO_REUSEADDR, because our parent keeps the port bound. RST at the end, because TIME_WAIT would
 * block the port for the next request.
 */
static int share_port(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	const struct linger hard = { .l_onoff = 1 };

	(void)arg;
	(void)purpose;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)) ||
	    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard)))
		return CURL_SOCKOPT_ERROR;
	return CURL_SOCKOPT_OK;
}

static void come_from(CURL *curl, uint16_t port, const char *host)
{
	if (!port)
		return;
	curl_easy_setopt(curl, CURLOPT_INTERFACE, host);
	curl_easy_setopt(curl, CURLOPT_LOCALPORT, (long)port);
	curl_easy_setopt(curl, CURLOPT_SOCKOPTFUNCTION, share_port);
}

static struct curl_slist *engine_http_headers(const struct davy_probe_options *options,
					      const char *body)
{
	struct curl_slist *headers = NULL;
	char key[sizeof("Authorization: Bearer ") + DAVY_API_KEY_LEN];

	if (body)
		headers = curl_slist_append(headers, "Content-Type: application/json");
	if (options->api_key) {
		snprintf(key, sizeof(key), "Authorization: Bearer %s", options->api_key);
		headers = curl_slist_append(headers, key);
	}
	return headers;
}

static long engine_http_request(const struct davy_probe_options *options, const char *method,
				const char *path, const char *body, uint32_t timeout_ms,
				struct davy_reply *reply)
{
	bool v6 = strchr(options->host, ':');
	CURL *curl = curl_easy_init();
	struct curl_slist *headers = engine_http_headers(options, body);
	char url[128];
	long status = 0;

	reply->used = 0;
	if (!curl) {
		curl_slist_free_all(headers);
		return 0;
	}
	snprintf(url, sizeof(url), "http://%s%s%s:%u%s", v6 ? "[" : "", options->host,
		 v6 ? "]" : "", options->port, path);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "*"); /* never through a proxy */
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, engine_http_take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, reply);
	come_from(curl, options->from_port, options->host);
	if (headers)
		curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	if (body)
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	if (method)
		curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
	if (curl_easy_perform(curl) == CURLE_OK)
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_slist_free_all(headers);
	curl_easy_cleanup(curl);
	return status;
}

bool davy_port_open(const struct davy_probe_options *options)
{
	CURL *curl = curl_easy_init();
	bool v6 = strchr(options->host, ':'), open;
	char url[128];

	if (!curl)
		return false;
	snprintf(url, sizeof(url), "http://%s%s%s:%u", v6 ? "[" : "", options->host, v6 ? "]" : "",
		 options->port);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	open = curl_easy_perform(curl) == CURLE_OK;
	curl_easy_cleanup(curl);
	return open;
}

long davy_http_request(const struct davy_probe_options *options, const char *path, const char *body,
		       uint32_t timeout_ms, struct davy_reply *reply)
{
	return engine_http_request(options, NULL, path, body, timeout_ms, reply);
}

long davy_http_delete(const struct davy_probe_options *options, const char *path, const char *body,
		      uint32_t timeout_ms, struct davy_reply *reply)
{
	return engine_http_request(options, "DELETE", path, body, timeout_ms, reply);
}
