/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_measure.c - costs as this host has them, as a machine file for --machine.
 */
#include "tools/measure.h"
#include "tools/tools.h"

#include <jansson.h>
#include <string.h>

#define DATA_PAGES 512u /* at most */

static char *output_path, *data_path;
static int repeats = 5;

static const GOptionEntry options[] = {
	{ "output", 'o', 0, G_OPTION_ARG_FILENAME, &output_path,
	  "write there instead of standard output", "FILE" },
	{ "repeats", 'n', 0, G_OPTION_ARG_INT, &repeats,
	  "measure everything that often and take the median (default 5)", "N" },
	{ "data", 0, 0, G_OPTION_ARG_FILENAME, &data_path,
	  "pages to compress; default: this program's own file", "FILE" },
	{ 0 },
};

/* Costs are whole nanoseconds, and nothing is free. */
static json_int_t whole(double ns)
{
	return ns < 1 ? 1 : (json_int_t)(ns + 0.5);
}

static char *tenths(double ns)
{
	return g_strdup_printf("%" G_GINT64_FORMAT ".%d", (gint64)ns, (int)(ns * 10) % 10);
}

static json_t *value_json(const struct measure *m, const struct measured *value)
{
	g_autofree char *min = tenths(value->min), *median = tenths(value->median);

	return json_pack("{s:s, s:s, s:s, s:s, s:i}", "class", "measured", "what", m->doc, "min_ns",
			 min, "median_ns", median, "repeats", repeats);
}

static void add_sizes(json_t *comment, const struct measure_data *data)
{
	static const char *const algorithm[] = { "lz4", "lzo", "zstd" };
	json_t *sizes = json_object();

	for (unsigned i = 0; i < G_N_ELEMENTS(algorithm); i++) {
		double bytes = measure_compressed_bytes(algorithm[i], data);

		if (bytes > 0)
			json_object_set_new(sizes, algorithm[i], json_integer(whole(bytes)));
	}
	json_object_set_new(comment, "compressed_bytes_of_a_page", sizes);
}

static json_t *measure_all(const struct measure_data *data)
{
	json_t *root = json_object(), *comment = json_object(), *values = json_object();
	unsigned n;
	const struct measure *m = measures(&n);

	json_object_set_new(root, "comment", comment);
	json_object_set_new(comment, "by", json_string("reclaimsim measure " RS_VERSION));
	json_object_set_new(comment, "values", values);
	for (unsigned i = 0; i < n; i++) {
		struct measured value;

		if (!measure_run(&m[i], data, (unsigned)repeats, &value)) {
			command_warn("%s: cannot be measured here", m[i].setting);
			continue;
		}
		json_object_set_new(values, m[i].setting, value_json(&m[i], &value));
		json_object_set_new(root, m[i].setting, json_integer(whole(value.median)));
	}
	add_sizes(comment, data);
	return root;
}

static int run(int argc, char **argv)
{
	g_autoptr(GMappedFile) file = NULL;
	g_autofree char *text = NULL;
	struct measure_data data;
	GError *error = NULL;
	json_t *root;
	char *dump;

	if (argc > 1)
		return command_usage("\"%s\": measure takes options only", argv[1]);
	if (repeats < 1 || repeats > (int)MEASURE_MAX_REPEATS)
		return command_usage("--repeats %d: 1 to %u", repeats, MEASURE_MAX_REPEATS);
	file = g_mapped_file_new(data_path ? data_path : "/proc/self/exe", FALSE, &error);
	if (!file)
		return command_fail(error);
	data = (struct measure_data){ (const uint8_t *)g_mapped_file_get_contents(file),
				      MIN(g_mapped_file_get_length(file) / 4096, DATA_PAGES) };
	if (!data.nr_pages)
		return command_usage("--data %s: less than one page of 4096 bytes", data_path);
	root = measure_all(&data);
	dump = json_dumps(root, JSON_INDENT(2));
	json_decref(root);
	text = g_strconcat(dump, "\n", NULL);
	free(dump);
	if (!output_path)
		fputs(text, stdout);
	else if (!output_write(output_path, text, &error))
		return command_fail(error);
	return EXIT_FINE;
}

const struct rs_command cmd_measure = {
	.name = "measure",
	.arguments = "[OPTION...]",
	.summary = "measure costs on this host and write them as a machine file",
	.about = "Measured is what user space can: page table scans and list moves on arrays of "
		 "its\n"
		 "own, faults of anonymous memory, unmapping, reads of a cached file, and zram's\n"
		 "algorithms through their libraries (lzo-rle exists in the kernel only). Nothing "
		 "is\n"
		 "changed on the host. Values differ from run to run as the host's load does.",
	.example = "  reclaimsim measure -o host.json\n"
		   "  reclaimsim run TRACE -p mglru --machine host.json -m 64M",
	.options = options,
	.run = run,
};
