include_guard(GLOBAL)

# What every library may use without asking: containers, strings, status, logs.
add_library(hekla_base INTERFACE)
target_include_directories(hekla_base INTERFACE ${CMAKE_SOURCE_DIR})
target_link_libraries(hekla_base INTERFACE
  absl::base absl::core_headers absl::flat_hash_map absl::flat_hash_set absl::hash absl::inlined_vector
  absl::random_random absl::span absl::status absl::statusor absl::str_format absl::strings
  absl::synchronization absl::time glog::glog Threads::Threads)
add_library(hekla::base ALIAS hekla_base)

if(HEKLA_SANITIZE MATCHES thread)
  # Shows the sanitizer what the packaged abseil's locks order: each wrapper in the file tells it.
  set(hekla_tsan_source ${CMAKE_SOURCE_DIR}/cmake/tsan/absl_synchronization.cc)
  add_library(hekla_tsan STATIC ${hekla_tsan_source})
  target_link_libraries(hekla_tsan PRIVATE absl::synchronization absl::time)
  file(STRINGS ${hekla_tsan_source} hekla_wrapped REGEX "^HEKLA_[A-Z]+\\(")
  foreach(line IN LISTS hekla_wrapped)
    string(REGEX MATCH "_ZN[A-Za-z0-9_]+" symbol "${line}")
    target_link_options(hekla_base INTERFACE "LINKER:--wrap=${symbol}")
  endforeach()
  target_link_libraries(hekla_base INTERFACE hekla_tsan)
endif()

# Precompiled headers: one for all libraries and programs, one for test programs, whose compiler
# options differ. A target with options of its own goes without.
if(HEKLA_PCH)
  # Written once: a newer file would make every configuration a build of everything.
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch.cc CONTENT "")
  add_library(hekla_pch OBJECT ${CMAKE_BINARY_DIR}/pch.cc)
  target_link_libraries(hekla_pch PRIVATE hekla::base)
  target_precompile_headers(hekla_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.h)
  if(HEKLA_TESTS)
    add_library(hekla_pch_test OBJECT ${CMAKE_BINARY_DIR}/pch.cc)
    target_link_libraries(hekla_pch_test PRIVATE hekla::base GTest::gmock GTest::gtest)
    target_precompile_headers(hekla_pch_test PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch_test.h)
  endif()
endif()

# hekla_precompile(target [hekla_pch_test])
function(hekla_precompile target)
  set(from hekla_pch ${ARGN})
  list(GET from -1 from)
  if(HEKLA_PCH)
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()

# Adds every folder below `root` that holds a CMakeLists.txt.
function(hekla_add_folders root)
  file(GLOB_RECURSE lists CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/${root}/CMakeLists.txt
       ${CMAKE_SOURCE_DIR}/${root}/*/CMakeLists.txt)
  foreach(list IN LISTS lists)
    get_filename_component(folder ${list} DIRECTORY)
    add_subdirectory(${folder})
  endforeach()
endfunction()

# hekla_library(name [DEPS hekla::x ...] [TEST_DEPS ...] [EXTRA_DIRS sub ...] [TEST_DATA])
# One static library hekla::<name> of the folder's sources. `foo_test.cc` files form one test program
# <name>_test, `foo_bench.cc` files one benchmark program <name>_bench (where Google Benchmark is found).
function(hekla_library name)
  cmake_parse_arguments(arg "" "" "DEPS;PRIVATE_DEPS;TEST_DEPS;EXTRA_DIRS" ${ARGN})
  set(dirs "." ${arg_EXTRA_DIRS})
  set(sources)
  set(tests)
  set(benches)
  foreach(dir IN LISTS dirs)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cc)
    foreach(file IN LISTS found)
      if(file MATCHES "_test\\.cc$")
        list(APPEND tests ${file})
      elseif(file MATCHES "_bench\\.cc$")
        list(APPEND benches ${file})
      else()
        list(APPEND sources ${file})
      endif()
    endforeach()
  endforeach()
  if(sources)
    add_library(hekla_${name} STATIC ${sources})
    target_link_libraries(hekla_${name} PUBLIC hekla::base ${arg_DEPS} PRIVATE ${arg_PRIVATE_DEPS})
    hekla_precompile(hekla_${name})
  else()
    add_library(hekla_${name} INTERFACE)
    target_link_libraries(hekla_${name} INTERFACE hekla::base ${arg_DEPS})
  endif()
  add_library(hekla::${name} ALIAS hekla_${name})
  if(tests AND HEKLA_TESTS)
    hekla_test(${name}_test SOURCES ${tests} DEPS hekla::${name} ${arg_TEST_DEPS})
  endif()
  if(benches AND benchmark_FOUND)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE hekla::${name} ${arg_TEST_DEPS} benchmark::benchmark benchmark::benchmark_main)
  endif()
endfunction()

# hekla_sanitizer_options(test): what sanitizers are to pass over, for the test and all it starts.
function(hekla_sanitizer_options name)
  if(HEKLA_SANITIZE MATCHES address)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
      "LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/cmake/asan/leaks.txt:print_suppressions=0")
  elseif(HEKLA_SANITIZE MATCHES thread)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
      "TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/cmake/tsan/suppressions.txt")
  endif()
endfunction()

# hekla_test(name SOURCES a.cc ... DEPS ... [LABELS l ...] [TIMEOUT s]): one GoogleTest program, one ctest entry.
function(hekla_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE hekla::base ${arg_DEPS} GTest::gmock GTest::gtest GTest::gtest_main)
  hekla_precompile(${name} hekla_pch_test)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
  hekla_sanitizer_options(${name})
endfunction()

# hekla_binary(name [OUTPUT file] DEPS ...): a program of all sources in the folder (tests excepted).
function(hekla_binary name)
  cmake_parse_arguments(arg "" "OUTPUT" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE hekla::base ${arg_DEPS})
  hekla_precompile(${name})
endfunction()
