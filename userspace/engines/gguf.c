/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Format: ggml docs/gguf.md. File types: llama.cpp include/llama.h, enum llama_ftype (b11669). */
#include "engines/gguf.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define KEY_MAX		 65535 /* from the format */
#define KEY_LEN		 128   /* the longest key of interest */
#define KV_MAX		 65536
#define TENSORS_MAX	 ((uint64_t)1 << 24)
#define FILETYPE_GUESSED 1024
#define LAYERS_MAX	 4096
#define HEADS_MAX	 65536

enum value_type {
	TYPE_STRING = 8,
	TYPE_ARRAY = 9,
	TYPE_COUNT = 13,
};

/* Bytes of a value; 0 if the length is in the file. */
static const uint8_t type_bytes[TYPE_COUNT] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

struct reader {
	int fd;
	uint64_t file_bytes;
	uint64_t at;	/* offset of the next byte */
	uint64_t begin; /* offset of the data in buf */
	uint64_t have;
	uint64_t budget; /* bytes that may still be read */
	unsigned char buf[16384];
};

/* -E2BIG: beyond the limit; -EBADMSG: beyond the end of the file. */
static int gguf_fill(struct reader *r)
{
	uint64_t want = r->file_bytes - r->at;
	ssize_t n;

	if (!want)
		return -EBADMSG;
	if (want > sizeof(r->buf))
		want = sizeof(r->buf);
	if (want > r->budget)
		want = r->budget;
	if (!want)
		return -E2BIG;
	do
		n = pread(r->fd, r->buf, want, (off_t)r->at);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (!n)
		return -EBADMSG; /* the file was truncated meanwhile */
	r->begin = r->at;
	r->have = (uint64_t)n;
	r->budget -= (uint64_t)n;
	return 0;
}

static int gguf_skip(struct reader *r, uint64_t bytes)
{
	if (bytes > r->file_bytes - r->at)
		return -EBADMSG;
	r->at += bytes;
	return 0;
}

static int gguf_take(struct reader *r, void *dst, uint64_t size)
{
	unsigned char *out = dst;
	int err;

	if (size > r->file_bytes - r->at)
		return -EBADMSG;
	while (size) {
		uint64_t offset = r->at - r->begin, piece;

		if (r->at < r->begin || offset >= r->have) {
			err = gguf_fill(r);
			if (err)
				return err;
			offset = 0;
		}
		piece = r->have - offset < size ? r->have - offset : size;
		memcpy(out, r->buf + offset, piece);
		out += piece;
		r->at += piece;
		size -= piece;
	}
	return 0;
}

static int gguf_take_u32(struct reader *r, uint32_t *ret)
{
	uint32_t value;
	int err = gguf_take(r, &value, sizeof(value));

	if (!err)
		*ret = le32toh(value);
	return err;
}

static int gguf_take_u64(struct reader *r, uint64_t *ret)
{
	uint64_t value;
	int err = gguf_take(r, &value, sizeof(value));

	if (!err)
		*ret = le64toh(value);
	return err;
}

/* Copies a string to "dst". Text that does not fit or follows a NUL is dropped. */
static int gguf_take_string(struct reader *r, uint64_t max, char *dst, uint64_t size)
{
	uint64_t len, kept;
	int err = gguf_take_u64(r, &len);

	if (err)
		return err;
	if (len > max || len > r->file_bytes - r->at)
		return -EBADMSG;
	kept = len < size - 1 ? len : size - 1;
	err = gguf_take(r, dst, kept);
	if (err)
		return err;
	memset(dst + kept, 0, size - kept);
	return gguf_skip(r, len - kept);
}

static int gguf_skip_array(struct reader *r)
{
	uint64_t count, len = 0;
	uint32_t type;
	int err = gguf_take_u32(r, &type);

	if (!err)
		err = gguf_take_u64(r, &count);
	if (err)
		return err;
	if (type >= TYPE_COUNT || type == TYPE_ARRAY || count > r->file_bytes)
		return -EBADMSG; /* nested arrays: llama.cpp rejects them too */
	if (type != TYPE_STRING)
		return count > r->file_bytes / type_bytes[type]
			       ? -EBADMSG
			       : gguf_skip(r, count * type_bytes[type]);
	for (uint64_t i = 0; i < count && !err; i++) {
		err = gguf_take_u64(r, &len);
		if (!err)
			err = gguf_skip(r, len);
	}
	return err;
}

