/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version, from a file that the Makefile writes when the version changes.
 */
#include "serve.h"

#include "version.h"

const char program_version[] = GPUGATE_VERSION;
const char program_build[] = GPUGATE_BUILD;
