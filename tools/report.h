/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.h - a comparison as one HTML page that opens from disk, without network or scripts.
 */
#ifndef TOOLS_REPORT_H
#define TOOLS_REPORT_H

#include "tools/compare.h"

/* Write DIR/index.html: the table, pictures, settings, provenance. trace: its name for the title.
 */
bool report_write(const struct comparison *comparison, const char *dir, const char *trace,
		  GError **error);

#endif
