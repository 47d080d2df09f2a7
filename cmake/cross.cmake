# SPDX-License-Identifier: BSD-2-Clause
#
# Another machine, seen from Debian: its cross compiler, qemu to run what that makes, and cmocka and
# jansson below build/cross-libs (tools/cross-libs). The presets cross-* set the three variables.
#
#   SOFTMRC_CROSS_PROCESSOR   as uname and qemu call it: aarch64, s390x
#   SOFTMRC_CROSS_TRIPLET     as gcc calls it: aarch64-linux-gnu
#   SOFTMRC_CROSS_DEBIAN      as Debian calls it: arm64
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SOFTMRC_CROSS_PROCESSOR SOFTMRC_CROSS_TRIPLET
	SOFTMRC_CROSS_DEBIAN)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${SOFTMRC_CROSS_PROCESSOR})
set(CMAKE_C_COMPILER ${SOFTMRC_CROSS_TRIPLET}-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE ${SOFTMRC_CROSS_TRIPLET})

# Debian keeps the C library of the other machine below /usr/<triplet>.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${SOFTMRC_CROSS_PROCESSOR} -L /usr/${SOFTMRC_CROSS_TRIPLET})

set(CMAKE_FIND_ROOT_PATH ${CMAKE_CURRENT_LIST_DIR}/../build/cross-libs/${SOFTMRC_CROSS_DEBIAN}
	/usr/${SOFTMRC_CROSS_TRIPLET})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
