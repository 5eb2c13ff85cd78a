/* SPDX-License-Identifier: MIT */
/*
 * The names in the program's symbol table.
 */
#include "symbols.h"
#include "host.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

static struct sym *syms;
static size_t nsym;
uintptr_t bias;

static int get_bias(struct dl_phdr_info *i, size_t s, void *p)
{
	(void)s;
	(void)p;
	bias = i->dlpi_addr;
	return 1;
}

static int sym_cmp(const void *a, const void *b)
{
	uintptr_t x = ((struct sym *)a)->a, y = ((struct sym *)b)->a;
	return (x > y) - (x < y);
}

void load_syms(void)
{
	if (syms)
		return;
	dl_iterate_phdr(get_bias, NULL);
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat st;
	if (fd < 0 || fstat(fd, &st))
		return;
	char *m = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	Elf64_Ehdr *eh = (void *)m;
	Elf64_Shdr *sh = (void *)(m + eh->e_shoff);
	for (int i = 0; i < eh->e_shnum; i++)
		if (sh[i].sh_type == SHT_SYMTAB) {
			Elf64_Sym *s = (void *)(m + sh[i].sh_offset);
			size_t n = sh[i].sh_size / sizeof *s;
			char *str = m + sh[sh[i].sh_link].sh_offset;
			syms = __libc_malloc(n * sizeof *syms);
			for (size_t k = 0; k < n; k++) {
				int ty = ELF64_ST_TYPE(s[k].st_info);
				if ((ty == STT_FUNC || ty == STT_OBJECT) &&
				    s[k].st_size)
					syms[nsym++] = (struct sym){
						s[k].st_value + bias,
						s[k].st_size,
						str + s[k].st_name,
						ty == STT_FUNC};
			}
		}
	qsort(syms, nsym, sizeof *syms, sym_cmp);
}

struct sym *sym_at(uintptr_t a)
{
	size_t lo = 0, hi = nsym;
	while (lo < hi) {
		size_t m = (lo + hi) / 2;
		if (syms[m].a <= a)
			lo = m + 1;
		else
			hi = m;
	}
	return lo && a < syms[lo - 1].a + syms[lo - 1].n ? &syms[lo - 1] : NULL;
}
