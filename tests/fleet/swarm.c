/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many hosts of a fleet in one process: the members of davylamp-fleet with a real etcd, and ledgers
 * of simulated hosts. Prints one JSON object with what happened.
 *
 *   swarm SCENARIO HOSTS SECONDS ENDPOINT [CA CERTIFICATE KEY]
 *
 * All hosts have the same GPU and have survived with other.gguf and ubatch 256. Then three hosts
 * lose the device with big.gguf and ubatch 512. Scenarios:
 *   plain      nothing else
 *   partition  a tenth of the hosts has no network before the failure and for SECONDS after it
 *   restore    prints "published" and waits for a line on stdin: the caller replaces the store
 *   drivers    every third host has another driver
 *   liars      20 hosts claim that they survived with 512 and failed with other.gguf
 *   worse      after the rule, five hosts fail more often with the narrower value
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "fleet/member.h"
#include "lib/clock.h"

#define HOSTS_MAX 4096
#define FAILING	  3
#define LIARS	  20
#define TRIAL_MS  10000
#define DRIVER	  "amdgpu 6.12.10 (0123456789ABCDEF)"
#define OTHER	  "amdgpu 6.1.0 (FEDCBA9876543210)"
#define GPU	  "1002:744c"

struct host {
	char name[DAVY_FLEET_HOST_LEN];
	struct davy_member *member;
	struct davy_etcd_access access;
	struct davy_own_row row[4];
	size_t rows;
	uint64_t took_ms; /* when it took a rule for big.gguf; 0: not yet */
	bool liar, other_driver, cut, misled;
	uint32_t ubatch; /* of the rule */
};

static struct host host[HOSTS_MAX];
static struct davy_member_config config[HOSTS_MAX];
static size_t count, layers;
static const char *scenario;
static CURLM *multi;

static void on_layer(void *arg, const char *text)
{
	(void)arg;
	(void)text;
	layers++;
}

static void on_log(void *arg, const char *text)
{
	const struct host *h = arg;

	if (getenv("SWARM_VERBOSE"))
		fprintf(stderr, "%s: %s\n", h->name, text);
}

static bool is(const char *name)
{
	return !strcmp(scenario, name);
}

static void add_row(struct host *h, const char *model, uint32_t ubatch, uint64_t survived_s,
		    uint32_t lost)
{
	struct davy_own_row *o = &h->row[h->rows++];
	struct davy_ledger_key *k = &o->row.key;

	snprintf(o->device, sizeof(o->device), GPU);
	snprintf(k->device, sizeof(k->device), "0000:03:00.0");
	snprintf(k->model, sizeof(k->model), "%s", model);
	snprintf(k->environment.driver, sizeof(k->environment.driver), "%s",
		 h->other_driver ? OTHER : DRIVER);
	snprintf(k->environment.kernel, sizeof(k->environment.kernel), "6.12.0-1-amd64");
	snprintf(k->environment.engine, sizeof(k->environment.engine), "llama-server 0.7.0");
	k->backend = DAVY_BACKEND_VULKAN;
	k->ubatch = ubatch;
	k->context = 8192;
	o->row.entry.survived_s = survived_s;
	o->row.entry.faults[DAVY_CLASS_DEVICE_LOST] = lost;
	o->row.entry.last_s = time(NULL);
	if (lost)
		o->row.entry.failed_s = time(NULL);
}

static void make_host(size_t i, int argc, char **argv)
{
	const struct davy_member_ops ops = { on_layer, on_log, &host[i] };
	struct host *h = &host[i];
	struct davy_fleet_device device = { .device = GPU };

	snprintf(h->name, sizeof(h->name), "%08x", (unsigned int)(i * 2654435761u));
	h->liar = is("liars") && i >= count - LIARS;
	h->other_driver = is("drivers") && i % 3 == 2;
	snprintf(device.driver, sizeof(device.driver), "%s", h->other_driver ? OTHER : DRIVER);
	h->access.endpoint[0] = argv[4];
	h->access.endpoint_count = 1;
	if (argc > 7) {
		h->access.ca = argv[5];
		h->access.certificate = argv[6];
		h->access.key = argv[7];
	}
	config[i] = (struct davy_member_config){ .host = h->name,
						 .prefix = "/davylamp/v1/",
						 .quorum = 3,
						 .share = 10,
						 .lease_s = 86400,
						 .trial_ms = TRIAL_MS,
						 .hold_ms = 3600000,
						 .publish_s = 3600 };
	h->member = davy_member_new(&config[i], &h->access, multi, &ops);
	if (!h->member)
		exit(1);
	davy_member_devices(h->member, &device, 1);
	if (!h->liar && i % 10)
		add_row(h, "other.gguf", 256, 5 * 3600 + i, 0);
	davy_member_rows(h->member, h->row, h->rows);
}

