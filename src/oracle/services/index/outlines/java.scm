(class_declaration) @class
(interface_declaration) @class
(enum_declaration) @class
(record_declaration) @class
(annotation_type_declaration) @class
(method_declaration) @function
(constructor_declaration) @function
(method_invocation name: (identifier) @reference)
(type_identifier) @reference
(marker_annotation name: (identifier) @reference)
(annotation name: (identifier) @reference)
(line_comment) @comment
(block_comment) @comment
