/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ollama's name of a blob. manifests/REGISTRY/NAMESPACE/NAME/TAG in the models directory is JSON;
 * the layer with media type "application/vnd.ollama.image.model" has the blob's digest.
 */
#ifndef DAVY_OLLAMA_NAME_H
#define DAVY_OLLAMA_NAME_H

#include <stddef.h>
#include <stdint.h>

/*
 * "dir" is the models directory as seen by process "pid", "digest" the 64 digits. If a blob has
 * several names, the alphabetically first is returned. -ENOENT: no manifest contains it.
 */
int davy_ollama_name(uint32_t pid, const char *dir, const char *digest, char *ret_name,
		     size_t size);

#define DAVY_OLLAMA_DIGEST_LEN 65 /* 64 digits */

/*
 * The reverse, on this host: "dir" is a models directory, "name" a name for Ollama ("llama3.2:1b",
 * "hf.co/a/b"). -ENOENT: no such model; -EINVAL: invalid name; -EBADMSG: invalid manifest.
 */
int davy_ollama_blob(const char *dir, const char *name, char ret_digest[DAVY_OLLAMA_DIGEST_LEN]);

/* True if the manifest's model has this digest. */
int davy_ollama_manifest_has(const char *text, size_t size, const char *digest);

#endif