static int gguf_skip_value(struct reader *r, uint32_t type)
{
	uint64_t len;
	int err;

	if (type >= TYPE_COUNT)
		return -EBADMSG;
	if (type == TYPE_ARRAY)
		return gguf_skip_array(r);
	if (type != TYPE_STRING)
		return gguf_skip(r, type_bytes[type]);
	err = gguf_take_u64(r, &len);
	return err ? err : gguf_skip(r, len);
}

/* Reads an integer of any width. Other types and values out of range are skipped. */
static int gguf_take_number(struct reader *r, uint32_t type, uint32_t *ret)
{
	unsigned char raw[8] = { 0 };
	uint64_t value = 0;
	int err;

	if (type >= TYPE_STRING && type != 10 && type != 11)
		return gguf_skip_value(r, type);
	if (type == 6 || type == 7)
		return gguf_skip_value(r, type);
	err = gguf_take(r, raw, type_bytes[type]);
	if (err)
		return err;
	for (int i = 7; i >= 0; i--)
		value = value << 8 | raw[i];
	if (value <= INT32_MAX) /* excludes negative and too large values */
		*ret = (uint32_t)value;
	return 0;
}

/* True if "key" is ARCHITECTURE.name. An unknown architecture matches all. */
static bool gguf_is_model_key(const struct davy_gguf *g, const char *key, const char *name)
{
	const char *dot = strchr(key, '.');
	size_t len = dot ? (size_t)(dot - key) : 0;

	if (!dot || strcmp(dot + 1, name) != 0)
		return false;
	return !g->architecture[0] ||
	       (strlen(g->architecture) == len && !strncmp(key, g->architecture, len));
}

/* One number for all layers, or one per layer: their sum. */
static int gguf_take_kv_heads(struct reader *r, uint32_t type, struct davy_gguf *g)
{
	uint32_t item = 0, heads, sum = 0;
	uint64_t count = 0;
	int err;

	if (type != TYPE_ARRAY)
		return gguf_take_number(r, type, &g->head_count_kv);
	err = gguf_take_u32(r, &item);
	if (!err)
		err = gguf_take_u64(r, &count);
	if (!err && (item >= TYPE_COUNT || item >= TYPE_STRING || count > LAYERS_MAX))
		return -EBADMSG;
	for (uint64_t i = 0; i < count && !err; i++) {
		heads = 0;
		err = gguf_take_number(r, item, &heads);
		sum += heads < HEADS_MAX ? heads : HEADS_MAX;
	}
	if (!err)
		g->kv_heads = sum;
	return err;
}

