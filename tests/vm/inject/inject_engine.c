// SPDX-License-Identifier: GPL-2.0
/*
 * The engine: a thread in place of the GPU's command processors. Every 5 ms it does for each
 * ring of one amdgpu device what the hardware does at the end of a job: it writes the newest
 * sequence number to the ring's fence word and notifies the driver. When it is off, jobs hang; the
 * parameter slow_ms delays each job. It stops before its device loses the driver.
 */
#include <linux/delay.h>
#include <linux/device/driver.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/string.h>

#include "inject.h"

#define TICK_MS	  5
#define RINGS_MAX 256
#define PASSES	  2 /* a job may wait for another ring's: both end in one tick */

/* Offsets come from user space, in the order of the command's words behind the PCI address. */
enum {
	DDEV,
	RINGS,
	COUNT,
	INITIALIZED,
	SYNC_SEQ,
	CPU_ADDR,
	FENCES,
	MASK,
	LAYOUT_WORDS
};

static DEFINE_MUTEX(engine_lock); /* taken inside the device's lock, never around it */
static struct task_struct *thread;
static struct module *driver;
static struct pci_dev *device;
static u8 *adev;
static u32 layout[LAYOUT_WORDS];
static bool (*fence_process)(void *ring);

static unsigned int slow_ms;
module_param(slow_ms, uint, 0600);

/* The pending jobs of a ring, and since when. */
static struct {
	u32 seq;
	unsigned long since;
} pending[RINGS_MAX];

static bool job_done(u32 index, u32 seq)
{
	if (pending[index].seq != seq) {
		pending[index].seq = seq;
		pending[index].since = jiffies;
	}
	return time_after_eq(jiffies, pending[index].since + msecs_to_jiffies(READ_ONCE(slow_ms)));
}

static void ring_tick(u8 *ring, u32 index)
{
	u32 *cpu_addr = *(u32 **)(ring + layout[CPU_ADDR]);
	void **fences = *(void ***)(ring + layout[FENCES]);
	u32 mask = *(u32 *)(ring + layout[MASK]);
	u32 seq = READ_ONCE(*(u32 *)(ring + layout[SYNC_SEQ]));

	if (!ring[layout[INITIALIZED]] || !cpu_addr || !fences)
		return;
	/* The driver raises the number first and stores the fence later: wait for the fence. */
	if (!READ_ONCE(fences[seq & mask]))
		return;
	if (READ_ONCE(*cpu_addr) != seq && !job_done(index, seq))
		return;
	WRITE_ONCE(*cpu_addr, seq);
	fence_process(ring);
}

static int engine_thread(void *unused)
{
	u8 **rings = (u8 **)(adev + layout[RINGS]);
	u32 i;

	while (!kthread_should_stop()) {
		for (i = 0; i < layout[COUNT] * PASSES; i++) {
			u8 *ring = READ_ONCE(rings[i % layout[COUNT]]);

			if (ring)
				ring_tick(ring, i % layout[COUNT]);
		}
		msleep(TICK_MS);
	}
	return 0;
}

static void engine_stop(void)
{
	if (!thread)
		return;
	kthread_stop(thread);
	thread = NULL;
	module_put(driver);
	pci_dev_put(device);
}

/* Takes over the caller's reference to the device. The caller holds the device's lock. */
static int engine_start(struct pci_dev *pdev)
{
	struct task_struct *t;
	struct module *owner;

	if (!pdev->dev.driver || strcmp(pdev->dev.driver->name, "amdgpu") || !pci_get_drvdata(pdev))
		return -ENODEV;
	fence_process = inject_symbol_pin("amdgpu_fence_process", &owner);
	if (!fence_process)
		return -ENOENT;
	adev = (u8 *)pci_get_drvdata(pdev) - layout[DDEV];
	t = kthread_run(engine_thread, NULL, "inject-engine");
	if (IS_ERR(t)) {
		module_put(owner);
		return PTR_ERR(t);
	}
	thread = t;
	driver = owner;
	device = pdev;
	return 0;
}

static struct pci_dev *device_find(const char *name)
{
	unsigned int domain, bus, slot, function;

	if (sscanf(name, "%x:%x:%x.%u", &domain, &bus, &slot, &function) != 4)
		return NULL;
	return pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, function));
}

static int layout_parse(char **argv, u32 *ret_layout)
{
	int i;

	for (i = 0; i < LAYOUT_WORDS; i++)
		if (kstrtou32(argv[i], 0, &ret_layout[i]))
			return -EINVAL;
	return ret_layout[COUNT] && ret_layout[COUNT] <= RINGS_MAX ? 0 : -ERANGE;
}

static int engine_on(int argc, char **argv)
{
	u32 wanted[LAYOUT_WORDS];
	struct pci_dev *pdev;
	int err;

	if (argc != LAYOUT_WORDS + 2)
		return -EINVAL;
	err = layout_parse(argv + 2, wanted);
	if (err)
		return err;
	pdev = device_find(argv[1]);
	if (!pdev)
		return -ENODEV;
	device_lock(&pdev->dev);
	mutex_lock(&engine_lock);
	engine_stop();
	memcpy(layout, wanted, sizeof(layout));
	err = engine_start(pdev);
	mutex_unlock(&engine_lock);
	device_unlock(&pdev->dev);
	if (err)
		pci_dev_put(pdev);
	return err;
}

int inject_engine(struct inject_session *s, int argc, char **argv)
{
	if (strcmp(argv[1], "off"))
		return engine_on(argc, argv);
	mutex_lock(&engine_lock);
	engine_stop();
	mutex_unlock(&engine_lock);
	return 0;
}

static int on_bus(struct notifier_block *nb, unsigned long event, void *data)
{
	if (event != BUS_NOTIFY_UNBIND_DRIVER)
		return NOTIFY_DONE;
	mutex_lock(&engine_lock);
	if (thread && data == &device->dev)
		engine_stop();
	mutex_unlock(&engine_lock);
	return NOTIFY_OK;
}

static struct notifier_block bus_notifier = { .notifier_call = on_bus };

int inject_engine_init(void)
{
	return bus_register_notifier(&pci_bus_type, &bus_notifier);
}

void inject_engine_done(void)
{
	bus_unregister_notifier(&pci_bus_type, &bus_notifier);
	mutex_lock(&engine_lock);
	engine_stop();
	mutex_unlock(&engine_lock);
}
