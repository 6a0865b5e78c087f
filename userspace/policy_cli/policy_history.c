/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp policy history', 'diff' and 'export': print versions of the agent's layer. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/child.h"
#include "lib/file.h"
#include "lib/number.h"
#include "lib/text.h"
#include "store/generated.h"
#include "store/policy_file.h"
#include "store/versions.h"
#include "policy_cli/policy_history.h"
#include "verb/verb.h"
#include "verb/when.h"

#define DIFF_MS 10000

static int policy_history_failed(const char *dir, int err)
{
	davy_log("history '%s/%s': %s", dir, DAVY_DB_NAME, davy_db_why(err));
	return err == -EACCES ? DAVY_EXIT_NOT_PERMITTED : DAVY_EXIT_FAILED;
}

/* Exit status; *ret_db stays NULL without a database. Completes an interrupted change. */
static int open_history(const char *dir, struct davy_db **ret_db)
{
	int repaired, err = davy_db_open(dir, DAVY_DB_THERE, ret_db);

	if (err)
		return err == -ENOENT ? DAVY_EXIT_DONE : policy_history_failed(dir, err);
	repaired = davy_versions_repair(*ret_db);
	if (repaired > 0)
		davy_log("policy layer '%s/%s': %s", dir, DAVY_POLICY_NAME,
			 davy_version_repair_text(repaired));
	else if (repaired && repaired != -EROFS && repaired != -EBUSY)
		davy_log("policy layer '%s/%s': cannot be compared with its history: %s", dir,
			 DAVY_POLICY_NAME, davy_db_why(repaired));
	return DAVY_EXIT_DONE;
}

static void print_version(void *arg, const struct davy_version *v)
{
	char when[32], reason[2 * DAVY_VERSION_REASON], evidence[2 * DAVY_VERSION_EVIDENCE];

	(void)arg;
	printf("version %u, %s%s: %s\n", v->number, davy_when(v->made_s, when, sizeof(when)),
	       v->current ? ", current" : "", davy_text_shown(reason, sizeof(reason), v->reason));
	if (v->evidence[0])
		printf("    %s\n", davy_text_shown(evidence, sizeof(evidence), v->evidence));
}

static void print_version_json(void *arg, const struct davy_version *v)
{
	char reason[2 * DAVY_VERSION_REASON], evidence[2 * DAVY_VERSION_EVIDENCE];
	json_t *o = json_pack("{s:I, s:I, s:s, s:s, s:I, s:b}", "version", (json_int_t)v->number,
			      "time", (json_int_t)v->made_s, "reason",
			      davy_text_shown(reason, sizeof(reason), v->reason), "evidence",
			      davy_text_shown(evidence, sizeof(evidence), v->evidence), "bytes",
			      (json_int_t)v->size, "current", v->current);

	(void)arg;
	json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(o);
}

int davy_policy_history(const struct davy_history_options *o)
{
	struct davy_db *db = NULL;
	int shown = 0, status = open_history(o->state_dir, &db);

	if (db)
		shown = davy_versions_each(db, o->json ? print_version_json : print_version, NULL);
	davy_db_close(db);
	if (shown < 0)
		return policy_history_failed(o->state_dir, shown);
	if (!status && !shown && !o->json)
		printf("no history: the agent has not changed its policy yet\n");
	return status;
}

bool davy_policy_number(const char *text, unsigned int *ret_number)
{
	uint64_t number;

	if (!davy_number(text, INT32_MAX, &number)) {
		davy_log("'%s' is not a version; 'davylamp policy history' lists them", text);
		return false;
	}
	*ret_number = (unsigned int)number;
	return true;
}

/* Numbers of the newest version and the one before it; 0: none. */
struct newest {
	unsigned int number[2];
	size_t count;
};

static void take_newest(void *arg, const struct davy_version *v)
{
	struct newest *n = arg;

	if (n->count < 2)
		n->number[n->count++] = v->number;
}

/* One side of a comparison. Version 0 is empty. */
struct side {
	char name[64];
	char *text; /* owned */
	const char *body;
};

static int read_side(struct davy_db *db, unsigned int number, struct side *ret)
{
	struct davy_version v = { .number = 0 };
	char when[32] = "";
	uint32_t reported;
	int err = number ? -ENOENT : 0;

	ret->body = "";
	if (number && db)
		err = davy_version_get(db, number, &v, &ret->text);
	if (err == -ENOENT)
		davy_log("there is no version %u; 'davylamp policy history' lists them", number);
	else if (err)
		davy_log("version %u: %s", number, davy_db_why(err));
	if (err)
		return DAVY_EXIT_FAILED;
	if (number) {
		davy_generated_judge(ret->text, &reported, &ret->body);
		davy_when(v.made_s, when, sizeof(when));
	}
	snprintf(ret->name, sizeof(ret->name), "version %u%s%s", number, when[0] ? "\t" : "", when);
	return DAVY_EXIT_DONE;
}

