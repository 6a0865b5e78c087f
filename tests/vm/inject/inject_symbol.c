// SPDX-License-Identifier: GPL-2.0
/*
 * Symbols that the kernel does not export. A kprobe finds kallsyms_lookup_name();
 * that function finds all others.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>

#include "inject.h"

static unsigned long (*lookup_name)(const char *name);
static struct module *(*module_address)(unsigned long addr);
static void *(*poke)(void *addr, const void *code, size_t size);
static void (*poke_sync)(void);
static struct mutex *poke_mutex;

int inject_symbol_init(void)
{
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	int err;

	err = register_kprobe(&probe);
	if (err)
		return err;
	lookup_name = (void *)probe.addr;
	unregister_kprobe(&probe);

	/* On kernels with IBT the probe may be behind the function's ENDBR. */
	lookup_name = (void *)lookup_name("kallsyms_lookup_name");
	module_address = inject_symbol("__module_address");
	poke = inject_symbol("text_poke");
	poke_sync = inject_symbol("text_poke_sync");
	if (!poke_sync) /* renamed in 6.16 */
		poke_sync = inject_symbol("smp_text_poke_sync_each_cpu");
	poke_mutex = inject_symbol("text_mutex");
	if (!lookup_name || !module_address || !poke || !poke_sync || !poke_mutex)
		return -ENOENT;
	return 0;
}

/* NULL if there is no such symbol. */
void *inject_symbol(const char *name)
{
	return (void *)lookup_name(name);
}

/* The module that holds an address, NULL for the kernel itself; preemption must be off. */
struct module *inject_module_of(const void *addr)
{
	return module_address((unsigned long)addr);
}

/*
 * Finds a symbol and keeps its module loaded until the caller's module_put(*ret_owner), which
 * takes NULL. Returns NULL when there is no such symbol or its module is going.
 */
void *inject_symbol_pin(const char *name, struct module **ret_owner)
{
	struct module *owner;
	void *addr;

	preempt_disable();
	addr = inject_symbol(name);
	owner = addr ? inject_module_of(addr) : NULL;
	if (owner && !try_module_get(owner))
		addr = NULL;
	preempt_enable();
	if (addr)
		*ret_owner = owner;
	return addr;
}

/* Overwrites kernel text. No CPU may execute the bytes that change. */
int inject_text_write(void *addr, const void *code, size_t size)
{
	mutex_lock(poke_mutex);
	poke(addr, code, size);
	poke_sync();
	mutex_unlock(poke_mutex);
	return memcmp(addr, code, size) ? -EIO : 0;
}