/* The field for a key below the architecture's name. */
static uint32_t *gguf_model_number(const char *key, struct davy_gguf *g)
{
	const struct {
		const char *name;
		uint32_t *at;
	} rows[] = {
		{ "context_length", &g->context_length },
		{ "block_count", &g->block_count },
		{ "embedding_length", &g->embedding_length },
		{ "attention.head_count", &g->head_count },
		{ "attention.key_length", &g->key_length },
		{ "attention.value_length", &g->value_length },
		{ "attention.sliding_window", &g->sliding_window },
		{ "attention.kv_lora_rank", &g->kv_lora_rank },
		{ "ssm.state_size", &g->state_size },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (gguf_is_model_key(g, key, rows[i].name))
			return rows[i].at;
	return NULL;
}

static int gguf_take_value(struct reader *r, const char *key, uint32_t type, struct davy_gguf *g)
{
	uint64_t any = r->file_bytes;
	uint32_t *number;

	if (type == TYPE_STRING) {
		if (!strcmp(key, "general.architecture"))
			return gguf_take_string(r, any, g->architecture, sizeof(g->architecture));
		if (!strcmp(key, "general.name"))
			return gguf_take_string(r, any, g->name, sizeof(g->name));
		if (!strcmp(key, "general.size_label"))
			return gguf_take_string(r, any, g->size_label, sizeof(g->size_label));
		return gguf_skip_value(r, type);
	}
	if (!strcmp(key, "general.file_type"))
		return gguf_take_number(r, type, &g->file_type);
	if (!strcmp(key, "split.count"))
		return gguf_take_number(r, type, &g->split_count);
	if (gguf_is_model_key(g, key, "attention.head_count_kv"))
		return gguf_take_kv_heads(r, type, g);
	number = gguf_model_number(key, g);
	return number ? gguf_take_number(r, type, number) : gguf_skip_value(r, type);
}

static int gguf_take_pairs(struct reader *r, struct davy_gguf *g)
{
	char key[KEY_LEN];
	uint32_t type = 0;
	int err = 0;

	for (uint64_t i = 0; i < g->kv_count && !err; i++) {
		err = gguf_take_string(r, KEY_MAX, key, sizeof(key));
		if (!err)
			err = gguf_take_u32(r, &type);
		if (!err)
			err = gguf_take_value(r, key, type, g);
	}
	return err;
}

static int gguf_take_header(struct reader *r, struct davy_gguf *g)
{
	char magic[4];

	if (r->file_bytes < 24 || gguf_take(r, magic, sizeof(magic)) ||
	    memcmp(magic, "GGUF", 4) != 0)
		return -EINVAL;
	if (gguf_take_u32(r, &g->version) || gguf_take_u64(r, &g->tensor_count) ||
	    gguf_take_u64(r, &g->kv_count))
		return -EBADMSG;
	if (g->version < 2 || g->version > 3)
		return -EPROTONOSUPPORT; /* big endian reads as a very large version */
	if (g->kv_count > KV_MAX || g->tensor_count > TENSORS_MAX)
		return -EBADMSG;
	return 0;
}

int davy_gguf_read(int fd, uint64_t file_bytes, struct davy_gguf *ret_gguf)
{
	struct davy_gguf g = { .file_bytes = file_bytes, .file_type = DAVY_GGUF_NO_TYPE };
	struct reader r = { .fd = fd, .budget = DAVY_GGUF_READ_MAX };
	int err;

	r.file_bytes = file_bytes < INT64_MAX ? file_bytes : INT64_MAX;
	err = gguf_take_header(&r, &g);
	if (!err)
		err = gguf_take_pairs(&r, &g);
	if (err == -E2BIG) {
		g.cut = true;
		err = 0;
	}
	if (!err)
		*ret_gguf = g;
	return err;
}

const char *davy_gguf_quantisation(uint32_t file_type)
{
	static const char *const names[] = {
		[0] = "F32",	    [1] = "F16",     [2] = "Q4_0",    [3] = "Q4_1",
		[7] = "Q8_0",	    [8] = "Q5_0",    [9] = "Q5_1",    [10] = "Q2_K",
		[11] = "Q3_K_S",    [12] = "Q3_K_M", [13] = "Q3_K_L", [14] = "Q4_K_S",
		[15] = "Q4_K_M",    [16] = "Q5_K_S", [17] = "Q5_K_M", [18] = "Q6_K",
		[19] = "IQ2_XXS",   [20] = "IQ2_XS", [21] = "Q2_K_S", [22] = "IQ3_XS",
		[23] = "IQ3_XXS",   [24] = "IQ1_S",  [25] = "IQ4_NL", [26] = "IQ3_S",
		[27] = "IQ3_M",	    [28] = "IQ2_S",  [29] = "IQ2_M",  [30] = "IQ4_XS",
		[31] = "IQ1_M",	    [32] = "BF16",   [36] = "TQ1_0",  [37] = "TQ2_0",
		[38] = "MXFP4_MOE", [40] = "Q1_0",   [41] = "Q2_0",
	};

	if (file_type != DAVY_GGUF_NO_TYPE)
		file_type &= ~(uint32_t)FILETYPE_GUESSED;
	if (file_type >= sizeof(names) / sizeof(names[0]) || !names[file_type])
		return "";
	return names[file_type];
}
