(class_declaration) @class
(interface_declaration) @class
(struct_declaration) @class
(record_declaration) @class
(enum_declaration) @class
(delegate_declaration) @type
(method_declaration) @function
(constructor_declaration) @function
(local_function_statement) @function
(property_declaration) @constant
(invocation_expression function: [(identifier) @reference (member_access_expression name: (identifier) @reference)])
(object_creation_expression type: (identifier) @reference)
(base_list (identifier) @reference)
(attribute name: (identifier) @reference)
(comment) @comment
