/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keep.c - one JSON object: key of the case to its snapshots.
 */
#include "keep.h"

#include "sim/base/json.h"

bool keep_write(const GPtrArray *cases, const char *path, GError **error)
{
	json_t *root = json_object();
	int status;

	for (guint i = 0; i < cases->len; i++) {
		const struct truth_case *c = cases->pdata[i];

		if (c->sim)
			json_object_set_new(root, c->key, obs_save(c->sim));
	}
	status = json_dump_file(root, path, JSON_INDENT(0));
	json_decref(root);
	if (status)
		g_set_error(error, RS_ERROR, RS_ERROR_OUTPUT, "%s: cannot write", path);
	return !status;
}

bool keep_read(GPtrArray *cases, const char *path, GError **error)
{
	struct rs_json *kept = rs_json_load(path, error);

	if (!kept)
		return false;
	for (guint i = 0; i < cases->len; i++) {
		struct truth_case *c = cases->pdata[i];
		const json_t *saved = json_object_get(kept->root, c->key);

		if (saved)
			c->sim = obs_load(saved);
	}
	rs_json_free(kept);
	return true;
}
