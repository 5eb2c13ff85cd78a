/* SPDX-License-Identifier: MIT */
/*
 * The names in the program's symbol table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sym {
	uintptr_t a;
	size_t n;
	const char *name;
	bool fn;
};

/* How far the program is from where it was linked to. */
extern uintptr_t bias;

void load_syms(void);

/* The function or object at a, or NULL. */
struct sym *sym_at(uintptr_t a);
