(class_declaration) @class
(interface_declaration) @class
(trait_declaration) @class
(enum_declaration) @class
(enum_case) @constant
(function_definition) @function
(method_declaration) @function
(const_element) @constant
(function_call_expression function: (name) @_define arguments: (arguments . (argument (string (string_content) @constant))) (#eq? @_define "define"))
(comment) @comment
