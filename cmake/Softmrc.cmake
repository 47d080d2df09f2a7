# SPDX-License-Identifier: BSD-2-Clause
#
# The vocabulary of the build: each folder describes itself with one or two of these calls.
#
#   softmrc_module(<name> [EXCEPT f.c...] [SOURCES f.c...] [LINKS module|target...])
#       static library softmrc-<name>, position independent, nothing exported; made of all C files
#       of its folder and the folders in it, less EXCEPT, and SOURCES, which other commands make
#   softmrc_shared(<name> OUTPUT <soname> VERSION <n> MAP <file> [SOURCES f.c...] [OBJECTS target...]
#           [LINKS ...] [DIR <sub>])
#       shared library softmrc-<name> written to lib/<DIR>/lib<soname>.so.<n>; exports what MAP
#       lists; without SOURCES made of all C files of its folder, and whole of OBJECTS
#   softmrc_archive(<name> OUTPUT <name of the file> [SOURCES object...] [OBJECTS target...])
#       static library lib/lib<OUTPUT>.a, made of objects, those of other targets whole
#   softmrc_program(<name> SOURCES f.c... [LINKS ...])          bin/<name>
#   softmrc_example(<name> SOURCES f.c... [LINKS ...])          lib/softmrc/examples/<name>
#   softmrc_test(<name> SOURCES f.c... [LINKS ...] [LABELS ...] [ARGS ...] [TIMEOUT s])
#       cmocka binary with tests/support, run by ctest
#   softmrc_command_test(<name> COMMAND ... [LABELS ...] [TIMEOUT s] [WORKING_DIRECTORY dir])
#       a target or any other command, run by ctest; it prints TAP, too
#   softmrc_fuzz(<name> SOURCES f.c... [LINKS ...] [CORPUS dir])
#       libFuzzer binary in the fuzz preset, corpus replay under ctest elsewhere
#   softmrc_bench(<name> SOURCES f.c... [LINKS ...])
#       benches/<name>, built by the target `benches`; `make bench` runs them one after the other
#
# LINKS takes module names (base, wire, core, ...) and ordinary targets (Threads::Threads,
# softmrc_jansson). Where outputs go: bin/ and lib/ below SOFTMRC_OUTPUT_DIR.

# The same layout for every prefix: programs find lib/softmrc/ and libmrc relative to themselves.
set(CMAKE_INSTALL_LIBDIR lib CACHE STRING "Folder of libraries below the prefix")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
	message(FATAL_ERROR "CMAKE_INSTALL_LIBDIR is ${CMAKE_INSTALL_LIBDIR}: want a folder below the "
		"prefix, such as lib or lib64")
endif()
include(GNUInstallDirs)
find_package(Threads REQUIRED)

set(SOFTMRC_OUTPUT_DIR ${PROJECT_BINARY_DIR} CACHE PATH "Folder that gets bin/ and lib/")
set(SOFTMRC_MODULES base wire fabric map prober core ud io stats node store host libmrc libibverbs switchq sim lab ui exporter mrcd study demo conform cli)
# These see no operating system: no _GNU_SOURCE, no fortified libc, only the four freestanding headers.
set(SOFTMRC_PURE_MODULES base wire core)
# What these compute takes no time that anybody would notice.
set(SOFTMRC_WAITING_MODULES store node prober lab ui exporter mrcd study demo conform cli)
set(SOFTMRC_MODULES_BUILT ${SOFTMRC_MODULES})
if(SOFTMRC_PURE_ONLY)
	set(SOFTMRC_MODULES_BUILT ${SOFTMRC_PURE_MODULES})
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
if(SOFTMRC_COVERAGE AND NOT SOFTMRC_PURE_ONLY)
	# gcc writes counts before exec where it knows the function, which C11 alone does not have.
	set(CMAKE_C_EXTENSIONS ON)
endif()
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

# Every target links this: warnings, sanitizers and the two include roots.
add_library(softmrc_flags INTERFACE)
target_include_directories(softmrc_flags INTERFACE ${PROJECT_SOURCE_DIR}/src
	${PROJECT_SOURCE_DIR}/include)
target_compile_options(softmrc_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
	-Wswitch-enum -Wmissing-prototypes -Wvla $<$<BOOL:${SOFTMRC_WERROR}>:-Werror>)
