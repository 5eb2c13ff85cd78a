/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/symbol.h"

#include <dlfcn.h>

bool symbol_find(const void *address, struct symbol *ret)
{
	const char *at = address;
	Dl_info i;

	if (dladdr(address, &i) == 0)
		return false;
	*ret = (struct symbol){
		.file = i.dli_fname,
		.in_file = (size_t)(at - (const char *)i.dli_fbase),
		.name = i.dli_sname,
	};
	if (i.dli_sname)
		ret->in_name = (size_t)(at - (const char *)i.dli_saddr);
	return true;
}
