# FILES (a list) into OUTPUT: a source that defines BuiltinMappingTexts().
set(entries "")
list(SORT FILES)
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"plimsoll(${text})plimsoll\"},\n")
endforeach()
file(WRITE ${OUTPUT}.new
  "#include \"coordinator/signals/builtin_mappings.h\"\n\nnamespace plimsoll {\n\n"
  "std::span<const EmbeddedText> BuiltinMappingTexts() {\n"
  "  static constexpr EmbeddedText kTexts[] = {\n${entries}  };\n"
  "  return kTexts;\n}\n\n}  // namespace plimsoll\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
