(class_declaration) @class
(interface_declaration) @class
(enum_declaration) @class
(enum_constant) @constant
(record_declaration) @class
(annotation_type_declaration) @class
(method_declaration) @function
(constructor_declaration) @function
(compact_constructor_declaration) @function
(field_declaration (modifiers "static" "final") declarator: (variable_declarator) @constant)
(field_declaration (modifiers "final" "static") declarator: (variable_declarator) @constant)
(constant_declaration declarator: (variable_declarator) @constant)
(line_comment) @comment
(block_comment) @comment
