/* SPDX-License-Identifier: BSD-2-Clause */
/* mrcd - the node daemon. */
#include "mrcd/md_serve.h"

int main(int argc, char **argv)
{
	return md_main(argc, argv);
}
