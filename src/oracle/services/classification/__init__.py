"""The query classifier: it parses a query, describes it by features, and weighs them."""
