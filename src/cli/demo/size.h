/* SPDX-License-Identifier: BSD-2-Clause */
/* size.h - how large a demo this machine carries. */
#ifndef SOFTMRC_CLI_DEMO_SIZE_H
#define SOFTMRC_CLI_DEMO_SIZE_H

#include "cli/demo/options.h"
#include "cli/demo/script.h"

/* demo_size_choose fills in the shape: what the options say, else what was measured to fit. */
void demo_size_choose(struct demo_shape *shape, const struct demo_options *o);

#endif
