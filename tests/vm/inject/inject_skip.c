// SPDX-License-Identifier: GPL-2.0
/*
 * Skipped functions: behind ftrace's call site the body becomes "mov $value,%rax;
 * ret" (three bytes longer for a pointer). Every kprobe, fentry and fexit still runs with the
 * call's arguments, and the callee does nothing. The bytes must not
 * be in execution meanwhile: skip a function before the device that uses it is bound.
 */
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "inject.h"

#define CALL_BYTES  5
#define CODE_BYTES  11
#define ENTRY_BYTES 4 /* ENDBR64, or the nop that replaced it */

struct skip {
	struct list_head link;
	struct module *owner; /* not pinned: the notifier removes skips of an unloaded module */
	u8 *at;
	size_t size;
	u8 saved[CODE_BYTES];
	char name[];
};

static LIST_HEAD(skips);
static DEFINE_MUTEX(skips_lock);

static bool is_call_site(const u8 *at)
{
	static const u8 nop5[CALL_BYTES] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

	return at[0] == 0xe8 || at[0] == 0xe9 || !memcmp(at, nop5, sizeof(nop5));
}

/* Start of the body behind ftrace's site; NULL for a function that ftrace does not know. */
static u8 *body_of(u8 *function)
{
	if (is_call_site(function))
		return function + CALL_BYTES;
	if (is_call_site(function + ENTRY_BYTES))
		return function + ENTRY_BYTES + CALL_BYTES;
	return NULL;
}

static struct skip *skip_find(const char *name)
{
	struct skip *k;

	list_for_each_entry(k, &skips, link) if (!strcmp(k->name, name)) return k;
	return NULL;
}

static void skip_owner_set(struct skip *k)
{
	preempt_disable();
	k->owner = inject_module_of(k->at);
	preempt_enable();
}

/* Returns the number of bytes; uses the short form if possible, since a body may be short. */
static size_t skip_code(u64 value, u8 *code)
{
	static const u8 short_form[] = { 0x48, 0xc7, 0xc0, 0, 0, 0, 0, 0xc3 };
	static const u8 long_form[] = { 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xc3 };

	if ((s64)value == (s32)value) {
		memcpy(code, short_form, sizeof(short_form));
		memcpy(code + 3, &value, sizeof(s32));
		return sizeof(short_form);
	}
	memcpy(code, long_form, sizeof(long_form));
	memcpy(code + 2, &value, sizeof(value));
	return sizeof(long_form);
}

static int skip_add(const char *name, u8 *function, u64 value)
{
	size_t name_size = strlen(name) + 1;
	u8 code[CODE_BYTES];
	struct skip *k;
	int err;

	k = kzalloc(struct_size(k, name, name_size), GFP_KERNEL);
	if (!k)
		return -ENOMEM;
	k->at = body_of(function);
	if (!k->at) {
		kfree(k);
		return -EOPNOTSUPP;
	}
	k->size = skip_code(value, code);
	memcpy(k->saved, k->at, k->size);
	memcpy(k->name, name, name_size);
	skip_owner_set(k);
	err = inject_text_write(k->at, code, k->size);
	if (err) {
		kfree(k);
		return err;
	}
	list_add(&k->link, &skips);
	return 0;
}

static int skip_remove(struct skip *k)
{
	int err = inject_text_write(k->at, k->saved, k->size);

	list_del(&k->link);
	kfree(k);
	return err;
}

int inject_skip(struct inject_session *s, int argc, char **argv)
{
	struct module *owner;
	u8 *function;
	u64 value;
	int err;

	err = inject_value(s, argv[2], &value);
	if (err)
		return err;
	function = inject_symbol_pin(argv[1], &owner);
	if (!function)
		return -ENOENT;
	mutex_lock(&skips_lock);
	err = skip_find(argv[1]) ? -EEXIST : skip_add(argv[1], function, value);
	mutex_unlock(&skips_lock);
	module_put(owner);
	return err;
}

int inject_unskip(struct inject_session *s, int argc, char **argv)
{
	struct skip *k;
	int err;

	mutex_lock(&skips_lock);
	k = skip_find(argv[1]);
	err = k ? skip_remove(k) : -ENOENT;
	mutex_unlock(&skips_lock);
	return err;
}

static int on_module(struct notifier_block *nb, unsigned long state, void *data)
{
	struct skip *k, *next;

	if (state != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&skips_lock);
	list_for_each_entry_safe(k, next, &skips, link)
	{
		if (k->owner != data)
			continue;
		list_del(&k->link);
		kfree(k);
	}
	mutex_unlock(&skips_lock);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = on_module };

int inject_skip_init(void)
{
	return register_module_notifier(&module_notifier);
}

void inject_skip_done(void)
{
	struct skip *k, *next;

	mutex_lock(&skips_lock);
	list_for_each_entry_safe(k, next, &skips, link) skip_remove(k);
	mutex_unlock(&skips_lock);
	unregister_module_notifier(&module_notifier);
}
