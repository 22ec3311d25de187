# Compiler settings that hold for every target of the project.
add_compile_options(-Wall -Wextra -Werror -fno-omit-frame-pointer)
# cpprest defines a macro U that breaks GoogleTest headers; this switches it off everywhere.
add_compile_definitions(_TURN_OFF_PLATFORM_STRING)

if(HEKLA_SANITIZE)
  add_compile_options(-fsanitize=${HEKLA_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEKLA_SANITIZE})
  if(HEKLA_SANITIZE MATCHES "undefined")
    # These four add a check to every access and double the time to compile; a null pointer is caught by
    # the address sanitizer too, and the machine allows unaligned access.
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options(-fsanitize-ignorelist=${CMAKE_SOURCE_DIR}/cmake/asan/ignored.txt)
  endif()
endif()

if(HEKLA_LIBFUZZER)
  add_compile_options(-fsanitize=fuzzer-no-link)  # counts which branches an input reaches
endif()

if(HEKLA_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fpch-preprocess)  # what ccache needs to see through a precompiled header
endif()

find_program(HEKLA_CCACHE ccache)
if(HEKLA_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HEKLA_CCACHE})
endif()

# A fast linker where there is one; sanitizer builds keep the default one.
find_program(HEKLA_MOLD mold)
if(HEKLA_MOLD AND NOT HEKLA_SANITIZE AND NOT CMAKE_INTERPROCEDURAL_OPTIMIZATION)
  add_link_options(-fuse-ld=mold)
endif()
