// SPDX-License-Identifier: GPL-2.0
/*
 * "PATH=VALUE" of the command line; usage() has the grammar. A path begins at an argument
 * of the hook or at a named object, and goes through members, elements and pointers. An unset
 * pointer gets a zeroed object of its type.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "fire.h"

#define OBJECT_SLACK 1024 /* bytes behind each object, for arrays without a length */
#define PATH_LEN     256

/* The destination of a value. */
struct place {
	int root;	 /* an argument, or -1 and then in an object: */
	uint32_t object; /* 0 while only the types are checked */
	struct fire_field field;
	bool pointer;	  /* it holds an address */
	uint32_t pointee; /* of that type; 0: unknown type */
};

struct walk {
	struct fire_session *s;
	bool dry; /* only check whether the types allow the path */
	struct place at;
};

static bool is_name_end(char c)
{
	return !c || strchr(".:[", c);
}

static size_t name_len(const char *text)
{
	size_t len = 0;

	while (!is_name_end(text[len]))
		len++;
	return len;
}

/* After the field's type has changed. */
static void look_at_type(struct walk *w)
{
	const struct btf_type *t = btf__type_by_id(w->s->btf, w->at.field.type);

	w->at.pointer = w->at.field.type && btf_is_ptr(t);
	w->at.pointee = w->at.pointer && t->type ? fire_type_plain(w->s->btf, t->type) : 0;
	if (w->at.pointee)
		w->at.pointee = fire_type_complete(w->s->btf, w->at.pointee);
}

static uint32_t object_new(struct fire_session *s, uint32_t type)
{
	int64_t size = btf__resolve_size(s->btf, type);

	if (size < 0) {
		fire_fail(s, -ENOENT, "BTF has no size for '%s'",
			  btf__name_by_offset(s->btf, btf__type_by_id(s->btf, type)->name_off));
		return 0;
	}
	return fire_bytes_new(s, (uint32_t)size + OBJECT_SLACK);
}

/* Writes a value in the injector's syntax to a field of some bytes. */
static void store(struct fire_session *s, const struct place *p, uint32_t size, const char *value)
{
	if (p->root >= 0)
		snprintf(s->roots[p->root].value, FIRE_VALUE_LEN, "%s", value);
	else
		fire_send(s, "put %u %u %u %s", p->object, p->field.offset, size, value);
}

static struct fire_slot *slot_of(struct fire_session *s, const struct place *p)
{
	for (int i = 0; i < s->slot_count; i++) {
		struct fire_slot *slot = &s->slots[i];

		if (slot->root == p->root && (p->root >= 0 || (slot->holder == p->object &&
							       slot->offset == p->field.offset)))
			return slot;
	}
	return NULL;
}

/* Stores the target of a pointer, so that later paths can follow it. */
static void slot_set(struct fire_session *s, const struct place *p, uint32_t object,
		     uint32_t offset)
{
	struct fire_slot *slot = slot_of(s, p);

	if (!slot && s->slot_count == FIRE_SLOTS_MAX) {
		fire_fail(s, -E2BIG, "more than %d pointers", FIRE_SLOTS_MAX);
		return;
	}
	if (!slot)
		slot = &s->slots[s->slot_count++];
	*slot = (struct fire_slot){
		.root = p->root,
		.holder = p->object,
		.offset = p->field.offset,
		.object = object,
		.object_offset = offset,
	};
}

/* From a pointer to its target. */
static bool follow(struct walk *w)
{
	struct fire_session *s = w->s;
	struct place *p = &w->at;
	struct fire_slot *slot = w->dry ? NULL : slot_of(s, p);
	uint32_t type = p->pointee, object = slot ? slot->object : 0;
	char value[FIRE_VALUE_LEN];

	if (!p->pointer || !type || (slot && !object))
		return false;
	if (!slot && !w->dry) {
		object = object_new(s, type);
		snprintf(value, sizeof(value), "&%u+0", object);
		store(s, p, 8, value);
		slot_set(s, p, object, 0);
	}
	*p = (struct place){
		.root = -1,
		.object = object,
		.field = { .type = type, .offset = slot ? slot->object_offset : 0 },
	};
	look_at_type(w);
	return !s->err;
}

/* "@NAME" or, the first time, "@NAME:TYPE" */
static bool enter_named(struct walk *w, const char **path)
{
	struct fire_session *s = w->s;
	const char *text = *path + 1;
	size_t len = name_len(text);
	struct fire_named *n = NULL;
	char type[FIRE_NAME_LEN];
	uint32_t id;

	for (int i = 0; i < s->named_count; i++)
		if (strlen(s->named[i].name) == len && !memcmp(s->named[i].name, text, len))
			n = &s->named[i];
	*path = text + len;
	if (n) {
		w->at = (struct place){ .root = -1, .object = n->object, .field.type = n->type };
		return true;
	}
	if (text[len] != ':' || len >= FIRE_NAME_LEN || s->named_count == FIRE_NAMED_MAX)
		return false;
	snprintf(type, sizeof(type), "%.*s", (int)name_len(text + len + 1), text + len + 1);
	*path = text + len + 1 + strlen(type);
	id = fire_type_find(s->btf, type);
	w->at = (struct place){ .root = -1, .field.type = id };
	if (!id || w->dry)
		return id;
	n = &s->named[s->named_count++];
	snprintf(n->name, sizeof(n->name), "%.*s", (int)len, text);
	n->type = id;
	n->object = w->at.object = object_new(s, id);
	return true;
}

