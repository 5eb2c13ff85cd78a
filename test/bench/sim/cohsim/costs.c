/* SPDX-License-Identifier: MIT */
/*
 * The settings, and where they come from.
 */
#include "costs.h"
#include "../cohsim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X(n, v, d) double P_##n = v;
PARAMS(X)
#undef X
ps_t N_l1, N_func, N_lax, N_rmw;

static void set_params(const char *s)
{
	while (s && *s) {
		char k[32];
		double v;
		int n = 0;
		if (sscanf(s, "%31[a-z0-9_]=%lf%n", k, &v, &n) < 2) {
			fprintf(stderr, "cohsim: bad COHSIM at '%s'\n", s);
			exit(2);
		}
		if (0) {
		}
#define X(nm, d, doc) else if (!strcmp(k, #nm)) P_##nm = v;
		PARAMS(X)
#undef X
		else
		{
			fprintf(stderr, "cohsim: unknown parameter %s\n", k);
			exit(2);
		}
		s += n;
		s += *s == ',';
	}
}

void costs_set(const char *settings)
{
	if (settings && !strcmp(settings, "help")) {
#define X(nm, d, doc) printf("%-12s %10g  %s\n", #nm, P_##nm, doc);
		PARAMS(X)
#undef X
		exit(0);
	}
	if (&cohsim_settings)
		set_params(cohsim_settings);
	set_params(settings);
	N_l1 = NS(P_l1);
	N_func = NS(P_func);
	N_lax = NS(P_lax);
	N_rmw = NS(P_rmw);
}
