"""What commands show on a terminal or a pipe, and what they ask there."""
