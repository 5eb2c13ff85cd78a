/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/process.h"

struct process process = {.generation = 1};