# At -O2 the type-based alias analysis of GCC 12 takes a link inside a struct, read in a loop, for
# unlike the struct mb_link that is written there, though both are of that type: tests/unit/unit_list.c
# has the loop. It costs nothing: bench/core executes 0.6 % fewer instructions a packet with it.
target_compile_options(softmrc_flags INTERFACE -fno-strict-aliasing)
# A section a function and a datum: each reference between two of them is a relocation, from which
# tools/callgraph.py reads the call graph.
target_compile_options(softmrc_flags INTERFACE
	$<$<CONFIG:Debug>:-ffunction-sections -fdata-sections>)
# Hundreds of tests are linked, and gold takes a third of the time that ld takes. What clang's sanitizers bring makes
# it complain.
set(SOFTMRC_GOLD OFF)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
	include(CheckLinkerFlag)
	check_linker_flag(C -fuse-ld=gold SOFTMRC_LINKS_WITH_GOLD)
	set(SOFTMRC_GOLD ${SOFTMRC_LINKS_WITH_GOLD})
endif()
if(SOFTMRC_SANITIZE)
	target_compile_options(softmrc_flags INTERFACE -fsanitize=${SOFTMRC_SANITIZE}
		-fno-sanitize-recover=all -fno-omit-frame-pointer)
	target_link_options(softmrc_flags INTERFACE -fsanitize=${SOFTMRC_SANITIZE})
endif()
if(SOFTMRC_COVERAGE)
	target_link_options(softmrc_flags INTERFACE --coverage)
	if(NOT SOFTMRC_PURE_ONLY)
		target_compile_options(softmrc_flags INTERFACE --coverage)
		target_sources(softmrc_flags INTERFACE
			$<$<NOT:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,STATIC_LIBRARY>>:${PROJECT_SOURCE_DIR}/tests/coverage/count_to_the_end.c>)
		target_link_options(softmrc_flags INTERFACE
			LINKER:--export-dynamic-symbol=softmrc_count_to_the_end)
	endif()
