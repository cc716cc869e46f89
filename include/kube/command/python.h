/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts that a command contains, `python -c SCRIPT`. False if the command has
 * none, or runs anything else. */
#ifndef KUBE_PYTHON_H
#define KUBE_PYTHON_H

#include "kube/object.h"

/* True if the script can use no device, because it only imports modules such as
 * time. */
bool container_script_is_plain(const struct container *c);
/* True if the script is one process, which may use devices but exchanges no
 * data through shared memory. */
bool container_script_is_one_process(const struct container *c);

#endif
