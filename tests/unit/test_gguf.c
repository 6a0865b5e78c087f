/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Valid and invalid model files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/gguf.h"

struct file {
	unsigned char at[4096];
	size_t size;
};

static void add(struct file *f, const void *data, size_t size)
{
	assert_true(f->size + size <= sizeof(f->at));
	memcpy(f->at + f->size, data, size);
	f->size += size;
}

static void add_u32(struct file *f, uint32_t value)
{
	add(f, &value, sizeof(value));
}

static void add_u64(struct file *f, uint64_t value)
{
	add(f, &value, sizeof(value));
}

static void add_text(struct file *f, const char *text)
{
	add_u64(f, strlen(text));
	add(f, text, strlen(text));
}

static struct file begin(uint32_t version, uint64_t kv_count)
{
	struct file f = { .size = 0 };

	add(&f, "GGUF", 4);
	add_u32(&f, version);
	add_u64(&f, 291);
	add_u64(&f, kv_count);
	return f;
}

static void add_string_pair(struct file *f, const char *key, const char *value)
{
	add_text(f, key);
	add_u32(f, 8);
	add_text(f, value);
}

static void add_number_pair(struct file *f, const char *key, uint32_t value)
{
	add_text(f, key);
	add_u32(f, 4);
	add_u32(f, value);
}

static int read_as(const struct file *f, uint64_t claimed, struct davy_gguf *g)
{
	int fd = memfd_create("gguf", 0), err;

	assert_int_equal(write(fd, f->at, f->size), (ssize_t)f->size);
	err = davy_gguf_read(fd, claimed, g);
	close(fd);
	return err;
}

static void a_header_gives_architecture_size_and_quantisation(void **state)
{
	struct davy_gguf g;

	(void)state;
	for (uint32_t version = 2; version <= 3; version++) {
		struct file f = begin(version, 8);

		add_string_pair(&f, "general.architecture", "qwen3");
		add_number_pair(&f, "clip.context_length", 77); /* another model's */
		add_number_pair(&f, "qwen3.context_length", 40960);
		add_text(&f, "tokenizer.ggml.tokens");
		add_u32(&f, 9);
		add_u32(&f, 8);
		add_u64(&f, 2);
		add_text(&f, "<s>");
		add_text(&f, "");
		add_text(&f, "qwen3.block_count");
		add_u32(&f, 10);
		add_u64(&f, 36);
		add_number_pair(&f, "general.file_type", 15 + 1024); /* llama.cpp's "guessed" */
		add_string_pair(&f, "general.size_label", "4B");
		add_string_pair(&f, "general.name",
				"Qwen 3 with a name of more than its field: "
				"0123456789012345678901234567890123456789012345678901234567890");
		assert_int_equal(read_as(&f, f.size, &g), 0);
		assert_string_equal(g.architecture, "qwen3");
		assert_int_equal(g.context_length, 40960);
		assert_int_equal(g.block_count, 36);
		assert_string_equal(davy_gguf_quantisation(g.file_type), "Q4_K_M");
		assert_string_equal(g.size_label, "4B");
		assert_int_equal(strlen(g.name), sizeof(g.name) - 1);
		assert_false(g.cut);
	}
}

static struct davy_gguf qwen(void)
{
	return (struct davy_gguf){ .block_count = 36,
				   .embedding_length = 2560,
				   .head_count = 32,
				   .head_count_kv = 8,
				   .key_length = 128,
				   .value_length = 128 };
}

/* llama.cpp 0.7.0's own "KV self size" for these: what is judged rests on it. */
static void the_cache_size_equals_that_of_llama_cpp(void **state)
{
	struct davy_gguf g = qwen();

	(void)state;
	assert_int_equal(davy_gguf_cache_bytes(&g, 4096, "f16", "f16"), 576ULL << 20);
	assert_int_equal(davy_gguf_cache_bytes(&g, 4096, "q8_0", "q8_0"), 306ULL << 20);
	assert_int_equal(davy_gguf_cache_bytes(&g, 4096, "new", "new"),
			 davy_gguf_cache_bytes(&g, 4096, "q4_0", "q4_0"));
	g.key_length = g.value_length = 0; /* of the embedding's 2560 each of 32 heads has 80 */
	assert_int_equal(davy_gguf_cache_bytes(&g, 4096, "f16", "f16"), 360ULL << 20);
	g = qwen();
	g.head_count_kv = 0; /* all heads */
	assert_int_equal(davy_gguf_cache_bytes(&g, 4096, "f16", "f16"), 2304ULL << 20);
	g = qwen();
	g.kv_heads = 36; /* listed by layer: one each */
	assert_int_equal(davy_gguf_cache_bytes(&g, 4096, "f16", "f16"), 72ULL << 20);
	g = qwen();
	g.sliding_window = 1024; /* at least that, by every layer */
	assert_int_equal(davy_gguf_cache_bytes(&g, 4096, "f16", "f16"), 144ULL << 20);
	g = qwen();
	g.kv_lora_rank = 512;
	assert_int_equal(davy_gguf_cache_bytes(&g, 4096, "f16", "f16"), 144ULL << 20);
	g = qwen();
	g.state_size = 128;
	assert_int_equal(davy_gguf_cache_bytes(&g, 4096, "f16", "f16"), 0);
	g = (struct davy_gguf){ .block_count = 4 };
	assert_int_equal(davy_gguf_cache_bytes(&g, 4096, "f16", "f16"), 0);
	g = (struct davy_gguf){ .block_count = INT32_MAX,
				.head_count = INT32_MAX,
				.key_length = INT32_MAX,
				.value_length = INT32_MAX };
	assert_int_equal(davy_gguf_cache_bytes(&g, INT32_MAX, "f32", "f32"), UINT64_MAX);
}

