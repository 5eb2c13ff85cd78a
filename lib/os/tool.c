/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/tool.h"

const struct tool *tool_found;

/* Runs before constructors that might use this library. */
__attribute__((CONSTRUCTOR_FIRST)) static void find_tool(void)
{
	tool_found = tool_tsan();
	if (!tool_found)
		tool_found = tool_valgrind();
}
