"""What a broad question has to cover: its parts, what each says about it, and how they are put
together.
"""
