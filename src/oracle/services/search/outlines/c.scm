(function_definition) @function
(struct_specifier name: (type_identifier) body: (_)) @class
(union_specifier name: (type_identifier) body: (_)) @class
(enum_specifier name: (type_identifier) body: (_)) @type
(enumerator) @constant
(type_definition) @type
(preproc_function_def) @function
(preproc_def) @constant
([(translation_unit (declaration declarator: [(function_declarator) (pointer_declarator (function_declarator))]) @declaration)
  (preproc_ifdef (declaration declarator: [(function_declarator) (pointer_declarator (function_declarator))]) @declaration)
  (preproc_if (declaration declarator: [(function_declarator) (pointer_declarator (function_declarator))]) @declaration)
  (declaration_list (declaration declarator: [(function_declarator) (pointer_declarator (function_declarator))]) @declaration)])
([(translation_unit (declaration declarator: (init_declarator) @constant))
  (preproc_ifdef (declaration declarator: (init_declarator) @constant))
  (preproc_if (declaration declarator: (init_declarator) @constant))])
(comment) @comment
