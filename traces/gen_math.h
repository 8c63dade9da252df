/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_math.h - logarithm, exponential and power that give the same bits everywhere.
 *
 * The C library's versions may differ in the last bit between libraries and processors, and one
 * such bit can move a generated access to another page. These use only the additions,
 * multiplications and divisions of IEEE 754, in pairs of doubles (106 bits), so the result is the
 * correctly rounded one except in about one case of 2^40.
 */
#ifndef TRACES_GEN_MATH_H
#define TRACES_GEN_MATH_H

double gen_log(double x);	    /* x > 0, normal number */
double gen_exp(double x);	    /* |x| < 700 */
double gen_pow(double x, double y); /* x >= 0; 0 to a positive power is 0 */
/* (x^p - 1) / p, without the loss of digits for small p; log x for p = 0. */
double gen_powm1_over(double x, double p);

#endif
