# SPDX-License-Identifier: BSD-2-Clause
softmrc_fuzz(store SOURCES fuzz_store.c LINKS store CORPUS corpus/store)
