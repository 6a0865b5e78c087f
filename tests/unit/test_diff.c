/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences of texts: as diff -u has them, and they make the one text of the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/diff.h"

/* free() it; NULL: they do not differ. */
static char *diff(const char *a, const char *b)
{
	struct davy_diff_side from = { "a", a }, to = { "b", b };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int differ = davy_diff(out, &from, &to);

	fclose(out);
	assert_in_range(differ, 0, 1);
	assert_int_equal(differ, strcmp(a, b) != 0);
	if (differ)
		return text;
	assert_int_equal(size, 0);
	free(text);
	return NULL;
}

static void expect(const char *a, const char *b, const char *text)
{
	char *is = diff(a, b);

	assert_string_equal(is ? is : "", text);
	free(is);
}

static void it_is_as_diff_u_prints_it(void **state)
{
	(void)state;
	expect("a\nb\n", "a\nb\n", "");
	expect("", "", "");
	expect("", "a\n", "--- a\n+++ b\n@@ -0,0 +1 @@\n+a\n");
	expect("a\nb\n", "", "--- a\n+++ b\n@@ -1,2 +0,0 @@\n-a\n-b\n");
	expect("1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nx\n6\n7\n8\n",
	       "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
	expect("a\n", "a", "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n");
	/* Six lines between two changes are one hunk, seven are two. */
	expect("a\n1\n2\n3\n4\n5\n6\nb\n", "1\n2\n3\n4\n5\n6\n",
	       "--- a\n+++ b\n@@ -1,8 +1,6 @@\n-a\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n");
	expect("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "1\n2\n3\n4\n5\n6\n7\n",
	       "--- a\n+++ b\n@@ -1,4 +1,3 @@\n-a\n 1\n 2\n 3\n@@ -6,4 +5,3 @@\n 5\n 6\n 7\n-b\n");
}

/* What patch does, as strictly as can be: every line of the first text must be where it is told. */
static char *apply(const char *a, const char *patch)
{
	char *text = calloc(1, 2 * strlen(a) + strlen(patch) + 1), *to = text;
	size_t at = 1, line;

	patch = strchr(strchr(patch, '\n') + 1, '\n') + 1;
	for (; *patch; patch = strchr(patch, '\n') + 1) {
		size_t length = (size_t)(strchr(patch, '\n') - patch); /* as many as " " and text */

		if (patch[0] == '@') {
			line = strtoul(patch + 4, NULL, 10);
			if (!strncmp(patch + 4 + strcspn(patch + 4, ", "), ",0", 2))
				line++;
			for (; at < line; at++) {
				length = strcspn(a, "\n") + 1;
				memcpy(to, a, length);
				to += length;
				a += length;
			}
			continue;
		}
		if (patch[0] != '+') {
			assert_memory_equal(a, patch + 1, length);
			a += length;
			at++;
		}
		if (patch[0] != '-') {
			memcpy(to, patch + 1, length);
			to += length;
		}
	}
	strcpy(to, a);
	return text;
}

static void it_makes_the_one_of_the_other(void **state)
{
	unsigned int seed = 1;

	(void)state;
	for (int n = 0; n < 3000; n++) {
		char a[512] = "", b[512] = "", *patch, *made;
		int lines = rand_r(&seed) % 40;

		for (int i = 0; i < lines; i++) {
			char line[16];
			int keep = rand_r(&seed) % 8;

			snprintf(line, sizeof(line), "%d\n", rand_r(&seed) % 12);
			if (keep != 1)
				strcat(a, line);
			if (keep != 2)
				strcat(b, line);
			if (keep == 3)
				strcat(b, "new\n");
		}
		patch = diff(a, b);
		if (!patch)
			continue;
		made = apply(a, patch);
		assert_string_equal(made, b);
		free(made);
		free(patch);
	}
}

static char *many_lines(size_t count, unsigned int seed)
{
	char *text = malloc(count * 8 + 1), *at = text;

	for (size_t i = 0; i < count; i++)
		at += sprintf(at, "%d\n", rand_r(&seed) % 1000);
	return text;
}

static void texts_too_different_for_the_table_are_right_all_the_same(void **state)
{
	char *a = many_lines(30000, 1), *b = many_lines(30000, 2), *patch = diff(a, b), *made;

	(void)state;
	made = apply(a, patch);
	assert_string_equal(made, b);
	free(a);
	free(b);
	free(patch);
	free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_as_diff_u_prints_it),
		cmocka_unit_test(it_makes_the_one_of_the_other),
		cmocka_unit_test(texts_too_different_for_the_table_are_right_all_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
