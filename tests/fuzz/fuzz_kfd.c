/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KFD's texts: the bytes of an SMI descriptor, in one piece and in pieces of the length that the
 * first byte gives: both must give the same events. The same bytes as a node's properties. Every
 * event is one of the catalogue, for any input.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sensors/kfd/kfd_smi.h"
#include "sensors/kfd/kfd_topology.h"

struct reported {
	uint64_t hash;
	size_t count;
};

static void check(void *arg, const struct davy_kfd_said *said)
{
	struct reported *t = arg;
	struct davy_event ev;
	const uint8_t *bytes = (const uint8_t *)&said->kfd;

	memset(&ev, 0, sizeof(ev));
	ev.kind = DAVY_EV_KFD;
	ev.pid = said->pid;
	ev.kfd = said->kfd;
	if (!davy_event_valid(&ev) || said->pid > INT32_MAX || said->kfd.device[0])
		abort();
	if (said->thread && strlen(said->kfd.detail) >= DAVY_COMM_LEN)
		abort();
	t->count++;
	for (size_t i = 0; i < sizeof(said->kfd); i++)
		t->hash = t->hash * 31 + bytes[i];
}

static struct reported feed(const uint8_t *data, size_t size, size_t piece)
{
	struct davy_kfd_smi s = { 0 };
	struct reported t = { 0 };
	size_t reported = 0;

	while (size) {
		size_t len = piece < size ? piece : size;
		char *copy = malloc(len); /* reads beyond its end are detected */

		memcpy(copy, data, len);
		reported += davy_kfd_smi_feed(&s, copy, len, check, &t);
		free(copy);
		data += len;
		size -= len;
	}
	if (reported != t.count)
		abort();
	return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct davy_kfd_properties p;
	struct reported whole, parts;
	char *text;

	if (!size)
		return 0;
	whole = feed(data + 1, size - 1, size);
	parts = feed(data + 1, size - 1, (size_t)data[0] + 1);
	if (whole.hash != parts.hash || whole.count != parts.count)
		abort();
	text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	davy_kfd_properties_parse(text, &p);
	free(text);
	return 0;
}
