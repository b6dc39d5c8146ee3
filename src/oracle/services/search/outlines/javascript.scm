(field_definition property: (_) value: [(arrow_function) (function_expression)]) @function
(field_definition "static" property: (_)) @constant