endif()
if(SOFTMRC_FUZZ)
	target_compile_options(softmrc_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
# Only gcc 12 has what this rests on; other compilers build without it.
if(SOFTMRC_LTO AND NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
	set(SOFTMRC_LTO OFF)
endif()
if(SOFTMRC_LTO)
	# Fat objects: programs are optimised as a whole, while tests link the same archives quickly and
	# the symbol checks read real machine code.
	target_compile_options(softmrc_flags INTERFACE
		"$<$<NOT:$<BOOL:$<TARGET_PROPERTY:SOFTMRC_WITHOUT_LTO>>>:-flto=auto;-ffat-lto-objects>")
endif()

# The extra flags of the modules that may use the operating system.
add_library(softmrc_os_flags INTERFACE)
target_compile_definitions(softmrc_os_flags INTERFACE _GNU_SOURCE
	$<$<CONFIG:Release>:_FORTIFY_SOURCE=2>)

# Without jansson there are the libraries, the drop-in, the engine and the examples.
find_path(JANSSON_INCLUDE_DIR jansson.h)
find_library(JANSSON_LIBRARY jansson)
set(SOFTMRC_JANSSON_FOUND OFF)
if(SOFTMRC_JANSSON AND JANSSON_INCLUDE_DIR AND JANSSON_LIBRARY)
	set(SOFTMRC_JANSSON_FOUND ON)
	add_library(softmrc_jansson INTERFACE)
	target_include_directories(softmrc_jansson SYSTEM INTERFACE ${JANSSON_INCLUDE_DIR})
	target_link_libraries(softmrc_jansson INTERFACE ${JANSSON_LIBRARY})
else()
	message(STATUS "no command mrc and no daemon, which need jansson.h and libjansson: "
		"apt-get install libjansson-dev, then configure again")
	list(REMOVE_ITEM SOFTMRC_MODULES_BUILT sim lab ui exporter study demo conform mrcd cli)
endif()

find_path(MNL_INCLUDE_DIR libmnl/libmnl.h)
find_library(MNL_LIBRARY mnl)
if(MNL_INCLUDE_DIR AND MNL_LIBRARY)
	add_library(softmrc_mnl INTERFACE)
	target_include_directories(softmrc_mnl SYSTEM INTERFACE ${MNL_INCLUDE_DIR})
	target_link_libraries(softmrc_mnl INTERFACE ${MNL_LIBRARY})
elseif(NOT SOFTMRC_PURE_ONLY)
	message(FATAL_ERROR "libmnl.h or libmnl not found: run tools/deps, "
		"or apt-get install libmnl-dev")
endif()

find_path(SYSTEMD_INCLUDE_DIR systemd/sd-daemon.h)
find_library(SYSTEMD_LIBRARY systemd)
if(SOFTMRC_SYSTEMD AND SYSTEMD_INCLUDE_DIR AND SYSTEMD_LIBRARY)
	add_library(softmrc_systemd INTERFACE)
	target_include_directories(softmrc_systemd SYSTEM INTERFACE ${SYSTEMD_INCLUDE_DIR})
	target_link_libraries(softmrc_systemd INTERFACE ${SYSTEMD_LIBRARY})
else()
	message(STATUS "no daemon mrcd, which needs libsystemd: apt-get install libsystemd-dev")
	list(REMOVE_ITEM SOFTMRC_MODULES_BUILT mrcd)
endif()

find_path(IBVERBS_INCLUDE_DIR infiniband/verbs.h)
if(NOT IBVERBS_INCLUDE_DIR AND NOT SOFTMRC_PURE_ONLY)
	message(FATAL_ERROR "infiniband/verbs.h not found: run tools/deps, "
		"or apt-get install libibverbs-dev")
endif()

# Turns module names into target names; everything else passes through.
function(softmrc_resolve out)
	set(result)
	foreach(item IN LISTS ARGN)
		if(item IN_LIST SOFTMRC_MODULES)
			list(APPEND result softmrc-${item})
		else()
			list(APPEND result ${item})
		endif()
	endforeach()
	set(${out} ${result} PARENT_SCOPE)
endfunction()

# Everything but tests and benches.
add_custom_target(products)

function(softmrc_check_arguments caller name)
	if(NOT arg_SOURCES)
		message(FATAL_ERROR "${caller}(${name}): SOURCES is missing")
	endif()
	if(arg_UNPARSED_ARGUMENTS)
		message(FATAL_ERROR "${caller}(${name}): unknown: ${arg_UNPARSED_ARGUMENTS}")
	endif()
endfunction()

# All C files of the calling folder and the folders in it. CONFIGURE_DEPENDS: a file that is added
# or moved is noticed by the next build.
function(softmrc_folder_sources out)
	file(GLOB_RECURSE files RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.c)
	list(REMOVE_ITEM files "" ${ARGN})
	set(${out} ${files} PARENT_SCOPE)
endfunction()

function(softmrc_module name)
	cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT;SOURCES;LINKS")
	softmrc_folder_sources(files ${arg_EXCEPT})
	list(APPEND arg_SOURCES ${files})
	softmrc_check_arguments(softmrc_module ${name})
	softmrc_resolve(links ${arg_LINKS})
	add_library(softmrc-${name} STATIC ${arg_SOURCES})
	target_link_libraries(softmrc-${name} PUBLIC softmrc_flags ${links})
	if(NOT name IN_LIST SOFTMRC_PURE_MODULES)
		target_link_libraries(softmrc-${name} PRIVATE softmrc_os_flags)
	endif()
	# Without what tests them, which nobody counts and which takes most of the time.
	if(SOFTMRC_COVERAGE AND SOFTMRC_PURE_ONLY)
		target_compile_options(softmrc-${name} PRIVATE -O0 --coverage)
	endif()
	# With sanitizers half of a compiler's time is that of its optimiser, and optimising across files takes
	# longer than all else that a release build does.
	if(name IN_LIST SOFTMRC_WAITING_MODULES)
		target_compile_options(softmrc-${name} PRIVATE $<$<CONFIG:Debug>:-O0>)
		set_target_properties(softmrc-${name} PROPERTIES SOFTMRC_WITHOUT_LTO ON)
	endif()
	add_dependencies(products softmrc-${name})
endfunction()

# Puts text files into a module as `const struct mb_named_text ARRAY[]`.
function(softmrc_embed_texts name array)
	set(out ${CMAKE_CURRENT_BINARY_DIR}/${array}.c)
	add_custom_command(OUTPUT ${out}
		COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DARRAY=${array} "-DFILES=${ARGN}"
			-P ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
		DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake VERBATIM)
	target_sources(softmrc-${name} PRIVATE ${out})
endfunction()

function(softmrc_shared name)
	cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT;VERSION;MAP;DIR" "SOURCES;OBJECTS;LINKS")
	if(NOT arg_SOURCES)
		softmrc_folder_sources(arg_SOURCES)
	endif()
	list(TRANSFORM arg_OBJECTS REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
	list(APPEND arg_SOURCES ${arg_OBJECTS})
	softmrc_check_arguments(softmrc_shared ${name})
	softmrc_resolve(links ${arg_LINKS})
	cmake_path(ABSOLUTE_PATH arg_MAP)
	add_library(softmrc-${name} SHARED ${arg_SOURCES})
	# Static modules inside a shared library are its own business: PRIVATE keeps users from linking
	# a second copy of them.
	target_link_libraries(softmrc-${name} PRIVATE softmrc_flags softmrc_os_flags ${links})
	target_include_directories(softmrc-${name} INTERFACE ${PROJECT_SOURCE_DIR}/include)
	target_link_options(softmrc-${name} PRIVATE LINKER:--version-script=${arg_MAP})
	set_target_properties(softmrc-${name} PROPERTIES OUTPUT_NAME ${arg_OUTPUT}
		VERSION ${arg_VERSION} SOVERSION ${arg_VERSION} LINK_DEPENDS ${arg_MAP}
		C_VISIBILITY_PRESET default # of what is compiled here MAP alone decides
		LIBRARY_OUTPUT_DIRECTORY ${SOFTMRC_OUTPUT_DIR}/lib/${arg_DIR})
	softmrc_optimise(softmrc-${name})
	install(TARGETS softmrc-${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/${arg_DIR})
	softmrc_rpath(softmrc-${name} ${CMAKE_INSTALL_LIBDIR}/${arg_DIR})
	add_dependencies(products softmrc-${name})
endfunction()

function(softmrc_archive name)
	cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT" "SOURCES;OBJECTS")
	list(TRANSFORM arg_OBJECTS REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
	add_library(softmrc-${name} STATIC ${arg_SOURCES} ${arg_OBJECTS})
	set_target_properties(softmrc-${name} PROPERTIES OUTPUT_NAME ${arg_OUTPUT} LINKER_LANGUAGE C
		ARCHIVE_OUTPUT_DIRECTORY ${SOFTMRC_OUTPUT_DIR}/lib)
	if(SOFTMRC_LTO)
		# What one compiler keeps for later no other can read; the machine code is beside it.
		add_custom_command(TARGET softmrc-${name} POST_BUILD COMMAND ${CMAKE_OBJCOPY}
			--wildcard -R .gnu.lto_* -R .gnu.debuglto_* -N __gnu_lto_slim -N __gnu_lto_v1
			$<TARGET_FILE:softmrc-${name}> VERBATIM)
	endif()
	install(TARGETS softmrc-${name} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
	add_dependencies(products softmrc-${name})
endfunction()

# Installed files find libmrc.so.1 relative to themselves, so a tree may be moved as a whole.
function(softmrc_rpath target from)
	file(RELATIVE_PATH up /${from} /${CMAKE_INSTALL_LIBDIR})
	set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${up}")
endfunction()

function(softmrc_optimise target)
	if(SOFTMRC_LTO)
		target_link_options(${target} PRIVATE -flto=auto -fuse-linker-plugin)
	endif()
endfunction()

function(softmrc_executable target output dir)
	add_executable(${target} ${arg_SOURCES})
	softmrc_resolve(links ${arg_LINKS})
	target_link_libraries(${target} PRIVATE softmrc_flags softmrc_os_flags ${links})
	set_target_properties(${target} PROPERTIES OUTPUT_NAME ${output}
		RUNTIME_OUTPUT_DIRECTORY ${SOFTMRC_OUTPUT_DIR}/${dir})
	softmrc_optimise(${target})
endfunction()

function(softmrc_program name)
	cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
	softmrc_check_arguments(softmrc_program ${name})
	softmrc_executable(softmrc-program-${name} ${name} bin)
	install(TARGETS softmrc-program-${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
	softmrc_rpath(softmrc-program-${name} ${CMAKE_INSTALL_BINDIR})
	add_dependencies(products softmrc-program-${name})
endfunction()

function(softmrc_example name)
	cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
	softmrc_check_arguments(softmrc_example ${name})
	set(dir softmrc/examples)
	softmrc_executable(softmrc-example-${name} ${name} lib/${dir})
	install(TARGETS softmrc-example-${name} RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/${dir})
	softmrc_rpath(softmrc-example-${name} ${CMAKE_INSTALL_LIBDIR}/${dir})
	add_dependencies(products softmrc-example-${name})
endfunction()

# Includes <module>.cmake, in the folder of the caller, for each module that is built.
macro(softmrc_include_modules)
	file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cmake)
	foreach(file IN LISTS files)
		cmake_path(GET file STEM module)
		if(NOT module IN_LIST SOFTMRC_MODULES)
			message(FATAL_ERROR "${file}: no module of this name")
		elseif(module IN_LIST SOFTMRC_MODULES_BUILT)
			include(${file})
		endif()
	endforeach()
endmacro()

# Test binaries stay out of bin/ and are linked without LTO. Those of a folder that sets SOFTMRC_SHORT_TESTS
# run for less time than the compiler would take to make them faster.
function(softmrc_test_binary target)
	softmrc_resolve(links ${arg_LINKS})
	add_executable(${target} ${arg_SOURCES})
	target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src
		${PROJECT_SOURCE_DIR}/tests)
	target_link_libraries(${target} PRIVATE softmrc_flags softmrc_os_flags ${links})
	set_target_properties(${target} PROPERTIES SOFTMRC_WITHOUT_LTO ON)
	if(SOFTMRC_LTO)
		target_link_options(${target} PRIVATE -fno-lto)
	endif()
	if(SOFTMRC_GOLD)
		target_link_options(${target} PRIVATE -fuse-ld=gold)
	endif()
	if(SOFTMRC_SHORT_TESTS)
		target_compile_options(${target} PRIVATE $<IF:$<CONFIG:Debug>,-O0,-O1>)
	endif()
	set_target_properties(${target} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests
		EXCLUDE_FROM_ALL $<NOT:$<BOOL:${SOFTMRC_TESTS_BY_DEFAULT}>>)
endfunction()

# The runtime that a program built without sanitizers needs before all else when it is to load what
# was built with them; empty where there is none.
function(softmrc_sanitizer_runtime out)
	set(runtime "")
	if(SOFTMRC_SANITIZE MATCHES "address|thread")
		string(REGEX REPLACE ".*address.*" libasan.so library ${SOFTMRC_SANITIZE})
		string(REGEX REPLACE ".*thread.*" libtsan.so library ${library})
		execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${library}
			OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
	endif()
	set(${out} "${runtime}" PARENT_SCOPE)
endfunction()

# Live tests open the same ports, shared memory and labs. Where the rights suffice, each has
# namespaces of its own and they run side by side; elsewhere one runs at a time, with nothing beside.
set(SOFTMRC_ISOLATED ${PROJECT_SOURCE_DIR}/tests/support/isolated)
execute_process(COMMAND ${SOFTMRC_ISOLATED} true RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
if(NOT result EQUAL 0)
	set(SOFTMRC_ISOLATED "")
endif()

# What a build never runs it need not compile.
set(SOFTMRC_TESTS_WITHOUT "" CACHE STRING
	"Tests to leave out: a regular expression, of a name or of a label")
function(softmrc_test_wanted out)
	set(${out} ON PARENT_SCOPE)
	foreach(word ${ARGN})
		if(SOFTMRC_TESTS_WITHOUT AND word MATCHES "${SOFTMRC_TESTS_WITHOUT}")
			set(${out} OFF PARENT_SCOPE)
		endif()
	endforeach()
endfunction()

# One environment for every test: TAP, so that cases can be counted, and sanitizers that stop.
function(softmrc_command_test name)
	cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;WORKING_DIRECTORY" "COMMAND;LABELS")
	softmrc_test_wanted(wanted ${name} ${arg_LABELS})
	if(NOT wanted)
		return()
	endif()
	if(NOT arg_TIMEOUT)
		set(arg_TIMEOUT 120)
	endif()
	if(name IN_LIST SOFTMRC_THREADED)
		list(APPEND arg_LABELS threads)
	endif()
	set(launcher "")
	set(alone OFF)
	if("live" IN_LIST arg_LABELS)
		set(launcher ${SOFTMRC_ISOLATED})
		if(NOT launcher)
			set(alone ON)
		endif()
	endif()
	# A target alone is found, and played where it is for another machine, by ctest.
	list(POP_FRONT arg_COMMAND program)
	if(launcher AND TARGET ${program})
		set(program $<TARGET_FILE:${program}>)
	endif()
	if(NOT arg_WORKING_DIRECTORY)
		set(arg_WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
	endif()
	add_test(NAME ${name} COMMAND ${launcher} ${program} ${arg_COMMAND}
		WORKING_DIRECTORY ${arg_WORKING_DIRECTORY})
	set_property(GLOBAL APPEND PROPERTY SOFTMRC_TESTS ${name})
	# TIMEOUT is for a machine like the one that the test was written on; another may be a third as fast. What may take
	# long begins first, so that nothing long is left for the end.
	math(EXPR limit "3 * ${arg_TIMEOUT}")
	set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${limit}
		COST ${arg_TIMEOUT}
		RUN_SERIAL ${alone}
		SKIP_RETURN_CODE 77
		ENVIRONMENT "CMOCKA_MESSAGE_OUTPUT=TAP;UBSAN_OPTIONS=print_stacktrace=1")
	# Real RDMA devices that the machine may have are part of no test.
	set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT MRC_REAL_IBVERBS=off)
	# The kernel gives ports of the default range to any program that asks for one.
	if(name MATCHES "^live_")
		set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT MRC_EV_BASE=12000)
	endif()
endfunction()

function(softmrc_test name)
	cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LINKS;LABELS;ARGS")
	softmrc_check_arguments(softmrc_test ${name})
	softmrc_test_wanted(wanted ${name} ${arg_LABELS})
	if(NOT wanted)
		return()
	endif()
	list(APPEND arg_LINKS softmrc-test-support)
	softmrc_test_binary(${name})
	if("release" IN_LIST arg_LABELS)
		add_dependencies(release-tests ${name})
	endif()
	if(name IN_LIST SOFTMRC_THREADED)
		add_dependencies(threaded-tests ${name})
	endif()
	softmrc_command_test(${name} LABELS ${arg_LABELS} TIMEOUT ${arg_TIMEOUT}
		COMMAND ${name} ${arg_ARGS})
endfunction()

# Calls of these functions in the target go to its own __wrap_NAME.
function(softmrc_wrap target)
	list(TRANSFORM ARGN PREPEND LINKER:--wrap=)
	target_link_options(${target} PRIVATE ${ARGN})
endfunction()

function(softmrc_fuzz name)
	cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS;TIMEOUT" "SOURCES;LINKS")
	softmrc_check_arguments(softmrc_fuzz ${name})
	softmrc_test_wanted(wanted fuzz_${name} fuzz)
	if(NOT wanted)
		return()
	endif()
	if(SOFTMRC_FUZZ)
		softmrc_test_binary(fuzz_${name})
		target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
		set_target_properties(fuzz_${name} PROPERTIES EXCLUDE_FROM_ALL FALSE)
		return()
	endif()
	list(APPEND arg_SOURCES ${PROJECT_SOURCE_DIR}/tests/support/fuzz_replay.c
		${PROJECT_SOURCE_DIR}/tests/support/seed.c ${PROJECT_SOURCE_DIR}/tests/support/whole_run.c)
	list(APPEND arg_LINKS softmrc_cmocka)
	softmrc_test_binary(fuzz_${name})
	if(arg_CORPUS)
		cmake_path(ABSOLUTE_PATH arg_CORPUS)
	endif()
	softmrc_command_test(fuzz_${name} LABELS fuzz TIMEOUT ${arg_TIMEOUT}
		COMMAND fuzz_${name} ${arg_CORPUS})
endfunction()

add_custom_target(benches)

function(softmrc_bench name)
	cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
	softmrc_check_arguments(softmrc_bench ${name})
	softmrc_executable(bench_${name} ${name} bench)
	set_target_properties(bench_${name} PROPERTIES EXCLUDE_FROM_ALL TRUE
		RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benches)
	add_dependencies(benches bench_${name})
endfunction()
