# SPDX-License-Identifier: BSD-2-Clause
softmrc_fuzz(conform SOURCES fuzz_conform.c ../support/conform_link.c LINKS conform CORPUS corpus/conform)
softmrc_fuzz(conform_serve SOURCES fuzz_conform_serve.c LINKS conform CORPUS corpus/conform_serve)
