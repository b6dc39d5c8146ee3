(function_signature) @declaration
(abstract_class_declaration) @class
(interface_declaration) @type
(type_alias_declaration) @type
(enum_declaration) @type
(enum_body name: (property_identifier) @constant)
(enum_assignment) @constant
(internal_module) @module
(abstract_method_signature) @function
(method_signature) @declaration
(public_field_definition name: (_) value: [(arrow_function) (function_expression)]) @function
(public_field_definition "static" name: (_)) @constant
