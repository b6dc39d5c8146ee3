(function_declaration) @function
(method_declaration) @function
(method_elem) @function
(type_spec) @type
(type_alias) @type
(source_file (const_declaration (const_spec name: (identifier) @constant)))
(source_file (var_declaration (var_spec name: (identifier) @constant)))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @constant))))
(comment) @comment
