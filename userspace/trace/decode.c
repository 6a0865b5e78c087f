/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes records of the BPF programs into steps. Validates all sizes and texts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/discovery.h"
#include "trace/start_step.h"

#define EXECS_MAX   16 /* execs in progress */
#define STRINGS_MAX ((size_t)DAVY_RAW_CHUNK * DAVY_RAW_CHUNKS)
#define MESSAGE_MAX 1024
#define AGAIN_NS    1000000 /* the linker calls two functions for one message */

/* The parts of an exec received so far. */
struct starting {
	uint32_t tid; /* 0: free */
	uint32_t pid;
	uint32_t parent;
	uint64_t since_ns;
	bool cut;
	char path[DAVY_RAW_PATH];
	char argv[DAVY_RAW_CHUNK + 1];
	size_t argv_size;
	char *envp; /* STRINGS_MAX + 1 bytes */
	size_t envp_size;
};

struct davy_decoder {
	struct starting starting[EXECS_MAX];
	char text[DAVY_RAW_PATH];
	char object[DAVY_RAW_TEXT];
	char message[MESSAGE_MAX];
	uint32_t error_tid;
	uint64_t error_ns;
};

int davy_decoder_new(struct davy_decoder **ret_decoder)
{
	struct davy_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	*ret_decoder = d;
	return 0;
}

void davy_decoder_free(struct davy_decoder *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < EXECS_MAX; i++)
		free(d->starting[i].envp);
	free(d);
}

/* Copies a field that may lack its NUL. */
static const char *copy_text(char *to, size_t size, const char *field, size_t field_size)
{
	size_t length = strnlen(field, field_size);

	if (length >= size)
		length = size - 1;
	memcpy(to, field, length);
	to[length] = 0;
	return to;
}

static struct starting *decode_find(struct davy_decoder *d, uint32_t tid)
{
	for (size_t i = 0; i < EXECS_MAX; i++)
		if (d->starting[i].tid == tid)
			return &d->starting[i];
	return NULL;
}

/* A free entry, or the oldest, whose end was lost. */
static struct starting *decode_begin(struct davy_decoder *d, uint32_t tid)
{
	struct starting *s = decode_find(d, tid);

	if (!s)
		s = decode_find(d, 0);
	for (size_t i = 0; !s && i < EXECS_MAX; i++)
		if (!s || d->starting[i].since_ns < s->since_ns)
			s = &d->starting[i];
	s->tid = tid;
	s->cut = false;
	s->argv_size = 0;
	s->envp_size = 0;
	return s;
}

static int exec_begins(struct davy_decoder *d, const struct davy_raw_path *r)
{
	struct starting *s;

	if (!r->head.tid)
		return -EBADMSG;
	s = decode_begin(d, r->head.tid);
	s->pid = r->head.tgid;
	s->parent = (uint32_t)r->head.number;
	s->since_ns = r->head.boot_ns;
	copy_text(s->path, sizeof(s->path), r->path, sizeof(r->path));
	return 0;
}

static int add_chunk(struct davy_decoder *d, const struct davy_raw_chunk *r)
{
	struct starting *s = r->head.tid ? decode_find(d, r->head.tid) : NULL;
	bool argv = r->head.kind == DAVY_RAW_ARGV;
	size_t room = argv ? DAVY_RAW_CHUNK : STRINGS_MAX, *size;
	char *to;

	if (!s)
		return 0; /* its begin record was lost */
	if (r->size > DAVY_RAW_CHUNK)
		return -EBADMSG;
	if (!argv && !s->envp)
		s->envp = malloc(STRINGS_MAX + 1);
	to = argv ? s->argv : s->envp;
	size = argv ? &s->argv_size : &s->envp_size;
	if (!to || r->offset != *size || r->size > room - *size) {
		s->cut = true; /* a chunk was lost */
		return 0;
	}
	memcpy(to + *size, r->data, r->size);
	*size += r->size;
	to[*size] = 0;
	s->cut |= r->size == 0;
	s->cut |= r->total > room;
	return 0;
}

static int exec_ends(struct davy_decoder *d, const struct davy_raw_head *head,
		     struct davy_start_step *step)
{
	struct starting *s = head->tid ? decode_find(d, head->tid) : NULL;

	step->kind = DAVY_STEP_EXEC;
	if (!s) {
		step->cut = true;
		return 1;
	}
	step->at_ns = s->since_ns;
	step->other = s->parent;
	step->cut = s->cut;
	step->path = s->path;
	step->argv = s->argv;
	step->argv_size = s->argv_size;
	step->envp = s->envp ? s->envp : "";
	step->envp_size = s->envp_size;
	s->tid = 0;
	return 1;
}

/* The linker's format strings contain only %s. */
static void format_message(char *to, const struct davy_raw_link_error *r)
{
	char format[DAVY_RAW_TEXT], argument[DAVY_RAW_TEXT];
	size_t used = 0, next = 0;

	copy_text(format, sizeof(format), r->format, sizeof(r->format));
	for (const char *at = format; *at && used < MESSAGE_MAX - 1; at++) {
		size_t length;

		if (at[0] != '%' || at[1] != 's' || next == 3) {
			to[used++] = *at;
			continue;
		}
		copy_text(argument, sizeof(argument), r->argument[next], DAVY_RAW_TEXT);
		next++;
		at++;
		length = strlen(argument);
		if (length > MESSAGE_MAX - 1 - used)
			length = MESSAGE_MAX - 1 - used;
		memcpy(to + used, argument, length);
		used += length;
	}
	to[used] = 0;
}