/* An argument by its number or name. */
static bool enter_root(struct walk *w, const char **path)
{
	struct fire_session *s = w->s;
	size_t len = name_len(*path);
	char *end;
	long index = strtol(*path, &end, 10);

	if (end != *path + len || end == *path) {
		for (index = 0; index < s->root_count; index++)
			if (strlen(s->roots[index].name) == len &&
			    !memcmp(s->roots[index].name, *path, len))
				break;
	}
	*path += len;
	if (index < 0 || index >= s->root_count)
		return false;
	w->at = (struct place){
		.root = (int)index,
		.pointer = s->roots[index].pointer,
		.pointee = s->roots[index].pointee,
	};
	if (w->at.pointee)
		w->at.pointee = fire_type_complete(s->btf, w->at.pointee);
	return true;
}

/* ":TYPE" behind a pointer */
static bool enter_cast(struct walk *w, const char **path)
{
	char type[FIRE_NAME_LEN];
	size_t len = name_len(*path + 1);

	snprintf(type, sizeof(type), "%.*s", (int)len, *path + 1);
	*path += 1 + len;
	w->at.pointee = fire_type_find(w->s->btf, type);
	return w->at.pointer && w->at.pointee;
}

/* "[N]": of an array, or of a pointer's target */
static bool enter_index(struct walk *w, const char **path)
{
	char *end;
	uint32_t index = (uint32_t)strtoul(*path + 1, &end, 0);
	int64_t size;

	if (*end != ']')
		return false;
	*path = end + 1;
	if (!w->at.pointer) {
		if (!fire_enter_element(w->s->btf, &w->at.field, index))
			return false;
		look_at_type(w);
		return true;
	}
	if (!follow(w))
		return false;
	size = btf__resolve_size(w->s->btf, w->at.field.type);
	w->at.field.offset += index * (uint32_t)size;
	return size > 0 && index * (uint32_t)size < OBJECT_SLACK;
}

static bool enter_dot(struct walk *w, const char **path)
{
	size_t len = name_len(*path + 1);
	const char *name = *path + 1;

	*path = name + len;
	while (w->at.pointer)
		if (!follow(w))
			return false;
	if (!w->at.field.type || !fire_enter_member(w->s->btf, &w->at.field, name, len))
		return false;
	look_at_type(w);
	return true;
}

/* Whether a path exists; if so, w->at is its end. */
static bool walk(struct walk *w, const char *path)
{
	bool ok = *path == '@' ? enter_named(w, &path) : enter_root(w, &path);

	while (ok && *path)
		ok = *path == ':'   ? enter_cast(w, &path)
		     : *path == '[' ? enter_index(w, &path)
				    : enter_dot(w, &path);
	return ok && !w->s->err;
}

/* The end of the path or, if that is a pointer, its target. */
static bool address_of(struct walk *w, const char *path, char *ret_value)
{
	if (!walk(w, path) || (w->at.pointer && !follow(w)) || w->at.root >= 0) {
		fire_fail(w->s, -ENOENT, "no address of '%s' on this kernel", path);
		return false;
	}
	snprintf(ret_value, FIRE_VALUE_LEN, "&%u+%u", w->at.object, w->at.field.offset);
	return true;
}

/* "&PATH" */
static void assign_address(struct fire_session *s, const struct place *p, const char *path)
{
	struct walk w = { .s = s };
	char value[FIRE_VALUE_LEN];

	if (!address_of(&w, path, value))
		return;
	store(s, p, 8, value);
	slot_set(s, p, w.at.object, w.at.field.offset);
}

/* A value in the injector's syntax: "&PATH" is an address, everything else is unchanged. */
void fire_value(struct fire_session *s, const char *text, char *ret_value)
{
	struct walk w = { .s = s };

	if (s->err)
		return;
	if (*text != '&')
		snprintf(ret_value, FIRE_VALUE_LEN, "%s", text);
	else
		address_of(&w, text + 1, ret_value);
}

/* Text for a pointer: a separate object. */
static void assign_text(struct fire_session *s, const struct place *p, const char *text)
{
	uint32_t bytes = fire_bytes_new(s, (uint32_t)strlen(text) + 1);
	char value[FIRE_VALUE_LEN];

	fire_put_text(s, bytes, 0, text, strlen(text));
	snprintf(value, sizeof(value), "&%u+0", bytes);
	store(s, p, 8, value);
	slot_set(s, p, bytes, 0);
}

