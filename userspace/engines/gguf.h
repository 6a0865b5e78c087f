/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The head of a GGUF file (versions 2 and 3, little endian): what kind of model it is. The file
 * belongs to somebody else and may lie in every length: all are checked against the file's size
 * and limits of our own, and no more than DAVY_GGUF_READ_MAX bytes are read.
 */
#ifndef DAVY_GGUF_H
#define DAVY_GGUF_H

#include <stdbool.h>
#include <stdint.h>

#define DAVY_GGUF_READ_MAX  ((uint64_t)1 << 20)
#define DAVY_GGUF_NO_TYPE   UINT32_MAX
#define DAVY_GGUF_ARCH_LEN  24
#define DAVY_GGUF_NAME_LEN  96
#define DAVY_GGUF_LABEL_LEN 16

struct davy_gguf {
	uint64_t file_bytes;
	uint64_t tensor_count;
	uint64_t kv_count;
	uint32_t version;
	uint32_t file_type;	 /* llama.cpp's enum llama_ftype; DAVY_GGUF_NO_TYPE: not said */
	uint32_t context_length; /* the model was trained for; 0: not said, like all below */
	uint32_t block_count;
	uint32_t split_count;	   /* of how many files this is one */
	uint32_t embedding_length; /* what the cache of a token is made of; 0: see above */
	uint32_t head_count;
	uint32_t head_count_kv; /* of a layer; where they differ: see kv_heads */
	uint32_t kv_heads;	/* of all layers, where the file tells them one by one */
	uint32_t key_length;
	uint32_t value_length;
	uint32_t sliding_window;	       /* some layers look back no further */
	uint32_t kv_lora_rank;		       /* the cache is compressed to that */
	uint32_t state_size;		       /* some layers have a state in place of a cache */
	bool cut;			       /* the rest lay beyond what we read */
	char architecture[DAVY_GGUF_ARCH_LEN]; /* bytes of the file, to be made printable */
	char name[DAVY_GGUF_NAME_LEN];
	char size_label[DAVY_GGUF_LABEL_LEN]; /* "7B" */
};

/*
 * Reads the head of the open file by pread. -EINVAL: no GGUF; -EPROTONOSUPPORT: another version, or
 * big endian; -EBADMSG: it contradicts itself; or what pread said. A head longer than we read
 * gives what came before.
 */
int davy_gguf_read(int fd, uint64_t file_bytes, struct davy_gguf *ret_gguf);

/*
 * How much a cache of "tokens" takes at least, by llama.cpp's types of keys and values ("f16"): a
 * layer that may look back less is counted with the window. UINT64_MAX when it is more than fits
 * into a number; 0: the file does not tell.
 */
uint64_t davy_gguf_cache_bytes(const struct davy_gguf *gguf, uint32_t tokens, const char *type_k,
			       const char *type_v);

/* "Q4_K_M"; "" when the number says nothing to us. */
const char *davy_gguf_quantisation(uint32_t file_type);

#endif
