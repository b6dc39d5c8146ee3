"""A reader without a language model: what it searches for, what it quotes, what it says."""
