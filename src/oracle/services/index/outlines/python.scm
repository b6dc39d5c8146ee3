(function_definition) @function
(class_definition) @class
(module (expression_statement (assignment left: (identifier)) @constant))
(call function: [(identifier) @reference (attribute attribute: (identifier) @reference)])
(argument_list (identifier) @reference)
(decorator [(identifier) @reference (attribute attribute: (identifier) @reference)])
(import_from_statement name: (dotted_name (identifier) @reference))
(type (identifier) @reference)
(comment) @comment
(expression_statement (string) @comment)