static int text_file(const char *text)
{
	int fd = memfd_create("davylamp-diff", MFD_CLOEXEC);
	int err = fd < 0 ? -errno : davy_write_all(fd, text, strlen(text));

	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/* Runs diff(1) on the memory files "fd". The caller frees *ret_text. 0 or -errno. */
static int run_diff(const int fd[2], const struct side *a, const struct side *b, char **ret_text)
{
	char *const argv[] = { "diff",
			       "-u",
			       "--label",
			       (char *)a->name,
			       "--label",
			       (char *)b->name,
			       "/proc/self/fd/3",
			       "/proc/self/fd/4",
			       NULL };
	struct davy_child_spec spec = { .path = "diff", .argv = argv, .fds = fd, .fd_count = 2 };
	struct davy_child child = DAVY_CHILD_NONE;
	int status = 0, out = davy_child_start_piped(&spec, 0, &child);
	char *text = NULL, part[4096];
	size_t size = 0;
	FILE *copy;
	bool whole;
	ssize_t n;

	if (out < 0)
		return out;
	copy = open_memstream(&text, &size);
	whole = copy != NULL;
	while (whole && (n = read(out, part, sizeof(part))) > 0)
		whole = fwrite(part, 1, (size_t)n, copy) == (size_t)n;
	close(out);
	davy_child_wait(&child, DIFF_MS, &status);
	davy_child_end(&child, 0);
	if (copy && fclose(copy))
		whole = false;
	if (!whole || !WIFEXITED(status) || WEXITSTATUS(status) > 1) {
		free(text);
		return -EIO;
	}
	*ret_text = text;
	return 0;
}

static int print_diff(unsigned int from, unsigned int to, const struct side *a,
		      const struct side *b, bool json)
{
	int fd[2] = { text_file(a->body), text_file(b->body) };
	int err = fd[0] < 0 ? fd[0] : fd[1];
	char *text = NULL;
	json_t *o;

	if (err >= 0)
		err = run_diff(fd, a, b, &text);
	for (size_t i = 0; i < 2; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	if (err < 0) {
		davy_log("version %u: cannot be compared by diff(1): %s", to, strerror(-err));
		return DAVY_EXIT_FAILED;
	}
	if (json) {
		o = json_pack("{s:I, s:I, s:s}", "from", (json_int_t)from, "to", (json_int_t)to,
			      "diff", text);
		json_dumpf(o, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(o);
	} else {
		fputs(text, stdout);
	}
	free(text);
	return DAVY_EXIT_DONE;
}

int davy_policy_diff(char *const *numbers, size_t count, const struct davy_history_options *o)
{
	struct side a = { .text = NULL }, b = { .text = NULL };
	struct newest newest = { .count = 0 };
	struct davy_db *db = NULL;
	unsigned int from, to;
	int status;

	if ((count > 0 && !davy_policy_number(numbers[0], &from)) ||
	    (count > 1 && !davy_policy_number(numbers[1], &to)))
		return DAVY_EXIT_USAGE;
	status = open_history(o->state_dir, &db);
	if (db)
		davy_versions_each(db, take_newest, &newest);
	if (count < 1)
		from = newest.number[1];
	if (count < 2)
		to = newest.number[0];
	if (!status)
		status = read_side(db, from, &a);
	if (!status)
		status = read_side(db, to, &b);
	if (!status)
		status = print_diff(from, to, &a, &b, o->json);
	free(a.text);
	free(b.text);
	davy_db_close(db);
	return status;
}

/* Replaces a regular file atomically; writes to a device or a pipe. */
static int write_to(const char *path, const char *text)
{
	struct stat st;

	if (lstat(path, &st) ? errno == ENOENT : S_ISREG(st.st_mode))
		return davy_replace_file(path, text, strlen(text), 0644);
	DAVY_FD fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : davy_write_all(fd, text, strlen(text));
}

static int export_text(const char *path, const char *text, unsigned int number)
{
	int err = 0;

	if (!strcmp(path, "-"))
		err = fputs(text, stdout) < 0 || fflush(stdout) ? -errno : 0;
	else
		err = write_to(path, text);
	if (err)
		davy_log("'%s': cannot be written: %s", path, strerror(-err));
	else if (strcmp(path, "-") != 0)
		printf("version %u is written to '%s'\n", number, path);
	return err ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}

int davy_policy_export(const char *path, const struct davy_history_options *o)
{
	struct davy_version v;
	struct davy_db *db = NULL;
	char *text = NULL;
	int number = 0, status = open_history(o->state_dir, &db);

	if (status)
		return status;
	if (db)
		number = davy_version_newest(db);
	if (number > 0)
		number = davy_version_get(db, (uint32_t)number, &v, &text);
	davy_db_close(db);
	if (number < 0)
		return policy_history_failed(o->state_dir, number);
	if (!text) {
		davy_log("nothing to export: the agent has not changed its policy yet");
		return DAVY_EXIT_NOTHING;
	}
	status = export_text(path, text, v.number);
	free(text);
	return status;
}
