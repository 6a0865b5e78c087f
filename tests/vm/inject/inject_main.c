// SPDX-License-Identifier: GPL-2.0
/*
 * The device /dev/davylamp-inject: one text command per write(2), words separated by blanks. An
 * error is the write's errno; read(2) returns the last command's result as a hexadecimal number.
 * Threads that share an open file fire and call at the same time.
 *
 *   object ID SIZE                  zeroed memory, freed when the file is closed
 *   put ID OFFSET SIZE VALUE        store a number of 1, 2, 4 or 8 bytes
 *   fire COUNT CTX NAME [VALUE...]  call every probe of a tracepoint; result: calls made
 *   call COUNT CTX SYMBOL [VALUE...] call a function; result: its last return value
 *   load SIZE VALUE                 result: 1 to 8 bytes of kernel memory at an address
 *   skip SYMBOL VALUE               make a function return at once
 *   unskip SYMBOL                   undo that
 *   engine off
 *   engine PCI DDEV RINGS COUNT INITIALIZED SYNC_SEQ CPU_ADDR FENCES MASK
 *
 * CTX is "task" (the writing task) or "irq" (hard interrupt). SYMBOL may be "MODULE:NAME". VALUE
 * is a number, "&ID+OFFSET" (inside an object), "sym:NAME" (a kernel symbol) or "drv:PCI+OFFSET",
 * "drv:PCI-OFFSET" (relative to the driver data of a PCI device).
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "inject.h"

#define COMMAND_BYTES_MAX 1024

struct command {
	const char *name;
	int words_min; /* including the command's name */
	int (*run)(struct inject_session *s, int argc, char **argv);
};

static const struct command commands[] = {
	{ "object", 3, inject_object_new }, { "put", 5, inject_object_put },
	{ "fire", 4, inject_fire },	    { "call", 4, inject_call },
	{ "load", 3, inject_load },	    { "skip", 3, inject_skip },
	{ "unskip", 2, inject_unskip },	    { "engine", 2, inject_engine },
};

static int split_words(char *line, char **words)
{
	char *word;
	int count = 0;

	while ((word = strsep(&line, " \n"))) {
		if (!*word)
			continue;
		if (count == INJECT_WORDS_MAX)
			return -E2BIG;
		words[count++] = word;
	}
	return count;
}

static int run_command(struct inject_session *s, char *line)
{
	char *words[INJECT_WORDS_MAX];
	int count, i, err;

	count = split_words(line, words);
	if (count <= 0)
		return count ? count : -EINVAL;
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(words[0], commands[i].name))
			continue;
		if (count < commands[i].words_min)
			return -EINVAL;
		mutex_lock(&s->lock);
		s->result = 0;
		err = commands[i].run(s, count, words);
		mutex_unlock(&s->lock);
		return err;
	}
	return -EINVAL;
}

static ssize_t inject_write(struct file *file, const char __user *buf, size_t size, loff_t *pos)
{
	char *line;
	int err;

	if (size > COMMAND_BYTES_MAX)
		return -E2BIG;
	line = memdup_user_nul(buf, size);
	if (IS_ERR(line))
		return PTR_ERR(line);
	err = run_command(file->private_data, line);
	kfree(line);
	return err ? err : size;
}

static ssize_t inject_read(struct file *file, char __user *buf, size_t size, loff_t *pos)
{
	struct inject_session *s = file->private_data;
	char text[24];
	int len = snprintf(text, sizeof(text), "0x%llx\n", s->result);

	/* Each read returns the whole line, without a position; the next one the next result. */
	if (size < len)
		return -EINVAL;
	return copy_to_user(buf, text, len) ? -EFAULT : len;
}

static int inject_open(struct inode *inode, struct file *file)
{
	struct inject_session *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return -ENOMEM;
	mutex_init(&s->lock);
	xa_init(&s->objects);
	file->private_data = s;
	return stream_open(inode, file);
}

static int inject_release(struct inode *inode, struct file *file)
{
	struct inject_session *s = file->private_data;

	inject_object_free_all(s);
	kfree(s);
	return 0;
}

static const struct file_operations inject_fops = {
	.owner = THIS_MODULE,
	.open = inject_open,
	.release = inject_release,
	.read = inject_read,
	.write = inject_write,
};

static struct miscdevice inject_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "davylamp-inject",
	.mode = 0600,
	.fops = &inject_fops,
};

static int __init inject_init(void)
{
	int err;

	err = inject_symbol_init();
	if (err)
		return err;
	err = inject_skip_init();
	if (err)
		return err;
	err = inject_engine_init();
	if (err)
		goto undo_skip;
	err = misc_register(&inject_device);
	if (err)
		goto undo_engine;
	return 0;

undo_engine:
	inject_engine_done();
undo_skip:
	inject_skip_done();
	return err;
}

static void __exit inject_exit(void)
{
	misc_deregister(&inject_device);
	inject_engine_done();
	inject_skip_done();
}

module_init(inject_init);
module_exit(inject_exit);
MODULE_DESCRIPTION("Fires tracepoints and calls functions on command, for laboratory VMs only");
MODULE_LICENSE("GPL");
