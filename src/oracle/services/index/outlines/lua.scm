(function_declaration) @function
(chunk (assignment_statement) @constant)
(function_call name: [(identifier) @reference (dot_index_expression field: (identifier) @reference) (method_index_expression method: (identifier) @reference)])
(comment) @comment
