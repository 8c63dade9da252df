/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * error.c - the error domain of everything a user can cause, and the kernels' names.
 */
#include <reclaimsim/sim.h>

GQuark rs_error_quark(void)
{
	return g_quark_from_static_string("reclaimsim");
}

const char *rs_kernel_name(enum rs_kernel kernel)
{
	static const char *const names[RS_NR_KERNELS] = {
		[RS_KERNEL_5_18] = "5.18", [RS_KERNEL_6_1] = "6.1", [RS_KERNEL_6_12] = "6.12",
		[RS_KERNEL_6_14] = "6.14", [RS_KERNEL_7_2] = "7.2",
	};

	return kernel < RS_NR_KERNELS ? names[kernel] : NULL;
}
