// SPDX-License-Identifier: GPL-2.0
/* Hooks, types, sizes and offsets, from the running kernel's BTF. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "fire.h"

#define NESTING_MAX 8 /* anonymous members inside anonymous members */
#define BTF_FOLDER  "/sys/kernel/btf"

static int open_vmlinux(struct fire_session *s)
{
	if (!s->vmlinux)
		s->vmlinux = btf__load_vmlinux_btf();
	if (!s->vmlinux)
		fire_fail(s, -ENOENT, "no BTF of the kernel: %s", strerror(errno));
	return s->err;
}

/* A module's types on top of the kernel's; NULL: only the kernel's. The first call counts. */
int fire_btf_open(struct fire_session *s, const char *module)
{
	if (s->btf || open_vmlinux(s))
		return s->err;
	s->btf = module ? btf__load_module_btf(module, s->vmlinux) : s->vmlinux;
	if (!s->btf)
		fire_fail(s, -ENOENT, "no BTF of module '%s'; is it loaded?", module);
	return s->err;
}

void fire_btf_close(struct fire_session *s)
{
	if (s->btf != s->vmlinux)
		btf__free(s->btf);
	btf__free(s->vmlinux);
}

uint32_t fire_type_plain(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (btf_is_mod(t) || btf_is_typedef(t)) {
		id = t->type;
		t = btf__type_by_id(btf, id);
	}
	return id;
}

/* A structure, union, typedef or number by name; 0 if it does not exist. */
uint32_t fire_type_find(const struct btf *btf, const char *name)
{
	static const uint32_t kinds[] = { BTF_KIND_STRUCT, BTF_KIND_UNION, BTF_KIND_TYPEDEF,
					  BTF_KIND_INT };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int id = btf__find_by_name_kind(btf, name, kinds[i]);

		if (id > 0)
			return fire_type_plain(btf, (uint32_t)id);
	}
	return 0;
}

/* For a structure that is only declared: its definition elsewhere, otherwise itself. */
uint32_t fire_type_complete(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	int found;

	if (!btf_is_fwd(t))
		return id;
	found = btf__find_by_name_kind(btf, btf__name_by_offset(btf, t->name_off),
				       btf_kflag(t) ? BTF_KIND_UNION : BTF_KIND_STRUCT);
	return found > 0 ? (uint32_t)found : id;
}

bool fire_type_is_char(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	return id && btf_is_int(t) && t->size == 1;
}

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
		uint32_t bit = btf_member_bit_offset(t, i);
		struct fire_field inner = {
			.offset = field->offset + bit / 8,
			.type = fire_type_plain(btf, m[i].type),
			.bit = (uint8_t)(bit % 8),
			.bits = (uint8_t)btf_member_bitfield_size(t, i),
		};

		if (*member ? strlen(member) == len && !memcmp(member, name, len)
			    : enter_member(btf, &inner, name, len, nesting + 1)) {
			*field = inner;
			return true;
		}
	}
	return false;
}

/* Adds the member's offset to field->offset and puts its type into the field. */
bool fire_enter_member(const struct btf *btf, struct fire_field *field, const char *name,
		       size_t len)
{
	return enter_member(btf, field, name, len, 0);
}

/* An array without a length ends its structure: objects have space behind it. */
bool fire_enter_element(const struct btf *btf, struct fire_field *field, uint32_t index)
{
	const struct btf_type *t = btf__type_by_id(btf, field->type);
	uint32_t element;

	if (!btf_is_array(t) || (btf_array(t)->nelems && index >= btf_array(t)->nelems))
		return false;
	element = fire_type_plain(btf, btf_array(t)->type);
	field->offset += index * (uint32_t)btf__resolve_size(btf, element);
	field->type = element;
	return true;
}

/* A path without pointers: "tbo.base.size" or "src_data[1]". */
static bool find_field(const struct btf *btf, const char *type, const char *path,
		       struct fire_field *ret_field)
{
	struct fire_field field = { .type = fire_type_find(btf, type) };
	int64_t size;

