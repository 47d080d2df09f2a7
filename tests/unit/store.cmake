# SPDX-License-Identifier: BSD-2-Clause
foreach(name store_format store_hints store_offer store_read store_watch store_write)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS store LABELS unit)
endforeach()
softmrc_wrap(unit_store_write unlinkat renameat fchmod flock openat write close)
softmrc_wrap(unit_store_hints close fdopendir)
softmrc_wrap(unit_store_offer memfd_create write)
softmrc_wrap(unit_store_read pread)
softmrc_wrap(unit_store_watch inotify_init1 stat)
