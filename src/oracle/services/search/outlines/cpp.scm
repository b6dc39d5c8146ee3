(function_definition) @function
(class_specifier name: (_) body: (_)) @class
(struct_specifier name: (_) body: (_)) @class
(union_specifier name: (_) body: (_)) @class
(enum_specifier name: (_) body: (_)) @type
(enumerator) @constant
(type_definition) @type
(alias_declaration) @type
(namespace_definition) @module
(concept_definition) @type
(preproc_function_def) @function
(preproc_def) @constant
(field_declaration declarator: [(function_declarator) (pointer_declarator (function_declarator)) (reference_declarator (function_declarator))] default_value: (_)) @function
(field_declaration declarator: [(function_declarator) (pointer_declarator (function_declarator)) (reference_declarator (function_declarator))] !default_value) @declaration
(field_declaration (type_qualifier) declarator: (field_identifier) default_value: (_)) @constant
([(translation_unit (declaration declarator: [(function_declarator) (pointer_declarator (function_declarator)) (reference_declarator (function_declarator))]) @declaration)
  (preproc_ifdef (declaration declarator: [(function_declarator) (pointer_declarator (function_declarator)) (reference_declarator (function_declarator))]) @declaration)
  (declaration_list (declaration declarator: [(function_declarator) (pointer_declarator (function_declarator)) (reference_declarator (function_declarator))]) @declaration)])
([(translation_unit (declaration declarator: (init_declarator) @constant))
  (preproc_ifdef (declaration declarator: (init_declarator) @constant))
  (declaration_list (declaration declarator: (init_declarator) @constant))
  (template_declaration (declaration declarator: (init_declarator) @constant))])
(comment) @comment
