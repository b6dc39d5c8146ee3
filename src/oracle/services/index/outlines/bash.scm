(function_definition) @function
(program (variable_assignment) @constant)
(command name: (command_name (word) @reference))
(comment) @comment
