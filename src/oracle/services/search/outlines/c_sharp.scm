(class_declaration) @class
(interface_declaration) @class
(struct_declaration) @class
(record_declaration) @class
(enum_declaration) @class
(enum_member_declaration) @constant
(delegate_declaration) @type
(method_declaration) @function
(constructor_declaration) @function
(local_function_statement) @function
(property_declaration) @constant
(field_declaration (modifier "const") (variable_declaration (variable_declarator) @constant))
(field_declaration (modifier "static") (variable_declaration (variable_declarator) @constant))
(comment) @comment