/* Whether its host has taken a rule for big.gguf, and no wrong one. */
static void look(struct host *h, uint64_t now_ms)
{
	struct davy_fleet_rule rule[DAVY_FLEET_RULES_MAX];
	size_t rules = davy_member_taken(h->member, rule, DAVY_FLEET_RULES_MAX);
	char big[DAVY_MODEL_HASH_LEN];
	bool found = false;

	davy_model_hash("big.gguf", big);
	for (size_t i = 0; i < rules; i++) {
		if (strcmp(rule[i].model, big) != 0) {
			h->misled = true;
			continue;
		}
		found = true;
		h->ubatch = rule[i].ubatch;
	}
	if (found && !h->took_ms)
		h->took_ms = now_ms;
	if (!found)
		h->took_ms = 0;
}

static void step_all(void)
{
	uint64_t until_ms = davy_now_ms() + 50;

	do {
		curl_multi_poll(multi, NULL, 0, 50, NULL);
		davy_etcd_step(multi);
	} while (davy_now_ms() < until_ms);
	for (size_t i = 0; i < count; i++) {
		davy_member_step(host[i].member, davy_now_ms());
		look(&host[i], davy_now_ms());
	}
}

static int64_t status_number(const struct host *h, const char *key)
{
	json_t *s = davy_member_status(h->member);
	int64_t value =
		json_integer_value(json_object_get(s, key)) + json_is_true(json_object_get(s, key));

	json_decref(s);
	return value;
}

static bool all_know_each_other(void)
{
	for (size_t i = 0; i < count; i++)
		if (!host[i].cut && !status_number(&host[i], "hosts"))
			return false;
	return true;
}

static void cut(bool yes, const char *endpoint)
{
	for (size_t i = FAILING; i < count; i++) {
		if (i % 10 != 5)
			continue;
		host[i].cut = yes;
		host[i].access.endpoint[0] = yes ? "http://127.0.0.1:9" : endpoint;
		if (yes)
			davy_member_cut(host[i].member);
	}
}

static bool should_take(const struct host *h)
{
	return !h->liar && !h->other_driver && !h->cut;
}

static size_t missing(void)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += should_take(&host[i]) && !host[i].took_ms;
	return n;
}

static void fail_first(uint32_t ubatch, size_t from, size_t hosts, uint32_t lost)
{
	for (size_t i = from; hosts; i++) {
		if (host[i].other_driver)
			continue;
		hosts--;
		add_row(&host[i], "big.gguf", ubatch, 60, lost);
		davy_member_rows(host[i].member, host[i].row, host[i].rows);
	}
}

