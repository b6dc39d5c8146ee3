(function_declaration) @function
(generator_function_declaration) @function
(class_declaration) @class
(method_definition) @function
(variable_declarator value: [(arrow_function) (function_expression) (generator_function) (class)]) @function
(variable_declarator value: (call_expression function: (_) @_wrapper arguments: (arguments . [(arrow_function) (function_expression) (call_expression)]))
  (#match? @_wrapper "^([A-Za-z]+[.])?(memo|forwardRef|lazy|observer|debounce|throttle|useCallback)$")) @function
(function_expression name: (identifier)) @function
(generator_function name: (identifier)) @function
(assignment_expression left: [(identifier) (member_expression)] right: [(arrow_function) (function_expression) (generator_function) (class)]) @function
(assignment_expression left: (member_expression) right: (assignment_expression right: [(arrow_function) (function_expression) (class)])) @function
(assignment_expression left: (member_expression object: (_) @_exports) right: [(number) (string) (template_string) (regex) (array) (object) (true) (false) (new_expression)]
  (#match? @_exports "^(module[.])?exports$")) @constant
(variable_declarator value: (object (pair key: (property_identifier) value: [(arrow_function) (function_expression)]) @function))
(expression_statement (assignment_expression right: (object (pair key: (property_identifier) value: [(arrow_function) (function_expression)]) @function)))
(export_statement value: (object (pair key: (property_identifier) value: [(arrow_function) (function_expression)]) @function))
(return_statement (object (pair key: (property_identifier) value: [(arrow_function) (function_expression)]) @function))
(program [(lexical_declaration (variable_declarator !value) @constant) (variable_declaration (variable_declarator !value) @constant)])
(program [(lexical_declaration (variable_declarator value: (_) @_value) @constant) (variable_declaration (variable_declarator value: (_) @_value) @constant)]
  (#not-match? @_value "^(await )?(require|import|__import[A-Za-z]*|_interop[A-Za-z]*)[(]"))
(program (export_statement (lexical_declaration (variable_declarator) @constant)))
(comment) @comment
