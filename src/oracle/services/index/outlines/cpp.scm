(function_definition) @function
(class_specifier name: (_) body: (_)) @class
(struct_specifier name: (_) body: (_)) @class
(enum_specifier name: (_) body: (_)) @type
(type_definition) @type
(alias_declaration) @type
(namespace_definition) @module
(concept_definition) @type
(preproc_function_def) @function
(preproc_def) @constant
(call_expression function: [(identifier) @reference (qualified_identifier name: (identifier) @reference) (field_expression field: (field_identifier) @reference)])
(type_identifier) @reference
(comment) @comment