	if (!field.type)
		return false;
	while (*path) {
		size_t len = strcspn(path, ".[");

		if (len && !fire_enter_member(btf, &field, path, len))
			return false;
		path += len;
		if (*path == '[') {
			if (!fire_enter_element(btf, &field, (uint32_t)atoi(path + 1)))
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
		fire_fail(s, -ENOENT, "BTF has no '%s' with '%s'", type, path);
	return field;
}

/* Like btf__find_by_name_kind(), but without the base types of a module's BTF. */
static uint32_t find_own(const struct btf *btf, const char *name, uint32_t kind)
{
	const struct btf *base = btf__base_btf(btf);

	for (uint32_t id = base ? btf__type_cnt(base) : 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (btf_kind(t) == kind && !strcmp(btf__name_by_offset(btf, t->name_off), name))
			return id;
	}
	return 0;
}

/* The prototype of the function "PREFIX NAME"; 0 if it does not exist. */
static uint32_t function_proto(const struct btf *btf, const char *prefix, const char *name)
{
	char full[2 * FIRE_NAME_LEN];
	uint32_t id;

	snprintf(full, sizeof(full), "%s%s", prefix, name);
	id = find_own(btf, full, BTF_KIND_FUNC);
	return id ? btf__type_by_id(btf, id)->type : 0;
}

/*
 * A tracepoint creates the type "btf_trace_NAME", without argument names; its iterator has
 * them if BTF contains it. Both have the probe's own argument in front.
 */
static uint32_t tracepoint_proto(const struct btf *btf, const char *name)
{
	char type[2 * FIRE_NAME_LEN];
	uint32_t id, named;

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	id = find_own(btf, type, BTF_KIND_TYPEDEF);
	if (!id)
		return 0;
	named = function_proto(btf, "__traceiter_", name);
	if (!named)
		named = function_proto(btf, "__bpf_trace_", name);
	return named ? named : btf__type_by_id(btf, btf__type_by_id(btf, id)->type)->type;
}

/* An argument's type among the session's types, which may be those of another module. */
static uint32_t translate(struct fire_session *s, const struct btf *from, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(from, id);
	const char *name = btf__name_by_offset(from, t->name_off);

	if (from == s->btf || from == s->vmlinux || !id)
		return id;
	return *name ? fire_type_find(s->btf, name) : 0;
}

static void take_roots(struct fire_session *s, const struct btf *btf, uint32_t proto, int skip)
{
	const struct btf_type *t = btf__type_by_id(btf, proto);
	const struct btf_param *p = btf_params(t);
	int count = btf_vlen(t);

	for (int i = skip; i < count && i - skip < FIRE_ARGS_MAX; i++) {
		struct fire_root *r = &s->roots[i - skip];
		uint32_t id = p[i].type ? fire_type_plain(btf, p[i].type) : 0;
		const struct btf_type *arg = btf__type_by_id(btf, id);

		snprintf(r->name, sizeof(r->name), "%s", btf__name_by_offset(btf, p[i].name_off));
		strcpy(r->value, "0");
		r->pointer = id && btf_is_ptr(arg);
		r->pointee = r->pointer && arg->type
				     ? translate(s, btf, fire_type_plain(btf, arg->type))
				     : 0;
		s->root_count = i - skip + 1;
	}
}

/* Whether these types have the hook; if so, its arguments become the session's roots. */
static bool find_in(struct fire_session *s, struct fire_hook *h, const struct btf *btf,
		    const char *module, const char *name)
{
	bool tracepoint = h->kind == FIRE_TRACEPOINT;
	uint32_t proto = tracepoint ? tracepoint_proto(btf, name) : function_proto(btf, "", name);

	if (!proto)
		return false;
	take_roots(s, btf, proto, tracepoint ? 1 : 0);
	if (module && !tracepoint)
		snprintf(h->symbol, sizeof(h->symbol), "%s:%s", module, name);
	else
		snprintf(h->symbol, sizeof(h->symbol), "%s", name);
	return true;
}

/* Searches every loaded module. The types of the first one with the hook become the session's. */
static bool find_in_modules(struct fire_session *s, struct fire_hook *h, const char *name)
{
	DIR *folder = opendir(BTF_FOLDER);
	struct dirent *e;
	bool found = false;

	while (folder && !found && (e = readdir(folder))) {
		struct btf *btf;

		if (e->d_name[0] == '.' || !strcmp(e->d_name, "vmlinux"))
			continue;
		btf = btf__load_module_btf(e->d_name, s->vmlinux);
		if (!btf)
			continue;
		if (!h->module)
			s->btf = btf;
		found = find_in(s, h, btf, e->d_name, name);
		if (!h->module && !found)
			s->btf = s->vmlinux;
		if (h->module || !found)
			btf__free(btf);
	}
	if (folder)
		closedir(folder);
	return found;
}

/* Before the next hook: its arguments are not set yet. */
static void forget_roots(struct fire_session *s)
{
	int kept = 0;

	for (int i = 0; i < s->slot_count; i++)
		if (s->slots[i].root < 0)
			s->slots[kept++] = s->slots[i];
	s->slot_count = kept;
	s->root_count = 0;
}

/*
 * Returns 1 when a kernel's BTF has the hook under one of its names, 0 when not, or -Exxx. The
 * types of h->module come first, then the kernel's, then those of every other module.
 */
int fire_hook_find(struct fire_session *s, struct fire_hook *h)
{
	char names[256], *rest = names, *name;

	if (snprintf(names, sizeof(names), "%s", h->name) >= (int)sizeof(names))
		return -E2BIG;
	if (fire_btf_open(s, h->module))
		return s->err;
	forget_roots(s);
	while ((name = strsep(&rest, "|"))) {
		if (h->module && find_in(s, h, s->btf, h->module, name))
			return 1;
		if (find_in(s, h, s->vmlinux, NULL, name) || find_in_modules(s, h, name))
			return 1;
	}
	return 0;
}

/* Whether these types have a hook of kind "tp" or "func" under one of its names. */
static bool has(const struct btf *btf, const char *module, const char *kind, const char *names)
{
	const char *slash = strchr(names, '/');
	char copy[256], *rest = copy, *name;
	bool found = false;

	if (slash && (strlen(module) != (size_t)(slash - names) ||
		      memcmp(module, names, (size_t)(slash - names))))
		return false;
	snprintf(copy, sizeof(copy), "%s", slash ? slash + 1 : names);
	while (!found && (name = strsep(&rest, "|")))
		found = strcmp(kind, "tp") ? function_proto(btf, "", name)
					   : tracepoint_proto(btf, name);
	return found;
}

#define HOOKS_MAX 256

static void look_for_hooks(const struct btf *btf, const char *module, char **words, int count,
			   bool *found)
{
	for (int i = 0; i + 1 < count; i += 2)
		if (!found[i / 2])
			found[i / 2] = has(btf, module, words[i], words[i + 1]);
}

/* Prints which of the hooks "tp|func [MODULE/]NAME" exist. Returns how many are missing. */
int fire_hooks_say(struct fire_session *s, char **words, int count)
{
	bool found[HOOKS_MAX] = { false };
	struct dirent *e;
	int missing = 0;
	DIR *folder;

	if (count / 2 > HOOKS_MAX)
		fire_fail(s, -E2BIG, "more than %d hooks", HOOKS_MAX);
	if (fire_btf_open(s, NULL))
		return -1;
	look_for_hooks(s->vmlinux, "vmlinux", words, count, found);
	folder = opendir(BTF_FOLDER);
	while (folder && (e = readdir(folder))) {
		struct btf *btf = NULL;

		if (e->d_name[0] != '.' && strcmp(e->d_name, "vmlinux"))
			btf = btf__load_module_btf(e->d_name, s->vmlinux);
		if (btf)
			look_for_hooks(btf, e->d_name, words, count, found);
		btf__free(btf);
	}
	if (folder)
		closedir(folder);
	for (int i = 0; i + 1 < count; i += 2) {
		printf("%s %s %s\n", found[i / 2] ? "has" : "no", words[i], words[i + 1]);
		missing += !found[i / 2];
	}
	return missing;
}
