(function_declaration) @function
(generator_function_declaration) @function
(class_declaration) @class
(abstract_class_declaration) @class
(interface_declaration) @type
(type_alias_declaration) @type
(enum_declaration) @type
(internal_module) @module
(method_definition) @function
(abstract_method_signature) @function
(variable_declarator value: [(arrow_function) (function_expression) (class)]) @function
(program (lexical_declaration (variable_declarator) @constant))
(program (export_statement (lexical_declaration (variable_declarator) @constant)))
(call_expression function: [(identifier) @reference (member_expression property: (property_identifier) @reference)])
(new_expression constructor: (identifier) @reference)
(type_identifier) @reference
(import_specifier name: (identifier) @reference)
(comment) @comment
