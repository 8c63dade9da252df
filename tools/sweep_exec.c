/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sweep_exec.c - running cells, on this host. Safe to run twice, on two hosts, after a kill: what
 * is complete is left alone, and what is written appears whole or not at all.
 */
#include "tools/simulate.h"
#include "tools/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

struct run {
	const struct sweep_plan *plan;
	const char *dir;
	uint64_t next, of, nr; /* next cell to look at, step, cells of this chunk */
	uint64_t done, failed;
	bool progress;
	GError *error; /* no more cells are started once it is set */
};

static bool write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t n = write(fd, text, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		text += n;
		left -= (size_t)n;
	}
	return true;
}

/* Host and process keep the writers of one cell apart. */
static bool write_atomically(const char *path, const char *text, GError **error)
{
	char *temporary = g_strdup_printf("%s.tmp.%s.%d", path, g_get_host_name(), (int)getpid());
	char *folder = g_path_get_dirname(path);
	int fd, code = 0;

	g_mkdir_with_parents(folder, 0777);
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || !write_all(fd, text) || fsync(fd) != 0)
		code = errno;
	if (fd >= 0 && close(fd) != 0 && !code)
		code = errno;
	if (!code && g_rename(temporary, path) != 0)
		code = errno;
	if (code) {
		g_set_error(error, RS_ERROR, RS_ERROR_OUTPUT, "cannot write %s: %s", path,
			    g_strerror(code));
		g_unlink(temporary);
	}
	g_free(folder);
	g_free(temporary);
	return code == 0;
}

/* The next cell of the chunk that has no result. */
static bool next_cell(void *arg, struct job *ret)
{
	struct run *run = arg;

	for (; run->next < run->plan->nr_cells && !run->error; run->next += run->of) {
		struct sweep_cell *cell = g_new0(struct sweep_cell, 1);

		if (!sweep_cell_init(run->plan, run->next, cell, &run->error)) {
			g_free(cell);
			return false;
		}
		if (sweep_cell_done(run->dir, cell->id)) {
			run->done++;
			sweep_cell_clear(cell);
			g_free(cell);
			continue;
		}
		ret->trace = cell->trace;
		ret->policy = cell->policy;
		ret->scenario = cell->scenario;
		ret->data = cell;
		run->next += run->of;
		return true;
	}
	return false;
}

static void keep_result(void *arg, struct job *job)
{
	struct run *run = arg;
	struct sweep_cell *cell = job->data;
	char *failed = sweep_cell_path(run->dir, cell->id, "failed");
	GError *error = NULL;

	if (job->text) {
		char *path = sweep_cell_path(run->dir, cell->id, "json");

		if (write_atomically(path, job->text, &error)) {
			g_unlink(failed);
			run->done++;
		}
		g_free(path);
	} else {
		char *text = g_strconcat(job->error->message, "\n", NULL);

		write_atomically(failed, text, &error);
		g_free(text);
		run->failed++;
	}
	if (error && !run->error)
		g_propagate_error(&run->error, error);
	else
		g_clear_error(&error);
	simulate_progress(run->progress, run->done + run->failed, run->nr);
	jobs_clear(job, 1);
	sweep_cell_clear(cell);
	g_free(cell);
	g_free(failed);
}

bool sweep_exec(const struct sweep_plan *plan, const char *dir, uint64_t chunk, uint64_t of,
		unsigned parallel, bool progress, uint64_t *ret_done, uint64_t *ret_failed,
		GError **error)
{
	struct run run = {
		.plan = plan, .dir = dir, .next = chunk, .of = of, .progress = progress
	};

	run.nr = chunk < plan->nr_cells ? (plan->nr_cells - chunk + of - 1) / of : 0;
	simulate_pool(parallel, next_cell, keep_result, &run);
	if (run.error) {
		g_propagate_error(error, run.error);
		return false;
	}
	*ret_done = run.done;
	*ret_failed = run.failed;
	return true;
}

bool sweep_status(const struct sweep_plan *plan, const char *dir, struct sweep_counts *ret,
		  GError **error)
{
	struct sweep_counts counts = { 0 };

	for (uint64_t i = 0; i < plan->nr_cells; i++) {
		struct sweep_cell cell;
		char *failed;

		if (!sweep_cell_init(plan, i, &cell, error))
			return false;
		failed = sweep_cell_path(dir, cell.id, "failed");
		if (sweep_cell_done(dir, cell.id))
			counts.done++;
		else if (g_file_test(failed, G_FILE_TEST_EXISTS))
			counts.failed++;
		else
			counts.missing++;
		g_free(failed);
		sweep_cell_clear(&cell);
	}
	*ret = counts;
	return true;
}
