// SPDX-License-Identifier: GPL-2.0
/*
 * Objects: kernel memory that user space fills, so that probes find the same as
 * in a driver's own structures. And the values in commands.
 */
#include <linux/device/driver.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "inject.h"

#define OBJECT_BYTES_MAX (4u << 20)

struct inject_object {
	u32 size;
	u8 bytes[] __aligned(16);
};

static int parse_u32(const char *word, u32 *ret_value)
{
	return kstrtou32(word, 0, ret_value);
}

int inject_object_new(struct inject_session *s, int argc, char **argv)
{
	struct inject_object *o;
	u32 id, size;
	int err;

	if (parse_u32(argv[1], &id) || parse_u32(argv[2], &size))
		return -EINVAL;
	if (!size || size > OBJECT_BYTES_MAX)
		return -ERANGE;
	o = kvzalloc(struct_size(o, bytes, size), GFP_KERNEL);
	if (!o)
		return -ENOMEM;
	o->size = size;
	err = xa_insert(&s->objects, id, o, GFP_KERNEL);
	if (err)
		kvfree(o);
	return err;
}

/* Address of "size" bytes at an offset of an object; NULL when they are not all inside it. */
static u8 *object_at(struct inject_session *s, u32 id, u32 offset, u32 size)
{
	struct inject_object *o = xa_load(&s->objects, id);

	if (!o || offset > o->size || size > o->size - offset)
		return NULL;
	return o->bytes + offset;
}

int inject_object_put(struct inject_session *s, int argc, char **argv)
{
	u32 id, offset, size;
	u64 value;
	u8 *at;
	int err;

	if (parse_u32(argv[1], &id) || parse_u32(argv[2], &offset) || parse_u32(argv[3], &size))
		return -EINVAL;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return -EINVAL;
	err = inject_value(s, argv[4], &value);
	if (err)
		return err;
	at = object_at(s, id, offset, size);
	if (!at)
		return -ERANGE;
	memcpy(at, &value, size); /* little endian: the low bytes come first */
	return 0;
}

void inject_object_free_all(struct inject_session *s)
{
	struct inject_object *o;
	unsigned long id;

	xa_for_each(&s->objects, id, o) kvfree(o);
	xa_destroy(&s->objects);
}

/* "ID+OFFSET" */
static int object_value(struct inject_session *s, char *word, u64 *ret_value)
{
	char *plus = strchr(word, '+');
	u32 id, offset;
	u8 *at;

	if (!plus)
		return -EINVAL;
	*plus = '\0';
	if (parse_u32(word, &id) || parse_u32(plus + 1, &offset))
		return -EINVAL;
	at = object_at(s, id, offset, 0);
	if (!at)
		return -ERANGE;
	*ret_value = (u64)at;
	return 0;
}

/* "DOMAIN:BUS:SLOT.FUNCTION" and a signed offset */
static int driver_value(const char *word, u64 *ret_value)
{
	unsigned int domain, bus, slot, function;
	struct pci_dev *pdev;
	long long offset;
	void *data;

	if (sscanf(word, "%x:%x:%x.%u%lli", &domain, &bus, &slot, &function, &offset) != 5)
		return -EINVAL;
	pdev = pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, function));
	if (!pdev)
		return -ENODEV;
	device_lock(&pdev->dev);
	data = pdev->dev.driver ? pci_get_drvdata(pdev) : NULL;
	device_unlock(&pdev->dev);
	pci_dev_put(pdev);
	if (!data)
		return -ENODEV;
	*ret_value = (u64)data + offset;
	return 0;
}

int inject_value(struct inject_session *s, char *word, u64 *ret_value)
{
	void *symbol;

	if (word[0] == '&')
		return object_value(s, word + 1, ret_value);
	if (!strncmp(word, "drv:", 4))
		return driver_value(word + 4, ret_value);
	if (!strncmp(word, "sym:", 4)) {
		symbol = inject_symbol(word + 4);
		if (!symbol)
			return -ENOENT;
		*ret_value = (u64)symbol;
		return 0;
	}
	if (word[0] == '-')
		return kstrtoll(word, 0, (long long *)ret_value);
	return kstrtoull(word, 0, ret_value);
}
