(function_definition) @function
(class_definition) @class
(module (expression_statement (assignment left: (identifier)) @constant))
(identifier) @reference
(comment) @comment
(expression_statement (string) @comment)
