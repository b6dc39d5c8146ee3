(class_declaration) @class
(interface_declaration) @class
(trait_declaration) @class
(enum_declaration) @class
(function_definition) @function
(method_declaration) @function
(const_element) @constant
(function_call_expression function: (name) @reference)
(member_call_expression name: (name) @reference)
(scoped_call_expression name: (name) @reference)
(object_creation_expression (name) @reference)
(named_type (name) @reference)
(comment) @comment
