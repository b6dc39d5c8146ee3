(method) @function
(singleton_method) @function
(class) @class
(module) @module
(assignment left: (constant)) @constant
(call method: (identifier) @_maker arguments: (argument_list (simple_symbol) @declaration)
  (#match? @_maker "^([cm]?attr(_accessor|_reader|_writer)?|class_attribute)$"))
(call method: (identifier) @_maker arguments: (argument_list . (simple_symbol) @declaration)
  (#match? @_maker "^(define_method|alias_method|scope)$"))
(comment) @comment