static void lie(void)
{
	for (size_t i = 0; i < count; i++) {
		if (!host[i].liar)
			continue;
		add_row(&host[i], "big.gguf", 512, 1000 * 3600, 0);
		add_row(&host[i], "other.gguf", 256, 10, 50);
		davy_member_rows(host[i].member, host[i].row, host[i].rows);
	}
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double cpu_s(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

static void result(uint64_t from_ms, uint64_t connected_ms, double cpu_before)
{
	static uint64_t took[HOSTS_MAX];
	uint64_t sent = 0, received = 0;
	size_t n = 0, misled = 0, others = 0, rolled_back = 0, waited = 0;

	for (size_t i = 0; i < count; i++) {
		const struct host *h = &host[i];

		sent += (uint64_t)status_number(h, "sent_bytes");
		received += (uint64_t)status_number(h, "received_bytes");
		rolled_back += status_number(h, "rolled_back_s") > 0;
		misled += h->misled && !h->liar;
		others += h->took_ms && h->other_driver;
		if (!should_take(h) || !h->took_ms)
			continue;
		waited += h->took_ms - from_ms >= TRIAL_MS;
		took[n++] = h->took_ms > from_ms ? h->took_ms - from_ms : 0;
	}
	qsort(took, n, sizeof(took[0]), by_time);
	printf("{\"scenario\":\"%s\",\"hosts\":%zu,\"connected_ms\":%llu,\"took\":%zu,"
	       "\"missing\":%zu,\"misled\":%zu,\"other_driver\":%zu,\"rolled_back\":%zu,"
	       "\"ubatch\":%u,\"first_ms\":%llu,\"p50_ms\":%llu,\"p99_ms\":%llu,\"last_ms\":%llu,"
	       "\"waited_for_first\":%zu,\"sent_bytes\":%llu,\"received_bytes\":%llu,"
	       "\"cpu_s\":%.2f}\n",
	       scenario, count, (unsigned long long)connected_ms, n, missing(), misled, others,
	       rolled_back, host[0].ubatch, (unsigned long long)(n ? took[0] : 0),
	       (unsigned long long)(n ? took[n / 2] : 0),
	       (unsigned long long)(n ? took[n * 99 / 100] : 0),
	       (unsigned long long)(n ? took[n - 1] : 0), waited, (unsigned long long)sent,
	       (unsigned long long)received, cpu_s() - cpu_before);
	fflush(stdout);
}

static void run_until(uint64_t ms, bool (*done)(void))
{
	uint64_t until_ms = davy_now_ms() + ms;

	while (davy_now_ms() < until_ms && !(done && done()))
		step_all();
}

/* A minute on an idle machine; PATIENCE times as long on a busy one. */
static uint64_t wait_ms(void)
{
	const char *patience = getenv("PATIENCE");

	return 60000 * (patience ? strtoul(patience, NULL, 10) : 1);
}

static bool none_missing(void)
{
	return !missing();
}

static bool none_has_it(void)
{
	for (size_t i = 0; i < count; i++)
		if (host[i].took_ms)
			return false;
	return true;
}

static bool all_connected(void)
{
	for (size_t i = 0; i < count; i++)
		if (!status_number(&host[i], "connected"))
			return false;
	return true;
}

/* Prints a line, and waits until the caller has done its part. */
static void turn(const char *line)
{
	char answer[16];

	puts(line);
	fflush(stdout);
	if (!fgets(answer, sizeof(answer), stdin))
		exit(1);
}

int main(int argc, char **argv)
{
	const struct rlimit files = { 65536, 65536 };
	uint64_t seconds, from_ms, connected_ms;
	double cpu;

	if (argc < 5)
		return 2;
	scenario = argv[1];
	count = strtoul(argv[2], NULL, 10);
	seconds = strtoul(argv[3], NULL, 10);
	setrlimit(RLIMIT_NOFILE, &files);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	multi = curl_multi_init();
	if (count < FAILING + LIARS || count > HOSTS_MAX || !multi)
		return 2;
	from_ms = davy_now_ms();
	for (size_t i = 0; i < count; i++)
		make_host(i, argc, argv);
	run_until(3 * wait_ms(), all_know_each_other);
	connected_ms = davy_now_ms() - from_ms;
	if (is("partition"))
		cut(true, argv[4]);
	cpu = cpu_s();
	from_ms = davy_now_ms();
	if (is("restore")) { /* the store of before the failure comes back after it */
		turn("ready");
		from_ms = davy_now_ms();
	}
	lie();
	fail_first(512, 0, FAILING, 1);
	run_until(wait_ms(), none_missing);
	result(from_ms, connected_ms, cpu);
	if (is("partition")) {
		run_until(seconds * 1000 + from_ms - davy_now_ms(), NULL);
		from_ms = davy_now_ms();
		cut(false, argv[4]);
		run_until(2 * wait_ms(), none_missing);
		result(from_ms, 0, cpu);
	}
	if (is("restore")) {
		turn("published");
		from_ms = davy_now_ms();
		run_until(3000, NULL); /* they notice that the old connections are gone */
		run_until(2 * wait_ms(), all_connected);
		connected_ms = davy_now_ms() - from_ms;
		run_until(10000, NULL);
		result(from_ms, connected_ms, cpu);
		turn("republished");
	}
	if (is("worse")) {
		fail_first(256, FAILING, 5, 40);
		run_until(wait_ms(), none_has_it);
		result(from_ms, 0, cpu);
	}
	return 0;
}
