# SPDX-License-Identifier: BSD-2-Clause
#
# Run by the build: writes text files into a C file, as an array of struct mb_named_text.
#   cmake -DOUT=f.c -DARRAY=ms_presets -DFILES=a;b -P embed_text.cmake
set(texts)
set(rows)
foreach(file IN LISTS FILES)
	cmake_path(GET file STEM name)
	string(MAKE_C_IDENTIFIER ${name} id)
	file(READ ${file} bytes HEX)
	string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}") # a char, whatever its sign
	string(REGEX REPLACE "((.......){15})" "\\1\n\t" bytes "${bytes}")
	file(READ ${file} about)
	string(REGEX MATCH "^# ([^\n]*)" about "${about}")
	string(REGEX REPLACE "([\"\\\\])" "\\\\\\1" about "${CMAKE_MATCH_1}")
	string(APPEND texts "static const char text_${id}[] = {\n\t${bytes}0};\n")
	string(APPEND rows "\t{\"${name}\", text_${id}, \"${about}\"},\n")
endforeach()
file(WRITE ${OUT} "/* Made by cmake/embed_text.cmake. */\n#include \"base/named_text.h\"\n\n"
	"extern const struct mb_named_text ${ARRAY}[];\n\n${texts}\n"
	"const struct mb_named_text ${ARRAY}[] = {\n${rows}\t{0, 0, 0},\n};\n")
