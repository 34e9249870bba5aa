# FILES (a list) into OUTPUT: a source that defines BuiltinSetTexts().
set(entries "")
list(SORT FILES)
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  # Cases hold brackets and semicolons, which lists of cmake would not survive: one string, as it is.
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"plimsoll(${text})plimsoll\"},\n")
endforeach()
file(WRITE ${OUTPUT}.new
  "#include \"coordinator/evals/builtin_sets.h\"\n\nnamespace plimsoll {\n\n"
  "std::span<const BuiltinSet> BuiltinSets() {\n"
  "  static constexpr BuiltinSet kSets[] = {\n${entries}  };\n"
  "  return kSets;\n}\n\n}  // namespace plimsoll\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
