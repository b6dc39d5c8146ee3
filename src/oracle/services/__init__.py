"""What leaves call: parsers, classifiers, composers, stores, tools and model clients."""
