/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - the program reclaimsim.
 */
#include "tools/tools.h"

#include <locale.h>

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	return command_dispatch(rs_commands, "", argc, argv);
}
