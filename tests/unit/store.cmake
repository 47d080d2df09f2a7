# SPDX-License-Identifier: BSD-2-Clause
foreach(name store_format store_hints store_read store_watch store_write)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS store LABELS unit)
endforeach()
set(writers_calls unlinkat renameat fchmod flock openat write)
list(TRANSFORM writers_calls PREPEND LINKER:--wrap=)
target_link_options(unit_store_write PRIVATE ${writers_calls})
target_link_options(unit_store_watch PRIVATE LINKER:--wrap=inotify_init1)