/* The injector stores whole bytes: the surrounding bits are read first. */
static void assign_bits(struct fire_session *s, const struct place *p, const char *text)
{
	const struct fire_field *f = &p->field;
	uint64_t mask = (f->bits < 64 ? (1ULL << f->bits) - 1 : UINT64_MAX) << f->bit;
	uint64_t bits = strtoull(text, NULL, 0), old;

	fire_send(s, "load 8 &%u+%u", p->object, f->offset);
	old = fire_result(s);
	fire_send(s, "put %u %u 8 0x%" PRIx64, p->object, f->offset,
		  (old & ~mask) | (bits << f->bit & mask));
}

static bool is_special(const char *value)
{
	return *value == '&' || !strncmp(value, "sym:", 4) || !strncmp(value, "drv:", 4) ||
	       !strcmp(value, "NULL");
}

/* "drv:PCI-TYPE.PATH": the object that contains the driver data at PATH. */
static void resolve_container(struct fire_session *s, char *text, size_t size)
{
	char *minus = strchr(text, '-'), *dot = minus ? strchr(minus, '.') : NULL;

	if (!dot)
		return;
	*dot = 0;
	snprintf(minus, size - (size_t)(minus - text), "-%u",
		 fire_field_of(s, minus + 1, dot + 1).offset);
}

/* A number, "sym:NAME" or "drv:PCI", which may have an offset. */
static void assign_plain(struct fire_session *s, const struct place *p, const char *value)
{
	bool driver = !strncmp(value, "drv:", 4);
	int64_t size = p->root >= 0 || p->pointer ? 8 : btf__resolve_size(s->btf, p->field.type);
	char text[FIRE_VALUE_LEN];

	if (size != 1 && size != 2 && size != 4 && size != 8) {
		fire_fail(s, -EINVAL, "'%s' goes into no number of %" PRId64 " bytes", value, size);
		return;
	}
	snprintf(text, sizeof(text), "%s%s", strcmp(value, "NULL") ? value : "0",
		 driver && !strpbrk(value, "+-") ? "+0" : "");
	if (driver)
		resolve_container(s, text, sizeof(text));
	store(s, p, (uint32_t)size, text);
	if (p->pointer)
		slot_set(s, p, 0, 0);
}

static void assign(struct fire_session *s, const struct place *p, const char *value)
{
	const struct btf_type *t = btf__type_by_id(s->btf, p->field.type);
	bool array = p->root < 0 && btf_is_array(t);

	if (p->field.bits)
		assign_bits(s, p, value);
	else if (*value == '&')
		assign_address(s, p, value + 1);
	else if (p->pointer && fire_type_is_char(s->btf, p->pointee) && !is_special(value))
		assign_text(s, p, value);
	else if (array && fire_type_is_char(s->btf, fire_type_plain(s->btf, btf_array(t)->type)))
		fire_put_text(s, p->object, p->field.offset, value,
			      strnlen(value, btf_array(t)->nelems - 1));
	else
		assign_plain(s, p, value);
}

/*
 * "[?]PATH[|PATH]...=VALUE": the first path that this kernel's types have. "@OBJECT:TYPE" alone
 * makes one.
 */
void fire_assign(struct fire_session *s, const char *arg)
{
	bool optional = *arg == '?';
	const char *value = strchr(arg, '=');
	char paths[PATH_LEN], *rest = paths, *path;

	if (s->err)
		return;
	if (!value && *arg == '@') {
		struct walk w = { .s = s };

		if (!walk(&w, arg))
			fire_fail(s, -ENOENT, "no object '%s' on this kernel", arg);
		return;
	}
	if (!value || value - arg >= PATH_LEN) {
		fire_fail(s, -EINVAL, "'%s' is no PATH=VALUE", arg);
		return;
	}
	snprintf(paths, sizeof(paths), "%.*s", (int)(value - arg) - optional, arg + optional);
	while ((path = strsep(&rest, "|"))) {
		struct walk w = { .s = s, .dry = true };

		if (!walk(&w, path))
			continue;
		w.dry = false;
		if (walk(&w, path))
			assign(s, &w.at, value + 1);
		else
			fire_fail(s, -EINVAL, "'%s' leads out of what fire has made", path);
		return;
	}
	if (!optional)
		fire_fail(s, -ENOENT, "this kernel has no '%.*s'", (int)(value - arg), arg);
}

/* "ARG=TYPE": the real target type of an argument. */
void fire_cast(struct fire_session *s, const char *arg)
{
	struct walk w = { .s = s, .dry = true };
	const char *type = strchr(arg, '=');
	char name[FIRE_NAME_LEN];

	snprintf(name, sizeof(name), "%.*s", type ? (int)(type - arg) : 0, arg);
	if (s->err)
		return;
	if (!walk(&w, name) || w.at.root < 0 || !fire_type_find(s->btf, type + 1)) {
		fire_fail(s, -EINVAL, "'%s' is no ARG=TYPE here", arg);
		return;
	}
	s->roots[w.at.root].pointer = true;
	s->roots[w.at.root].pointee = fire_type_find(s->btf, type + 1);
}
