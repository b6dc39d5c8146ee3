"""What oracle costs, with peers measured in the same run. `make bench` prints all of it."""
