// SPDX-License-Identifier: GPL-2.0
/* Sizes and offsets of kernel structures, from the running kernel's BTF. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "fire.h"

#define NESTING_MAX 8 /* anonymous members inside anonymous members */

int fire_btf_open(struct fire_session *s)
{
	s->vmlinux = btf__load_vmlinux_btf();
	if (!s->vmlinux) {
		fprintf(stderr, "fire: no BTF of the kernel: %s\n", strerror(errno));
		return -ENOENT;
	}
	s->btf = btf__load_module_btf("amdgpu", s->vmlinux);
	if (!s->btf) {
		fprintf(stderr, "fire: no BTF of module 'amdgpu'; is it loaded?\n");
		return -ENOENT;
	}
	return 0;
}

void fire_btf_close(struct fire_session *s)
{
	btf__free(s->btf);
	btf__free(s->vmlinux);
}

static void fail(struct fire_session *s, const char *type, const char *path)
{
	if (!s->err)
		fprintf(stderr, "fire: BTF has no 'struct %s' with '%s'\n", type, path);
	s->err = s->err ? s->err : -ENOENT;
}

static uint32_t plain_type(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (btf_is_mod(t) || btf_is_typedef(t)) {
		id = t->type;
		t = btf__type_by_id(btf, id);
	}
	return id;
}

/* Adds the member's offset to field->offset and puts its type into the field. */
static bool enter_member(const struct btf *btf, struct fire_field *field, const char *name,
			 size_t len, int nesting)
{
	const struct btf_type *t = btf__type_by_id(btf, field->type);
	const struct btf_member *m;

	if (!btf_is_composite(t) || nesting > NESTING_MAX)
		return false;
	m = btf_members(t);
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const char *member = btf__name_by_offset(btf, m[i].name_off);
		struct fire_field inner = {
			.offset = field->offset + btf_member_bit_offset(t, i) / 8,
			.type = plain_type(btf, m[i].type),
		};

		if (*member ? strlen(member) == len && !memcmp(member, name, len)
			    : enter_member(btf, &inner, name, len, nesting + 1)) {
			*field = inner;
			return true;
		}
	}
	return false;
}

static bool enter_element(const struct btf *btf, struct fire_field *field, uint32_t index)
{
	const struct btf_type *t = btf__type_by_id(btf, field->type);
	uint32_t element;

	if (!btf_is_array(t) || index >= btf_array(t)->nelems)
		return false;
	element = plain_type(btf, btf_array(t)->type);
	field->offset += index * (uint32_t)btf__resolve_size(btf, element);
	field->type = element;
	return true;
}

/* A path looks like "tbo.base.size" or "src_data[1]". */
static bool find_field(const struct btf *btf, const char *type, const char *path,
		       struct fire_field *ret_field)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	struct fire_field field = { .type = (uint32_t)id };
	int64_t size;

	if (id < 0)
		return false;
	while (*path) {
		size_t len = strcspn(path, ".[");

		if (len && !enter_member(btf, &field, path, len, 0))
			return false;
		path += len;
		if (*path == '[') {
			if (!enter_element(btf, &field, (uint32_t)atoi(path + 1)))
				return false;
			path += strcspn(path, ".");
		}
		path += *path == '.';
	}
	size = btf__resolve_size(btf, field.type);
	if (size < 0)
		return false;
	field.size = (uint32_t)size;
	*ret_field = field;
	return true;
}

struct fire_field fire_field_of(struct fire_session *s, const char *type, const char *path)
{
	struct fire_field field = { 0 };

	if (!s->err && !find_field(s->btf, type, path, &field))
		fail(s, type, path);
	return field;
}

bool fire_has_field(struct fire_session *s, const char *type, const char *path)
{
	struct fire_field field;

	return find_field(s->btf, type, path, &field);
}

uint32_t fire_size_of(struct fire_session *s, const char *type)
{
	return fire_field_of(s, type, "").size;
}

/* Whether a module has a tracepoint: each leaves a type "btf_trace_NAME" there. */
bool fire_has_tracepoint(struct fire_session *s, const char *module, const char *name)
{
	struct btf *btf = btf__load_module_btf(module, s->vmlinux);
	char type[128];
	bool found;

	if (!btf) {
		fprintf(stderr, "fire: no BTF of module '%s'; is it loaded?\n", module);
		s->err = s->err ? s->err : -ENOENT;
		return false;
	}
	snprintf(type, sizeof(type), "btf_trace_%s", name);
	found = btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) > 0;
	btf__free(btf);
	return found;
}

bool fire_is_pointer(struct fire_session *s, struct fire_field field)
{
	return btf_is_ptr(btf__type_by_id(s->btf, field.type));
}
