# SPDX-License-Identifier: BSD-2-Clause
#
# Run by the build: writes text files into a C file, as an array of {name, text}.
#   cmake -DOUT=f.c -DHEADER=presets.h -DTYPE="struct ms_preset" -DARRAY=ms_presets -DFILES=a;b -P embed_text.cmake
set(texts)
set(rows)
foreach(file IN LISTS FILES)
	cmake_path(GET file STEM name)
	string(MAKE_C_IDENTIFIER ${name} id)
	file(READ ${file} bytes HEX)
	string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}") # a char, whatever its sign
	string(REGEX REPLACE "((.......){15})" "\\1\n\t" bytes "${bytes}")
	string(APPEND texts "static const char text_${id}[] = {\n\t${bytes}0};\n")
	string(APPEND rows "\t{\"${name}\", text_${id}},\n")
endforeach()
file(WRITE ${OUT} "/* Made by cmake/embed_text.cmake. */\n#include \"${HEADER}\"\n\n"
	"extern const ${TYPE} ${ARRAY}[];\n\n${texts}\n"
	"const ${TYPE} ${ARRAY}[] = {\n${rows}\t{0, 0},\n};\n")
