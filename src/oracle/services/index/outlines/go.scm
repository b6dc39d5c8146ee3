(function_declaration) @function
(method_declaration) @function
(type_spec) @type
(type_alias) @type
(source_file (const_declaration (const_spec) @constant))
(source_file (var_declaration (var_spec) @constant))
(call_expression function: [(identifier) @reference (selector_expression field: (field_identifier) @reference)])
(type_identifier) @reference
(comment) @comment
