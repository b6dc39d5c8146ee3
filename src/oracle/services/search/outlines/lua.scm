(function_declaration) @function
(assignment_statement (expression_list value: (function_definition))) @function
(field name: (identifier) value: (function_definition)) @function
(chunk (assignment_statement) @constant)
(chunk (variable_declaration (assignment_statement (expression_list value: (_) @_value)) @constant) (#not-match? @_value "^require\\b"))
(comment) @comment
