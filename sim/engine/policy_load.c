/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policy_load.c - from "NAME:param=value,..." or the path of a plug-in to a policy that can run.
 */
#include "sim/base/units.h"
#include "sim/engine/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct rs_policy_ops *find_builtin(const char *name)
{
	const struct rs_policy_ops *ops;

	for (unsigned i = 0; (ops = rs_policy_builtin(i)); i++)
		if (!strcmp(ops->name, name))
			return ops;
	return NULL;
}

static const struct rs_policy_ops *load_module(struct rs_ctx *ctx, const char *path, GError **error)
{
	gpointer symbol = NULL;

	if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "policy %s: no such file", path);
		return NULL;
	}
	ctx->module = g_module_open(path, G_MODULE_BIND_LOCAL);
	if (!ctx->module) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "policy %s: %s", path,
			    g_module_error());
		return NULL;
	}
	if (!g_module_symbol(ctx->module, "rs_policy_ops", &symbol) || !symbol) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "policy %s: does not export rs_policy_ops (see policies/template)",
			    path);
		return NULL;
	}
	return symbol;
}

static bool check_params(const struct rs_policy_ops *ops, GError **error)
{
	for (const struct rs_param *p = ops->params; p && p->name; p++) {
		bool twice = false;

		for (const struct rs_param *q = ops->params; q != p; q++)
			twice |= !strcmp(p->name, q->name);
		if (twice || !p->doc || p->min > p->max || p->def < p->min || p->def > p->max ||
		    p->offset + sizeof(int64_t) > ops->params_size) {
			g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
				    "policy %s: bad row '%s' in its table of parameters", ops->name,
				    p->name);
			return false;
		}
	}
	return true;
}

/* Before any call: version, size, what is required. */
static bool check_ops(const struct rs_policy_ops *ops, const char *spec, GError **error)
{
	if (ops->abi != RS_POLICY_ABI || ops->size != sizeof(*ops)) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "policy %s: built for another version of policy.h (ABI %u, %u bytes; "
			    "this is ABI %u, "
			    "%zu bytes): build it again",
			    spec, ops->abi, ops->size, RS_POLICY_ABI, sizeof(*ops));
		return false;
	}
	if (!ops->name || !ops->add || !ops->del || !ops->shrink_lruvec || !ops->nr_lists ||
	    ops->nr_lists > 256) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "policy %s: lacks one of name, nr_lists (1 to 256), add, del, "
			    "shrink_lruvec",
			    spec);
		return false;
	}
	return check_params(ops, error);
}

static const struct rs_param *find_param(const struct rs_policy_ops *ops, const char *name)
{
	for (const struct rs_param *p = ops->params; p && p->name; p++)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

static bool set_param(struct rs_ctx *ctx, const char *text, GError **error)
{
	g_auto(GStrv) pair = g_strsplit(text, "=", 2);
	const struct rs_param *p = pair[0] ? find_param(ctx->ops, pair[0]) : NULL;
	char *end = NULL;
	int64_t value;

	if (!p || !pair[1]) {
		g_autoptr(GString) names = g_string_new(NULL);

		for (const struct rs_param *q = ctx->ops->params; q && q->name; q++)
			g_string_append_printf(names, "%s%s", names->len ? ", " : "", q->name);
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "policy %s: '%s' is no parameter=value; it has: %s", ctx->ops->name,
			    text, names->len ? names->str : "none");
		return false;
	}
	errno = 0;
	value = strtoll(pair[1], &end, 10);
	if (errno || end == pair[1] || *end || value < p->min || value > p->max) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "policy %s: %s=%s: an integer from %" PRId64 " to %" PRId64
			    " is wanted",
			    ctx->ops->name, p->name, pair[1], p->min, p->max);
		return false;
	}
	*(int64_t *)((char *)ctx->params + p->offset) = value;
	return true;
}

static bool set_params(struct rs_ctx *ctx, const char *text, GError **error)
{
	g_auto(GStrv) parts = text ? g_strsplit(text, ",", -1) : NULL;

	ctx->params = g_malloc0(MAX(ctx->ops->params_size, 1));
	for (const struct rs_param *p = ctx->ops->params; p && p->name; p++)
		*(int64_t *)((char *)ctx->params + p->offset) = p->def;
	for (unsigned i = 0; parts && parts[i]; i++)
		if (!set_param(ctx, parts[i], error))
			return false;
	return true;
}

/* Where a policy cannot run. contract.md section 2. */
static bool check_kernel(struct rs_ctx *ctx, GError **error)
{
	if (!strcmp(ctx->ops->name, "hitshield") && ctx->cfg.kernel < RS_KERNEL_6_1) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "policy hitshield needs the page-table walks of kernel 6.1 or newer, "
			    "not 5.18");
		return false;
	}
	return true;
}

static void unknown_policy(const char *name, GError **error)
{
	const char *names[16] = { NULL }, *nearest;

	for (unsigned i = 0; i + 1 < G_N_ELEMENTS(names) && rs_policy_builtin(i); i++)
		names[i] = rs_policy_builtin(i)->name;
	nearest = rs_nearest(name, names);
	if (nearest)
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "unknown policy \"%s\", did you mean \"%s\"?", name, nearest);
	else
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "unknown policy \"%s\", see \"reclaimsim list policies\"", name);
}

bool policy_load(struct rs_ctx *ctx, const char *spec, GError **error)
{
	const char *colon = strrchr(spec, ':');
	bool path = strchr(spec, '/') || g_str_has_suffix(spec, ".so") || strstr(spec, ".so:");
	g_autofree char *name = colon ? g_strndup(spec, colon - spec) : g_strdup(spec);

	ctx->ops = path ? load_module(ctx, name, error) : find_builtin(name);
	if (!ctx->ops) {
		if (!path)
			unknown_policy(name, error);
		return false;
	}
	return check_ops(ctx->ops, spec, error) && check_kernel(ctx, error) &&
	       set_params(ctx, colon ? colon + 1 : NULL, error);
}

void policy_unload(struct rs_ctx *ctx)
{
	g_free(ctx->params);
	g_free(ctx->policy_priv);
	if (ctx->module)
		g_module_close(ctx->module);
}
