/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cm.h - CMocka with the headers it wants before it.
 */
#ifndef TESTS_LIB_CM_H
#define TESTS_LIB_CM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include <string.h>

/* The error is set and its text contains part; clears it. */
static inline void assert_error(GError **error, const char *part)
{
	assert_non_null(*error);
	if (!strstr((*error)->message, part))
		fail_msg("error \"%s\" does not contain \"%s\"", (*error)->message, part);
	g_clear_error(error);
}

/* No error; prints it otherwise. */
static inline void assert_no_error(const GError *error)
{
	if (error)
		fail_msg("unexpected error: %s", error->message);
}

#endif
