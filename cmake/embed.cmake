# SPDX-License-Identifier: BSD-2-Clause
#
# cmake -D FILE=<in> -D OUT=<out.c> -D SYMBOL=<name> -P embed.cmake
#
# Writes a C file that defines the bytes of a file: const unsigned char <name>[], and their number:
# const size_t <name>_bytes.
file(READ ${FILE} hex HEX)
string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
file(WRITE ${OUT} "/* Made by cmake/embed.cmake. */\n#include <stddef.h>\n\n"
	"extern const unsigned char ${SYMBOL}[];\nextern const size_t ${SYMBOL}_bytes;\n"
	"const unsigned char ${SYMBOL}[] __attribute__((aligned(8))) = {\n${hex}\n};\n"
	"const size_t ${SYMBOL}_bytes = sizeof(${SYMBOL});\n")
