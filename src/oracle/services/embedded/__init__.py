"""A model without a language model: it searches the project and answers with quotations."""