static int link_error(struct davy_decoder *d, const struct davy_raw_link_error *r,
		      struct davy_start_step *step)
{
	char object[DAVY_RAW_TEXT], message[MESSAGE_MAX];
	bool again;

	copy_text(object, sizeof(object), r->object, sizeof(r->object));
	format_message(message, r);
	again = d->error_tid == r->head.tid && r->head.boot_ns - d->error_ns < AGAIN_NS &&
		!strcmp(object, d->object) && !strcmp(message, d->message);
	d->error_tid = r->head.tid;
	d->error_ns = r->head.boot_ns;
	memcpy(d->object, object, sizeof(object));
	memcpy(d->message, message, sizeof(message));
	if (again || !message[0])
		return 0;
	step->kind = DAVY_STEP_LINK_ERROR;
	step->path = d->object;
	step->text = d->message;
	return 1;
}

static int decode_call(struct davy_decoder *d, const struct davy_raw_call *r,
		       struct davy_start_step *step)
{
	step->kind = r->head.kind == DAVY_RAW_CALL ? DAVY_STEP_CALL : DAVY_STEP_RETURN;
	step->function = r->function;
	step->count = r->count;
	step->result = r->result;
	step->size = r->size;
	step->address = r->head.number;
	step->vma_begin = r->vma_begin;
	step->vma_end = r->vma_end;
	step->vma_page = r->vma_page;
	if (r->head.boot_ns > r->entered_ns)
		step->duration_ns = r->head.boot_ns - r->entered_ns;
	step->path = copy_text(d->text, sizeof(d->text), r->text, sizeof(r->text));
	return 1;
}

static int decode_file(struct davy_decoder *d, const struct davy_raw_file *f, const char *name,
		       size_t size, enum davy_start_step_kind kind, struct davy_start_step *step)
{
	step->kind = kind;
	step->inode = f->inode;
	step->device = f->device;
	step->path = copy_text(d->text, sizeof(d->text), name, size);
	return 1;
}

static int decode_record(struct davy_decoder *d, const struct davy_raw_head *head,
			 struct davy_start_step *step)
{
	const struct davy_raw_path *path = (const void *)head;
	const struct davy_raw_map *map = (const void *)head;
	const struct davy_raw_signal *sig = (const void *)head;

	step->other = (uint32_t)head->number;
	switch (head->kind) {
	case DAVY_RAW_FORK:
		step->kind = DAVY_STEP_FORK;
		return 1;
	case DAVY_RAW_EXEC:
		return exec_begins(d, path);
	case DAVY_RAW_ARGV:
	case DAVY_RAW_ENVP:
		return add_chunk(d, (const void *)head);
	case DAVY_RAW_READY:
		return exec_ends(d, head, step);
	case DAVY_RAW_EXIT:
		step->kind = DAVY_STEP_EXIT;
		return 1;
	case DAVY_RAW_LOADED:
		step->kind = DAVY_STEP_LOADED;
		return 1;
	case DAVY_RAW_OPEN:
		return decode_file(d, &path->file, path->path, sizeof(path->path), DAVY_STEP_OPEN,
				   step);
	case DAVY_RAW_MAP:
		return decode_file(d, &map->file, map->name, sizeof(map->name), DAVY_STEP_MAP,
				   step);
	case DAVY_RAW_CALL:
	case DAVY_RAW_RETURN:
		return decode_call(d, (const void *)head, step);
	case DAVY_RAW_LINK_ERROR:
		return link_error(d, (const void *)head, step);
	case DAVY_RAW_SIGNAL:
		step->kind = DAVY_STEP_SIGNAL;
		step->path = copy_text(d->text, sizeof(d->text), sig->sender, sizeof(sig->sender));
		return 1;
	default:
		return -EBADMSG;
	}
}

static size_t decode_size_of(uint16_t kind)
{
	switch (kind) {
	case DAVY_RAW_FORK:
	case DAVY_RAW_READY:
	case DAVY_RAW_EXIT:
	case DAVY_RAW_LOADED:
		return sizeof(struct davy_raw_head);
	case DAVY_RAW_EXEC:
	case DAVY_RAW_OPEN:
		return sizeof(struct davy_raw_path);
	case DAVY_RAW_ARGV:
	case DAVY_RAW_ENVP:
		return sizeof(struct davy_raw_chunk);
	case DAVY_RAW_MAP:
		return sizeof(struct davy_raw_map);
	case DAVY_RAW_CALL:
	case DAVY_RAW_RETURN:
		return sizeof(struct davy_raw_call);
	case DAVY_RAW_LINK_ERROR:
		return sizeof(struct davy_raw_link_error);
	case DAVY_RAW_SIGNAL:
		return sizeof(struct davy_raw_signal);
	default:
		return SIZE_MAX;
	}
}

int davy_decoder_feed(struct davy_decoder *d, const void *record, size_t size,
		      struct davy_start_step *ret_step)
{
	const struct davy_raw_head *head = record;
	struct davy_start_step step = { .path = "", .text = "", .argv = "", .envp = "" };
	int got;

	if (size < sizeof(*head) || size < decode_size_of(head->kind))
		return -EBADMSG;
	step.at_ns = head->boot_ns;
	step.pid = head->tgid;
	step.tid = head->tid;
	step.code = head->code;
	step.delayed = head->delayed;
	step.fresh =
		head->number == 1 && (head->kind == DAVY_RAW_READY || head->kind == DAVY_RAW_OPEN);
	got = decode_record(d, head, &step);
	if (got == 1)
		*ret_step = step;
	return got;
}
