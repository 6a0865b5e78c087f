/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names as in Ollama 0.33 (types/model/name.go): [REGISTRY/][NAMESPACE/]NAME[:TAG]. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "sensors/proc/container_path.h"
#include "sensors/proc/ollama_name.h"

#define MANIFEST_MAX ((size_t)64 * 1024)
#define NAME_MAX_LEN 255

static const char media_type[] = "application/vnd.ollama.image.model";

/* Valid path components: no "..", nothing hidden. */
static int ollama_blob_name_is_valid(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-/:";

	return name[0] && strlen(name) <= NAME_MAX_LEN && !name[strspn(name, letters)] &&
	       name[0] != '.' && name[0] != '/' && !strstr(name, "/.") && !strstr(name, "//") &&
	       !strstr(name, ":.");
}

static int ollama_blob_manifest_path(const char *dir, const char *name, char *path, size_t size)
{
	const char *slash = strchr(name, '/'), *last = strrchr(name, '/');
	const char *colon = strrchr(name, ':');
	const char *before = !slash	     ? "registry.ollama.ai/library/"
			     : slash == last ? "registry.ollama.ai/"
					     : "";
	int len;

	if (!ollama_blob_name_is_valid(name) || (colon && (!colon[1] || strchr(colon, '/'))))
		return -EINVAL;
	len = colon ? (int)(colon - name) : (int)strlen(name);
	if (snprintf(path, size, "%s/manifests/%s%.*s/%s", dir, before, len, name,
		     colon ? colon + 1 : "latest") >= (int)size)
		return -ENAMETOOLONG;
	return 0;
}

static int ollama_blob_digest(const json_t *manifest, char ret_digest[DAVY_OLLAMA_DIGEST_LEN])
{
	const json_t *layer;
	size_t i;

	json_array_foreach(json_object_get(manifest, "layers"), i, layer)
	{
		const char *type = json_string_value(json_object_get(layer, "mediaType"));
		const char *name = json_string_value(json_object_get(layer, "digest"));

		if (!type || !name || strcmp(type, media_type) != 0 ||
		    strncmp(name, "sha256:", 7) != 0 || strlen(name + 7) != 64 ||
		    name[7 + strspn(name + 7, "0123456789abcdef")])
			continue;
		memcpy(ret_digest, name + 7, DAVY_OLLAMA_DIGEST_LEN);
		return 0;
	}
	return -EBADMSG;
}

int davy_ollama_blob(const char *dir, const char *name, char ret_digest[DAVY_OLLAMA_DIGEST_LEN])
{
	char path[PATH_MAX], *text;
	json_t *manifest;
	ssize_t n;
	int err = ollama_blob_manifest_path(dir, name, path, sizeof(path));
	DAVY_FD fd = err ? -1 : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

	if (err || fd < 0)
		return err ? err : -errno;
	if (!davy_is_regular(fd))
		return -ENOENT;
	text = malloc(MANIFEST_MAX);
	if (!text)
		return -ENOMEM;
	n = davy_read_fd(fd, text, MANIFEST_MAX);
	manifest = n < 0 ? NULL : json_loadb(text, (size_t)n, 0, NULL);
	free(text);
	if (n < 0)
		return (int)n;
	err = manifest ? ollama_blob_digest(manifest, ret_digest) : -EBADMSG;
	json_decref(manifest);
	return err;
}
