(method) @function
(singleton_method) @function
(class) @class
(module) @module
(assignment left: (constant)) @constant
(call method: (identifier) @reference)
(constant) @reference
(comment) @comment
