(function_definition) @function
(struct_specifier name: (type_identifier) body: (_)) @class
(union_specifier name: (type_identifier) body: (_)) @class
(enum_specifier name: (type_identifier) body: (_)) @type
(type_definition) @type
(preproc_function_def) @function
(preproc_def) @constant
(translation_unit (declaration declarator: (function_declarator)) @declaration)
(call_expression function: [(identifier) @reference (field_expression field: (field_identifier) @reference)])
(type_identifier) @reference
(comment) @comment
