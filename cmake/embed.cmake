# cmake -DROOT=data -DSYMBOL=rk_data_files -DOUT=file.c -P embed.cmake - the files below ROOT as one
# C table, sorted by name, see src/base/data.h. Bytes, not string literals: compilers limit the
# length of those.
file(GLOB_RECURSE names RELATIVE ${ROOT} ${ROOT}/*)
list(SORT names)
set(text "/* Made by cmake/embed.cmake. */\n#include \"base/data.h\"\n\n")
set(table "")
set(i 0)
foreach(name ${names})
  file(READ ${ROOT}/${name} hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR len "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND text "static const unsigned char file_${i}[] = { ${bytes}0 };\n")
  string(APPEND table "\t{ \"${name}\", (const char *)file_${i}, ${len} },\n")
  math(EXPR i "${i} + 1")
endforeach()
string(APPEND text "\nextern const struct rk_data_file ${SYMBOL}[];\nconst struct rk_data_file ${SYMBOL}[] = {\n${table}\t{ 0 },\n};\n")
file(WRITE ${OUT} "${text}")