static void the_dimensions_of_the_cache_are_read(void **state)
{
	struct davy_gguf g;
	struct file f = begin(3, 9);

	(void)state;
	add_string_pair(&f, "general.architecture", "gemma3");
	add_number_pair(&f, "gemma3.block_count", 3);
	add_number_pair(&f, "gemma3.embedding_length", 2560);
	add_number_pair(&f, "gemma3.attention.head_count", 8);
	add_number_pair(&f, "gemma3.attention.key_length", 256);
	add_number_pair(&f, "gemma3.attention.value_length", 250);
	add_number_pair(&f, "gemma3.attention.sliding_window", 1024);
	add_number_pair(&f, "clip.attention.head_count", 99);
	add_text(&f, "gemma3.attention.head_count_kv"); /* an array: 4, 2, 1 */
	add_u32(&f, 9);
	add_u32(&f, 5);
	add_u64(&f, 3);
	add_u32(&f, 4);
	add_u32(&f, 2);
	add_u32(&f, 1);
	assert_int_equal(read_as(&f, f.size, &g), 0);
	assert_int_equal(g.kv_heads, 7);
	assert_int_equal(g.head_count_kv, 0);
	assert_int_equal(g.head_count, 8);
	assert_int_equal(g.key_length, 256);
	assert_int_equal(g.value_length, 250);
	assert_int_equal(g.sliding_window, 1024);
	assert_int_equal(g.embedding_length, 2560);
	f = begin(3, 1);
	add_text(&f, "x.attention.head_count_kv");
	add_u32(&f, 9);
	add_u32(&f, 5);
	add_u64(&f, 1ULL << 40);
	assert_int_equal(read_as(&f, f.size, &g), -EBADMSG);
}

static void a_file_that_is_not_gguf_is_refused(void **state)
{
	struct davy_gguf g;
	struct file f = begin(3, 0);

	(void)state;
	assert_int_equal(read_as(&f, f.size, &g), 0);
	assert_int_equal(read_as(&f, 23, &g), -EINVAL);
	assert_int_equal(read_as(&f, 0, &g), -EINVAL);
	f = begin(1, 0);
	assert_int_equal(read_as(&f, f.size, &g), -EPROTONOSUPPORT);
	f = begin(0x03000000, 0); /* 3, big endian */
	assert_int_equal(read_as(&f, f.size, &g), -EPROTONOSUPPORT);
	f.at[0] = 'g';
	assert_int_equal(read_as(&f, f.size, &g), -EINVAL);
	assert_int_equal(davy_gguf_read(-1, 100, &g), -EINVAL);
	assert_int_equal(davy_gguf_read(open("/", O_RDONLY | O_CLOEXEC), 100, &g), -EINVAL);
}

static void lengths_that_lie_are_refused(void **state)
{
	struct davy_gguf g;
	struct file f = begin(3, 1);

	(void)state;
	add_text(&f, "general.name");
	add_u32(&f, 8);
	add_u64(&f, UINT64_MAX);
	assert_int_equal(read_as(&f, f.size, &g), -EBADMSG);
	assert_int_equal(read_as(&f, UINT64_MAX, &g), -EBADMSG);
	f = begin(3, 1);
	add_text(&f, "scores");
	add_u32(&f, 9);
	add_u32(&f, 10);
	add_u64(&f, ((uint64_t)1 << 61) + 1); /* times 8 is 8 */
	add_u64(&f, 0);
	assert_int_equal(read_as(&f, f.size, &g), -EBADMSG);
	assert_int_equal(read_as(&f, UINT64_MAX, &g), -EBADMSG);
	f = begin(3, 1);
	add_text(&f, "nested");
	add_u32(&f, 9);
	add_u32(&f, 9);
	add_u64(&f, 1);
	assert_int_equal(read_as(&f, f.size, &g), -EBADMSG);
	f = begin(3, (uint64_t)1 << 40);
	assert_int_equal(read_as(&f, f.size, &g), -EBADMSG);
	f = begin(3, 2); /* and one pair alone */
	add_number_pair(&f, "general.file_type", 1);
	assert_int_equal(read_as(&f, f.size, &g), -EBADMSG);
	assert_int_equal(read_as(&f, f.size + 1000, &g), -EBADMSG); /* it shrank */
}

static void a_huge_header_gives_its_first_part(void **state)
{
	struct davy_gguf g;
	struct file f = begin(3, 2);
	int fd = memfd_create("gguf", 0);

	(void)state;
	add_string_pair(&f, "general.architecture", "llama");
	add_text(&f, "tokenizer.ggml.tokens");
	add_u32(&f, 9);
	add_u32(&f, 8);
	add_u64(&f, 1000000); /* empty strings: 8 MB of lengths */
	assert_int_equal(write(fd, f.at, f.size), (ssize_t)f.size);
	assert_int_equal(ftruncate(fd, 64 << 20), 0);
	assert_int_equal(davy_gguf_read(fd, 64 << 20, &g), 0);
	assert_true(g.cut);
	assert_string_equal(g.architecture, "llama");
	assert_int_equal(g.file_type, DAVY_GGUF_NO_TYPE);
	assert_string_equal(davy_gguf_quantisation(g.file_type), "");
	assert_string_equal(davy_gguf_quantisation(4), "");
	assert_string_equal(davy_gguf_quantisation(99999), "");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_gives_architecture_size_and_quantisation),
		cmocka_unit_test(the_cache_size_equals_that_of_llama_cpp),
		cmocka_unit_test(the_dimensions_of_the_cache_are_read),
		cmocka_unit_test(a_file_that_is_not_gguf_is_refused),
		cmocka_unit_test(lengths_that_lie_are_refused),
		cmocka_unit_test(a_huge_header_gives_its_first_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
