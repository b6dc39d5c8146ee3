(function_definition) @function
(program (variable_assignment) @constant)
(program (declaration_command (variable_assignment) @constant))
(comment) @comment
