(function_definition) @function
(class_definition) @class
(module (type_alias_statement left: (type [(identifier) @type (generic_type . (identifier) @type)])))
(module (expression_statement (assignment left: (identifier)) @constant))
(comment) @comment
(expression_statement (string) @comment)
