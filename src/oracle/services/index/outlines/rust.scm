(function_item) @function
(function_signature_item) @function
(struct_item) @class
(enum_item) @class
(union_item) @class
(trait_item) @class
(impl_item) @class
(type_item) @type
(mod_item) @module
(macro_definition) @function
(const_item) @constant
(static_item) @constant
(call_expression function: [(identifier) @reference (scoped_identifier name: (identifier) @reference) (field_expression field: (field_identifier) @reference)])
(macro_invocation macro: (identifier) @reference)
(type_identifier) @reference
(line_comment) @comment
(block_comment) @comment
